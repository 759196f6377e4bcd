package io.settlestream.conformance.rules;

import io.settlestream.App;
import io.settlestream.spi.KafkaClients;
import io.settlestream.testing.TestApp;
import io.settlestream.testing.TestClock;
import io.settlestream.testing.TestKafka;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** The Kafka of the module for tests, one for each scenario. */
final class InProcessKafka implements Kafka {

    private final TestKafka kafka = TestKafka.create();

    TestKafka kafka() {
        return kafka;
    }

    @Override
    public String name(String name) {
        return name;
    }

    @Override
    public String bootstrapServers() {
        return "in-process:9092";
    }

    @Override
    public <S> TestApp<S> start(App<S> app) {
        return TestApp.of(app).on(kafka).withoutTopics().start();
    }

    @Override
    public KafkaClients clients() {
        return kafka.clients();
    }

    @Override
    public TestClock clock() {
        return kafka.clock();
    }

    @Override
    public void pass(Duration time) {
        kafka.advance(time);
    }

    @Override
    public Duration patience() {
        return Duration.ofMinutes(2);
    }

    @Override
    public void createTopic(String topic, int partitions, Map<String, String> config) {
        kafka.topic(topic, partitions, config);
    }

    @Override
    public void addPartitions(String topic, int total) {
        kafka.addPartitions(topic, total);
    }

    @Override
    public void trim(String topic, int partition, long offset) {
        kafka.trim(topic, partition, offset);
    }

    @Override
    public void compact(String topic) {
        kafka.compact(topic);
    }

    @Override
    public void createRefusingTopic(String topic) {
        createTopic(topic, 1, Map.of());
        kafka.faults().produce(topic).times(Integer.MAX_VALUE).fail(new InvalidRecordException("no key"));
    }

    @Override
    public void acceptWrites(String topic) {
        kafka.faults().clear();
    }

    /** Whoever writes to a topic that is missing makes it here. */
    @Override
    public void missingTopic(String topic) {
        createTopic(topic, 1, Map.of());
        kafka.faults().produce(topic).times(Integer.MAX_VALUE).fail(new UnknownTopicOrPartitionException("on request"));
    }

    @Override
    public void appears(String topic) {
        kafka.faults().clear();
    }

    @Override
    public Map<TopicPartition, Long> committed(String group) {
        return kafka.group(group).committed();
    }

    @Override
    public void close() {
        kafka.close();
    }
}
