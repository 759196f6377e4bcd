package io.settlestream.examples.payouts.demo;

import io.settlestream.examples.payouts.demo.Timeline.Step;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/** One run: from the first payout produced until everything is committed, nothing moves any more, or a process fails. */
final class DemoRun {

    private static final Duration LOOK = Duration.ofMillis(50);

    /** A kill that met no half-committed work is tried again, up to so many times for each that was asked for. */
    private static final int TRIES_PER_KILL = 3;

    private final Cluster cluster;
    private final Groups groups;
    private final Workload workload;
    private final Fleet fleet;
    private final Timeline timeline;
    private final Random random;
    private final int killsAsked;
    private final Duration patience;
    private final Console console;

    private final long begun = System.nanoTime();
    private int kills;
    private int killTries;
    private String problem = "";

    DemoRun(
            Cluster cluster,
            Groups groups,
            Workload workload,
            Fleet fleet,
            int kills,
            Duration patience,
            Random random,
            Console console) {
        this.cluster = cluster;
        this.groups = groups;
        this.workload = workload;
        this.fleet = fleet;
        this.killsAsked = kills;
        this.patience = patience;
        this.random = random;
        this.console = console;
        this.timeline = new Timeline(fleet.size(), kills, random);
    }

    /** Runs to the end, stops the service, and reads back what Kafka has. */
    Result run() {
        CompletableFuture<Void> allowEnd = new CompletableFuture<>();
        try {
            watch(workload.produce(cluster.bootstrap(), allowEnd), allowEnd);
        } finally {
            allowEnd.complete(null);
        }
        Duration elapsed = Duration.ofNanos(System.nanoTime() - begun);
        if (kills < killsAsked) {
            console.say(
                    "NOTE only %d of %d kills met half-committed work: the stream was too short."
                            + " More --payouts or a longer --bank-delay make it last.",
                    kills, killsAsked);
        }
        console.print("Stopping the service, and reading back what Kafka has.");
        List<Member> unclean = fleet.stop();
        if (!unclean.isEmpty()) {
            problem = "did not stop cleanly: " + names(unclean);
        }
        return Result.of(workload.payouts(), ReadBack.of(cluster, groups), kills, fleet.told(), elapsed);
    }

    /** Why the run is no success whatever Kafka has, or empty. */
    String problem() {
        return problem;
    }

    private void watch(CompletableFuture<Void> produced, CompletableFuture<Void> allowEnd) {
        long doneBefore = -1;
        long moved = System.nanoTime();
        while (true) {
            if (produced.isCompletedExceptionally()) {
                throw new DemoException(
                        "Producing failed: " + produced.exceptionNow().getMessage(), produced.exceptionNow());
            }
            boolean allProduced = produced.isDone(); // before the ends are read
            List<GroupPosition> positions =
                    groups.tracked().stream().map(cluster::position).toList();
            show(positions);
            if (allProduced && positions.stream().allMatch(GroupPosition::atEnd)) {
                return;
            }
            if (!fleet.ended().isEmpty()) {
                giveUp("ended by itself: " + names(fleet.ended()));
                return;
            }
            long done = positions.stream().mapToLong(GroupPosition::done).sum();
            if (done != doneBefore) {
                doneBefore = done;
                moved = System.nanoTime();
            } else if (System.nanoTime() - moved > patience.toNanos()) {
                giveUp("nothing was committed for " + patience.toSeconds() + " s");
                return;
            }
            takeStep(part(positions.getFirst()));
            if (timeline.over() && !fleet.starting()) {
                allowEnd.complete(null);
            }
            Pause.of(LOOK);
        }
    }

    private void giveUp(String why) {
        problem = why;
        console.say("Giving up: %s.", why);
        for (Groups.Reading reading : groups.tracked()) {
            GroupPosition position = cluster.position(reading);
            console.say(
                    "  group %s has committed %,d of %,d records of topic %s; %,d are missing",
                    reading.group(),
                    position.done(),
                    workload.sizeOf(reading),
                    reading.topic(),
                    workload.sizeOf(reading) - position.done());
        }
    }

    private void show(List<GroupPosition> positions) {
        GroupPosition payouts = positions.get(0);
        GroupPosition statements = positions.get(1);
        console.progress(
                "%5.1f s  committed: %,d of %,d payouts, %,d of %,d statement lines; members up: %d",
                seconds(),
                payouts.done(),
                workload.payouts(),
                statements.done(),
                workload.statementLines(),
                fleet.up());
    }

    private void takeStep(double part) {
        Step step = timeline.due(part);
        if (step == null) {
            return;
        }
        boolean taken = switch (step) {
            case Step.Join join -> join(fleet.member(join.member()));
            case Step.Leave leave -> leave(fleet.member(leave.member()));
            case Step.Kill kill -> kill();
        };
        if (!taken) {
            timeline.again(step);
        }
    }

    private boolean join(Member member) {
        member.start();
        event("%s joins", member.name());
        return true;
    }

    private boolean leave(Member member) {
        if (!member.up()) {
            return false;
        }
        event("%s leaves", member.name());
        member.askToStop();
        if (!member.awaitStop()) {
            problem = member.name() + " did not leave cleanly";
        }
        return true;
    }

    /** Kills some member, looks at what is committed while it is dead, and starts it again. */
    private boolean kill() {
        Optional<Member> victim = fleet.any(random);
        if (victim.isEmpty()) {
            return false;
        }
        Member member = victim.get();
        // A look sees progress right after a commit; a kill must be able to come at any time between two.
        Pause.of(Duration.ofMillis(random.nextLong(ServiceProcess.COMMIT_INTERVAL.toMillis() + 1)));
        member.kill();
        GroupPosition position = cluster.position(groups.payouts());
        boolean midStream = position.done() > 0 && position.lag() > 0;
        killTries++;
        if (midStream) {
            kills++;
            event(
                    "%s killed with %,d of %,d payouts committed (kill %d of %d)",
                    member.name(), position.done(), workload.payouts(), kills, killsAsked);
        } else {
            event("%s killed with %,d payouts committed, which does not count", member.name(), position.done());
            if (killTries < killsAsked * TRIES_PER_KILL) {
                timeline.killLater(part(position), random);
            }
        }
        member.start();
        return true;
    }

    private double part(GroupPosition payouts) {
        return (double) payouts.done() / workload.payouts();
    }

    @SuppressWarnings("AnnotateFormatMethod") // would take a library for one annotation
    private void event(String format, Object... values) {
        console.say("%5.1f s  %s", seconds(), String.format(Locale.ROOT, format, values));
    }

    private double seconds() {
        return (System.nanoTime() - begun) / 1e9;
    }

    private static String names(List<Member> members) {
        return members.stream().map(Member::name).collect(Collectors.joining(", "));
    }
}
