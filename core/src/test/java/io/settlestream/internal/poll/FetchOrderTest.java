package io.settlestream.internal.poll;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.App;
import io.settlestream.HandlerOutcome;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.internal.runtime.SystemEnvironment;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import io.settlestream.spi.AppEnvironment;
import io.settlestream.spi.KafkaClients;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class FetchOrderTest {

    /** Not an order that a hash, or sorting, would give. */
    private static final List<TopicPartition> FETCHED = Stream.of(6, 1, 4, 7, 0, 3, 5, 2)
            .map(number -> new TopicPartition("orders", number))
            .toList();

    /** Owns its partitions from the first poll on, and gives them out in one fetch once that is asked for. */
    private static final class OneFetch extends MockConsumer<byte[], byte[]> implements KafkaClients {

        private final BlockingQueue<ConsumerRecords<byte[], byte[]>> fetches = new LinkedBlockingQueue<>();
        private final ConsumerRecords<byte[], byte[]> wokenUp = ConsumerRecords.empty();

        OneFetch() {
            super("earliest");
            updateBeginningOffsets(FETCHED.stream().collect(Collectors.toMap(each -> each, each -> 0L)));
        }

        void arrive() {
            Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> records = new LinkedHashMap<>();
            Map<TopicPartition, OffsetAndMetadata> next = new LinkedHashMap<>();
            for (TopicPartition from : FETCHED) {
                byte[] value = from.toString().getBytes(StandardCharsets.UTF_8);
                records.put(from, List.of(new ConsumerRecord<>(from.topic(), from.partition(), 0, new byte[0], value)));
                next.put(from, new OffsetAndMetadata(1));
            }
            fetches.add(new ConsumerRecords<>(records, next));
        }

        @Override
        public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
            if (assignment().isEmpty()) {
                rebalance(FETCHED);
                return ConsumerRecords.empty();
            }
            try {
                ConsumerRecords<byte[], byte[]> fetched = fetches.poll(timeout.toMillis(), TimeUnit.MILLISECONDS);
                if (fetched == wokenUp) {
                    throw new WakeupException();
                }
                return fetched == null ? ConsumerRecords.empty() : fetched;
            } catch (InterruptedException e) {
                throw new InterruptException(e);
            }
        }

        @Override
        public void wakeup() {
            fetches.add(wokenUp);
        }

        @Override
        public Consumer<byte[], byte[]> consumer(Map<String, Object> properties) {
            return this;
        }

        @Override
        public Producer<byte[], byte[]> producer(Map<String, Object> properties) {
            throw new UnsupportedOperationException("nothing is published");
        }
    }

    @Test
    @DisplayName(
            "5.1: one lane handles what a poll brought in the order in which it was fetched, partition by partition")
    void asFetched() throws InterruptedException {
        OneFetch consumer = new OneFetch();
        BlockingQueue<String> handled = new LinkedBlockingQueue<>();
        KafkaTopic topic = KafkaTopic.of("orders").group("g").startOffset(StartOffset.EARLIEST);
        App<String> app = SettleStream.app("orders", "1")
                .<String>onStartup(() -> "state")
                .withBroker(
                        KafkaBroker.of("localhost:9092"),
                        scope ->
                                scope.include(Subscriber.on(topic, String.class).<String>handle((value, context) -> {
                                    handled.add(value);
                                    return HandlerOutcome.ack();
                                })));

        List<String> order = new ArrayList<>();
        try (var running = app.start(
                new AppEnvironment(consumer, SystemEnvironment.create().scheduler()))) {
            consumer.arrive();
            for (int i = 0; i < FETCHED.size(); i++) {
                order.add(handled.take());
            }
        }

        assertThat(order)
                .containsExactlyElementsOf(
                        FETCHED.stream().map(TopicPartition::toString).toList());
    }
}
