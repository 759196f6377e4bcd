package io.settlestream.internal.runtime;

import io.settlestream.Health;
import io.settlestream.internal.handle.HandlerEnvironment;
import io.settlestream.internal.handle.HandlerSpec;
import io.settlestream.internal.handle.Handlers;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.health.FailureListener;
import io.settlestream.internal.lane.BatchLane;
import io.settlestream.internal.lane.KeyedLanes;
import io.settlestream.internal.lane.Lanes;
import io.settlestream.internal.lane.SharedLane;
import io.settlestream.internal.poll.Subscription;
import io.settlestream.internal.poll.SubscriptionPlan;
import io.settlestream.internal.publish.BrokerPublisher;
import io.settlestream.internal.settle.AutoSettlement;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.DeliveryControl;
import io.settlestream.internal.settle.Recovery;
import io.settlestream.internal.settle.Settlement;
import io.settlestream.internal.settle.TrackedSettlement;
import io.settlestream.kafka.ClosedKafkaBroker;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.spi.AppEnvironment;
import io.settlestream.spi.Scheduler;
import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** One broker of a running application: its subscriptions and its producer. */
final class BrokerRuntime {

    private final BrokerPlan plan;
    private final AppEnvironment environment;
    private final Object state;
    private final FailureListener failures;
    private final CompletableFuture<?> startDoomed;
    private final BrokerPublisher publisher;
    private final List<Subscription> subscriptions = new ArrayList<>();

    /** When the start stops waiting, on the time source's clock. */
    private long assignmentDeadline;

    /**
     * @param startDoomed fails when it is pointless to wait for assignments; failed from here, too
     */
    BrokerRuntime(
            BrokerPlan plan,
            AppEnvironment environment,
            Object state,
            FailureListener failures,
            CompletableFuture<?> startDoomed) {
        this.plan = plan;
        this.environment = environment;
        this.state = state;
        this.failures = failures;
        this.startDoomed = startDoomed;
        this.publisher = new BrokerPublisher(
                () -> environment.clients().producer(plan.producer().properties()),
                plan.producer(),
                plan.codecs(),
                environment.scheduler());
        for (BrokerPlan.Mount mount : plan.mounts()) {
            subscriptions.add(subscription(mount));
        }
    }

    /** Opens what publishes. */
    void connect() throws StartFailure {
        if (plan.publishes()) {
            try {
                publisher.open();
            } catch (RuntimeException e) {
                throw new StartFailure(
                        "the producer of " + plan.broker().bootstrapServers() + " cannot be opened: " + why(e)
                                + ". Correct what KafkaBroker.config or producerConfig says",
                        e);
            }
        }
        plan.sites().forEach(site -> site.bind(publisher.site(site.publish())));
    }

    /** Starts to subscribe; does not wait for assignments. */
    void subscribe() {
        assignmentDeadline = environment.scheduler().nanoTime()
                + TimeUnit.NANOSECONDS.convert(plan.broker().assignmentTimeout());
        subscriptions.forEach(Subscription::start);
    }

    /** Waits until every subscription knows where its partitions start. */
    void awaitAssignments() throws StartFailure, InterruptedException {
        Scheduler scheduler = environment.scheduler();
        CompletableFuture<Object> inTime = new CompletableFuture<>();
        TimeoutException timeUp = new TimeoutException("assignmentTimeout has passed");
        TimeSource.Timer timer = scheduler.schedule(
                Duration.ofNanos(Math.max(0, assignmentDeadline - scheduler.nanoTime())),
                () -> inTime.completeExceptionally(timeUp));
        try {
            for (Subscription subscription : subscriptions) {
                awaitAssignment(
                        subscription, CompletableFuture.anyOf(subscription.ready(), startDoomed, inTime), timeUp);
            }
        } finally {
            timer.cancel();
        }
    }

    private void awaitAssignment(Subscription subscription, CompletableFuture<Object> ready, TimeoutException timeUp)
            throws StartFailure, InterruptedException {
        try {
            Object unused = environment.scheduler().await(ready);
        } catch (ExecutionException e) {
            if (e.getCause() == timeUp) {
                throw new StartFailure(
                        "subscription " + subscription.name() + " (group "
                                + subscription.plan().groupName() + ") was told no assignment by "
                                + plan.broker().bootstrapServers() + " within assignmentTimeout "
                                + plan.broker().assignmentTimeout()
                                + ". Is the cluster up and reachable, and the group not held up by a member?"
                                + " Raise KafkaBroker.assignmentTimeout(...) if it needs longer",
                        timeUp);
            }
            throw e.getCause() instanceof StartFailure failure
                    ? failure
                    : failure(subscription.plan(), e.getCause() == null ? e : e.getCause());
        }
    }

