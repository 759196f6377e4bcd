package io.settlestream.examples.deadletters;

import java.util.LongSummaryStatistics;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * The topic that dead letters are on. They are read in the order of partitions and offsets and not kept, so that it does
 * not matter how many there are or how large.
 *
 * @param id another one when the topic is deleted and created again
 */
record DeadLetterTopic(String name, Uuid id, int partitions) {

    static DeadLetterTopic of(TopicDescription topic) {
        return new DeadLetterTopic(
                topic.name(), topic.topicId(), topic.partitions().size());
    }

    /**
     * Gives the selected dead letters to the visitor.
     *
     * @param visitor answers whether the letter counts against the selection's limit
     */
    void forEach(LogReader log, Selection selection, Predicate<DeadLetter> visitor) {
        AtomicInteger left = new AtomicInteger(selection.limit());
        Predicate<ConsumerRecord<byte[], byte[]>> filter = record -> {
            DeadLetter letter = DeadLetter.of(record);
            if (selection.includes(letter) && visitor.test(letter)) {
                left.decrementAndGet();
            }
            return left.get() > 0;
        };
        for (int partition = 0; partition < partitions && left.get() > 0; partition++) {
            if (selection.partition().orElse(partition) == partition) {
                read(log, partition, selection, filter);
            }
        }
    }

    private void read(
            LogReader log, int partition, Selection selection, Predicate<ConsumerRecord<byte[], byte[]>> visitor) {
        TopicPartition place = new TopicPartition(name, partition);
        if (selection.ids().isEmpty()) {
            log.read(place, 0, Long.MAX_VALUE, visitor);
            return;
        }
        LongSummaryStatistics offsets = selection.ids().stream()
                .filter(id -> id.partition() == partition)
                .mapToLong(LetterId::offset)
                .summaryStatistics();
        if (offsets.getCount() > 0) {
            log.read(place, offsets.getMin(), offsets.getMax() + 1, visitor);
        }
    }
}
