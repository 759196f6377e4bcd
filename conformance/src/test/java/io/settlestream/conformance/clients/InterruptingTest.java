package io.settlestream.conformance.clients;

import static io.settlestream.conformance.clients.BothKafkas.play;
import static io.settlestream.conformance.clients.BothKafkas.playWithEachProtocol;
import static io.settlestream.conformance.clients.Stage.bytes;
import static io.settlestream.conformance.clients.Stage.partition;
import static io.settlestream.conformance.clients.Stage.partitions;

import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class InterruptingTest {

    @Test
    @DisplayName("A wakeup before a poll makes that poll throw, once")
    void wakeupBefore() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("wake", 1);
                    stage.write(topic, 0, "a");
                    var consumer = stage.consumer("group.id", stage.name("g"));
                    consumer.assign(partitions(topic, 1));
                    consumer.wakeup();
                    consumer.wakeup();
                    stage.call("poll", () -> consumer.poll(Duration.ofSeconds(5)));
                    stage.note("next polls", stage.values(consumer, 1));
                    consumer.wakeup();
                    stage.call("poll zero", () -> consumer.poll(Duration.ZERO));
                    consumer.wakeup();
                    stage.run(
                            "commit", () -> consumer.commitSync(Map.of(partition(topic, 0), new OffsetAndMetadata(1))));
                    stage.run(
                            "commit", () -> consumer.commitSync(Map.of(partition(topic, 0), new OffsetAndMetadata(1))));
                    consumer.wakeup();
                    stage.call("committed", () -> consumer.committed(Set.of(partition(topic, 0))));
                    stage.call("committed", () -> consumer.committed(Set.of(partition(topic, 0))));
                    consumer.wakeup();
                    stage.call("known position", () -> consumer.position(partition(topic, 0)));
                    stage.call("poll after position", () -> consumer.poll(Duration.ZERO));
                    consumer.wakeup();
                    stage.run("close", consumer::close);
                },
                """
                poll throws: WakeupException
                next polls: [a]
                poll zero throws: WakeupException
                commit throws: WakeupException
                commit: done
                committed throws: WakeupException
                committed: {wake-0=1 '' epoch none}
                known position: 1
                poll after position throws: WakeupException
                close: done
                """);
    }

    @Test
    @DisplayName("A wakeup during a poll ends it, and records are not lost")
    void wakeupDuring() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("waking", 1);
                    var consumer = stage.consumer();
                    consumer.assign(partitions(topic, 1));
                    stage.call("settle", () -> consumer.position(partition(topic, 0)));
                    Thread waker = Thread.ofPlatform().start(() -> {
                        pause(150);
                        consumer.wakeup();
                    });
                    stage.call("poll", () -> consumer.poll(Duration.ofSeconds(10)));
                    waker.join();
                    stage.write(topic, 0, "a");
                    stage.note("read", stage.values(consumer, 1));
                },
                """
                settle: 0
                poll throws: WakeupException
                read: [a]
                """);
    }

    @Test
    @DisplayName("Another thread may not use a consumer that is in use, except to wake it")
    void concurrentUse() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("shared", 1);
                    var consumer = stage.consumer("group.id", stage.name("g"));
                    TopicPartition first = partition(topic, 0);
                    consumer.assign(List.of(first));
                    CountDownLatch over = new CountDownLatch(1);
                    Thread other = Thread.ofPlatform().start(() -> {
                        stage.call("poll of the other", () -> consumer.poll(Duration.ofSeconds(20)));
                        over.countDown();
                    });
                    Stage.eventually("the other polls", () -> {
                        try {
                            consumer.assignment();
                            return false;
                        } catch (ConcurrentModificationException e) {
                            return true;
                        }
                    });
                    stage.call("poll", () -> consumer.poll(Duration.ZERO));
                    stage.run("commit", consumer::commitSync);
                    stage.run("commit in the background", () -> consumer.commitAsync());
                    stage.run("pause", () -> consumer.pause(List.of(first)));
                    stage.call("paused", consumer::paused);
                    stage.run("seek", () -> consumer.seek(first, 0));
                    stage.call("position", () -> consumer.position(first));
                    stage.call("metadata", consumer::groupMetadata);
                    stage.run("unsubscribe", consumer::unsubscribe);
                    stage.run("close", consumer::close);
                    consumer.wakeup();
                    stage.note("woken", over.await(10, TimeUnit.SECONDS));
                    other.join();
                },
                """
                poll throws: ConcurrentModificationException
                commit throws: ConcurrentModificationException
                commit in the background throws: ConcurrentModificationException
                pause throws: ConcurrentModificationException
                paused throws: ConcurrentModificationException
                seek throws: ConcurrentModificationException
                position throws: ConcurrentModificationException
                metadata throws: ConcurrentModificationException
                unsubscribe throws: ConcurrentModificationException
                close throws: ConcurrentModificationException
                poll of the other throws: WakeupException
                woken: true
                """);
    }

    @Test
    @DisplayName("An interrupt before or during a poll makes it throw, and the thread stays interrupted")
    void interrupt() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("interrupted", 1);
                    var consumer = stage.consumer("group.id", stage.name("g"));
                    consumer.assign(partitions(topic, 1));
                    Thread.currentThread().interrupt();
                    stage.call("poll", () -> consumer.poll(Duration.ofSeconds(10)));
                    stage.note("still interrupted", Thread.interrupted());
                    stage.call("settle", () -> consumer.position(partition(topic, 0)));
                    Thread self = Thread.currentThread();
                    Thread interrupter = Thread.ofPlatform().start(() -> {
                        pause(150);
                        self.interrupt();
                    });
                    stage.call("poll", () -> consumer.poll(Duration.ofSeconds(10)));
                    stage.note("still interrupted", Thread.interrupted());
                    interrupter.join();
                    stage.write(topic, 0, "a");
                    stage.note("read", stage.values(consumer, 1));
                    Thread.currentThread().interrupt();
                    stage.run(
                            "commit", () -> consumer.commitSync(Map.of(partition(topic, 0), new OffsetAndMetadata(1))));
                    stage.note("still interrupted", Thread.interrupted());
                },
                """
                poll throws: InterruptException by InterruptedException
                still interrupted: true
                settle: 0
                poll throws: InterruptException by InterruptedException
                still interrupted: true
                read: [a]
                commit throws: InterruptException by InterruptedException
                still interrupted: true
                """);
    }

    @Test
    @DisplayName("A producer that is interrupted while it waits throws at send and at flush")
    void interruptedProducer() {
        play(
                stage -> {
                    String topic = stage.topic("interruptedp", 1);
                    var producer = stage.producer("linger.ms", 60_000);
                    Thread.currentThread().interrupt();
                    stage.call(
                            "send to an unknown topic",
                            () -> producer.send(new ProducerRecord<>(stage.name("missing"), bytes("v"))));
                    stage.note("still interrupted", Thread.interrupted());
                    stage.note("partitions", producer.partitionsFor(topic).size());
                    var sent = producer.send(new ProducerRecord<>(topic, 0, null, bytes("v")));
                    Thread.currentThread().interrupt();
                    stage.run("flush", producer::flush);
                    stage.note("still interrupted", Thread.interrupted());
                    producer.flush();
                    stage.call("sent", sent::get);
                },
                """
                send to an unknown topic throws: InterruptException by InterruptedException
                still interrupted: true
                partitions: 1
                flush throws: InterruptException by InterruptedException
                still interrupted: true
                sent: interruptedp-0@0 key -1 value 1 bytes
                """);
    }

    @Test
    @DisplayName("A closed consumer refuses everything but another close")
    void closed() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("closed", 1);
                    TopicPartition first = partition(topic, 0);
                    var consumer = stage.consumer("group.id", stage.name("g"));
                    consumer.assign(List.of(first));
                    stage.run("close", consumer::close);
                    stage.run("close again", consumer::close);
                    stage.run("poll", () -> consumer.poll(Duration.ZERO));
                    stage.run("assignment", consumer::assignment);
                    stage.run("subscription", consumer::subscription);
                    stage.run("subscribe", () -> consumer.subscribe(List.of(topic)));
                    stage.run("commit", consumer::commitSync);
                    stage.run("position", () -> consumer.position(first));
                    stage.run("paused", consumer::paused);
                    stage.run("metadata", consumer::groupMetadata);
                    stage.run("wakeup", consumer::wakeup);
                    stage.run("unsubscribe", consumer::unsubscribe);
                    stage.run("metrics", consumer::metrics);
                    stage.run("listTopics", consumer::listTopics);
                },
                """
                close: done
                close again: done
                poll throws: IllegalStateException
                assignment throws: IllegalStateException
                subscription throws: IllegalStateException
                subscribe throws: IllegalStateException
                commit throws: IllegalStateException
                position throws: IllegalStateException
                paused throws: IllegalStateException
                metadata throws: IllegalStateException
                wakeup: done
                unsubscribe throws: IllegalStateException
                metrics: done
                listTopics throws: IllegalStateException
                """);
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis); // no condition tells that another thread has come to rest inside a poll
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
