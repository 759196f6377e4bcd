/**
 * The framework's contract as scenarios: each is written once and played on the in-process Kafka and on a real broker, under
 * the protocols of consumer groups, and must leave the same trace everywhere.
 */
@NullMarked
package io.settlestream.conformance.rules;

import org.jspecify.annotations.NullMarked;
