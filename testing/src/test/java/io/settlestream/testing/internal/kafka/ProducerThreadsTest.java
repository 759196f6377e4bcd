package io.settlestream.testing.internal.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ProducerThreadsTest {

    private static final int SENDERS = 4;
    private static final int RECORDS = 500;

    @Test
    @Timeout(60)
    @DisplayName("real threads that share a producer, short of memory, lose nothing and keep their own order")
    void shared() throws Exception {
        try (RealTimeHost host = new RealTimeHost()) {
            InProcessKafka kafka = new InProcessKafka(host);
            kafka.createTopic("topic", 2, Map.of());
            Producer<byte[], byte[]> producer =
                    kafka.producer(Map.of("batch.size", 300, "buffer.memory", 1000, "linger.ms", 1));
            List<Thread> senders = new ArrayList<>();
            for (int sender = 0; sender < SENDERS; sender++) {
                String name = "sender-" + sender;
                senders.add(Thread.ofVirtual().start(() -> {
                    for (int i = 0; i < RECORDS; i++) {
                        producer.send(new ProducerRecord<>("topic", bytes(name), bytes(name + " " + i)));
                    }
                }));
            }
            for (Thread sender : senders) {
                sender.join();
            }

            producer.close();

            List<String> all = kafka.records("topic").values().stream()
                    .flatMap(List::stream)
                    .map(record -> new String(record.value(), StandardCharsets.UTF_8))
                    .toList();
            assertThat(all).hasSize(SENDERS * RECORDS);
            for (int sender = 0; sender < SENDERS; sender++) {
                String name = "sender-" + sender + " ";
                assertThat(all.stream()
                                .filter(value -> value.startsWith(name))
                                .map(value -> Integer.valueOf(value.substring(name.length()))))
                        .isSorted()
                        .hasSize(RECORDS);
            }
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
