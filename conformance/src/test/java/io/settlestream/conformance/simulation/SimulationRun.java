package io.settlestream.conformance.simulation;

import io.settlestream.App;
import io.settlestream.Health;
import io.settlestream.ShutdownResult;
import io.settlestream.StartupException;
import io.settlestream.testing.TestApp;
import io.settlestream.testing.TestKafka;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One run: an application, its members, its input and its accidents, all by the seed. While it lasts it is held to what must
 * never happen; then everything is healed, and it is held to what must have happened.
 */
final class SimulationRun {

    private static final int MEMBERS = 3;

    /** A member that is not the application's. */
    private record Bare(String group, String member) {}

    private final Duration recovery;
    private final RunPlan plan;
    private final SplittableRandom random;
    private final TestKafka kafka;
    private final Trace trace;
    private final Violations violations;
    private final Behaviour behaviour;
    private final DeliveryRules deliveries;
    private final PositionRules positions;
    private final StopRules stops;
    private final InFlightRules inFlight;
    private final AttemptRules attempts;
    private final CopyRules copies;
    private final UserPauses pauses;

    /** For what only runs with means of recovery do. */
    private final SplittableRandom aside;

    private final Accidents accidents;
    private final Input input;
    private final App<Life> app;
    private final List<Member> members = new ArrayList<>();
    private final List<Bare> bare = new ArrayList<>();
    private @Nullable Member starting;
    private @Nullable Member first;
    private Instant lastAccident = Instant.EPOCH;

    private SimulationRun(RunPlan plan, TestKafka kafka) {
        this.plan = plan;
        this.kafka = kafka;
        random = Ids.chance(plan.seed(), "run");
        trace = new Trace(kafka.clock()::now);
        violations = new Violations(trace);
        behaviour = new Behaviour(plan.seed());
        Records records = new Records();
        aside = Ids.chance(plan.seed(), "aside");
        deliveries = new DeliveryRules(violations, kafka.clock());
        attempts = new AttemptRules(records, kafka.clock(), violations);
        copies = new CopyRules(plan, kafka, records, attempts, violations, trace);
        positions = new PositionRules(plan, kafka, records, copies, violations, trace);
        pauses = new UserPauses(kafka, violations, trace);
        stops = new StopRules(plan, kafka, deliveries, violations);
        inFlight = new InFlightRules(violations);
        recovery = recovery(plan);
        accidents = new Accidents(kafka, trace);
        for (SubscriptionPlan subscription : plan.subscriptions()) {
            kafka.topic(subscription.topic(), subscription.partitions());
            if (subscription.kind().replies()) {
                kafka.topic(subscription.replyTopic(), 2);
            }
        }
        plan.subscriptions().stream()
                .flatMap(subscription -> subscription.recovery().topics().stream())
                .distinct()
                .forEach(topic -> kafka.topic(topic, aside.nextInt(1, 4)));
        kafka.topic(SimulatedService.SIDE_TOPIC, 1);
        input = new Input(plan, kafka, trace);
        app = new SimulatedService(plan, kafka.clock(), behaviour, records, deliveries, attempts, pauses, trace)
                .app(() -> {
                    Member member = starting;
                    if (member == null) {
                        throw new IllegalStateException("nobody starts");
                    }
                    return member.nextLife();
                });
    }

    static RunResult of(long seed) {
        RunPlan plan = RunPlan.of(seed);
        try (TestKafka kafka = TestKafka.seeded(seed)) {
            SimulationRun run = new SimulationRun(plan, kafka);
            Throwable violation = null;
            try {
                run.run();
            } catch (RuntimeException | AssertionError e) {
                violation = e;
            }
            return new RunResult(
                    plan,
                    kafka.fingerprint(),
                    kafka.reproducible(),
                    run.deliveries.count(),
                    Optional.ofNullable(violation),
                    run.trace.lines());
        }
    }

    /** Runs a seed twice; the second run is held to doing what the first did. */
    static RunResult twice(long seed) {
        RunResult one = of(seed);
        RunResult other = of(seed);
        return other.comparedTo(one);
    }

    private void run() {
        for (int i = 0; i < MEMBERS; i++) {
            members.add(new Member("m" + i));
        }
        start(members.get(0));
        for (int step = 0; step < plan.steps(); step++) {
            act();
            if (plan.recovery()) {
                actAside();
            }
            pass();
            look();
        }
        heal();
        rest();
        end();
    }

    // --- while it lasts

