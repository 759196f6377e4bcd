package io.settlestream.it;

import io.settlestream.HandlerOutcome;
import io.settlestream.RunningApp;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaTopic;
import java.io.PrintStream;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * A service in a process of its own, to be killed. It starts when it reads a line, then prints partition and offset of
 * each record it has handled before it settles it, and ends when its input does.
 */
public final class KilledService {

    private KilledService() {}

    /** Takes bootstrap servers, topic, group, group protocol, workers and a seed. */
    public static void main(String[] args) throws Exception {
        String group = args[2];
        int workers = Integer.parseInt(args[4]);
        long seed = Long.parseLong(args[5]);
        PrintStream out = System.out;
        KafkaTopic topic = Service.tracked(args[1], group, args[3]);
        if (args[3].equals("classic")) {
            topic = topic.config("session.timeout.ms", 1_000).config("heartbeat.interval.ms", 300);
        }
        Subscriber<String, Object> subscriber = Subscriber.on(topic, String.class)
                .handle((value, context) -> {
                    Random random = new Random(seed + context.partition() * 1_000_003L + context.offset() * 31);
                    if (context.attempt() == 1 && random.nextInt(10) == 0) {
                        return HandlerOutcome.retry();
                    }
                    LockSupport.parkNanos(random.nextInt(8_000_000)); // work, so that workers finish out of order
                    synchronized (out) {
                        out.println("handled " + context.partition() + " " + context.offset());
                        out.flush();
                    }
                    return HandlerOutcome.ack();
                });
        out.println("loaded");
        out.flush();
        if (System.in.read() < 0) {
            return;
        }
        try (RunningApp app = SettleStream.app("killed", "1")
                .withBroker(
                        KafkaBroker.of(args[0]),
                        scope -> scope.include(subscriber).workers(workers))
                .start()) {
            while (System.in.read() >= 0) {
                // Until the input ends.
            }
        }
    }
}
