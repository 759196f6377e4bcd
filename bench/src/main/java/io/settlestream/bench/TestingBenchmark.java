package io.settlestream.bench;

import com.sun.management.OperatingSystemMXBean;
import io.settlestream.App;
import io.settlestream.HandlerOutcome;
import io.settlestream.Outgoing;
import io.settlestream.Reply;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.examples.payouts.PayoutService;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import io.settlestream.testing.TestApp;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How long a test takes that starts an application, publishes one record, asserts what became of it, and stops, in a JVM
 * that is warm. Cycles run one after the other, each timed by itself.
 */
public final class TestingBenchmark {

    private static final int WARM_UP = 300;
    private static final int CYCLES = 500;

    /** A payout. */
    public record Payout(long id, long amountCents) {}

    /** Its confirmation. */
    @Outgoing("payouts.done")
    public record Paid(long payoutId) {}

    private TestingBenchmark() {}

    /** Prints a line for each kind of test. The arguments, if any: cycles to warm up, cycles to measure. */
    public static void main(String[] arguments) {
        int warmUp = arguments.length > 0 ? Integer.parseInt(arguments[0]) : WARM_UP;
        int cycles = arguments.length > 1 ? Integer.parseInt(arguments[1]) : CYCLES;
        Map<String, Runnable> tests = new LinkedHashMap<>();
        tests.put("one subscription, Tracked, with a reply", TestingBenchmark::oneSubscription);
        tests.put("the payouts service, three subscriptions", TestingBenchmark::payoutService);

        System.out.printf(
                "%d cycles after %d, Java %s, %d processors, load %.1f%n",
                cycles, warmUp, Runtime.version(), Runtime.getRuntime().availableProcessors(), load());
        tests.forEach((name, test) -> {
            Durations unused = measure(test, warmUp);
            System.out.printf("%-42s %s, load %.1f%n", name, measure(test, cycles), load());
        });
    }

    private static Durations measure(Runnable test, int cycles) {
        long[] nanos = new long[cycles];
        OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        long cpuBegin = system.getProcessCpuTime();
        for (int i = 0; i < cycles; i++) {
            long begin = System.nanoTime();
            test.run();
            nanos[i] = System.nanoTime() - begin;
        }
        return Durations.of(nanos, system.getProcessCpuTime() - cpuBegin);
    }

    private static double load() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }

    private static void oneSubscription() {
        try (TestApp<Object> app = TestApp.start(confirmations())) {
            app.publish("payouts", new Payout(1, 500));

            app.subscription("payouts").hasOutcomes(HandlerOutcome.ack());
            app.topic("payouts.done").hasValues(new Paid(1));
            app.group("payouts").hasCommitted("payouts", 0, 1);
        }
    }

    private static App<Object> confirmations() {
        return SettleStream.app("payouts", "1")
                .onStartup(Object::new)
                .withBroker(
                        KafkaBroker.of("localhost:9092").defaultGroup("payouts"),
                        scope -> scope.include(Subscriber.on(
                                        KafkaTopic.of("payouts")
                                                .commit(Commit.tracked())
                                                .startOffset(StartOffset.EARLIEST),
                                        Payout.class)
                                .<Paid, Object>handleReply(
                                        Paid.class, (payout, delivery) -> Reply.of(new Paid(payout.id())))
                                .reply(KafkaPublish.create())));
    }

    private static void payoutService() {
        PayoutService.Clients clients = new PayoutService.Clients((id, cents) -> true, page -> true);
        try (TestApp<PayoutService.Clients> app =
                TestApp.of(PayoutService.app("localhost:9092")).state(clients).start()) {
            app.publish("payouts", new PayoutService.Payout(1, 500));

            app.subscription("payouts").hasOutcomes(HandlerOutcome.ack());
            app.topic("payouts.done").hasValues(new PayoutService.Paid(1));
            app.group("payouts").hasCommitted("payouts", 0, 1);
        }
    }
}
