/** A payments service that takes charges through a gateway, and gives up those that cannot be taken. */
@NullMarked
package io.settlestream.examples.charges;

import org.jspecify.annotations.NullMarked;
