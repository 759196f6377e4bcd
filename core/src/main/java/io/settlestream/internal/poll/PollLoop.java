package io.settlestream.internal.poll;

import io.settlestream.internal.commit.Commits;
import io.settlestream.internal.commit.Committer;
import io.settlestream.internal.commit.GroupMoved;
import io.settlestream.internal.commit.NoCommits;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.health.Episodes;
import io.settlestream.internal.health.FailureListener;
import io.settlestream.internal.lane.Lanes;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Position;
import io.settlestream.internal.position.Slots;
import io.settlestream.internal.settle.Settlement;
import io.settlestream.spi.KafkaClients;
import io.settlestream.spi.Scheduler;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
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
 * What the poll thread of a subscription does: rounds of doing what others asked for, finding out where partitions start,
 * pausing and resuming, committing, and fetching. It polls for as long as the subscription lives, whatever its handlers do,
 * so the group never misses it. Nothing else touches the consumer.
 *
 * <p>Made on the poll thread and used there, but for what stands under <i>any thread</i>.
 */
final class PollLoop {

    private static final Logger log = LoggerFactory.getLogger(PollLoop.class);

    /** How often the poll thread looks around while something is open. */
    private static final Duration LOOK_AROUND = Duration.ofSeconds(1);

    /** How long a fetch lasts while it is not known where partitions start, because the cluster did not answer. */
    private static final Duration ASK_AGAIN = Duration.ofMillis(100);

    /** Something that others want done on the poll thread. */
    @FunctionalInterface
    interface Command {

        void run(PollLoop poll);

        /** The poll thread has ended and will not run it. Any thread. */
        default void tooLate() {}
    }

    private final SubscriptionPlan plan;
    private final Lanes lanes;
    private final Progress progress;
    private final Queue<Command> mailbox;
    private final FailureListener failures;
    private final Scheduler scheduler;
    private final Episodes fetchEpisodes;

    private final Consumer<byte[], byte[]> consumer;
    private final PollGate gate;
    private final Commits committer;
    private final FlowControl flow;
    private final SlowStart slowStart;
    private final StartPositions starts;
    private final Assignment assignment;
    private final Assigner assigner;
    private final Seeks seeks;
    private final Controls controls;

    /** Whether the consumer itself has failed: nothing more is asked of it. */
    private boolean broken;

    /** Why fetches fail, if they do. */
    private volatile @Nullable String fetchProblem;

    /** A position that is not in its log, to be asked about in the next round. */
    private @Nullable OffsetOutOfRangeException outOfRange;

    /** When to look around next, on the scheduler's clock. */
    private long lookAroundAt;

    private long drainDeadline;

    /**
     * Opens the consumer and subscribes.
     *
     * @param mailbox what others ask of the poll thread; they {@link #wake} it after adding something
     */
    PollLoop(
            SubscriptionPlan plan,
            KafkaClients clients,
            Lanes lanes,
            Settlement settlement,
            Counters counters,
            Progress progress,
            Queue<Command> mailbox,
            FailureListener failures,
            Scheduler scheduler) {
        this.plan = plan;
        this.lanes = lanes;
        this.progress = progress;
        this.mailbox = mailbox;
        this.failures = failures;
        this.scheduler = scheduler;
        this.fetchEpisodes = new Episodes(scheduler);
        this.lookAroundAt = scheduler.nanoTime();
        this.consumer = clients.consumer(plan.properties());
        this.gate = new PollGate(consumer, scheduler);
        this.committer = plan.group()
                .<Commits>map(group -> new Committer(
                        consumer,
                        plan.name(),
                        plan.source().refusal(group),
                        plan.commitInterval(),
                        counters,
                        failures,
                        scheduler))
                .orElse(NoCommits.INSTANCE);
        this.slowStart = new SlowStart(plan, this::partitions, committer, this::handOut, scheduler);
        this.flow = new FlowControl(consumer, lanes, slowStart, plan.inFlightRecords(), plan.inFlightBytes());
        this.starts = new StartPositions(
                consumer, plan, committer, settlement.commitsStart(), slowStart, counters, scheduler);
        Pauses pauses = new Pauses();
        this.assignment = new Assignment(
                plan,
                gate,
                committer,
                starts,
                pauses,
                this::left,
                lanes,
                settlement,
                counters,
                scheduler,
                this::settled);
        this.assigner = plan.source() instanceof Reading.Partitions partitions
                ? new ManualAssigner(consumer, plan, partitions, assignment, scheduler)
                : new GroupAssigner(consumer, plan, assignment);
        this.seeks = new Seeks(
                plan.name(),
                consumer,
                new LogPlaces(consumer, plan.callTimeout()),
                assignment::sought,
                counters,
                scheduler);
        this.controls = new Controls(assignment, lanes, pauses, seeks, name -> !plan.retries(name));
        try {
            assigner.begin();
        } catch (RuntimeException e) {
            consumer.close(CloseOptions.timeout(Duration.ZERO));
            throw e;
        }
    }

    // --- any thread

