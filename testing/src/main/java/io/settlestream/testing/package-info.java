/**
 * Tests of applications in milliseconds: the production application on an in-process Kafka, in virtual time.
 *
 * <p>{@link io.settlestream.testing.TestApp} is where a test begins; {@link io.settlestream.testing.TestKafka} is the Kafka
 * below it, for tests with several applications, with faults or with a seed.
 */
@NullMarked
package io.settlestream.testing;

import org.jspecify.annotations.NullMarked;