    private void act() {
        SubscriptionPlan subscription =
                plan.subscriptions().get(random.nextInt(plan.subscriptions().size()));
        int dice = random.nextInt(100);
        if (dice < 45) {
            input.write(random, subscription);
        } else if (dice < 60) {
            return;
        } else if (dice < 67) {
            anyMember(false).ifPresent(this::start);
        } else if (dice < 72) {
            anyMember(true).ifPresent(this::stop);
        } else if (dice < 79) {
            move(subscription);
        } else if (plan.faults()) {
            if (dice < 84) {
                accident();
                anyMember(true).ifPresent(this::crash);
            } else if (dice < 87) {
                accident();
                anyMember(true).ifPresent(member -> lose(member, subscription));
            } else if (dice < 95) {
                accident();
                accidents.request(random, subscription);
            } else {
                accident();
                accidents.topic(random, subscription);
            }
        }
    }

    private void actAside() {
        SubscriptionPlan subscription =
                plan.subscriptions().get(aside.nextInt(plan.subscriptions().size()));
        int dice = aside.nextInt(100);
        if (dice < 10) {
            List<Member> running = members.stream().filter(Member::runs).toList();
            if (!running.isEmpty()) {
                pauses.change(aside, running.get(aside.nextInt(running.size())), subscription);
            }
        } else if (dice < 28
                && plan.faults()
                && !subscription.recovery().topics().isEmpty()) {
            accident();
            copies.uncertain(accidents.copies(aside, subscription));
        } else if (dice < 33 && plan.faults()) {
            crashAgain();
        }
    }

    /** As a record does that ends the process which handles it. */
    private void crashAgain() {
        List<Member> up = members.stream().filter(Member::up).toList();
        if (up.isEmpty()) {
            return;
        }
        accident();
        Member member = up.get(aside.nextInt(up.size()));
        for (int times = aside.nextInt(2, 4); times > 0 && member.up(); times--) {
            crash(member);
            kafka.advance(Duration.ofMillis(aside.nextInt(8_000)));
            start(member);
            kafka.advance(Duration.ofMillis(aside.nextInt(10, 2_000)));
            look();
        }
        if (member.up()) {
            crash(member);
        }
    }

    private void accident() {
        lastAccident = kafka.clock().now();
    }

    /** Longer than sessions, transactions, back-offs and the naps of handlers. */
    private static Duration recovery(RunPlan plan) {
        boolean longSessions = plan.subscriptions().stream()
                .anyMatch(subscription -> subscription.protocol() == SubscriptionPlan.Protocol.CONSUMER);
        Duration longest = Duration.ofSeconds(longSessions ? 65 : 25);
        return plan.recovery() ? longest.plus(RecoveryPlan.LONGEST_DELAY) : longest;
    }

    private Optional<Member> anyMember(boolean up) {
        List<Member> some = members.stream().filter(member -> member.up() == up).toList();
        return some.isEmpty() ? Optional.empty() : Optional.of(some.get(random.nextInt(some.size())));
    }

    private void start(Member member) {
        trace.add(member + " starts");
        starting = member;
        try {
            Member origin = first;
            TestApp<Life> started;
            if (member.everStarted()) {
                started = member.app().restart();
            } else if (origin != null) {
                started = origin.app().another();
            } else {
                started = TestApp.of(app).on(kafka).start();
                first = member;
            }
            member.started(started);
            trace.add(member + " has started");
        } catch (StartupException e) {
            trace.add(member + " did not start: " + e.getMessage());
            member.ended();
            if (!accidentLately() && !mayFail()) {
                throw e;
            }
        } finally {
            starting = null;
        }
    }

    private void stop(Member member) {
        if (!member.runs()) {
            return;
        }
        trace.add(member + " stops");
        boolean quiet = !accidentLately();
        if (!quiet) {
            unseenEnd(member);
        }
        StopRules.Before before = stops.before(member);
        ShutdownResult result = member.stop();
        trace.add(member + " has stopped" + (result.clean() ? "" : ": " + result));
        positions.check();
        if (quiet) {
            stops.inTime(member, before);
        }
        if (quiet && result.clean()) {
            stops.after(member, before);
        }
        member.ended();
    }

    private void crash(Member member) {
        trace.add(member + " crashes");
        unseenEnd(member);
        member.crash();
    }

    private void lose(Member member, SubscriptionPlan subscription) {
        if (member.runs()) {
            trace.add(member + " is thrown out of the group of " + subscription.topic());
            unseenEnd(member);
            member.app().lose(subscription.topic());
        }
    }

    /** Attempts of this life may end, and what they come to is not seen. */
    private void unseenEnd(Member member) {
        copies.unseen();
        plan.subscriptions().forEach(subscription -> attempts.ended(member.current(), subscription));
    }

