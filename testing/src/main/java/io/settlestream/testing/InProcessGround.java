package io.settlestream.testing;

import io.settlestream.Health;
import io.settlestream.spi.AppEnvironment;
import io.settlestream.spi.AppObserver;
import io.settlestream.spi.KafkaClients;
import io.settlestream.testing.internal.kafka.InProcessKafka;
import io.settlestream.testing.internal.kafka.ProcessClients;
import io.settlestream.testing.internal.kafka.StoredRecord;
import io.settlestream.testing.internal.sim.SimulatedProcess;
import io.settlestream.testing.internal.sim.Simulation;
import io.settlestream.testing.internal.sim.Simulation.End;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * The in-process Kafka and virtual time. Nothing runs but while the test lets it, so what a test sees does not change under
 * its eyes.
 *
 * <p>An application may name several clusters. Each list of bootstrap servers is a cluster of its own; the first one that
 * an application names is the one that the test has in its hands.
 */
final class InProcessGround implements Ground {

    /** How long the start and the stop of an application may take, in virtual time; their own timeouts are shorter. */
    private static final Duration LIFE_LIMIT = Duration.ofHours(1);

    private final Simulation simulation;
    private final InProcessKafka main;
    private final Map<String, InProcessKafka> clusters = new LinkedHashMap<>();
    private final List<InProcessProcess> processes = new ArrayList<>();
    private final TestClock clock = new VirtualClock();
    /** Futures that time will complete. */
    private final AtomicInteger awaited = new AtomicInteger();

    InProcessGround(Simulation simulation) {
        this.simulation = simulation;
        this.main = make();
    }

    private InProcessKafka make() {
        InProcessKafka kafka = new InProcessKafka(simulation);
        kafka.createTopics();
        return kafka;
    }

    Simulation simulation() {
        return simulation;
    }

    /** How a list of bootstrap servers is known. */
    static String name(List<?> bootstrapServers) {
        return String.join(",", bootstrapServers.stream().map(String::valueOf).toList());
    }

    /** The cluster of these bootstrap servers; one more if they were not named before. */
    InProcessKafka cluster(String bootstrapServers) {
        return clusters.computeIfAbsent(bootstrapServers, servers -> make());
    }

    /** The cluster that the test has in its hands, from now on also known by these bootstrap servers. */
    InProcessKafka mainAs(String bootstrapServers) {
        clusters.put(bootstrapServers, main);
        return main;
    }

    InProcessKafka main() {
        return main;
    }

    // --- processes

    /** Clients and threads that end together. */
    private final class InProcessProcess implements Launched, KafkaClients {

        private final SimulatedProcess threads;
        private final Map<InProcessKafka, ProcessClients> clients = new LinkedHashMap<>();

        InProcessProcess(String name) {
            threads = simulation.process(name);
        }

        @Override
        public AppEnvironment environment(AppObserver observer) {
            return new AppEnvironment(this, threads, observer);
        }

        @Override
        public Consumer<byte[], byte[]> consumer(Map<String, Object> properties) {
            return clients(properties).consumer(properties);
        }

        @Override
        public Producer<byte[], byte[]> producer(Map<String, Object> properties) {
            return clients(properties).producer(properties);
        }

        private ProcessClients clients(Map<String, Object> properties) {
            Object servers = Objects.requireNonNull(
                    properties.get(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG), "bootstrap.servers");
            String name = servers instanceof List<?> list ? name(list) : servers.toString();
            return clients.computeIfAbsent(cluster(name), InProcessKafka::clients);
        }

        @Override
        public void abandonStart() {
            crash();
        }

        @Override
        public void crash() {
            simulation.requireTest();
            threads.die();
            clients.values().forEach(ProcessClients::crash);
            processes.remove(this);
        }

        List<String> open() {
            return clients.values().stream()
                    .flatMap(each -> each.open().stream())
                    .toList();
        }