    /** Makes the poll thread look at its mailbox and at everything else soon. */
    void wake() {
        gate.wake();
    }

    /** A worker has nothing to do, or something that the poll thread watches has ended. */
    void progressed() {
        if (flow.anyPaused() || progress.phase() == Phase.DRAINING || assignment.draining()) {
            gate.wake();
        }
    }

    private void settled(OwnedPartition partition) {
        if (assignment.draining()
                || progress.phase() == Phase.DRAINING
                || flow.mayGoOn(partition)
                || slowStart.waits()) {
            gate.wake();
        }
    }

    /** The poll thread may be waiting for handlers in a revocation, for longer than a stop will: it waits no longer than this. */
    void stopBy(long deadline) {
        assignment.stopBy(deadline);
    }

    /** The partitions that this member owns. */
    List<OwnedPartition> owned() {
        return assignment.snapshot();
    }

    /** Failures that go on. */
    List<String> problems() {
        return Stream.of(committer.problem(), starts.problem(), seeks.problem(), fetchProblem)
                .filter(Objects::nonNull)
                .toList();
    }

    // --- the poll thread

    /** Does what users want of partitions. */
    Controls controls() {
        return controls;
    }

    private Collection<OwnedPartition> partitions() {
        return assignment.owned();
    }

    private void moved(TopicPartition name, long offset) {
        OwnedPartition owned = assignment.owned(name);
        if (owned != null && !slowStart.moved(owned, offset)) {
            assignment.moved(name, offset);
        }
    }

    private void left(TopicPartition name) {
        seeks.gone(name);
    }

    /** Polls until the subscription is to be closed, then commits and leaves the group. */
    void run() throws InterruptedException {
        try {
            while (progress.phase() != Phase.CLOSED) {
                round();
            }
            commitLast();
        } finally {
            assignment.closing();
            consumer.close(CloseOptions.timeout(plan.callTimeout()));
        }
    }

