package io.settlestream.conformance.clients;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.NoOffsetForPartitionException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.header.Header;

/**
 * Puts what clients return and throw into words, with all that Kafka promises and nothing that it does not: no messages
 * of exceptions, nothing in the order of a hash table.
 */
final class Words {

    private Words() {}

    static String of(Object value) {
        return switch (value) {
            case null -> "null";
            case Optional<?> optional -> optional.map(Words::of).orElse("none");
            case byte[] bytes -> "'" + new String(bytes, UTF_8) + "'";
            case Throwable thrown -> failure(thrown);
            case ConsumerRecord<?, ?> record -> record(record);
            case ConsumerRecords<?, ?> records ->
                records.partitions().stream()
                        .map(partition -> partition
                                + records.records(partition).stream()
                                        .map(record -> record.offset() + of(record.value()))
                                        .toList()
                                        .toString())
                        .sorted()
                        .toList()
                        .toString();
            case RecordMetadata metadata ->
                "%s@%d key %d value %d bytes"
                        .formatted(
                                metadata.topic() + "-" + metadata.partition(),
                                metadata.offset(),
                                metadata.serializedKeySize(),
                                metadata.serializedValueSize());
            case OffsetAndMetadata offset ->
                "%d %s epoch %s".formatted(offset.offset(), of(bytes(offset.metadata())), of(offset.leaderEpoch()));
            case OffsetAndTimestamp offset ->
                "%d of %d epoch %s".formatted(offset.offset(), offset.timestamp(), of(offset.leaderEpoch()));
            case PartitionInfo info -> info.topic() + "-" + info.partition() + (info.leader() == null ? " astray" : "");
            case Map<?, ?> map ->
                map.entrySet().stream()
                        .map(entry -> of(entry.getKey()) + "=" + of(entry.getValue()))
                        .sorted()
                        .collect(Collectors.joining(", ", "{", "}"));
            case Set<?> set ->
                set.stream()
                        .map(Words::of)
                        .collect(Collectors.toCollection(TreeSet::new))
                        .toString();
            case Collection<?> list -> list.stream().map(Words::of).toList().toString();
            case Object[] array -> of(Arrays.asList(array));
            default -> value.toString();
        };
    }

    private static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(UTF_8);
    }

    private static String record(ConsumerRecord<?, ?> record) {
        StringBuilder headers = new StringBuilder();
        for (Header header : record.headers()) {
            headers.append(' ').append(header.key()).append(':').append(of(header.value()));
        }
        return "%s-%d@%d %s=%s sizes %d %d epoch %s%s"
                .formatted(
                        record.topic(),
                        record.partition(),
                        record.offset(),
                        of(record.key()),
                        of(record.value()),
                        record.serializedKeySize(),
                        record.serializedValueSize(),
                        of(record.leaderEpoch()),
                        headers);
    }

    /** The class of an exception and of its cause, and what it carries. */
    private static String failure(Throwable thrown) {
        if (thrown instanceof ExecutionException && thrown.getCause() != null) {
            return "future of " + failure(thrown.getCause());
        }
        String name = thrown.getClass().getSimpleName();
        String content = switch (thrown) {
            case OffsetOutOfRangeException e -> of(e.offsetOutOfRangePartitions());
            case NoOffsetForPartitionException e -> of(e.partitions());
            case InvalidTopicException e -> of(e.invalidTopics());
            case TopicAuthorizationException e -> of(e.unauthorizedTopics());
            default -> "";
        };
        Throwable cause = thrown.getCause();
        while (cause != null && cause.getClass().getSimpleName().equals(name)) {
            cause = cause.getCause(); // the same again, of Kafka or of the JDK, adds nothing
        }
        return cause == null ? name + content : name + content + " by " + failure(cause);
    }

    /** Partitions, in order. */
    static String partitions(Collection<TopicPartition> partitions) {
        return partitions.stream()
                .map(TopicPartition::toString)
                .collect(Collectors.toCollection(TreeSet::new))
                .toString();
    }
}
