package io.settlestream.testing;

import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * What a consumer group has committed, as an administrator sees it.
 *
 * <p>Every {@code has} method throws an {@link AssertionError} that shows what was seen, and otherwise returns this. On a
 * cluster it waits for commits that are due.
 *
 * @since 0.1.0
 */
public final class TestGroup {

    private final String name;
    private final Ground ground;
    private final Unmet unmet;

    TestGroup(String name, Ground ground, Unmet unmet) {
        this.name = name;
        this.ground = ground;
        this.unmet = unmet;
    }

    /** The group's name. */
    public String name() {
        return name;
    }

    /** The committed offset of a partition: the next one to be read; empty if nothing is committed. */
    public OptionalLong committed(String topic, int partition) {
        OffsetAndMetadata committed = ground.committed(name).get(new TopicPartition(topic, partition));
        return committed == null ? OptionalLong.empty() : OptionalLong.of(committed.offset());
    }

    /** All committed offsets. */
    public Map<TopicPartition, Long> committed() {
        return ground.committed(name).entrySet().stream()
                .filter(entry -> entry.getValue() != null)
                .collect(Collectors.toUnmodifiableMap(
                        Map.Entry::getKey, entry -> entry.getValue().offset()));
    }

    /**
     * How many offsets of a topic lie between what is committed and the end, over all partitions; a partition without a
     * committed offset counts from 0.
     */
    public long lag(String topic) {
        Map<TopicPartition, OffsetAndMetadata> committed = ground.committed(name);
        return ground.ends(topic).entrySet().stream()
                .mapToLong(end -> end.getValue()
                        - (committed.containsKey(end.getKey())
                                ? committed.get(end.getKey()).offset()
                                : 0))
                .sum();
    }

    /** The committed offset of a partition is this. */
    public TestGroup hasCommitted(String topic, int partition, long offset) {
        return expect(
                () -> committed(topic, partition).equals(OptionalLong.of(offset)),
                "committed offset " + offset + " of " + topic + "-" + partition);
    }

    /** Nothing is committed of a topic. */
    public TestGroup hasCommittedNothing(String topic) {
        return expect(
                () -> ground.committed(name).keySet().stream()
                        .noneMatch(partition -> partition.topic().equals(topic)),
                "nothing committed of " + topic);
    }

    /** Its lag on a topic is this. */
    public TestGroup hasLag(String topic, long lag) {
        return expect(() -> lag(topic) == lag, "a lag of " + lag + " on " + topic);
    }

    private TestGroup expect(BooleanSupplier held, String what) {
        long patienceEnd = System.nanoTime() + ground.assertionPatience().toNanos();
        boolean holds = held.getAsBoolean();
        while (!holds && System.nanoTime() - patienceEnd < 0) {
            ground.advance(LiveGround.LOOK);
            holds = held.getAsBoolean();
        }
        if (!holds) {
            throw unmet.error("Expected of group " + name + ": " + what + ", but was:\n" + this);
        }
        return this;
    }

    /** What it has committed, a line for each partition. */
    @Override
    public String toString() {
        Map<String, String> lines = new TreeMap<>();
        ground.committed(name)
                .forEach((partition, committed) -> lines.put(
                        partition.toString(),
                        "\n  " + partition + " committed " + committed.offset() + " of "
                                + ground.ends(partition.topic()).get(partition)
                                + (committed.metadata().isEmpty() ? "" : " with \"" + committed.metadata() + "\"")));
        return "group " + name + ": " + (lines.isEmpty() ? "nothing committed" : String.join("", lines.values()));
    }
}
