package io.settlestream.examples.deadletters;

import io.settlestream.kafka.RecordCopy;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.Uuid;

/**
 * A record on a dead-letter topic.
 *
 * @param record as it was read
 * @param copy where it came from and why; empty if somebody else than the framework has written it
 */
record DeadLetter(ConsumerRecord<byte[], byte[]> record, Optional<RecordCopy> copy) {

    static DeadLetter of(ConsumerRecord<byte[], byte[]> record) {
        return new DeadLetter(record, RecordCopy.of(record.headers()));
    }

    LetterId id() {
        return new LetterId(record.partition(), record.offset());
    }

    /** When it became a dead letter. */
    Instant time() {
        return copy.flatMap(RecordCopy::copiedAt).orElseGet(() -> Instant.ofEpochMilli(record.timestamp()));
    }

    /** Why it is here, such as {@code java.io.IOException: gateway down}; empty if that is not known. */
    String reason() {
        return copy.stream()
                .flatMap(known -> Stream.of(known.failure(), known.reason()))
                .flatMap(Optional::stream)
                .collect(Collectors.joining(": "));
    }

    /**
     * What is remembered when it has been replayed. Two dead letters of one record have the same: a service that
     * crashes after it wrote a dead letter, and before it committed, writes another. A letter without an origin is only
     * the same as itself, on the topic that has this id: offsets begin again when a topic is created again.
     */
    String identity(Uuid topicId) {
        return copy.map(known -> "record %s-%d@%d %d %s"
                        .formatted(
                                known.topic(),
                                known.partition(),
                                known.offset(),
                                known.timestamp().toEpochMilli(),
                                known.group().orElse("")))
                .orElseGet(() -> "letter " + topicId + " " + id());
    }
}
