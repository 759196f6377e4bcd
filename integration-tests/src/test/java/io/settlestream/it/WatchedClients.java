package io.settlestream.it;

import io.settlestream.internal.runtime.SystemEnvironment;
import io.settlestream.spi.AppEnvironment;
import io.settlestream.spi.KafkaClients;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/** Kafka's own clients, whose calls are counted and can be held. */
final class WatchedClients implements KafkaClients {

    private final AppEnvironment system = SystemEnvironment.create();
    private final AtomicLong polls = new AtomicLong();
    private volatile CountDownLatch beforePoll = new CountDownLatch(0);
    private volatile CountDownLatch beforeSend = new CountDownLatch(0);
    private volatile boolean losesBackgroundCommits;

    AppEnvironment environment() {
        return new AppEnvironment(this, system.scheduler());
    }

    /** How often a consumer was polled. */
    long polls() {
        return polls.get();
    }

    /** From now on a poll waits in front of the client, as if its thread had come to a halt. */
    CountDownLatch holdPolls() {
        CountDownLatch held = new CountDownLatch(1);
        beforePoll = held;
        return held;
    }

    /** From now on records are sent, and reports come, only after the latch. */
    CountDownLatch holdSends() {
        CountDownLatch held = new CountDownLatch(1);
        beforeSend = held;
        return held;
    }

    /** From now on nothing is ever heard of a commit in the background. */
    void loseBackgroundCommits() {
        losesBackgroundCommits = true;
    }

    @Override
    public Consumer<byte[], byte[]> consumer(Map<String, Object> properties) {
        Consumer<byte[], byte[]> consumer = system.clients().consumer(properties);
        return proxy(Consumer.class, (proxy, method, arguments) -> {
            if (method.getName().equals("poll")) {
                polls.incrementAndGet();
                beforePoll.await();
            }
            if (method.getName().equals("commitAsync") && losesBackgroundCommits) {
                return null;
            }
            return call(consumer, method, arguments);
        });
    }

    @Override
    public Producer<byte[], byte[]> producer(Map<String, Object> properties) {
        Producer<byte[], byte[]> producer = system.clients().producer(properties);
        return proxy(Producer.class, (proxy, method, arguments) -> {
            CountDownLatch held = beforeSend;
            if (!method.getName().equals("send") || held.getCount() == 0) {
                return call(producer, method, arguments);
            }
            CompletableFuture<RecordMetadata> sent = new CompletableFuture<>();
            Thread.startVirtualThread(() -> sendLater(producer, arguments, held, sent));
            return sent;
        });
    }

    @SuppressWarnings("unchecked")
    private static void sendLater(
            Producer<byte[], byte[]> producer,
            Object[] arguments,
            CountDownLatch held,
            CompletableFuture<RecordMetadata> sent) {
        try {
            held.await();
            sent.complete(producer.send((ProducerRecord<byte[], byte[]>) arguments[0], (Callback) arguments[1])
                    .get());
        } catch (Exception e) {
            sent.completeExceptionally(e);
        }
    }

    private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @SuppressWarnings("unchecked")
    private static <T> T proxy(Class<?> type, InvocationHandler handler) {
        return (T) Proxy.newProxyInstance(WatchedClients.class.getClassLoader(), new Class<?>[] {type}, handler);
    }
}
