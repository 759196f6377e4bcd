package io.settlestream.internal.settle;

import io.settlestream.SubscriptionControl;
import io.settlestream.kafka.KafkaPosition;

/** What deliveries can ask of their subscription. Any thread; does not wait. */
public interface DeliveryControl extends SubscriptionControl {

    /** Moves the delivery's partition, unless nobody waits for the delivery any more. */
    void seek(Delivery delivery, KafkaPosition position);
}
