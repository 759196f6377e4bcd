package io.settlestream.conformance.rules;

import io.settlestream.App;
import io.settlestream.spi.KafkaClients;
import io.settlestream.testing.TestApp;
import io.settlestream.testing.TestClock;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/** A Kafka that scenarios are played on, and what is done to it by hand. */
interface Kafka extends AutoCloseable {

    /** A name of a topic or group on this Kafka, where others may play at the same time. */
    String name(String name);

    /** Where applications are told to find it. */
    String bootstrapServers();

    <S> TestApp<S> start(App<S> app);

    /** Kafka's own clients, which find it by themselves. */
    KafkaClients clients();

    TestClock clock();

    /** Lets time pass. */
    void pass(Duration time);

    /** How long a condition may take to come true, in this Kafka's time. */
    Duration patience();

    void createTopic(String topic, int partitions, Map<String, String> config);

    void addPartitions(String topic, int total);

    void trim(String topic, int partition, long offset);

    /** Makes the log cleaner take what newer records with the same key have replaced, up to the newest segment. */
    void compact(String topic);

    /** Makes a topic of one partition that refuses records without a key. */
    void createRefusingTopic(String topic);

    /** Lets such a topic accept them, a moment later. */
    void acceptWrites(String topic);

    /** Takes care that a topic is missing, for those who write to it. */
    void missingTopic(String topic);

    /** Lets a missing topic appear, with one partition. */
    void appears(String topic);

    Map<TopicPartition, Long> committed(String group);

    @Override
    void close();
}