    private static StartFailure failure(SubscriptionPlan subscription, Throwable cause) {
        return new StartFailure(
                "subscription " + subscription.name() + " (group " + subscription.groupName() + ") failed: "
                        + why(cause),
                cause);
    }

    /** Kafka's clients say at the surface that something failed, and at the bottom why. */
    private static String why(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root == failure ? String.valueOf(failure.getMessage()) : failure.getMessage() + " (" + root + ")";
    }

    /** Begins to drain; completes when no handler runs any more, or the time is up. */
    CompletableFuture<?> drain(Duration timeout) {
        return CompletableFuture.allOf(subscriptions.stream()
                .map(subscription -> subscription.drain(timeout))
                .toArray(CompletableFuture[]::new));
    }

    /** Flushes and closes the producer, commits positions, leaves the groups. */
    ClosedKafkaBroker close() {
        publisher.closeSites();
        int unflushed = publisher.flushAndClose(plan.broker().flushTimeout());
        Object unused = environment
                .scheduler()
                .join(CompletableFuture.allOf(
                        subscriptions.stream().map(Subscription::close).toArray(CompletableFuture[]::new)));
        return new ClosedKafkaBroker(plan.broker().bootstrapServers(), unflushed);
    }

    /** Whether a thread runs handlers of this broker's subscriptions. */
    boolean runsOn(Thread thread) {
        return subscriptions.stream().anyMatch(subscription -> subscription.runsOn(thread));
    }

    /** Its subscriptions. */
    List<Subscription> subscriptions() {
        return subscriptions;
    }

    List<Health.Subscription> health() {
        return subscriptions.stream().map(Subscription::health).toList();
    }

    /** Why a start failed. */
    static final class StartFailure extends Exception {

        private static final long serialVersionUID = 1L;

        StartFailure(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    private Subscription subscription(BrokerPlan.Mount mount) {
        String name = mount.plan().name();
        Scheduler scheduler = environment.scheduler();
        Counters counters = new Counters();
        FailureListener failed = cause -> {
            startDoomed.completeExceptionally(failure(mount.plan(), cause));
            failures.failed(cause);
        };
        AtomicReference<FailureListener> fails = new AtomicReference<>(failed);
        Recovery recovery = new Recovery(
                name,
                mount.recovery(),
                (record, listener) -> publisher.send(record, null, listener),
                counters,
                cause -> fails.get().failed(cause),
                scheduler);
        Settlement settlement = switch (mount.commit()) {
            case Commit.Auto auto -> new AutoSettlement(name, counters, recovery, scheduler);
            case Commit.Tracked tracked -> new TrackedSettlement(name, counters, recovery, scheduler);
        };
        Subscription subscription = new Subscription(
                mount.plan(),
                environment.clients(),
                (listener, control) -> lanes(mount, listener, control, settlement, recovery, counters),
                settlement,
                recovery,
                counters,
                failed,
                scheduler);
        fails.set(subscription::fail);
        return subscription;
    }

    private Lanes lanes(
            BrokerPlan.Mount mount,
            Lanes.Listener listener,
            DeliveryControl control,
            Settlement settlement,
            Recovery recovery,
            Counters counters) {
        MountOptions options = mount.options();
        HandlerEnvironment handlers = new HandlerEnvironment(
                mount.plan().name(),
                mount.codec(),
                options.onException(),
                options.onDecodeFailure(),
                settlement,
                recovery,
                counters,
                listener::failed,
                environment.scheduler(),
                environment.observer());
        Delivery.Shared shared = new Delivery.Shared(state, publisher.site(KafkaPublish.create()), control);
        Lanes.Workers workers = new Lanes.Workers(
                options.concurrency(),
                options.dedicatedThreads() != null,
                "settlestream-worker-" + mount.plan().name());
        Duration stuckBound = mount.plan().drainTimeout();
        if (mount.handler() instanceof HandlerSpec.Batch batch) {
            return new BatchLane(
                    workers,
                    environment.scheduler(),
                    stuckBound,
                    listener,
                    shared,
                    Handlers.batch(batch, handlers),
                    batch.maxSize(),
                    options.backoff());
        }
        var handler = Handlers.single(mount.handler(), handlers, publisher::site);
        return options.workersByKey() == null
                ? new SharedLane(
                        workers, environment.scheduler(), stuckBound, listener, shared, handler, options.backoff())
                : new KeyedLanes(
                        workers,
                        environment.scheduler(),
                        stuckBound,
                        listener,
                        shared,
                        handler,
                        options.laneKey(),
                        options.backoff());
    }
}
