package io.settlestream.internal.runtime;

import io.settlestream.spi.AppEnvironment;
import io.settlestream.spi.KafkaClients;
import io.settlestream.spi.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Kafka's own clients and the machine's time. */
public final class SystemEnvironment {

    private SystemEnvironment() {}

    public static AppEnvironment create() {
        return new AppEnvironment(new RealClients(), new SystemScheduler());
    }

    private static final class RealClients implements KafkaClients {

        @Override
        public Consumer<byte[], byte[]> consumer(Map<String, Object> properties) {
            return new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        }

        @Override
        public Producer<byte[], byte[]> producer(Map<String, Object> properties) {
            return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
        }
    }

    /** One timer thread for all applications of a JVM would outlive them; each has its own, which ends when idle. */
    private static final class SystemScheduler implements Scheduler {

        private final ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(
                1,
                task -> Thread.ofPlatform().name("settlestream-timer").daemon().unstarted(task));

        SystemScheduler() {
            timers.setRemoveOnCancelPolicy(true);
            timers.setKeepAliveTime(1, TimeUnit.SECONDS);
            timers.allowCoreThreadTimeOut(true);
        }

        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public Instant now() {
            return Instant.now();
        }

        @Override
        public Timer schedule(Duration delay, Runnable task) {
            ScheduledFuture<?> future =
                    timers.schedule(task, TimeUnit.NANOSECONDS.convert(delay), TimeUnit.NANOSECONDS);
            return () -> {
                boolean unused = future.cancel(false);
            };
        }
    }
}
