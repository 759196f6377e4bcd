/**
 * Publishing: from a message to a record that Kafka has accepted. {@link io.settlestream.internal.publish.PublishSite}
 * turns a message into a record, {@link io.settlestream.internal.publish.BrokerPublisher} gets the record to the
 * broker's one producer, {@link io.settlestream.internal.publish.InFlight} keeps the bound in front of it.
 */
@NullMarked
package io.settlestream.internal.publish;

import org.jspecify.annotations.NullMarked;
