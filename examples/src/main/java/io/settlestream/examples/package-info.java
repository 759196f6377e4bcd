/** Runnable services that show how the framework is used. */
@NullMarked
package io.settlestream.examples;

import org.jspecify.annotations.NullMarked;
