package io.settlestream.examples.payouts.demo;

import io.settlestream.examples.payouts.PayoutService.PageView;
import io.settlestream.examples.payouts.PayoutService.Payout;
import io.settlestream.examples.payouts.PayoutService.StatementLine;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the service is given: payouts with the ids 1 to {@code payouts}, and for every fourth a page view and a statement
 * line.
 *
 * @param payouts how many payouts
 * @param seed decides amounts and accounts
 */
record Workload(long payouts, long seed) {

    /** One payout in so many has the amount 0. */
    private static final int EMPTY_PAYOUT_EVERY = 200;

    private static final int EMPTY_LINE_EVERY = 50;
    private static final int OTHERS_EVERY = 4;
    private static final int ACCOUNTS = 500;
    private static final int PAGES = 20;
    private static final int MAX_CENTS = 100_000;

    private static final JsonMapper JSON = new JsonMapper();

    long pageViews() {
        return payouts / OTHERS_EVERY;
    }

    long statementLines() {
        return payouts / OTHERS_EVERY;
    }

    /** How many records a topic with tracked commits gets. */
    long sizeOf(Groups.Reading reading) {
        return reading.topic().equals("payouts") ? payouts : statementLines();
    }

    /**
     * Produces everything in the background.
     *
     * @param allowEnd completed when the last tenth may be produced: until then the stream is not over
     * @return completes when Kafka has accepted it
     */
    CompletableFuture<Void> produce(String bootstrap, CompletableFuture<Void> allowEnd) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread.ofVirtual().name("demo-producer").start(() -> {
            Map<String, Object> config =
                    Map.of("bootstrap.servers", bootstrap, "client.id", "demo-producer", "linger.ms", 5);
            try (Producer<byte[], byte[]> producer =
                    new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
                long last = payouts / 10;
                produce(producer, 1, payouts - last, done);
                producer.flush();
                allowEnd.join();
                produce(producer, payouts - last + 1, payouts, done);
                producer.flush();
                done.complete(null);
            } catch (RuntimeException e) {
                done.completeExceptionally(e);
            }
        });
        return done;
    }

    private void produce(Producer<byte[], byte[]> producer, long first, long last, CompletableFuture<Void> failed) {
        Random random = new Random(seed + first);
        for (long id = first; id <= last && !failed.isDone(); id++) {
            long cents = id % EMPTY_PAYOUT_EVERY == 0 ? 0 : 1 + random.nextInt(MAX_CENTS);
            String account = "account-" + random.nextInt(ACCOUNTS);
            send(producer, "payouts", account, new Payout(id, cents), failed);
            if (id % OTHERS_EVERY == 0) {
                send(producer, "page-views", account, new PageView("/page/" + random.nextInt(PAGES)), failed);
                long paid = id % (EMPTY_LINE_EVERY * OTHERS_EVERY) == 0 ? 0 : cents;
                send(producer, "statements", account, new StatementLine(id, paid), failed);
            }
        }
    }

    private static void send(
            Producer<byte[], byte[]> producer, String topic, String key, Object value, CompletableFuture<Void> failed) {
        var record = new ProducerRecord<>(topic, key.getBytes(StandardCharsets.UTF_8), JSON.writeValueAsBytes(value));
        var unused = producer.send(record, (metadata, exception) -> {
            if (exception != null) {
                failed.completeExceptionally(exception);
            }
        });
    }
}