        List<String> members(String group) {
            return clients.values().stream()
                    .flatMap(each -> each.members(group).stream())
                    .toList();
        }
    }

    @Override
    public Launched process(String name) {
        InProcessProcess process = new InProcessProcess(name);
        processes.add(process);
        return process;
    }

    /** Under what names a process is in a group. */
    List<String> members(Launched process, String group) {
        return ((InProcessProcess) process).members(group);
    }

    @Override
    public Runnable between() {
        return simulation::mayYield;
    }

    // --- driving

    @Override
    public void requireTest() {
        simulation.requireTest();
    }

    @Override
    public <T> T call(String what, Callable<T> task) throws Exception {
        return run(simulation.process(what), null, what, task);
    }

    @Override
    public <T> T callAhead(Launched process, String what, Callable<T> task) throws Exception {
        SimulatedProcess ahead = ((InProcessProcess) process).threads;
        return run(ahead, ahead, what, task);
    }

    private <T> T run(SimulatedProcess process, @Nullable SimulatedProcess focus, String what, Callable<T> task)
            throws Exception {
        simulation.requireTest(); // before something begins that nobody waits for
        CompletableFuture<T> done = new CompletableFuture<>();
        Thread unused = process.start(io.settlestream.spi.Scheduler.Kind.VIRTUAL, "test-" + what, () -> {
            try {
                done.complete(task.call());
            } catch (Throwable t) {
                done.completeExceptionally(t);
            }
        });
        End end = simulation.drive(
                done::isDone,
                after(LIFE_LIMIT),
                () -> focus == null ? simulation.anyOutside() : simulation.anyOutside(focus),
                focus);
        if (!done.isDone()) {
            throw new NotAtRestError(
                    "The " + what + " did not come to its end: " + why(end, LIFE_LIMIT) + ".",
                    simulation.threads(),
                    wayOut(end));
        }
        try {
            return done.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            if (e.getCause() instanceof Error cause) {
                throw cause;
            }
            throw e;
        }
    }

    @Override
    public void settle(List<TestApp<?>> apps, Duration limit) {
        End end = simulation.drive(() -> open(apps).isEmpty(), after(limit), () -> waitsForOutside(apps), null);
        if (end != End.REACHED) {
            throw new NotAtRestError(
                    "The reaction did not come to rest: " + why(end, limit) + ".", open(apps), wayOut(end));
        }
    }

    @Override
    public void proceed() {
        End end = simulation.runNow();
        if (end == End.RESTLESS) {
            throw new NotAtRestError("The applications go on for ever without time going on.", List.of(), wayOut(end));
        }
    }

