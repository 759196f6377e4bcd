package io.settlestream.examples.payouts.demo;

import io.settlestream.examples.payouts.PayoutService.Paid;
import io.settlestream.examples.payouts.PayoutService.Payout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import tools.jackson.databind.json.JsonMapper;

/**
 * What is in Kafka after a run, read with Kafka's own clients.
 *
 * @param payouts everything in the topic of payouts
 * @param confirmations everything in the topic of confirmations
 * @param tracked how far the groups with tracked commits have come
 */
record ReadBack(List<Payout> payouts, List<Paid> confirmations, List<GroupPosition> tracked) {

    private static final Duration READ_TIMEOUT = Duration.ofSeconds(60);
    private static final Duration POLL = Duration.ofMillis(200);
    private static final JsonMapper JSON = new JsonMapper();

    ReadBack {
        payouts = List.copyOf(payouts);
        confirmations = List.copyOf(confirmations);
        tracked = List.copyOf(tracked);
    }

    /** Reads what was written since the run began. */
    static ReadBack of(Cluster cluster, Groups groups) {
        return new ReadBack(
                read(cluster, groups.payouts().topic(), Payout.class),
                read(cluster, Cluster.CONFIRMATIONS, Paid.class),
                groups.tracked().stream().map(cluster::position).toList());
    }

    private static <T> List<T> read(Cluster cluster, String topic, Class<T> type) {
        Map<TopicPartition, Long> starts = cluster.starts(topic);
        Map<String, Object> config = Map.of(
                "bootstrap.servers",
                cluster.bootstrap(),
                "client.id",
                "demo-reader",
                "enable.auto.commit",
                false,
                "isolation.level",
                "read_committed");
        List<T> values = new ArrayList<>();
        try (Consumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(starts.keySet());
            starts.forEach(consumer::seek);
            Map<TopicPartition, Long> ends = consumer.endOffsets(starts.keySet());
            long deadline = System.nanoTime() + READ_TIMEOUT.toNanos();
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                if (System.nanoTime() - deadline > 0) {
                    throw new DemoException(
                            "Topic %s was not read back within %s: at %d records"
                                    .formatted(topic, READ_TIMEOUT, values.size()),
                            null);
                }
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                    values.add(JSON.readValue(record.value(), type));
                }
            }
        }
        return values;
    }
}
