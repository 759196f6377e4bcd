package io.settlestream.internal.poll;

import io.settlestream.Health;
import io.settlestream.SubscriptionControl;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.health.FailureListener;
import io.settlestream.internal.lane.Lanes;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.DeliveryControl;
import io.settlestream.internal.settle.Recovery;
import io.settlestream.internal.settle.Settlement;
import io.settlestream.spi.KafkaClients;
import io.settlestream.spi.Scheduler;
import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * One subscription, as the rest of the application knows it: it is started, drained and closed, fails, and tells its health.
 * Thread-safe. What its own thread does is in {@link PollLoop}; what others want of that goes through a mailbox.
 *
 * <p>What it has come to is its {@link Phase}.
 */
public final class Subscription {

    private final SubscriptionPlan plan;
    private final KafkaClients clients;
    private final Lanes lanes;
    private final Settlement settlement;
    private final Recovery recovery;
    private final Counters counters;
    private final FailureListener failures;
    private final Scheduler scheduler;
    private final Progress progress = new Progress();
    private final Queue<PollLoop.Command> mailbox = new ConcurrentLinkedQueue<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final DeliveryControl control;

    /** Whether there is a thread that will do what it is told. */
    private volatile boolean started;

    /** Whether that thread has ended, so that nobody does. */
    private volatile boolean ended;

    private volatile @Nullable PollLoop running;

    /**
     * @param lanesOf makes the lanes, given what hears from them and what their deliveries can ask for
     */
    public Subscription(
            SubscriptionPlan plan,
            KafkaClients clients,
            BiFunction<Lanes.Listener, DeliveryControl, Lanes> lanesOf,
            Settlement settlement,
            Recovery recovery,
            Counters counters,
            FailureListener failures,
            Scheduler scheduler) {
        this.plan = plan;
        this.clients = clients;
        this.settlement = settlement;
        this.recovery = recovery;
        this.counters = counters;
        this.failures = failures;
        this.scheduler = scheduler;
        this.control = new Control(plan.name(), this::tell, scheduler);
        Lanes.Listener listener = new Lanes.Listener() {
            @Override
            public void progressed() {
                PollLoop poll = running;
                if (poll != null) {
                    poll.progressed();
                }
            }

            @Override
            public void failed(Throwable cause) {
                fail(cause);
            }
        };
        this.lanes = lanesOf.apply(listener, control);
    }

    /** Starts the thread. */
    public void start() {
        started = true;
        lanes.start();
        Thread unused = scheduler.start(Scheduler.Kind.PLATFORM, "settlestream-poll-" + plan.name(), this::run);
    }

    /** Completes when it is known where every assigned partition starts; exceptionally if that failed for good. */
    public CompletableFuture<@Nullable Void> ready() {
        return progress.ready();
    }

    /**
     * Stops fetching and lets running handlers, and the reports they wait for, come to an end.
     *
     * @return completes when nothing runs any more, or with what still ran at the deadline given up
     */
    public CompletableFuture<@Nullable Void> drain(Duration timeout) {
        if (!started) {
            progress.drained().complete(null);
        }
        long deadline = scheduler.nanoTime() + TimeUnit.NANOSECONDS.convert(timeout);
        PollLoop poll = running;
        if (poll != null) {
            poll.stopBy(deadline);
            TimeSource.Timer timer = scheduler.schedule(timeout, poll::wake);
            CompletableFuture<?> unused = progress.drained().whenComplete((done, failed) -> timer.cancel());
        }
        tell(loop -> loop.beginDrain(deadline));
        return progress.drained();
    }

    /**
     * Commits the positions and leaves the group; {@link #drain} comes first.
     *
     * @return completes when the consumer is closed
     */
    public CompletableFuture<@Nullable Void> close() {
        if (!started) {
            progress.closed().complete(null);
        }
        tell(loop -> progress.become(Phase.CLOSED));
        return progress.closed();
    }

    /** Notes a failure that ends the subscription; the first one counts. */
    public void fail(Throwable cause) {
        failure.compareAndSet(null, cause);
        progress.ready().completeExceptionally(cause);
        failures.failed(cause);
    }

    public String name() {
        return plan.name();
    }

    /** What users can ask of it. */
    public SubscriptionControl control() {
        return control;
    }

    public SubscriptionPlan plan() {
        return plan;
    }

    public Health.Subscription health() {
        List<Health.Partition> partitions = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        PollLoop poll = running;
        if (poll != null) {
            for (OwnedPartition owned : poll.owned()) {
                partitions.add(health(owned));
                if (owned.paused() && owned.openRecords() > 0 && owned.delayedRecords() >= owned.openRecords()) {
                    problems.add(
                            owned + " is full of delays: all " + owned.openRecords() + " records in flight wait for"
                                    + " the end of one, and nothing more is fetched until then");
                }
            }
            problems.addAll(poll.problems());
        }
        problems.addAll(recovery.problems());
        return new Health.Subscription(
                plan.name(),
                plan.source().toString(),
                plan.group(),
                Optional.ofNullable(failure.get()),
                problems,
                partitions,
                lanes.stuckHandlers(),
                counters.snapshot());
    }

    private Health.Partition health(OwnedPartition owned) {
        long fetchedTo = owned.fetchedTo();
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
                fetchedTo < 0 ? Optional.empty() : Optional.of(fetchedTo),
                owned.openRecords(),
                owned.openBytes(),
                shown.map(OwnedPartition.Oldest::offset),
                shown.map(o -> Duration.ofNanos(scheduler.nanoTime() - o.fetchedAt())),
                owned.delayedRecords(),
                owned.paused() && !owned.pausedByUser(),
                owned.pausedByUser());
    }

    /** Whether a thread is one of this subscription's workers. */
    public boolean runsOn(Thread thread) {
        return lanes.runsOn(thread);
    }

    private void tell(PollLoop.Command command) {
        mailbox.add(command);
        PollLoop poll = running;
        if (poll != null) {
            poll.wake();
        }
        if (ended) {
            refuseUndone();
        }
    }

    private void refuseUndone() {
        for (PollLoop.Command command = mailbox.poll(); command != null; command = mailbox.poll()) {
            command.tooLate();
        }
    }

    /** The life of the poll thread. */
    private void run() {
        try {
            PollLoop poll =
                    new PollLoop(plan, clients, lanes, settlement, counters, progress, mailbox, this::fail, scheduler);
            running = poll;
            poll.run();
        } catch (Throwable t) {
            fail(t);
        } finally {
            lanes.close();
            ended = true;
            refuseUndone();
            progress.drained().complete(null);
            progress.closed().complete(null);
        }
    }
}
