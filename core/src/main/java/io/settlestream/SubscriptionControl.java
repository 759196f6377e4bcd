package io.settlestream;

import io.settlestream.kafka.KafkaPosition;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Moves a running subscription to other places in its log, and pauses it. It acts on this member's partitions only: those
 * of other instances in the group go on as they do.
 *
 * <pre>{@code
 * try (RunningApp app = service.start()) {
 *     SubscriptionControl orders = app.subscription("orders");
 *     orders.seek(KafkaPosition.timestamp(lastGoodMoment)).join();
 * }
 * }</pre>
 *
 * <p>Thread-safe. Nothing here waits; each method returns a future of the caller's own that completes when what was asked
 * for has taken effect. It completes on a thread of its own, so what is chained to it holds nothing up. It fails with a
 * {@link ControlException} when a partition does not belong to this member, or leaves it before, and when the service stops.
 * Do not wait for one in a handler: a revocation or a stop would wait for the handler, and the future for them.
 *
 * @since 0.1.0
 */
public interface SubscriptionControl {

    /**
     * Goes on reading at a place in each partition that this member owns; with none, there is nothing to do. All of a
     * partition that was fetched before is forgotten: queued records are not handled, running handlers see
     * {@link Context#cancelled()} and are interrupted, and what they still answer changes nothing.
     *
     * <p>Nothing is committed by this itself. The place is the subscription's position from then on, so that the next
     * commit moves the group there, also backwards. An offset that is not in a log counts as the nearest that is. Of two
     * seeks the later wins, and the earlier one's future completes with it.
     */
    CompletableFuture<@Nullable Void> seek(KafkaPosition position);

    /** As {@link #seek(KafkaPosition)}, in one partition. */
    CompletableFuture<@Nullable Void> seek(String topic, int partition, KafkaPosition position);

    /**
     * Pauses the subscription: from the moment the future completes no handler is begun for any of its partitions, also
     * those assigned later, until {@link #resume()}. Nothing more is fetched; what was fetched stays, counts as in flight,
     * and goes on in its order when the subscription is resumed. Retries wait, too. Handlers that run already end as
     * they do, and their positions are committed. The member stays in its group. Neither a stop nor a revocation waits
     * for what is held back.
     */
    CompletableFuture<@Nullable Void> pause();

    /** Ends what {@link #pause()} began. Partitions that were paused by themselves stay paused. */
    CompletableFuture<@Nullable Void> resume();

    /**
     * Pauses one partition that this member owns, as {@link #pause()} does all. It is remembered until
     * {@link #resume(String, int)}: a partition that leaves this member and comes back is paused still. The member that
     * owns it in between does not know.
     */
    CompletableFuture<@Nullable Void> pause(String topic, int partition);

    /** Ends what {@link #pause(String, int)} began, wherever the partition is. While the subscription is paused, it stays paused. */
    CompletableFuture<@Nullable Void> resume(String topic, int partition);
}