    private void move(SubscriptionPlan subscription) {
        int partition = random.nextInt(kafka.partitions(subscription.topic()));
        switch (random.nextInt(4)) {
            case 0 ->
                anyMember(true).filter(Member::runs).ifPresent(member -> {
                    take(member, subscription.topic(), partition);
                });
            case 1 -> {
                if (anyMember(true).isPresent()) {
                    trace.add("group " + subscription.group() + " rebalances");
                    kafka.rebalance(subscription.group());
                }
            }
            case 2 -> {
                String name = kafka.addMember(subscription.group(), subscription.topic(), partition);
                bare.add(new Bare(subscription.group(), name));
                trace.add(name + " joins and takes " + subscription.topic() + "-" + partition);
            }
            default -> leaveBare();
        }
    }

    private void take(Member member, String topic, int partition) {
        try {
            member.app().take(topic, partition);
            trace.add(member + " takes " + topic + "-" + partition);
        } catch (IllegalStateException notInTheGroup) {
            trace.add(member + " would take " + topic + "-" + partition + ", but: " + notInTheGroup.getMessage());
        }
    }

    private void leaveBare() {
        if (!bare.isEmpty()) {
            Bare last = bare.remove(bare.size() - 1);
            trace.add(last.member() + " leaves");
            kafka.removeMember(last.group(), last.member());
        }
    }

    private void pass() {
        int kind = random.nextInt(10);
        if (kind < 2) {
            kafka.proceed();
            return;
        }
        int most = kind < 5 ? 50 : kind < 8 ? 1_000 : kind < 9 ? 6_000 : 30_000;
        kafka.advance(Duration.ofMillis(random.nextInt(1, most)));
    }

    private void look() {
        positions.check();
        for (Member member : members) {
            if (member.up()) {
                look(member);
            }
        }
        violations.check();
    }

    private void look(Member member) {
        Health health = member.app().health();
        if (member.failed()) {
            String why = health.failure().map(Throwable::toString).orElse("no reason");
            trace.add(member + " has failed of " + why);
            if (!mayFail()) {
                violations.add("12.3 no failure of its own", member + " has failed of " + why);
            }
            unseenEnd(member);
            // Its stop is under way; this waits for it.
            ShutdownResult unused = member.stop();
            member.ended();
            if (random.nextBoolean()) {
                start(member);
            }
            return;
        }
        health.subscriptions().forEach(each -> inFlight.check(member.current(), plan.subscription(each.name()), each));
    }

    private boolean mayFail() {
        return plan.subscriptions().stream().anyMatch(SubscriptionPlan::mayFail);
    }

    /** Whether something went wrong so shortly ago that a stop or start may suffer from it. */
    private boolean accidentLately() {
        return kafka.faults().left() > 0
                || kafka.clock().now().isBefore(lastAccident.plus(recovery))
                || !bare.isEmpty() && plan.faults();
    }

    // --- in the end

    private void heal() {
        trace.add("all is healed");
        behaviour.heal();
        kafka.faults().clear();
        plan.subscriptions().forEach(subscription -> kafka.resumeLog(subscription.topic()));
        while (!bare.isEmpty()) {
            leaveBare();
        }
        for (Member member : members) {
            if (member.runs()) {
                plan.subscriptions().forEach(subscription -> pauses.resume(member, subscription));
            }
        }
        input.finish();
        // Sessions of members that are gone end, so do their transactions, and handlers that may still fail a service.
        kafka.advance(accidentLately() || mayFail() || plan.recovery() ? recovery : Duration.ofSeconds(1));
        look();
        for (Member member : members) {
            if (!member.up() && (random.nextBoolean() || members.stream().noneMatch(Member::up))) {
                start(member);
            }
        }
        kafka.advance(Duration.ofSeconds(1));
        look();
    }

    private void rest() {
        kafka.settle();
        kafka.advance(Duration.ofSeconds(6));
        trace.add("at rest");
        look();
        positions.atRest();
        for (Member member : members) {
            if (member.up() && !member.app().health().healthy()) {
                violations.add(
                        "12.3 healthy at rest", member + " is " + member.app().health());
            }
        }
        violations.check();
    }

    /** A clean stop repeats nothing. */
    private void end() {
        members.stream().filter(Member::up).forEach(this::stop);
        violations.check();
        long before = deliveries.count();
        start(members.get(0));
        kafka.settle();
        kafka.advance(Duration.ofSeconds(6));
        look();
        if (deliveries.count() != before) {
            violations.add("10.3 a clean stop repeats nothing", "a start after a stop at rest delivered something");
        }
        stop(members.get(0));
        violations.check();
    }
}
