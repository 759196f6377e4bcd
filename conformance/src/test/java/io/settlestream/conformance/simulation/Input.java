package io.settlestream.conformance.simulation;

import io.settlestream.kafka.RecordCopy;
import io.settlestream.testing.TestKafka;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** Writes what the application reads: with and without keys, broken, empty, in transactions that are aborted or not. */
final class Input {

    private static final int KEYS = 6;

    /** The longest that a broker allows; a transaction is left open for as long as chance lets it. */
    private static final int TRANSACTION_TIMEOUT_MS = 900_000;

    private final TestKafka kafka;
    private final Trace trace;
    private final Producer<byte[], byte[]> plain;
    private final @Nullable Producer<byte[], byte[]> transactional;
    private boolean open;
    private int ids;

    Input(RunPlan plan, TestKafka kafka, Trace trace) {
        this.kafka = kafka;
        this.trace = trace;
        this.plain = kafka.clients().producer(properties());
        if (plan.transactions()) {
            Map<String, Object> properties = properties();
            properties.put("transactional.id", "input");
            properties.put("transaction.timeout.ms", TRANSACTION_TIMEOUT_MS);
            transactional = kafka.clients().producer(properties);
            transactional.initTransactions();
        } else {
            transactional = null;
        }
    }

    private static Map<String, Object> properties() {
        Map<String, Object> properties = new java.util.HashMap<>();
        properties.put("bootstrap.servers", "localhost:9092");
        properties.put("linger.ms", 0);
        properties.put("key.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer");
        properties.put("value.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer");
        return properties;
    }

    /** Writes some records to a topic; they are on their way when this returns. */
    void write(SplittableRandom random, SubscriptionPlan to) {
        int count = random.nextInt(5) == 0 ? random.nextInt(5, 25) : random.nextInt(1, 6);
        if (transactional != null && random.nextBoolean()) {
            writeInTransaction(random, to, count, transactional);
        } else {
            for (int i = 0; i < count; i++) {
                var unused = plain.send(record(random, to));
            }
            trace.add("input: " + count + " records to " + to.topic() + ", the last is r" + ids);
        }
    }

    private void writeInTransaction(
            SplittableRandom random, SubscriptionPlan to, int count, Producer<byte[], byte[]> producer) {
        if (!open) {
            producer.beginTransaction();
            open = true;
        }
        for (int i = 0; i < count; i++) {
            var unused = producer.send(record(random, to));
        }
        trace.add("input: " + count + " records to " + to.topic() + " in a transaction, the last is r" + ids);
        if (random.nextInt(3) > 0) {
            end(random.nextInt(3) > 0, producer);
        }
    }

    private void end(boolean commit, Producer<byte[], byte[]> producer) {
        open = false;
        if (commit) {
            producer.commitTransaction();
        } else {
            producer.abortTransaction();
        }
        trace.add("input: transaction " + (commit ? "committed" : "aborted"));
    }

    /** Leaves no transaction open. */
    void finish() {
        if (open && transactional != null) {
            end(true, transactional);
        }
    }

    private ProducerRecord<byte[], byte[]> record(SplittableRandom random, SubscriptionPlan to) {
        byte[] key = random.nextInt(4) == 0 ? null : bytes("k" + random.nextInt(KEYS));
        String id = (random.nextInt(15) == 0 ? String.valueOf(ItemCodec.BROKEN) : "") + "r" + (++ids);
        byte[] value = random.nextInt(20) == 0 ? null : bytes(id + " ".repeat(random.nextInt(10)));
        Integer partition = random.nextBoolean() ? random.nextInt(kafka.partitions(to.topic())) : null;
        return new ProducerRecord<>(to.topic(), partition, key, value, headers(to));
    }

    /** Of one name twice, and one that looks like the framework's, as somebody else's copies have it. */
    private List<Header> headers(SubscriptionPlan to) {
        if (!to.recovery().headers()) {
            return List.of();
        }
        List<Header> headers = new ArrayList<>();
        headers.add(new Plain("tag", bytes("a" + ids)));
        headers.add(new Plain("other", null));
        headers.add(new Plain("tag", bytes("b" + ids)));
        if (ids % 3 == 0) {
            headers.add(new Plain(RecordCopy.ATTEMPTS, bytes("2")));
        }
        return headers;
    }

    /** A header. */
    @SuppressWarnings("ArrayRecordComponent") // handed over, never compared
    private record Plain(String key, byte @Nullable [] value) implements Header {}

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
