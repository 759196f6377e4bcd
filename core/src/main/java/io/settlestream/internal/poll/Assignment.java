package io.settlestream.internal.poll;

import io.settlestream.internal.commit.Commits;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.lane.Lanes;
import io.settlestream.internal.position.Checkpoint;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.settle.Settlement;
import io.settlestream.spi.TimeSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The partitions this member owns, and what happens when they come and go. Belongs to the poll thread; Kafka calls the
 * listener's methods on it, inside a poll.
 */
final class Assignment implements ConsumerRebalanceListener {

    private static final Logger log = LoggerFactory.getLogger(Assignment.class);

    private final SubscriptionPlan plan;
    private final PollGate gate;
    private final Commits committer;
    private final StartPositions starts;
    private final Pauses pauses;
    private final Consumer<TopicPartition> gone;
    private final Lanes lanes;
    private final Settlement settlement;
    private final Counters counters;
    private final TimeSource time;
    private final OwnedPartition.Listener listener;

    private final Map<TopicPartition, OwnedPartition> owned = new LinkedHashMap<>();
    private boolean known;
    private boolean stopping;
    private boolean closing;

    private volatile List<OwnedPartition> snapshot = List.of();
    private volatile boolean draining;

    /** When a stop wants running handlers given up, once there is one; on the time source's clock. */
    private volatile @Nullable Long stopBy;

    /**
     * @param gone told which partitions leave this member
     */
    Assignment(
            SubscriptionPlan plan,
            PollGate gate,
            Commits committer,
            StartPositions starts,
            Pauses pauses,
            Consumer<TopicPartition> gone,
            Lanes lanes,
            Settlement settlement,
            Counters counters,
            TimeSource time,
            OwnedPartition.Listener listener) {
        this.plan = plan;
        this.gate = gate;
        this.committer = committer;
        this.starts = starts;
        this.pauses = pauses;
        this.gone = gone;
        this.lanes = lanes;
        this.settlement = settlement;
        this.counters = counters;
        this.time = time;
        this.listener = listener;
    }

    Collection<OwnedPartition> owned() {
        return owned.values();
    }

    @Nullable
    OwnedPartition owned(TopicPartition name) {
        return owned.get(name);
    }

    /** Whether the group has told this member what it owns, be it nothing. */
    boolean known() {
        return known;
    }

    /** The partitions owned, for any thread. */
    List<OwnedPartition> snapshot() {
        return snapshot;
    }

    /** The subscription is coming to an end: lanes stay watched. */
    void stopping() {
        stopping = true;
        lanes.watch(true);
    }

    /** A revocation waits for handlers no longer than the stop that has begun does. Any thread; a wake-up follows. */
    void stopBy(long deadline) {
        stopBy = deadline;
    }

    /** The last commit has been made, or could not be: partitions leave without another. */
    void closing() {
        closing = true;
    }

    /** Whether a revocation waits for handlers. Any thread. */
    boolean draining() {
        return draining;
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> names) {
        known = true;
        if (names.isEmpty()) {
            gate.wake();
            return;
        }
        counters.rebalances.increment();
        for (TopicPartition name : names) {
            OwnedPartition partition = open(name);
            owned.put(name, partition);
            starts.assigned(partition);
        }
        changed("assigned", names);
        gate.wake();
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> names) {
        List<OwnedPartition> leaving = known(names);
        if (leaving.isEmpty()) {
            return;
        }
        if (closing) {
            leaving.forEach(this::remove);
            return;
        }
        counters.rebalances.increment();
        boolean fetching = gate.suspendFetch();
        draining = true;
        lanes.watch(true);
        try {
            for (OwnedPartition partition : leaving) {
                partition.watch(true);
                partition.admitNothing();
            }
            gate.await(
                    () -> stopIsDue() || leaving.stream().noneMatch(this::busy),
                    time.nanoTime() + plan.drainTimeout().toNanos());
            // From here on outcomes are stale, so what counts as settled is what gets committed.
            leaving.forEach(OwnedPartition::discard);
            leaving.forEach(partition -> partition.running(false));
            boolean committed = committer.commitNow(leaving, plan.callTimeout());
            if (!committed) {
                log.atWarn()
                        .addKeyValue("subscription", plan.name())
                        .addKeyValue("partitions", names)
                        .log("positions could not be committed before the partitions left; their next owner repeats"
                                + " what was handled since the last commit");
            }
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        } finally {
            leaving.forEach(this::remove);
            lanes.giveUpDiscarded();
            lanes.watch(stopping);
            draining = false;
            changed("revoked", names);
            if (fetching) {
                gate.resumeFetch();
            }
        }
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> names) {
        List<OwnedPartition> leaving = known(names);
        if (leaving.isEmpty()) {
            return;
        }
        counters.rebalances.increment();
        leaving.forEach(this::remove);
        lanes.giveUpDiscarded();
        changed("lost", names);
    }

