package io.settlestream.testing;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * The records of a topic, whoever wrote them: those of all partitions, partition by partition, without those of transactions
 * that are open or were aborted.
 *
 * <p>Every {@code has} method throws an {@link AssertionError} that shows what was seen, and otherwise returns this.
 *
 * @since 0.1.0
 */
public final class TestTopic {

    private final String name;
    private final Ground ground;
    private final Unmet unmet;

    TestTopic(String name, Ground ground, Unmet unmet) {
        this.name = name;
        this.ground = ground;
        this.unmet = unmet;
    }

    /** The topic's name. */
    public String name() {
        return name;
    }

    /** The records. */
    public List<TestRecord> records() {
        return ground.records(name);
    }

    /** The records of one partition. */
    public List<TestRecord> records(int partition) {
        return records().stream()
                .filter(record -> record.partition() == partition)
                .toList();
    }

    /** The values, decoded by the type's default codec. */
    public <T> List<T> values(Class<T> type) {
        return records().stream().map(record -> record.value(type)).toList();
    }

    /** It has so many records. */
    public TestTopic hasRecords(int count) {
        return expect(records().size() == count, count + " records");
    }

    /** It has no records. */
    public TestTopic isEmpty() {
        return hasRecords(0);
    }

    /** It has these values in this order; each is compared to a record decoded as a value of its class. Null is a tombstone. */
    public TestTopic hasValues(@Nullable Object... values) {
        List<TestRecord> records = records();
        boolean equal = records.size() == values.length;
        for (int i = 0; equal && i < values.length; i++) {
            equal = holds(records.get(i), values[i]);
        }
        return expect(equal, "the values " + Arrays.deepToString(values));
    }

    /** It has these values in whatever order; null is a tombstone. */
    public TestTopic hasValuesInAnyOrder(@Nullable Object... values) {
        List<TestRecord> left = new ArrayList<>(records());
        boolean all = left.size() == values.length;
        for (@Nullable Object value : values) {
            all = all && removeFirst(left, record -> holds(record, value));
        }
        return expect(all, "in whatever order the values " + Arrays.deepToString(values));
    }

    /** The keys of its records are these texts, in this order; null for a record without a key. */
    public TestTopic hasKeys(@Nullable String... keys) {
        List<@Nullable String> seen = new ArrayList<>();
        records().forEach(record -> seen.add(record.keyText().orElse(null)));
        return expect(seen.equals(Arrays.asList(keys)), "the keys " + Arrays.toString(keys));
    }

    /** Each of its records has a header of this name whose value is this text. */
    public TestTopic hasHeader(String header, String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        boolean all = records().stream()
                .allMatch(record -> record.headers().stream()
                        .anyMatch(candidate ->
                                candidate.key().equals(header) && Arrays.equals(candidate.value(), bytes)));
        return expect(all && !records().isEmpty(), "records with a header " + header + " of " + value);
    }

    /** Its records lie in these partitions, in the order of {@link #records()}. */
    public TestTopic hasPartitions(Integer... partitions) {
        List<Integer> seen = records().stream().map(TestRecord::partition).toList();
        return expect(seen.equals(List.of(partitions)), "the partitions " + Arrays.toString(partitions));
    }

    private static boolean holds(TestRecord record, @Nullable Object value) {
        if (value == null || record.value() == null) {
            return value == null && record.value() == null;
        }
        if (value instanceof byte[] bytes) {
            return Arrays.equals(record.value(), bytes);
        }
        try {
            return value.equals(record.value(value.getClass()));
        } catch (io.settlestream.DecodeException notOfThisType) {
            return false;
        }
    }

    private static boolean removeFirst(List<TestRecord> left, Predicate<TestRecord> wanted) {
        for (TestRecord record : left) {
            if (wanted.test(record)) {
                return left.remove(record);
            }
        }
        return false;
    }

    private TestTopic expect(boolean held, String what) {
        if (!held) {
            throw unmet.error("Expected of topic " + name + ": " + what + ", but was:\n" + this);
        }
        return this;
    }

    /** What is in it, a line for each record. */
    @Override
    public String toString() {
        List<TestRecord> records = records();
        StringBuilder seen = new StringBuilder("topic ")
                .append(name)
                .append(": ")
                .append(records.isEmpty() ? "no records" : records.size() + " records");
        for (TestRecord record : records) {
            seen.append("\n  ").append(record);
            for (Header header : record.headers()) {
                seen.append("\n    ")
                        .append(header.key())
                        .append(": ")
                        .append(record.header(header.key()).orElse("null"));
            }
        }
        return seen.toString();
    }
}