    @Override
    public void advance(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("time only goes on; it cannot advance by " + time);
        }
        End end = simulation.drive(() -> false, after(time), () -> false, null);
        if (end == End.RESTLESS) {
            throw new NotAtRestError("The applications go on for ever without time going on.", List.of(), wayOut(end));
        }
    }

    private long after(Duration time) {
        return simulation.after(time);
    }

    private List<String> open(List<TestApp<?>> apps) {
        List<String> open = new ArrayList<>();
        for (TestApp<?> app : apps) {
            Health health = app.healthNow();
            if (health != null && !app.hasEnded()) {
                open.addAll(open(health));
                open.addAll(app.recorder().unanswered());
            }
        }
        processes.forEach(process -> open.addAll(process.open()));
        return open;
    }

    private static List<String> open(Health health) {
        if (health.status() != Health.Status.RUNNING) {
            return List.of("the application is " + health.status() + " and has not ended");
        }
        List<String> open = new ArrayList<>();
        for (Health.Subscription subscription : health.subscriptions()) {
            for (Health.Partition partition : subscription.partitions()) {
                String name =
                        partition.topic() + "-" + partition.partition() + " of subscription " + subscription.name();
                if (partition.openRecords() > 0 && !partition.pausedByUser()) {
                    open.add(name + " has " + partition.openRecords() + " open records"
                            + (partition.delayedRecords() > 0
                                    ? ", of which " + partition.delayedRecords() + " wait for the end of a delay"
                                    : "")
                            + partition
                                    .oldestOpen()
                                    .map(offset -> ", the oldest at offset " + offset)
                                    .orElse(""));
                }
                if (partition.paused()) {
                    open.add(name + " is paused");
                }
            }
        }
        return open;
    }

    private boolean waitsForOutside(List<TestApp<?>> apps) {
        if (simulation.anyOutside()) {
            // A handler that sleeps on the clock may have the lock that the others wait for, and only time lets it go
            // on.
            return !simulation.onlyLocksOutside() || !anyHandlerOn(apps, simulation::waitsInside);
        }
        // A future that time completes needs no one outside; which one a handler waits for cannot be told.
        return awaited.get() == 0 && anyHandlerOn(apps, simulation::waitsForFuture);
    }

    private static boolean anyHandlerOn(List<TestApp<?>> apps, Predicate<Thread> which) {
        return apps.stream().anyMatch(app -> app.recorder().anyHandlerOn(which));
    }

    private String why(End end, Duration limit) {
        return switch (end) {
            case TIME_UP -> "it is not after " + limit + " of virtual time";
            case OUTSIDE ->
                "it has waited for " + Simulation.PATIENCE.toSeconds()
                        + " s, in real time, for something that the test does not control";
            case RESTLESS -> "threads keep going without time going on";
            case REACHED -> "it did";
        };
    }

    private static String wayOut(End end) {
        return switch (end) {
            case TIME_UP, REACHED ->
                "A record that is retried for ever never comes to rest: let what it needs succeed, or look at it on its"
                        + " way with send(...), proceed() and advance(...) instead. A reaction that needs longer, as one"
                        + " with a long delay does, has settleLimit(...).";
            case OUTSIDE ->
                "A handler waits for a future that nobody completes, for a lock or a latch, or for another"
                        + " system. Use send(...) and proceed(), and complete it in between; or sleep on the TestClock.";
            case RESTLESS -> "Something hands work to itself. Back off, or look at it with a debugger.";
        };
    }

    // --- looking

    @Override
    public TestClock clock() {
        return clock;
    }

    @Override
    public List<String> topics() {
        return main.topics();
    }

    @Override
    public List<TestRecord> records(String topic) {
        return records(main, topic);
    }

    static List<TestRecord> records(InProcessKafka kafka, String topic) {
        List<TestRecord> records = new ArrayList<>();
        for (StoredRecord record : kafka.committedRecords(topic)) {
            records.add(new TestRecord(
                    topic,
                    record.partition(),
                    record.offset(),
                    Instant.ofEpochMilli(record.timestamp()),
                    record.key(),
                    record.value(),
                    record.headers()));
        }
        return records;
    }

    @Override
    public Map<TopicPartition, Long> ends(String topic) {
        Map<TopicPartition, Long> ends = new LinkedHashMap<>();
        for (int i = 0; i < main.partitions(topic); i++) {
            TopicPartition partition = new TopicPartition(topic, i);
            ends.put(partition, main.stableOffset(partition));
        }
        return ends;
    }

    @Override
    public Map<TopicPartition, OffsetAndMetadata> committed(String group) {
        return main.committed(group);
    }

    @Override
    public Duration assertionPatience() {
        return Duration.ZERO;
    }

    @Override
    public void close() {
        simulation.requireTest();
        simulation.close();
    }

    private final class VirtualClock implements TestClock {

        @Override
        public Instant now() {
            return simulation.now();
        }

        @Override
        public void sleep(Duration time) throws InterruptedException {
            simulation.sleep(time);
        }

        @Override
        public CompletableFuture<Void> after(Duration time) {
            CompletableFuture<Void> passed = new CompletableFuture<>();
            awaited.incrementAndGet();
            var unused = simulation.schedule(time, () -> {
                awaited.decrementAndGet();
                passed.complete(null);
            });
            return passed;
        }
    }
}
