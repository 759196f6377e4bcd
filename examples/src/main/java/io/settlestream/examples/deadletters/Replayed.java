package io.settlestream.examples.deadletters;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * What has been replayed from a dead-letter topic, as a compacted topic beside it remembers it: a record for each dead
 * letter, whose key is the letter's {@linkplain DeadLetter#identity identity}, and whose value its id. It is written in
 * the transaction that replays the letter, so the one is never there without the other.
 */
final class Replayed {

    private final String topic;
    private final String transactionalId;
    private final Map<String, Instant> times = new HashMap<>();

    Replayed(DeadLetterTopic letters) {
        topic = letters.name() + ".replayed";
        transactionalId = "dead-letters-" + letters.name();
    }

    String topic() {
        return topic;
    }

    /** The id of all transactions that write to the topic. */
    String transactionalId() {
        return transactionalId;
    }

    /** Reads everything that is remembered. */
    void read(LogReader log, TopicDescription description) {
        for (int partition = 0; partition < description.partitions().size(); partition++) {
            log.read(new TopicPartition(topic, partition), 0, Long.MAX_VALUE, record -> {
                if (record.key() != null) {
                    times.put(new String(record.key(), UTF_8), Instant.ofEpochMilli(record.timestamp()));
                }
                return true;
            });
        }
    }

    /** When a letter was replayed last. */
    Optional<Instant> at(String identity) {
        return Optional.ofNullable(times.get(identity));
    }

    /** What remembers a letter, once its transaction is committed. */
    ProducerRecord<byte[], byte[]> marker(String identity, LetterId id) {
        return new ProducerRecord<>(
                topic, identity.getBytes(UTF_8), id.toString().getBytes(UTF_8));
    }
}
