package io.settlestream.it;

import io.settlestream.BatchOutcome;
import io.settlestream.HandlerOutcome;
import io.settlestream.RunningApp;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaTopic;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A service in a process of its own that ends without a word when a handler is given a record whose value begins with
 * {@code kill}. It says what it begins and what it has handled, and stops properly when its input ends.
 */
final class KillingService {

    /** The exit code of a process that a record has ended. */
    static final int KILLED = 9;

    private KillingService() {}

    /** What such a process is told. */
    record Settings(
            String bootstrap,
            String topic,
            String deadLetters,
            String group,
            String protocol,
            int cap,
            int workers,
            int batch,
            int slowMillis) {

        String[] asArguments() {
            return new String[] {
                bootstrap,
                topic,
                deadLetters,
                group,
                protocol,
                Integer.toString(cap),
                Integer.toString(workers),
                Integer.toString(batch),
                Integer.toString(slowMillis)
            };
        }

        static Settings of(String[] arguments) {
            return new Settings(
                    arguments[0],
                    arguments[1],
                    arguments[2],
                    arguments[3],
                    arguments[4],
                    Integer.parseInt(arguments[5]),
                    Integer.parseInt(arguments[6]),
                    Integer.parseInt(arguments[7]),
                    Integer.parseInt(arguments[8]));
        }
    }

    public static void main(String[] arguments) throws Exception {
        Settings settings = Settings.of(arguments);
        KafkaTopic topic = Service.tracked(settings.topic(), settings.group(), settings.protocol());
        if (settings.protocol().equals("classic")) {
            // The next process takes the place of one that was killed at once.
            topic = topic.config("group.instance.id", settings.group());
        }
        Subscriber<String, Object> subscriber = settings.batch() == 1
                ? Subscriber.on(topic, String.class).handle((value, context) -> {
                    handle(settings, List.of(value));
                    return HandlerOutcome.ack();
                })
                : Subscriber.on(topic, String.class)
                        .<Object>handleBatch((values, context) -> {
                            handle(settings, values);
                            return BatchOutcome.ackAll();
                        })
                        .batch(settings.batch());
        try (RunningApp app = SettleStream.app("killing", "1")
                .withBroker(
                        KafkaBroker.of(settings.bootstrap()),
                        scope -> scope.include(subscriber)
                                .workers(settings.workers())
                                .maxAttempts(settings.cap())
                                .retryBackoff(Duration.ofMillis(1), Duration.ofMillis(1))
                                .deadLetter(settings.deadLetters()))
                .start()) {
            while (System.in.read() >= 0) {
                // Until the input ends.
            }
        }
    }

    private static void handle(Settings settings, List<String> values) {
        values.forEach(value -> say("began " + value));
        for (String value : values) {
            if (value.startsWith("kill")) {
                Runtime.getRuntime().halt(KILLED);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(settings.slowMillis()));
            say("handled " + value);
        }
    }

    private static void say(String line) {
        PrintStream out = System.out;
        synchronized (out) {
            out.println(line);
            out.flush();
        }
    }
}
