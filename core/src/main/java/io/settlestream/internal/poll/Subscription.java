package io.settlestream.internal.poll;

import io.settlestream.Health;
import io.settlestream.internal.commit.Committer;
import io.settlestream.internal.commit.GroupMoved;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.health.Episodes;
import io.settlestream.internal.health.FailureListener;
import io.settlestream.internal.lane.Lanes;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Position;
import io.settlestream.internal.position.Slots;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.Settlement;
import io.settlestream.spi.KafkaClients;
import io.settlestream.spi.Scheduler;
import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.NoOffsetForPartitionException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One subscription: a consumer and the thread that owns it.
 *
 * <p>The thread polls for as long as the subscription lives, whatever its handlers do, so the group never misses it. In
 * between it looks at what others asked of it ({@link #drain}, {@link #close}), pauses and resumes partitions, and
 * commits. Nothing else touches the consumer.
 *
 * <p>What it has come to is its {@link Phase}.
 */
public final class Subscription {

    private static final Logger log = LoggerFactory.getLogger(Subscription.class);

    /** How often the poll thread looks around while something is open. */
    private static final Duration LOOK_AROUND = Duration.ofSeconds(1);

    /** How long a fetch lasts while it is not known where partitions start, because the cluster did not answer. */
    private static final Duration ASK_AGAIN = Duration.ofMillis(100);

    private final SubscriptionPlan plan;
    private final KafkaClients clients;
    private final Lanes lanes;
    private final Settlement settlement;
    private final Counters counters;
    private final FailureListener failures;
    private final Scheduler scheduler;
    private final Episodes fetchEpisodes;

    private final ConcurrentLinkedQueue<Runnable> mailbox = new ConcurrentLinkedQueue<>();
    private final CompletableFuture<@Nullable Void> ready = new CompletableFuture<>();
    private final CompletableFuture<@Nullable Void> drained = new CompletableFuture<>();
    private final CompletableFuture<@Nullable Void> closed = new CompletableFuture<>();

    /** Whether there is a thread that will do what it is told. */
    private volatile boolean started;

    private volatile Phase phase = Phase.CONNECTING;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    /** Whether the consumer itself has failed: nothing more is asked of it. The poll thread's. */
    private boolean broken;

    /** Why fetches fail, if they do. */
    private volatile @Nullable String fetchProblem;

    /** A position that is not in its log, to be asked about in the next round. The poll thread's. */
    private @Nullable OffsetOutOfRangeException outOfRange;

    /** When the poll thread looks around next, on the time source's clock. */
    private long lookAroundAt;

    private volatile @Nullable PollThread running;

    /** The poll thread's own things, made on it and used only there but for the gate and what says otherwise. */
    private record PollThread(
            Consumer<byte[], byte[]> consumer,
            PollGate gate,
            Committer committer,
            FlowControl flow,
            StartPositions starts,
            Assignment assignment) {}

    private long drainDeadline;

    /**
     * @param lanesOf makes the lanes, given what hears from them
     */
    public Subscription(
            SubscriptionPlan plan,
            KafkaClients clients,
            Function<Lanes.Listener, Lanes> lanesOf,
            Settlement settlement,
            Counters counters,
            FailureListener failures,
            Scheduler scheduler) {
        this.plan = plan;
        this.clients = clients;
        this.settlement = settlement;
        this.counters = counters;
        this.failures = failures;
        this.scheduler = scheduler;
        this.fetchEpisodes = new Episodes(scheduler);
        this.lookAroundAt = scheduler.nanoTime();
        this.lanes = lanesOf.apply(new Lanes.Listener() {
            @Override
            public void progressed() {
                PollThread poll = running;
                if (poll != null && (poll.flow.anyPaused() || phase == Phase.DRAINING || poll.assignment.draining())) {
                    poll.gate.wake();
                }
            }

            @Override
            public void failed(Throwable cause) {
                fail(cause);
            }
        });
    }

    // --- any thread

    /** Starts the thread. */
    public void start() {
        started = true;
        lanes.start();
        Thread unused = scheduler.start(Scheduler.Kind.PLATFORM, "settlestream-poll-" + plan.name(), this::run);
    }

    /** Completes when it is known where every assigned partition starts; exceptionally if that failed for good. */
    public CompletableFuture<@Nullable Void> ready() {
        return ready;
    }

    /**
     * Stops fetching and lets running handlers, and the reports they wait for, come to an end.
     *
     * @return completes when nothing runs any more, or with what still ran at the deadline given up
     */
    public CompletableFuture<@Nullable Void> drain(Duration timeout) {
        if (!started) {
            drained.complete(null);
        }
        long deadline = scheduler.nanoTime() + TimeUnit.NANOSECONDS.convert(timeout);
        PollThread poll = running;
        if (poll != null) {
            // The poll thread may be waiting for handlers in a revocation, for longer than this stop will.
            poll.assignment.stopBy(deadline);
            TimeSource.Timer timer = scheduler.schedule(timeout, poll.gate::wake);
            drained.whenComplete((done, failed) -> timer.cancel());
        }
        tell(() -> beginDrain(deadline));
        return drained;
    }

    /**
     * Commits the positions and leaves the group; {@link #drain} comes first.
     *
     * @return completes when the consumer is closed
     */
    public CompletableFuture<@Nullable Void> close() {
        if (!started) {
            closed.complete(null);
        }
        tell(() -> become(Phase.CLOSED));
        return closed;
    }

    /** Notes a failure that ends the subscription; the first one counts. */
    public void fail(Throwable cause) {
        failure.compareAndSet(null, cause);
        ready.completeExceptionally(cause);
        failures.failed(cause);
    }

    public String name() {
        return plan.name();
    }

    public SubscriptionPlan plan() {
        return plan;
    }

    public Health.Subscription health() {
        List<Health.Partition> partitions = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        PollThread poll = running;
        if (poll != null) {
            for (OwnedPartition owned : poll.assignment.snapshot()) {
                partitions.add(health(owned));
            }
            Stream.of(poll.committer.problem(), poll.starts.problem(), fetchProblem)
                    .filter(Objects::nonNull)
                    .forEach(problems::add);
        }
        return new Health.Subscription(
                plan.name(),
                plan.topic(),
                plan.group(),
                Optional.ofNullable(failure.get()),
                problems,
                partitions,
                lanes.stuckHandlers(),
                counters.snapshot());
    }

    private Health.Partition health(OwnedPartition owned) {
        OwnedPartition.Oldest oldest = owned.openRecords() == 0 ? null : owned.oldest();
        Delivery inHand = lanes.oldestInHand(owned);
        if (inHand != null && (oldest == null || inHand.offset() < oldest.offset())) {
            // Under Auto the position is past what a handler has in hand.
            oldest = new OwnedPartition.Oldest(inHand.offset(), inHand.fetchedAt());
        }
        Optional<OwnedPartition.Oldest> shown = Optional.ofNullable(oldest);
        return new Health.Partition(
                owned.topicPartition().topic(),
                owned.topicPartition().partition(),
                owned.openRecords(),
                owned.openBytes(),
                shown.map(OwnedPartition.Oldest::offset),
                shown.map(o -> Duration.ofNanos(scheduler.nanoTime() - o.fetchedAt())),
                owned.paused());
    }

    /** Whether a thread is one of this subscription's workers. */
    public boolean runsOn(Thread thread) {
        return lanes.runsOn(thread);
    }

    private void tell(Runnable command) {
        mailbox.add(command);
        PollThread poll = running;
        if (poll != null) {
            poll.gate.wake();
        }
    }

    private void settled(OwnedPartition partition) {
        PollThread poll = running;
        if (poll != null && (poll.assignment.draining() || phase == Phase.DRAINING || poll.flow.mayGoOn(partition))) {
            poll.gate.wake();
        }
    }

    // --- the poll thread

    private void run() {
        try {
            PollThread poll = connect();
            running = poll;
            try {
                while (phase != Phase.CLOSED) {
                    round(poll);
                }
                commitLast(poll);
            } finally {
                poll.assignment.closing();
                poll.consumer.close(CloseOptions.timeout(plan.callTimeout()));
            }
        } catch (Throwable t) {
            fail(t);
        } finally {
            lanes.close();
            drained.complete(null);
            closed.complete(null);
        }
    }

    private PollThread connect() {
        Consumer<byte[], byte[]> consumer = clients.consumer(plan.properties());
        PollGate gate = new PollGate(consumer, scheduler);
        Committer committer =
                new Committer(consumer, plan.name(), plan.commitInterval(), counters, this::fail, scheduler);
        FlowControl flow = new FlowControl(consumer, lanes, plan.inFlightRecords(), plan.inFlightBytes());
        StartPositions starts =
                new StartPositions(consumer, plan, committer, settlement.commitsStart(), counters, scheduler);
        Assignment assignment =
                new Assignment(plan, gate, committer, starts, lanes, settlement, counters, scheduler, this::settled);
        consumer.subscribe(List.of(plan.topic()), assignment);
        return new PollThread(consumer, gate, committer, flow, starts, assignment);
    }

    private void round(PollThread poll) throws InterruptedException {
        for (Runnable command = mailbox.poll(); command != null; command = mailbox.poll()) {
            command.run();
        }
        if (phase == Phase.CLOSED) {
            return;
        }
        if (broken) {
            waitForTheEnd(poll);
            return;
        }
        boolean asked = stopping() ? poll.starts.anyUnknown() : !poll.starts.allKnown();
        try {
            OffsetOutOfRangeException lost = outOfRange;
            if (lost != null) {
                outOfRange = null;
                poll.gate.ask(() -> poll.starts.outOfRange(lost).forEach(poll.assignment::moved));
            }
            if (asked) {
                poll.gate.ask(poll.starts::resolve);
            }
            // Before the fetch: where there is nothing to read it takes its time.
            checkReady(poll);
            poll.flow.apply(poll.assignment.owned());
            poll.committer.tick(poll.assignment.owned());
            lookAround(poll);
            register(poll, poll.gate.poll(fetchTimeout(poll)));
            fetchProblem = null;
        } catch (NoOffsetForPartitionException e) {
            // The consumer asks where to start before we could say; the next round does.
            if (asked) {
                // The cluster could not say either, and the consumer would ask again at once.
                poll.gate.await(() -> !mailbox.isEmpty(), scheduler.nanoTime() + ASK_AGAIN.toNanos());
            }
        } catch (OffsetOutOfRangeException e) {
            outOfRange = e;
        } catch (RetriableException e) {
            fetchProblem = "fetch failed: " + e;
            fetchEpisodes.failed(n -> log.atWarn()
                    .addKeyValue("subscription", plan.name())
                    .addKeyValue("failures", n)
                    .addKeyValue("cause", e.toString())
                    .log("fetch failed; trying again"));
        } catch (RuntimeException e) {
            if (GroupMoved.isWhy(e)) {
                log.atDebug()
                        .addKeyValue("subscription", plan.name())
                        .setCause(e)
                        .log("met a rebalance");
            } else {
                broken = true;
                fail(e);
            }
        }
        checkDrained(poll);
    }

    /**
     * Moves positions on and gives up what is behind them, also while nothing is committed: what is kept must not depend
     * on when a commit is made or answered.
     */
    private void lookAround(PollThread poll) {
        long now = scheduler.nanoTime();
        if (now - lookAroundAt >= 0) {
            lookAroundAt = now + LOOK_AROUND.toNanos();
            for (OwnedPartition partition : poll.assignment.owned()) {
                Position unused = partition.position();
                partition.compact();
            }
        }
    }

    private void checkReady(PollThread poll) {
        if (phase == Phase.CONNECTING && poll.assignment.known() && poll.starts.allKnown()) {
            become(Phase.RUNNING);
            ready.complete(null);
        }
    }

    private void become(Phase next) {
        phase = phase.to(next);
    }

    private boolean stopping() {
        return phase != Phase.CONNECTING && phase != Phase.RUNNING;
    }

    private void waitForTheEnd(PollThread poll) throws InterruptedException {
        checkDrained(poll);
        if (phase != Phase.CLOSED && mailbox.isEmpty()) {
            poll.gate.await(
                    () -> !mailbox.isEmpty() || (phase == Phase.DRAINING && quiet(poll)),
                    scheduler.nanoTime() + LOOK_AROUND.toNanos());
        }
    }

    private Duration fetchTimeout(PollThread poll) {
        if (!poll.starts.allKnown()) {
            return ASK_AGAIN;
        }
        // In this order: what is settled between the two is seen as behind. The other way round it could be missed by
        // both, and its commit would wait for the longest fetch.
        boolean open = poll.assignment.owned().stream().anyMatch(p -> p.openRecords() > 0);
        boolean behind = poll.committer.behind(poll.assignment.owned());
        Duration longest = plan.longestFetch();
        longest = open && LOOK_AROUND.compareTo(longest) < 0 ? LOOK_AROUND : longest;
        if (open || behind) {
            Duration tick = Duration.ofNanos(poll.committer.untilNextTick());
            longest = tick.compareTo(longest) < 0 ? tick : longest;
        }
        if (phase == Phase.DRAINING) {
            Duration left = Duration.ofNanos(Math.max(0, drainDeadline - scheduler.nanoTime()));
            longest = left.compareTo(longest) < 0 ? left : longest;
        }
        return wholeMillis(longest);
    }

    /** Rounded up: the consumer counts in milliseconds, and less than one is none, which would be a spin to the tick. */
    private static Duration wholeMillis(Duration timeout) {
        return Duration.ofMillis(timeout.plusNanos(999_999).toMillis());
    }

    private void register(PollThread poll, ConsumerRecords<byte[], byte[]> records) {
        if (records.isEmpty() && records.nextOffsets().isEmpty()) {
            return;
        }
        long now = scheduler.nanoTime();
        for (var entry : records.nextOffsets().entrySet()) {
            TopicPartition name = entry.getKey();
            OwnedPartition owned = poll.assignment.owned(name);
            if (owned == null) {
                continue;
            }
            OffsetAndMetadata next = entry.getValue();
            Integer epoch = next.leaderEpoch().orElse(null);
            List<ConsumerRecord<byte[], byte[]>> fetched = records.records(name);
            if (fetched.isEmpty()) {
                owned.registerAdvance(next.offset(), epoch, now);
            } else {
                Slots slots = owned.register(fetched, next.offset(), epoch, now);
                lanes.offer(slots);
            }
        }
    }

    private void beginDrain(long deadline) {
        if (phase == Phase.CONNECTING || phase == Phase.RUNNING) {
            PollThread poll = running;
            become(Phase.DRAINING);
            drainDeadline = deadline;
            if (poll != null) {
                poll.assignment.stopping();
                poll.flow.stop();
                lanes.stop(poll.assignment.owned());
            }
            ready.completeExceptionally(new IllegalStateException("the service is stopping"));
        }
    }

    private void checkDrained(PollThread poll) {
        if (phase != Phase.DRAINING) {
            return;
        }
        boolean late = scheduler.nanoTime() - drainDeadline >= 0;
        if (late && !quiet(poll)) {
            poll.assignment.owned().forEach(OwnedPartition::admitNothing);
            lanes.giveUpRunning();
        }
        if (late || quiet(poll)) {
            become(Phase.DRAINED);
            drained.complete(null);
        }
    }

    private boolean quiet(PollThread poll) {
        return phase != Phase.DRAINING
                || (lanes.quiet() && poll.assignment.owned().stream().allMatch(p -> p.reportsAwaited() == 0));
    }

    /** Takes part in a rebalance; nothing is registered any more. */
    private void pollForGroup(PollThread poll) {
        try {
            ConsumerRecords<byte[], byte[]> unused = poll.gate.poll(ASK_AGAIN);
        } catch (NoOffsetForPartitionException e) {
            // A partition that has just come and from which nothing will be read.
        }
    }

    /** The last commit, which may have to wait for the end of a rebalance. */
    private void commitLast(PollThread poll) {
        long deadline = scheduler.nanoTime() + plan.callTimeout().toNanos();
        try {
            boolean committed = poll.committer.commitNow(poll.assignment.owned(), plan.callTimeout());
            while (!committed && !broken && scheduler.nanoTime() - deadline < 0) {
                poll.flow.apply(poll.assignment.owned());
                pollForGroup(poll);
                committed = poll.committer.commitNow(poll.assignment.owned(), plan.callTimeout());
            }
            if (!committed) {
                log.atWarn()
                        .addKeyValue("subscription", plan.name())
                        .log("last commit failed; what was handled since the one before is read again");
            }
        } catch (RuntimeException e) {
            log.atWarn()
                    .addKeyValue("subscription", plan.name())
                    .setCause(e)
                    .log("last commit failed; what was handled since the one before is read again");
        }
    }
}
