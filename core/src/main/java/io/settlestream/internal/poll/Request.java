package io.settlestream.internal.poll;

import io.settlestream.ControlException;
import io.settlestream.ControlException.Reason;
import io.settlestream.spi.Scheduler;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Something that a user has asked of a subscription and waits for. Belongs to the poll thread, but for the future: it
 * completes on a thread of its own, because what users chain to it must not hold up the poll thread.
 */
final class Request {

    private final String subscription;
    private final Scheduler scheduler;
    private final CompletableFuture<@Nullable Void> answer = new CompletableFuture<>();
    private final Set<TopicPartition> left = new HashSet<>();
    private boolean answered;

    Request(String subscription, Scheduler scheduler) {
        this.subscription = subscription;
        this.scheduler = scheduler;
    }

    /** What the user waits for. */
    CompletableFuture<@Nullable Void> answer() {
        return answer;
    }

    /** It is done when it is done for each of these partitions, which is now if there are none. */
    void awaits(Collection<TopicPartition> partitions) {
        left.addAll(partitions);
        if (left.isEmpty()) {
            done();
        }
    }

    void done(TopicPartition partition) {
        if (left.remove(partition) && left.isEmpty()) {
            done();
        }
    }

    void done() {
        complete(() -> answer.complete(null));
    }

    /** The first failure is what the user is told. */
    void failed(Reason reason, String why, @Nullable Throwable cause) {
        ControlException failure =
                new ControlException(reason, subscription, "subscription " + subscription + ": " + why, cause);
        complete(() -> answer.completeExceptionally(failure));
    }

    /** The subscription does nothing for anybody any more. */
    void tooLate() {
        failed(
                Reason.STOPPING,
                "it is stopping or has failed, so nothing can be asked of it. Ask once it has been started again",
                null);
    }

    private void complete(Runnable completion) {
        if (!answered) {
            answered = true;
            Thread unused = scheduler.start(Scheduler.Kind.VIRTUAL, "settlestream-control-" + subscription, completion);
        }
    }
}
