package io.settlestream.internal.settle;

import io.settlestream.HandlerOutcome;
import io.settlestream.PublishException;
import io.settlestream.internal.position.Slots;

/**
 * What a commit mode makes of outcomes. One implementation per mode, chosen when the subscription starts.
 *
 * <p>Called by the thread that holds the delivery; lock-free, but for the rare record that is copied elsewhere.
 */
public sealed interface Settlement permits AutoSettlement, TrackedSettlement {

    /** How far a slot must have come for the position to pass it. */
    Slots.State passedWhen();

    /** Whether a start that does not come from a committed offset is committed before the first delivery. */
    boolean commitsStart();

    /** Ends an attempt with a handler's outcome. A dead letter needs a topic to go to. */
    Disposition settle(Delivery delivery, HandlerOutcome outcome);

    /** Ends an attempt that failed of something, with the outcome that a policy has chosen. */
    Disposition settle(Delivery delivery, HandlerOutcome outcome, Reason reason);

    /**
     * Notes that an attempt has failed whose record stays open while the service stops. The next start goes on counting, so
     * that a record that stops every start meets its cap.
     */
    void attemptFailed(Delivery delivery);

    /** Ends a delivery that must not be tried, because its record has met its cap. */
    Disposition exhausted(Delivery delivery);

    /** Whether a record that is to come back does. */
    boolean retries();

    /** Whether a reply that Kafka did not accept is lost, so that it makes no difference whether it could heal. */
    boolean losesFailedReplies();

    /** Ends an attempt whose reply Kafka did not accept, though it might accept the same reply later, or it is lost. */
    Disposition replyFailed(Delivery delivery, PublishException failure);
}