    private boolean stopIsDue() {
        Long deadline = stopBy;
        return deadline != null && time.nanoTime() - deadline >= 0;
    }

    /**
     * A partition goes on at another offset, because its position was not in the log. Ahead, the bookkeeping takes it
     * for an advance past offsets that hold no records: what is open counts as before, and with nothing open there is no
     * lag left. Back, what has been fetched is not in the log any more, and the bookkeeping begins anew.
     */
    void moved(TopicPartition name, long offset) {
        OwnedPartition partition = owned.get(name);
        if (partition == null) {
            return;
        }
        if (offset < partition.fetchedUpTo()) {
            OwnedPartition anew = beginAnew(partition);
            Checkpoint committed = partition.committed();
            if (committed != null) {
                anew.committed(committed);
            }
            partition = anew;
        }
        partition.registerAdvance(offset, null, time.nanoTime());
    }

    /**
     * The user has moved a partition, so its bookkeeping begins anew there. It counts as committed nowhere: a commit of
     * where it was before may be on its way, and then even a position that was committed last must be committed again.
     */
    void sought(TopicPartition name, long offset) {
        OwnedPartition partition = owned.get(name);
        if (partition != null) {
            starts.gone(partition);
            OwnedPartition anew = beginAnew(partition);
            // Also where it was not known yet where to start, and so was not noted.
            anew.running(plan.capped() && settlement.commitsStart());
            anew.registerAdvance(offset, null, time.nanoTime());
        }
    }

    private OwnedPartition beginAnew(OwnedPartition partition) {
        OwnedPartition anew = open(partition.topicPartition());
        // The consumer's pause stays, and ends like any other.
        anew.paused(partition.paused());
        anew.running(partition.isRunning());
        partition.discard();
        owned.put(partition.topicPartition(), anew);
        snapshot = List.copyOf(owned.values());
        lanes.giveUpDiscarded();
        return anew;
    }

    private OwnedPartition open(TopicPartition name) {
        OwnedPartition partition = new OwnedPartition(name, settlement.passedWhen(), listener);
        if (pauses.cover(name)) {
            lanes.pause(partition);
        }
        return partition;
    }

    private boolean busy(OwnedPartition partition) {
        return lanes.runs(partition) || partition.reportsAwaited() > 0;
    }

    private List<OwnedPartition> known(Collection<TopicPartition> names) {
        List<OwnedPartition> partitions = new ArrayList<>();
        for (TopicPartition name : names) {
            OwnedPartition partition = owned.get(name);
            if (partition != null) {
                partitions.add(partition);
            }
        }
        return partitions;
    }

    private void remove(OwnedPartition partition) {
        partition.discard();
        owned.remove(partition.topicPartition());
        starts.gone(partition);
        gone.accept(partition.topicPartition());
    }

    private void changed(String what, Collection<TopicPartition> names) {
        snapshot = List.copyOf(owned.values());
        log.atInfo()
                .addKeyValue("subscription", plan.name())
                .addKeyValue("group", plan.groupName())
                .addKeyValue(what, names)
                .addKeyValue("owned", owned.size())
                .log("assignment changed");
    }
}