    private void round() throws InterruptedException {
        for (Command command = mailbox.poll(); command != null; command = mailbox.poll()) {
            command.run(this);
        }
        if (progress.phase() == Phase.CLOSED) {
            return;
        }
        if (broken) {
            waitForTheEnd();
            return;
        }
        boolean asked = stopping() ? starts.anyUnknown() : !starts.allKnown();
        try {
            OffsetOutOfRangeException lost = outOfRange;
            if (lost != null) {
                outOfRange = null;
                gate.ask(() -> starts.outOfRange(lost).forEach(this::moved));
            }
            if (assigner.looks() && !stopping()) {
                gate.ask(assigner::look);
            }
            if (asked) {
                gate.ask(starts::resolve);
            }
            if (seeks.any()) {
                gate.ask(seeks::resolve);
            }
            // Before the fetch: where there is nothing to read it takes its time.
            checkReady();
            slowStart.advance();
            flow.apply(assignment.owned());
            committer.tick(assignment.owned());
            lookAround();
            fetch(fetchTimeout());
            fetchProblem = null;
        } catch (NoOffsetForPartitionException e) {
            // The consumer asks where to start before we could say; the next round does.
            askAgainLater(asked);
        } catch (OffsetOutOfRangeException e) {
            outOfRange = e;
            askAgainLater(asked && starts.anyUnknown());
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
                controls.stop();
                failures.failed(e);
            }
        }
        checkDrained();
    }

    /** If the cluster could not say either where partitions start, the consumer would ask again at once. */
    private void askAgainLater(boolean asked) throws InterruptedException {
        if (asked) {
            gate.await(() -> !mailbox.isEmpty(), scheduler.nanoTime() + ASK_AGAIN.toNanos());
        }
    }

    /**
     * Moves positions on and gives up what is behind them, also while nothing is committed: what is kept must not depend
     * on when a commit is made or answered.
     */
    private void lookAround() {
        long now = scheduler.nanoTime();
        if (now - lookAroundAt >= 0) {
            lookAroundAt = now + LOOK_AROUND.toNanos();
            for (OwnedPartition partition : assignment.owned()) {
                Position unused = partition.position();
                partition.compact();
            }
        }
    }

    private void checkReady() {
        if (progress.phase() == Phase.CONNECTING && assignment.known() && starts.allKnown()) {
            progress.become(Phase.RUNNING);
            progress.ready().complete(null);
        }
    }

    private boolean stopping() {
        return progress.phase() != Phase.CONNECTING && progress.phase() != Phase.RUNNING;
    }

    private void waitForTheEnd() throws InterruptedException {
        checkDrained();
        if (progress.phase() != Phase.CLOSED && mailbox.isEmpty()) {
            gate.await(
                    () -> !mailbox.isEmpty() || (progress.phase() == Phase.DRAINING && quiet()),
                    scheduler.nanoTime() + LOOK_AROUND.toNanos());
        }
    }

    private void fetch(Duration timeout) throws InterruptedException {
        if (assigner.polls()) {
            register(gate.poll(timeout));
        } else {
            gate.await(() -> !mailbox.isEmpty(), scheduler.nanoTime() + timeout.toNanos());
        }
    }

    private Duration fetchTimeout() {
        if (!starts.allKnown() || seeks.any()) {
            return ASK_AGAIN;
        }
        Outlook outlook = Outlook.of(
                () -> assignment.owned().stream().anyMatch(p -> p.openRecords() > 0),
                () -> committer.behind(assignment.owned()));
        Duration longest = plan.longestFetch();
        longest = outlook.open() && LOOK_AROUND.compareTo(longest) < 0 ? LOOK_AROUND : longest;
        if (outlook.open() || outlook.behind()) {
            Duration tick = Duration.ofNanos(committer.untilNextTick());
            longest = tick.compareTo(longest) < 0 ? tick : longest;
        }
        longest = slowStart.untilNextLook(longest);
        Duration look = Duration.ofNanos(assigner.untilNextLook());
        longest = look.compareTo(longest) < 0 ? look : longest;
        if (progress.phase() == Phase.DRAINING) {
            Duration left = Duration.ofNanos(Math.max(0, drainDeadline - scheduler.nanoTime()));
            longest = left.compareTo(longest) < 0 ? left : longest;
        }
        return wholeMillis(longest);
    }

    /** Rounded up: the consumer counts in milliseconds, and less than one is none, which would be a spin to the tick. */
    private static Duration wholeMillis(Duration timeout) {
        return Duration.ofMillis(timeout.plusNanos(999_999).toMillis());
    }

    private void register(ConsumerRecords<byte[], byte[]> records) {
        if (records.isEmpty() && records.nextOffsets().isEmpty()) {
            return;
        }
        long now = scheduler.nanoTime();
        // In the order in which the client hands partitions out: that of nextOffsets() differs from JVM to JVM even
        // where the client's own does not, and then a seeded run could not be had again.
        for (TopicPartition name : records.partitions()) {
            OwnedPartition owned = assignment.owned(name);
            if (owned != null && starts.reads(owned)) {
                OffsetAndMetadata next =
                        Objects.requireNonNull(records.nextOffsets().get(name), "next offset");
                if (slowStart.active()) {
                    slowStart.add(owned, records.records(name), next.offset(), epoch(next));
                } else {
                    handOut(owned, owned.register(records.records(name), next.offset(), epoch(next), now));
                }
            }
        }
        records.nextOffsets().forEach((name, next) -> {
            OwnedPartition owned = assignment.owned(name);
            if (owned != null && starts.reads(owned) && records.records(name).isEmpty()) {
                owned.registerAdvance(next.offset(), epoch(next), now);
            }
        });
    }

    private void handOut(OwnedPartition owned, Slots slots) {
        if (plan.retries(owned.topicPartition())) {
            lanes.offerCopies(slots, plan.groupName());
        } else {
            lanes.offer(slots);
        }
    }

    private static @Nullable Integer epoch(OffsetAndMetadata next) {
        return next.leaderEpoch().orElse(null);
    }

    /** Stops fetching; what runs has until the deadline. Told through the mailbox. */
    void beginDrain(long deadline) {
        if (progress.phase() == Phase.CONNECTING || progress.phase() == Phase.RUNNING) {
            progress.become(Phase.DRAINING);
            drainDeadline = deadline;
            assignment.stopping();
            controls.stop();
            flow.stop();
            slowStart.stop();
            lanes.stop(assignment.owned());
            progress.ready().completeExceptionally(new IllegalStateException("the service is stopping"));
        }
    }

    private void checkDrained() {
        if (progress.phase() != Phase.DRAINING) {
            return;
        }
        boolean late = scheduler.nanoTime() - drainDeadline >= 0;
        if (late && !quiet()) {
            assignment.owned().forEach(OwnedPartition::admitNothing);
            lanes.giveUpRunning();
        }
        if (late || quiet()) {
            progress.become(Phase.DRAINED);
            progress.drained().complete(null);
        }
    }

    private boolean quiet() {
        return progress.phase() != Phase.DRAINING
                || (lanes.quiet() && assignment.owned().stream().allMatch(p -> p.reportsAwaited() == 0));
    }

    /** Takes part in a rebalance; nothing is registered any more. */
    private void pollForGroup() {
        try {
            ConsumerRecords<byte[], byte[]> unused = gate.poll(ASK_AGAIN);
        } catch (NoOffsetForPartitionException e) {
            // A partition that has just come and from which nothing will be read.
        }
    }

    /** The last commit, which may have to wait for the end of a rebalance. */
    private void commitLast() {
        long deadline = scheduler.nanoTime() + plan.callTimeout().toNanos();
        assignment.owned().forEach(partition -> partition.running(false));
        try {
            boolean committed = committer.commitNow(assignment.owned(), plan.callTimeout());
            while (!committed && !broken && scheduler.nanoTime() - deadline < 0) {
                flow.apply(assignment.owned());
                pollForGroup();
                committed = committer.commitNow(assignment.owned(), plan.callTimeout());
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
