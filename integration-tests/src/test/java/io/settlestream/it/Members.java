package io.settlestream.it;

import io.settlestream.App;
import io.settlestream.Handler;
import io.settlestream.Health;
import io.settlestream.Mount;
import io.settlestream.NoState;
import io.settlestream.RunningApp;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** A topic, a group that reads it under Commit.tracked(), and the group's members, each an application of this JVM. */
final class Members implements AutoCloseable {

    final LiveKafka kafka;
    final String topic;
    final String group = LiveKafka.unique("group");
    final Ledger ledger = new Ledger();

    private final int partitions;
    private final UnaryOperator<KafkaTopic> settings;
    private final ConcurrentLinkedDeque<RunningApp> running = new ConcurrentLinkedDeque<>();
    private final ConcurrentLinkedDeque<CountDownLatch> latches = new ConcurrentLinkedDeque<>();

    Members(LiveKafka kafka, GroupProtocol protocol, int partitions) {
        this(kafka, partitions, protocol::apply);
    }

    Members(LiveKafka kafka, int partitions, UnaryOperator<KafkaTopic> settings) {
        this.kafka = kafka;
        this.partitions = partitions;
        this.settings = settings;
        this.topic = kafka.topic("members", partitions);
    }

    KafkaTopic topic() {
        return settings.apply(KafkaTopic.of(topic)
                .commit(Commit.tracked())
                .startOffset(StartOffset.EARLIEST)
                .config("auto.commit.interval.ms", 100));
    }

    /** A latch that is opened at the end at the latest, so that a failed test leaves nothing behind. */
    CountDownLatch latch() {
        CountDownLatch latch = new CountDownLatch(1);
        latches.add(latch);
        return latch;
    }

    CountDownLatch releasedAtTheEnd(CountDownLatch latch) {
        latches.add(latch);
        return latch;
    }

    Subscriber<String, Object> subscriber(String member, Handler<String, Object> handler) {
        return Subscriber.on(topic(), String.class).handle(ledger.kept(member, handler));
    }

    RunningApp start(String member, Consumer<Mount> options, Handler<String, Object> handler) {
        return start(app(member, options, subscriber(member, handler)), new WatchedClients());
    }

    RunningApp start(String member, WatchedClients clients, Consumer<Mount> options, Handler<String, Object> handler) {
        return start(app(member, options, subscriber(member, handler)), clients);
    }

    RunningApp start(App<NoState> app, WatchedClients clients) {
        RunningApp started = app.start(clients.environment());
        running.addFirst(started);
        return started;
    }

    /** Starts a member whose first assignment may have to wait for others. */
    CompletableFuture<RunningApp> startLater(String member, Consumer<Mount> options, Handler<String, Object> handler) {
        return CompletableFuture.supplyAsync(
                () -> start(member, options, handler),
                task -> Thread.ofPlatform().daemon().start(task));
    }

    App<NoState> app(String member, Consumer<Mount> options, Subscriber<?, Object> subscriber) {
        return SettleStream.app(member, "1")
                .shutdownTimeout(Duration.ofSeconds(5))
                .withBroker(
                        KafkaBroker.of(kafka.bootstrap()).defaultGroup(group),
                        scope -> options.accept(scope.include(subscriber)));
    }

    /** Writes as many records to each partition. */
    void produce(int count) {
        for (int partition = 0; partition < partitions; partition++) {
            String[] values = new String[count];
            for (int i = 0; i < count; i++) {
                values[i] = partition + "/" + i;
            }
            kafka.produce(topic, partition, values);
        }
    }

    void awaitCommittedEnd() {
        Map<Integer, Long> ends = kafka.ends(topic, partitions);
        LiveKafka.eventually("the group commits " + ends, () -> committed().equals(ends));
    }

    /** What is committed, with 0 for nothing. */
    Map<Integer, Long> committed() {
        Map<Integer, Long> all = new TreeMap<>();
        for (int partition = 0; partition < partitions; partition++) {
            all.put(partition, 0L);
        }
        all.putAll(kafka.committed(group, topic));
        return all;
    }

    /** How many members the cluster counts. */
    int count() {
        return LiveKafka.get(kafka.admin()
                        .describeConsumerGroups(List.of(group))
                        .describedGroups()
                        .get(group))
                .members()
                .size();
    }

    static Health.Subscription health(RunningApp app) {
        return app.health().subscriptions().get(0);
    }

    static long rebalances(RunningApp app) {
        return health(app).counts().rebalances();
    }

    @Override
    public void close() {
        latches.forEach(CountDownLatch::countDown);
        running.forEach(RunningApp::close);
    }
}
