package io.settlestream.testing;

import io.settlestream.spi.AppEnvironment;
import io.settlestream.spi.AppObserver;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** What tests stand on: the in-process Kafka with virtual time, or a cluster with real time. */
sealed interface Ground permits InProcessGround, LiveGround {

    /** A process that runs an application or publishes for a test. */
    interface Launched {

        AppEnvironment environment(AppObserver observer);

        /** Ends it as {@code kill -9} does. */
        void crash();

        /** The start has failed, or hangs: nothing of it must go on behind the test's back, if that can be helped. */
        void abandonStart();
    }

    Launched process(String name);

    /**
     * Refuses an application's own thread where it would wait for itself.
     *
     * @throws IllegalStateException if it is one
     */
    void requireTest();

    /** Where code of a handler's thread is told that others may go first. */
    Runnable between();

    TestClock clock();

    /** Runs something of an application's, such as its start, to its end. */
    <T> T call(String what, Callable<T> task) throws Exception;

    /** Runs something that publishes, to its end, while applications wait if they can be made to. */
    <T> T callAhead(Launched process, String what, Callable<T> task) throws Exception;

    /**
     * Lets applications react until they are at rest.
     *
     * @throws NotAtRestError if that takes longer than {@code limit} of this ground's time
     */
    void settle(List<TestApp<?>> apps, Duration limit);

    /** Lets applications do what they can do now. */
    void proceed();

    void advance(Duration time);

    /** The names of all topics. */
    List<String> topics();

    /** The committed records of a topic, partition by partition. */
    List<TestRecord> records(String topic);

    /** Where each partition of a topic ends for readers of committed records. */
    Map<TopicPartition, Long> ends(String topic);

    Map<TopicPartition, OffsetAndMetadata> committed(String group);

    /** How long an assertion about positions waits for them to become right; zero where nothing moves meanwhile. */
    Duration assertionPatience();

    void close();
}
