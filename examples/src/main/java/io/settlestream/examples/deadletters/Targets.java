package io.settlestream.examples.deadletters;

import io.settlestream.kafka.RecordCopy;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * Where dead letters are replayed to. An origin is what a header says, and anybody may write headers, so a topic is
 * looked at before anything is sent there: it must exist, and be none of Kafka's own or of the tool's.
 */
final class Targets {

    /** Where a letter goes, or why it cannot. */
    sealed interface Target {

        /**
         * The letter goes to a topic.
         *
         * @param partition null to let its key decide
         */
        record Place(String topic, @Nullable Integer partition) implements Target {
            @Override
            public String toString() {
                return partition == null ? topic : topic + "-" + partition;
            }
        }

        /** The letter cannot be replayed. */
        record Nowhere(String reason) implements Target {}
    }

    private final Cluster cluster;
    private final DeadLetterTopic letters;
    private final Replayed replayed;
    private final @Nullable String to;
    private final Map<String, Optional<TopicDescription>> topics = new HashMap<>();

    /**
     * Of one dead-letter topic.
     *
     * @param to where all letters go, whatever their origin
     */
    Targets(Cluster cluster, DeadLetterTopic letters, Replayed replayed, @Nullable String to) {
        this.cluster = cluster;
        this.letters = letters;
        this.replayed = replayed;
        this.to = to;
    }

    Target of(DeadLetter letter) {
        if (to != null) {
            return of(to, null);
        }
        return letter.copy()
                .map(copy -> of(copy.topic(), copy.partition()))
                .orElseGet(() -> new Target.Nowhere("its origin is unknown; --to names a topic for it"));
    }

    private Target of(String topic, @Nullable Integer partition) {
        String shown = Printable.line(topic, 249);
        if (topic.equals(letters.name()) || topic.equals(replayed.topic())) {
            return new Target.Nowhere("it would go to %s, which is no topic of a service".formatted(shown));
        }
        TopicDescription description =
                topics.computeIfAbsent(topic, cluster::find).orElse(null);
        if (description == null) {
            return new Target.Nowhere("there is no topic %s; --to names another".formatted(shown));
        }
        if (description.isInternal()) {
            return new Target.Nowhere("topic %s is Kafka's own".formatted(shown));
        }
        boolean exists =
                partition != null && partition < description.partitions().size();
        return new Target.Place(topic, exists ? partition : null);
    }

    /** The record that a letter was, with a timestamp of now and without the headers that the framework added. */
    static ProducerRecord<byte[], byte[]> original(DeadLetter letter, Target.Place place) {
        ProducerRecord<byte[], byte[]> original = new ProducerRecord<>(
                place.topic(),
                place.partition(),
                letter.record().key(),
                letter.record().value());
        for (Header header : letter.record().headers()) {
            if (!RecordCopy.isAdded(header.key())) {
                original.headers().add(header);
            }
        }
        return original;
    }
}
