package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.settlestream.Message;
import io.settlestream.PublishException;
import io.settlestream.PublishException.Reason;
import io.settlestream.PublishedRecord;
import io.settlestream.embedded.EmbeddedKafka;
import io.settlestream.internal.codec.Codecs;
import io.settlestream.internal.config.ProducerSettings;
import io.settlestream.internal.publish.BrokerPublisher;
import io.settlestream.internal.publish.PublishSite;
import io.settlestream.internal.runtime.SystemEnvironment;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.spi.AppEnvironment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Producer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What publishing leaves to Kafka's producer, and what it takes for granted of it. */
class PublishingIT {

    private static final Duration FLUSH = Duration.ofSeconds(30);

    private static EmbeddedKafka kafka;

    private final AppEnvironment environment = SystemEnvironment.create();
    private Producer<byte[], byte[]> producer;

    @BeforeAll
    static void start() {
        kafka = EmbeddedKafka.start();
        kafka.createTopic("payouts", 3);
        kafka.createTopic("narrow", 1, Map.of("max.message.bytes", "1000"));
    }

    @AfterAll
    static void stop() {
        kafka.close();
    }

    @Test
    @DisplayName("6.2: many threads in little room: all is accepted, and none ever waits for the producer's memory")
    void sendNeverWaitsForMemory() throws Exception {
        BrokerPublisher broker = broker(kafka, Map.of("buffer.memory", 1 << 20));
        PublishSite site = broker.site(KafkaPublish.to("payouts"));
        int threads = 4;
        int records = 1_500;
        List<Future<Integer>> senders = new ArrayList<>();
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            for (int thread = 0; thread < threads; thread++) {
                senders.add(executor.submit(() -> {
                    List<CompletionStage<PublishedRecord>> published = new ArrayList<>();
                    for (int i = 0; i < records; i++) {
                        published.add(site.publish("x".repeat(i % 4 == 0 ? 10 : 8_200)));
                    }
                    for (CompletionStage<PublishedRecord> each : published) {
                        assertThat(each.toCompletableFuture().get().offset()).isNotNegative();
                    }
                    return published.size();
                }));
            }
        }

        for (Future<Integer> sender : senders) {
            assertThat(sender.get()).isEqualTo(records);
        }
        assertThat(metric("bufferpool-wait-time-ns-total"))
                .as("ns waited for the producer's memory")
                .isZero();
        assertThat(broker.flushAndClose(FLUSH)).isZero();
    }

    @Test
    @DisplayName("6.5: a close does not wait for linger.ms")
    void closeDoesNotLinger() {
        BrokerPublisher broker = broker(kafka, Map.of("linger.ms", 60_000));
        CompletionStage<PublishedRecord> published =
                broker.site(KafkaPublish.to("payouts")).publish("late");

        assertThat(broker.flushAndClose(FLUSH)).isZero();

        assertThat(published.toCompletableFuture().join().topic()).isEqualTo("payouts");
    }

    @Test
    @DisplayName("6.1: what the producer and the cluster refuse are typed errors")
    void refusals() {
        BrokerPublisher broker = broker(kafka, Map.of("max.block.ms", 1_000));
        PublishSite site = broker.site(KafkaPublish.create());

        assertThat(refusal(site, Message.of("v").to("payouts").partition(3))).isEqualTo(Reason.UNKNOWN_PARTITION);
        assertThat(refusal(site, Message.of("v").to("missing"))).isEqualTo(Reason.UNKNOWN_TOPIC);
        assertThat(refusal(site, Message.of("v").to("no good"))).isEqualTo(Reason.ILLEGAL_TOPIC);
        assertThat(refusal(site, Message.of("v".repeat(2_000)).to("narrow"))).isEqualTo(Reason.TOO_LARGE);
        assertThat(refusal(site, Message.of("v".repeat(2_000_000)).to("payouts")))
                .isEqualTo(Reason.TOO_LARGE);
        assertThat(broker.flushAndClose(FLUSH)).isZero();
    }

    @Test
    @DisplayName("6.1: a record as large as the producer allows is accepted, one byte more is not")
    void exactlyTheLimit() throws InterruptedException {
        BrokerPublisher broker = broker(kafka, Map.of());
        PublishSite site = broker.site(KafkaPublish.to("payouts"));
        // Overhead of a batch, of a record, no key, the value's length, no headers.
        int largest = (1 << 20) - (61 + 21 + 1 + 3 + 1);

        assertThat(refusal(site, Message.of("v".repeat(largest + 1)))).isEqualTo(Reason.TOO_LARGE);
        assertThat(site.publishAndWait("v".repeat(largest)).topic()).isEqualTo("payouts");
        assertThat(broker.flushAndClose(FLUSH)).isZero();
    }

    @Test
    @DisplayName("6.5: with the cluster gone the close counts what is not reported, in time")
    void clusterGone() {
        try (EmbeddedKafka gone = EmbeddedKafka.start()) {
            gone.createTopic("payouts", 1);
            // It lingers in the producer: once the whole cluster is gone, the producer forgets its metadata and takes
            // no more.
            BrokerPublisher broker = broker(gone, Map.of("linger.ms", 60_000));
            CompletionStage<PublishedRecord> lost =
                    broker.site(KafkaPublish.to("payouts")).publish("lost");
            gone.node(0).stop();

            assertThat(broker.flushAndClose(Duration.ofMillis(300))).isEqualTo(1);

            assertThat(lost.toCompletableFuture())
                    .failsWithin(Duration.ofSeconds(20))
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOfSatisfying(
                            PublishException.class,
                            failure -> assertThat(failure.reason()).isEqualTo(Reason.CLOSED));
        }
    }

    private static Reason refusal(PublishSite site, Message<?> message) {
        return catchThrowableOfType(PublishException.class, () -> site.publishAndWait(message))
                .reason();
    }

    private double metric(String name) {
        return producer.metrics().values().stream()
                .filter(metric -> metric.metricName().name().equals(name))
                .mapToDouble(metric -> (double) metric.metricValue())
                .sum();
    }

    private BrokerPublisher broker(EmbeddedKafka cluster, Map<String, Object> config) {
        Map<String, Object> properties = new HashMap<>(config);
        properties.put("bootstrap.servers", cluster.bootstrapServers());
        return new BrokerPublisher(
                () -> {
                    producer = environment.clients().producer(properties);
                    return producer;
                },
                new ProducerSettings(
                        properties,
                        ((Number) properties.getOrDefault("buffer.memory", 32 << 20)).longValue(),
                        1 << 20,
                        Duration.ofSeconds(60)),
                Codecs.load(new ArrayList<>()),
                environment.scheduler());
    }
}
