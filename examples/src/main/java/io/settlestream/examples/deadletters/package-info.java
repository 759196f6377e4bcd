/** A program that lists the records on a dead-letter topic and publishes chosen ones to where they came from. */
@NullMarked
package io.settlestream.examples.deadletters;

import org.jspecify.annotations.NullMarked;
