package io.settlestream.testing.internal.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.spi.Scheduler.Kind;
import io.settlestream.testing.internal.sim.Simulation.End;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class SimulationTest {

    private Simulation simulation = Simulation.usual();
    private SimulatedProcess process = simulation.process("app");
    private final List<String> seen = Collections.synchronizedList(new ArrayList<>());

    @AfterEach
    void close() {
        simulation.close();
    }

    @Test
    @DisplayName(
            "Nothing runs until somebody drives, and then threads take turns in the order in which they became ready")
    void turns() {
        Thread first = start("first", () -> {
            say("first begins");
            process.park(this);
            say("first ends");
        });
        start("second", () -> {
            say("second begins");
            process.unpark(first);
            say("second ends");
        });
        assertThat(seen).isEmpty();

        assertThat(simulation.runNow()).isEqualTo(End.TIME_UP);

        assertThat(seen).containsExactly("first begins", "second begins", "second ends", "first ends");
    }

    @Test
    @DisplayName("Time stands still while anything can run, and goes from timer to timer up to the bound")
    void time() {
        process.schedule(Duration.ofSeconds(2), () -> say("timer at " + simulation.now()));
        start("sleeper", () -> {
            sleep(Duration.ofSeconds(1));
            say("slept until " + simulation.now());
            sleep(Duration.ofDays(1));
            say("too late");
        });

        assertThat(simulation.drive(() -> false, Duration.ofSeconds(3).toNanos(), () -> false))
                .isEqualTo(End.TIME_UP);

        assertThat(seen).containsExactly("slept until 2026-01-01T00:00:01Z", "timer at 2026-01-01T00:00:02Z");
        assertThat(simulation.now()).isEqualTo("2026-01-01T00:00:03Z");
    }

    @Test
    @DisplayName("A timer that was cancelled does not fire")
    void cancelled() {
        process.schedule(Duration.ofSeconds(1), () -> say("fired")).cancel();

        simulation.drive(() -> false, Duration.ofSeconds(2).toNanos(), () -> false);

        assertThat(seen).isEmpty();
    }

    @Test
    @DisplayName("An unpark before the park makes the park return at once, once")
    void permit() {
        start("parker", () -> {
            process.unpark(Thread.currentThread());
            process.unpark(Thread.currentThread());
            process.park(this);
            say("once");
            process.park(this);
            say("twice");
        });

        simulation.runNow();

        assertThat(seen).containsExactly("once");
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("An interrupt ends every kind of wait, and stays set after a park")
    void interrupt(Wait wait) {
        Thread thread = start("waiter", () -> wait.on(this));
        simulation.runNow();
        assertThat(seen).isEmpty();

        process.interrupt(thread);
        simulation.runNow();

        assertThat(seen).containsExactly(wait + " interrupted");
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("So does one by somebody who knows nothing of the simulation")
    void realInterrupt(Wait wait) {
        Thread thread = start("waiter", () -> wait.on(this));
        simulation.runNow();

        thread.interrupt();

        // The thread itself has to notice; meanwhile there is nothing to run.
        while (seen.isEmpty()) {
            simulation.runNow();
        }
        assertThat(seen).containsExactly(wait + " interrupted");
    }

    enum Wait {
        PARK {
            @Override
            void on(SimulationTest test) {
                test.process.park(test);
                test.say(this + (Thread.interrupted() ? " interrupted" : " went on"));
            }
        },
        CONDITION {
            @Override
            void on(SimulationTest test) {
                try {
                    test.say(this + " " + test.simulation.await(() -> false, Long.MAX_VALUE));
                } catch (InterruptedException e) {
                    test.say(this + " interrupted");
                }
            }
        },
        FUTURE {
            @Override
            void on(SimulationTest test) {
                try {
                    test.say(this + " " + test.process.await(new CompletableFuture<>()));
                } catch (Exception e) {
                    test.say(this + (e instanceof InterruptedException ? " interrupted" : " failed"));
                }
            }
        };

        abstract void on(SimulationTest test);
    }

    @Test
    @DisplayName("A wait for a condition ends when it holds after a change, or at its deadline")
    void condition() {
        AtomicBoolean open = new AtomicBoolean();
        start("waiter", () -> {
            say("in time: " + await(open, Long.MAX_VALUE));
            open.set(false);
            say("in time: " + await(open, Duration.ofSeconds(5).toNanos()));
        });
        start("changer", () -> {
            sleep(Duration.ofSeconds(1));
            simulation.changed();
            open.set(true);
            simulation.changed();
        });

        simulation.drive(() -> false, Duration.ofSeconds(10).toNanos(), () -> false);

        assertThat(seen).containsExactly("in time: true", "in time: false");
    }

    @Test
    @DisplayName("A future that somebody outside completes makes its thread ready, and the drive waits for that")
    void future() {
        CompletableFuture<String> answer = new CompletableFuture<>();
        start("asker", () -> say(process.join(answer)));
        Thread outside = Thread.ofVirtual().unstarted(() -> answer.complete("answered"));

        End end = simulation.drive(() -> !seen.isEmpty(), 0, () -> {
            if (outside.getState() == Thread.State.NEW) {
                outside.start();
            }
            return true;
        });

        assertThat(end).isEqualTo(End.REACHED);
        assertThat(seen).containsExactly("answered");
    }

    @Test
    @DisplayName("A thread that blocks outside does not hold up the others, is counted, and goes on when it can")
    void outside() throws InterruptedException {
        CountDownLatch latch = new CountDownLatch(1);
        start("outsider", () -> {
            awaitUninterruptibly(latch);
            say("outsider goes on");
            process.park(this);
        });
        start("other", () -> say("other runs"));

        assertThat(simulation.runNow()).isEqualTo(End.TIME_UP);
        assertThat(seen).containsExactly("other runs");
        assertThat(simulation.anyOutside()).isTrue();
        assertThat(simulation.outsiders()).isEqualTo(1);

        latch.countDown();
        assertThat(simulation.drive(() -> !simulation.anyOutside(), 0, () -> true))
                .isEqualTo(End.REACHED);
        assertThat(seen).containsExactly("other runs", "outsider goes on");
    }

    @Test
    @DisplayName("A thread that comes back while the driver decides to wait for it is not waited for")
    void backAlready() {
        simulation = Simulation.impatient(Duration.ofSeconds(5));
        process = simulation.process("app");
        CountDownLatch latch = new CountDownLatch(1);
        start("outsider", () -> {
            awaitUninterruptibly(latch);
            process.park(this);
        });
        simulation.runNow();
        assertThat(simulation.anyOutside()).isTrue();

        // The driver is told to wait, and by then there is nothing to wait for any more.
        AtomicInteger asked = new AtomicInteger();
        End end = simulation.drive(() -> false, 0, () -> {
            if (asked.incrementAndGet() > 1) {
                return false;
            }
            latch.countDown();
            while (simulation.anyOutside()) {
                Thread.onSpinWait();
            }
            return true;
        });

        assertThat(end).isEqualTo(End.TIME_UP);
    }

    @Test
    @DisplayName("What nobody outside sets free is given up after the patience")
    void patience() {
        simulation = Simulation.impatient(Duration.ofMillis(100));
        process = simulation.process("app");
        CountDownLatch never = new CountDownLatch(1);
        start("outsider", () -> awaitUninterruptibly(never));

        assertThat(simulation.drive(() -> false, Long.MAX_VALUE, simulation::anyOutside))
                .isEqualTo(End.OUTSIDE);
        assertThat(simulation.threads()).containsExactly("outsider OUTSIDE");
        never.countDown();
    }

    @Test
    @DisplayName("Threads that never come to rest are told from those that do")
    void restless() {
        simulation = Simulation.impatient(Duration.ofMillis(100));
        process = simulation.process("app");
        AtomicReference<Thread> ping = new AtomicReference<>();
        Thread pong = start("pong", () -> bounce(ping::get));
        ping.set(start("ping", () -> bounce(() -> pong)));

        assertThat(simulation.runNow()).isEqualTo(End.RESTLESS);
    }

    private void bounce(java.util.function.Supplier<Thread> other) {
        while (true) {
            process.unpark(other.get());
            process.park(this);
        }
    }

    @Test
    @DisplayName("A process that dies stops where it is, with its timers, and others go on")
    void death() {
        process.schedule(Duration.ofSeconds(1), () -> say("timer of the dead"));
        SimulatedProcess other = simulation.process("other");
        other.schedule(Duration.ofSeconds(1), () -> say("timer of the living"));
        Thread parked = start("parked", () -> {
            try {
                process.park(this);
                say("unparked");
            } finally {
                say("unwound");
            }
        });
        simulation.runNow();

        process.die();
        process.unpark(parked);
        simulation.drive(() -> false, Duration.ofSeconds(2).toNanos(), () -> false);

        assertThat(seen).containsExactly("timer of the living");
        assertThat(process.ended()).isTrue();
        assertThat(other.ended()).isFalse();
    }

    @Test
    @DisplayName("A process that dies while a thread blocks outside is not waited for, and sets no timer any more")
    void deathOutside() throws InterruptedException {
        CountDownLatch latch = new CountDownLatch(1);
        Thread outsider = start("outsider", () -> {
            awaitUninterruptibly(latch);
            process.schedule(Duration.ofSeconds(1), () -> say("timer of the dead"));
            say("goes on");
            simulation.mayYield();
            say("goes on after its death was noticed");
        });
        simulation.runNow();
        assertThat(simulation.anyOutside()).isTrue();

        process.die();
        assertThat(simulation.anyOutside()).isFalse();
        latch.countDown();
        while (!(LockSupport.getBlocker(outsider) instanceof Strand)) {
            Thread.onSpinWait();
        }
        assertThat(simulation.drive(() -> false, Duration.ofSeconds(2).toNanos(), simulation::anyOutside))
                .isEqualTo(End.TIME_UP);

        simulation.close();
        outsider.join();
        assertThat(seen).containsExactly("goes on");
    }

    @ParameterizedTest
    @EnumSource(names = {"DAEMON", "VIRTUAL"})
    @DisplayName("Closing ends every thread, wherever it waits")
    void closing(Kind kind) throws InterruptedException {
        List<Thread> threads = List.of(
                process.start(kind, "parks", () -> process.park(this)),
                process.start(kind, "sleeps", () -> sleep(Duration.ofDays(1))),
                process.start(kind, "never ran", () -> say("ran")));
        simulation.close();

        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(seen).isEmpty();
    }

    @Test
    @DisplayName("Equal seeds run equally, and other seeds otherwise")
    void seeds() {
        Set<List<String>> orders = new HashSet<>();
        for (long seed = 0; seed < 20; seed++) {
            List<String> order = run(seed);
            long fingerprint = simulation.fingerprint();
            assertThat(run(seed)).isEqualTo(order);
            assertThat(simulation.fingerprint()).isEqualTo(fingerprint);
            orders.add(order);
        }
        assertThat(orders).hasSizeGreaterThan(10);
    }

    private List<String> run(long seed) {
        simulation.close();
        simulation = Simulation.seeded(seed);
        process = simulation.process("app");
        seen.clear();
        AtomicInteger steps = new AtomicInteger();
        for (String name : List.of("a", "b", "c")) {
            start(name, () -> {
                for (int i = 0; i < 5; i++) {
                    say(name + steps.incrementAndGet() + "+" + simulation.choose("extra", 0, 9, 0));
                    simulation.mayYield();
                }
            });
        }
        simulation.runNow();
        return List.copyOf(seen);
    }

    private Thread start(String name, Runnable body) {
        return process.start(Kind.VIRTUAL, name, body);
    }

    private void say(String what) {
        seen.add(what);
    }

    private void sleep(Duration time) {
        try {
            simulation.sleep(time);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private boolean await(AtomicBoolean open, long deadline) {
        try {
            return simulation.await(open::get, deadline);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
