/** From a broker and a topic to the properties of Kafka's clients: checks, defaults, and what the framework owns. */
@NullMarked
package io.settlestream.internal.config;

import org.jspecify.annotations.NullMarked;
