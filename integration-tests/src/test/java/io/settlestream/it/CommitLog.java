package io.settlestream.it;

import io.settlestream.kafka.KafkaTopic;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.consumer.ConsumerInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** Notes every commit of a subscription that Kafka has accepted. */
public final class CommitLog implements ConsumerInterceptor<byte[], byte[]> {

    private static final String ID = "test.commit.log";
    private static final Map<String, List<Map<TopicPartition, OffsetAndMetadata>>> LOGS = new ConcurrentHashMap<>();

    private List<Map<TopicPartition, OffsetAndMetadata>> log = List.of();

    /** The topic, with its subscription's commits noted under {@code id}. */
    static KafkaTopic noted(KafkaTopic topic, String id) {
        return topic.config("interceptor.classes", CommitLog.class.getName()).pluginConfig(ID, id);
    }

    /** The commits so far. */
    static List<Map<TopicPartition, OffsetAndMetadata>> of(String id) {
        return LOGS.computeIfAbsent(id, none -> new CopyOnWriteArrayList<>());
    }

    @Override
    public void configure(Map<String, ?> config) {
        log = of(String.valueOf(config.get(ID)));
    }

    @Override
    public ConsumerRecords<byte[], byte[]> onConsume(ConsumerRecords<byte[], byte[]> records) {
        return records;
    }

    @Override
    public void onCommit(Map<TopicPartition, OffsetAndMetadata> offsets) {
        log.add(Map.copyOf(offsets));
    }

    @Override
    public void close() {}
}
