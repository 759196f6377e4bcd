/**
 * The demo around the payouts service: produces its input, runs it in processes that are killed and come and go, and
 * verifies the result with plain Kafka clients. Nothing here belongs to the service.
 */
@NullMarked
package io.settlestream.examples.payouts.demo;

import org.jspecify.annotations.NullMarked;
