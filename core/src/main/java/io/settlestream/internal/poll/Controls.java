package io.settlestream.internal.poll;

import io.settlestream.ControlException.Reason;
import io.settlestream.internal.lane.Lanes;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.kafka.KafkaPosition;
import java.util.List;
import java.util.function.Predicate;
import org.apache.kafka.common.TopicPartition;

/** Does what users and handlers want of a subscription's partitions. Belongs to the poll thread. */
final class Controls {

    private final Assignment assignment;
    private final Lanes lanes;
    private final Pauses pauses;
    private final Seeks seeks;
    private final Predicate<TopicPartition> seekable;
    private boolean stopped;

    /**
     * @param seekable which partitions can be moved: not those where copies wait for their retry
     */
    Controls(Assignment assignment, Lanes lanes, Pauses pauses, Seeks seeks, Predicate<TopicPartition> seekable) {
        this.assignment = assignment;
        this.lanes = lanes;
        this.pauses = pauses;
        this.seeks = seeks;
        this.seekable = seekable;
    }

    /** From now on nothing can be asked any more. */
    void stop() {
        stopped = true;
        seeks.tooLate();
    }

    void seek(Request request, KafkaPosition position) {
        if (isWelcome(request)) {
            List<TopicPartition> names = assignment.owned().stream()
                    .map(OwnedPartition::topicPartition)
                    .filter(seekable)
                    .toList();
            request.awaits(names);
            names.forEach(name -> seeks.add(name, position, request));
        }
    }

    void seek(Request request, TopicPartition name, KafkaPosition position) {
        if (isWelcome(request) && isOwned(request, name) && isSeekable(request, name)) {
            request.awaits(List.of(name));
            seeks.add(name, position, request);
        }
    }

    void seek(Request request, Delivery delivery, KafkaPosition position) {
        TopicPartition name = delivery.owner().topicPartition();
        if (!isWelcome(request) || !isSeekable(request, name)) {
            return;
        }
        if (assignment.owned(name) != delivery.owner()) {
            request.failed(
                    Reason.REVOKED,
                    delivery + " is not waited for any more: " + name + " was revoked, or moved by another seek",
                    null);
            return;
        }
        request.awaits(List.of(name));
        seeks.add(name, position, request, delivery);
    }

    void pause(Request request) {
        if (isWelcome(request)) {
            pauses.all(true);
            assignment.owned().forEach(this::apply);
            request.done();
        }
    }

    void resume(Request request) {
        if (isWelcome(request)) {
            pauses.all(false);
            assignment.owned().forEach(this::apply);
            request.done();
        }
    }

    void pause(Request request, TopicPartition name) {
        if (isWelcome(request) && isOwned(request, name)) {
            pauses.add(name);
            apply(name);
            request.done();
        }
    }

    void resume(Request request, TopicPartition name) {
        if (isWelcome(request) && (pauses.remove(name) || isOwned(request, name))) {
            apply(name);
            request.done();
        }
    }

    private void apply(TopicPartition name) {
        OwnedPartition partition = assignment.owned(name);
        if (partition != null) {
            apply(partition);
        }
    }

    /** What fetching has to do with it follows in the same round, before anything is fetched. */
    private void apply(OwnedPartition partition) {
        if (pauses.cover(partition.topicPartition())) {
            lanes.pause(partition);
        } else {
            lanes.resume(partition);
        }
    }

    private boolean isWelcome(Request request) {
        if (stopped) {
            request.tooLate();
        }
        return !stopped;
    }

    private boolean isSeekable(Request request, TopicPartition name) {
        if (!seekable.test(name)) {
            request.failed(
                    Reason.NOT_ASSIGNED,
                    name
                            + " belongs to the subscription's retry topic, which always goes on where it was. Seek what the"
                            + " subscription reads",
                    null);
        }
        return seekable.test(name);
    }

    private boolean isOwned(Request request, TopicPartition name) {
        if (assignment.owned(name) == null) {
            List<TopicPartition> owned = assignment.owned().stream()
                    .map(OwnedPartition::topicPartition)
                    .toList();
            request.failed(
                    Reason.NOT_ASSIGNED,
                    name + " does not belong to this member, which owns " + (owned.isEmpty() ? "nothing" : owned)
                            + ". Ask the member that owns it, or ask for the whole subscription on each",
                    null);
            return false;
        }
        return true;
    }
}
