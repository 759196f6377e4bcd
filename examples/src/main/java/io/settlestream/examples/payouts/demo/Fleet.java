package io.settlestream.examples.payouts.demo;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** The members that run the service. Whatever ends this process ends theirs too. */
final class Fleet implements AutoCloseable {

    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);

    private final List<Member> members;
    private final Thread onExit = Thread.ofPlatform().unstarted(this::destroyAll);

    /** From here on members end because they have to. */
    private volatile boolean closing;

    Fleet(int size, List<String> arguments, Consumer<String> errors) {
        members = IntStream.rangeClosed(1, size)
                .mapToObj(n -> new Member("member-" + n, arguments, errors))
                .toList();
        Runtime.getRuntime().addShutdownHook(onExit);
    }

    Member member(int index) {
        return members.get(index);
    }

    int size() {
        return members.size();
    }

    long up() {
        return members.stream().filter(Member::up).count();
    }

    /** Starts the first member, and waits until it knows what it reads. */
    void startFirst() {
        Member first = members.getFirst();
        first.start();
        long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
        while (!first.up()) {
            if (first.endedByItself().isPresent() || System.nanoTime() - deadline > 0) {
                throw new DemoException("The service did not start; its messages are above.", null);
            }
            Pause.of(Duration.ofMillis(50));
        }
    }

    /** Whether some member is on its way up. */
    boolean starting() {
        return members.stream().anyMatch(Member::starting);
    }

    /** Some member that is up. */
    Optional<Member> any(Random random) {
        List<Member> up = members.stream().filter(Member::up).toList();
        return up.isEmpty() ? Optional.empty() : Optional.of(up.get(random.nextInt(up.size())));
    }

    /** Members whose process ended although nobody told it to. */
    List<Member> ended() {
        return closing
                ? List.of()
                : members.stream()
                        .filter(member -> member.endedByItself().isPresent())
                        .toList();
    }

    /**
     * Stops all members gracefully.
     *
     * @return those that did not stop cleanly
     */
    List<Member> stop() {
        List<Member> ended = ended();
        members.forEach(Member::askToStop);
        return members.stream()
                .filter(member -> !member.awaitStop() && !ended.contains(member))
                .toList();
    }

    Told told() {
        return members.stream().map(Member::told).reduce(Told.NOTHING, Told::plus);
    }

    private void destroyAll() {
        closing = true;
        members.forEach(Member::destroy);
    }

    @Override
    public void close() {
        destroyAll();
        try {
            Runtime.getRuntime().removeShutdownHook(onExit);
        } catch (IllegalStateException e) {
            // this process is ending, and the hook does the same
        }
    }
}
