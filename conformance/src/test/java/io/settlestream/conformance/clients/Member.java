package io.settlestream.conformance.clients;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.common.TopicPartition;

/**
 * A member of a group that writes down what its listener is told. Each member has its own notes, because the order
 * between members is nobody's promise. All members of a script are polled in turn by the thread of the script.
 */
final class Member implements ConsumerRebalanceListener {

    /** How long nothing must happen for a group to be at rest: some heartbeats. */
    private static final Duration QUIET = Duration.ofMillis(700);

    private final Stage stage;
    private final String name;
    private final org.apache.kafka.clients.consumer.Consumer<byte[], byte[]> consumer;
    private final boolean stepwise;
    private final List<String> notes = new ArrayList<>();
    private final List<TopicPartition> coming = new ArrayList<>();
    private String latest = "";
    private boolean countsOnly;
    private final Map<String, Consumer<Collection<TopicPartition>>> reactions = new HashMap<>();

    private Member(
            Stage stage,
            Protocol protocol,
            String name,
            org.apache.kafka.clients.consumer.Consumer<byte[], byte[]> consumer) {
        this.stage = stage;
        this.name = name;
        this.stepwise = protocol.stepwise();
        this.consumer = consumer;
    }

    /** A consumer of a group; the first letter of its client id decides its place among the members of the group. */
    static Member of(Stage stage, Protocol protocol, String group, String name, Object... config) {
        Map<String, Object> all = new HashMap<>(protocol.config());
        all.put("group.id", stage.name(group));
        all.put("client.id", name);
        all.putAll(Stage.map(config));
        return new Member(stage, protocol, name, stage.consumer(Stage.pairs(all)));
    }

    Member subscribe(String... topics) {
        consumer.subscribe(List.of(topics), this);
        return this;
    }

    Member subscribe(Pattern pattern) {
        consumer.subscribe(pattern, this);
        return this;
    }

    org.apache.kafka.clients.consumer.Consumer<byte[], byte[]> consumer() {
        return consumer;
    }

    Set<TopicPartition> assignment() {
        return consumer.assignment();
    }

    /** What to do, within the callback, at "assigned", "revoked" or "lost". */
    Member on(String callback, Consumer<Collection<TopicPartition>> reaction) {
        reactions.put(callback, reaction);
        return this;
    }

    /** From now on, writes down how many partitions it is told of, not which. */
    void countOnly() {
        countsOnly = true;
    }

    boolean hasHeard(String callback) {
        return notes.stream().anyMatch(note -> note.startsWith(callback));
    }

    void poll() {
        consumer.poll(Duration.ofMillis(20));
    }

    /** Closes the consumer and writes down what that told its listener. */
    void close() {
        consumer.close();
        notes.add("closed");
        report();
    }

    void unsubscribe() {
        consumer.unsubscribe();
        notes.add("unsubscribed");
        report();
    }

    /** A line of its own among what the listener is told. */
    void note(String what, Object value) {
        latest = what;
        notes.add(what + " " + Words.of(value));
    }

    /** Moves the notes to the trace. */
    void report() {
        stage.note(name + ": " + String.join(", ", notes));
        notes.clear();
        latest = "";
    }

    /** Polls until something is so and then until nothing happens any more, and writes down what happened. */
    static void settle(Stage stage, String what, BooleanSupplier condition, Member... members) {
        pollUntil(what, condition, members);
        quiet(members);
        stage.note(what);
        Arrays.stream(members).sorted(Comparator.comparing(Member::toString)).forEach(Member::report);
    }

    /** Waits until each member has so many partitions and all is quiet, and writes down what happened. */
    static void settle(Stage stage, String what, Map<Member, Integer> counts) {
        settle(stage, what, have(counts), counts.keySet().toArray(new Member[0]));
    }

    static void pollUntil(String what, BooleanSupplier condition, Member... members) {
        Stage.eventually(what, () -> {
            for (Member member : members) {
                member.poll();
            }
            return condition.getAsBoolean();
        });
    }

    static void quiet(Member... members) {
        int seen = -1;
        long since = 0;
        while (true) {
            int now = 0;
            for (Member member : members) {
                member.poll();
                now += member.notes.size();
            }
            if (now != seen) {
                seen = now;
                since = System.nanoTime();
            } else if (System.nanoTime() - since > QUIET.toNanos()) {
                return;
            }
        }
    }

    /** Whether each member has as many partitions as said. */
    static BooleanSupplier have(Map<Member, Integer> counts) {
        return () -> counts.entrySet().stream()
                .allMatch(entry -> entry.getKey().assignment().size() == entry.getValue());
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        heard("assigned", partitions);
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        heard("revoked", partitions);
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        heard("lost", partitions);
    }

    /**
     * In how many steps partitions come is a question of timing where they come without a stop for all: the steps are
     * written down as one, unless something else was heard between them.
     */
    private void heard(String callback, Collection<TopicPartition> partitions) {
        boolean goesOn = stepwise && callback.equals("assigned") && latest.equals("assigned");
        if (goesOn) {
            notes.removeLast();
        } else {
            coming.clear();
        }
        coming.addAll(partitions);
        notes.add(callback + " " + (countsOnly ? coming.size() : Words.partitions(coming)));
        latest = callback;
        reactions.getOrDefault(callback, ignored -> {}).accept(partitions);
    }

    @Override
    public String toString() {
        return name;
    }
}
