package io.settlestream.testing;

import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.SubscriptionControl;
import io.settlestream.kafka.KafkaPosition;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * What a subscription's handler was called with and what it answered, in the order of the calls, since the application was
 * first started or what was seen was {@linkplain #forget forgotten}.
 *
 * <p>Every {@code has} method throws an {@link AssertionError} that shows what was seen, and otherwise returns this.
 *
 * @since 0.1.0
 */
public final class TestSubscription {

    private final String name;
    private final Recorder recorder;
    private final Supplier<Health.Counts> counts;
    private final Consumer<Function<SubscriptionControl, CompletableFuture<?>>> control;
    private final Unmet unmet;

    TestSubscription(
            String name,
            Recorder recorder,
            Supplier<Health.Counts> counts,
            Consumer<Function<SubscriptionControl, CompletableFuture<?>>> control,
            Unmet unmet) {
        this.name = name;
        this.recorder = recorder;
        this.counts = counts;
        this.control = control;
        this.unmet = unmet;
    }

    /** The subscription's name, as in logs and in health. */
    public String name() {
        return name;
    }

    /** All calls so far. */
    public List<TestCall> calls() {
        return recorder.calls(name);
    }

    /** All calls' values, those of batches one by one; a value that was retried is there once for each attempt. */
    public List<Object> values() {
        return elements().map(TestCall.Element::value).toList();
    }

    /** As {@link #values()}, each of the given type. */
    public <T> List<T> values(Class<T> type) {
        return elements().map(element -> type.cast(element.value())).toList();
    }

    /** The attempt of each value, in the order of {@link #values()}. */
    public List<Integer> attempts() {
        return elements().map(TestCall.Element::attempt).toList();
    }

    /** What the handler answered, in the order of {@link #values()}; calls without an answer are left out. */
    public List<HandlerOutcome> outcomes() {
        return elements().flatMap(element -> element.outcome().stream()).toList();
    }

    /** How many values each call had. */
    public List<Integer> batchSizes() {
        return calls().stream().map(call -> call.elements().size()).toList();
    }

    /** The records that could not be decoded, as {@code topic-partition@offset}, once for each attempt at them. */
    public List<String> undecodable() {
        return recorder.undecodable(name);
    }

    /** What the application has counted of this subscription since its last start, as its health tells it. */
    public Health.Counts counts() {
        return counts.get();
    }

    /**
     * Moves it as {@link SubscriptionControl#seek(KafkaPosition)} does, and returns when that has taken effect.
     * {@link TestApp#settle} then lets it handle what is behind the position.
     *
     * @throws io.settlestream.ControlException if it is refused
     */
    public TestSubscription seek(KafkaPosition position) {
        return ask(subscription -> subscription.seek(position));
    }

    /**
     * Moves it in one partition.
     *
     * @throws io.settlestream.ControlException if it is refused
     */
    public TestSubscription seek(String topic, int partition, KafkaPosition position) {
        return ask(subscription -> subscription.seek(topic, partition, position));
    }

    /**
     * Pauses it as {@link SubscriptionControl#pause()} does, and returns when that has taken effect. What is published
     * to it from then on is at rest: nothing comes of it until it is resumed.
     *
     * @throws io.settlestream.ControlException if it is refused
     */
    public TestSubscription pause() {
        return ask(SubscriptionControl::pause);
    }

    /**
     * Lets it go on after {@link #pause()}.
     *
     * @throws io.settlestream.ControlException if it is refused
     */
    public TestSubscription resume() {
        return ask(SubscriptionControl::resume);
    }

    /**
     * Pauses one partition of it.
     *
     * @throws io.settlestream.ControlException if it is refused
     */
    public TestSubscription pause(String topic, int partition) {
        return ask(subscription -> subscription.pause(topic, partition));
    }

    /**
     * Lets it go on after {@link #pause(String, int)}.
     *
     * @throws io.settlestream.ControlException if it is refused
     */
    public TestSubscription resume(String topic, int partition) {
        return ask(subscription -> subscription.resume(topic, partition));
    }

    private TestSubscription ask(Function<SubscriptionControl, CompletableFuture<?>> what) {
        control.accept(what);
        return this;
    }

    /** Forgets what was seen so far; what is counted stays. */
    public TestSubscription forget() {
        recorder.forget(name);
        return this;
    }

    /** Its handler was called so often; a batch is one call. */
    public TestSubscription hasCalls(int count) {
        return expect(calls().size() == count, count + " calls");
    }

    /** Its handler was called with these values, in this order, those of batches one by one. */
    public TestSubscription hasValues(Object... values) {
        // Bytes are compared by what is in them.
        return expect(Arrays.deepEquals(values().toArray(), values), "the values " + Arrays.deepToString(values));
    }

    /** Its handler was called with these values, in whatever order. */
    public TestSubscription hasValuesInAnyOrder(Object... values) {
        List<Object> left = new ArrayList<>(values());
        boolean all = left.size() == values.length;
        for (Object value : values) {
            all = all && removeFirst(left, value);
        }
        return expect(all, "in whatever order the values " + Arrays.deepToString(values));
    }

    /** The values it was called with were at these attempts, in the order of the calls. */
    public TestSubscription hasAttempts(Integer... attempts) {
        return expect(attempts().equals(List.of(attempts)), "the attempts " + Arrays.toString(attempts));
    }

    /** Its handler answered this, in the order of the calls. */
    public TestSubscription hasOutcomes(HandlerOutcome... outcomes) {
        return expect(outcomes().equals(List.of(outcomes)), "the outcomes " + Arrays.toString(outcomes));
    }

    /** Its handler was called with batches of these sizes. */
    public TestSubscription hasBatchSizes(Integer... sizes) {
        return expect(batchSizes().equals(List.of(sizes)), "the batch sizes " + Arrays.toString(sizes));
    }

    /** So many attempts to decode a record failed. */
    public TestSubscription hasUndecodable(int count) {
        return expect(undecodable().size() == count, count + " undecodable records");
    }

    /** So many times since the last start a retry was reported as unsupported: its subscription does not track records. */
    public TestSubscription hasUnsupportedRetries(int count) {
        long seen = counts().unsupportedRetries();
        return expect(seen == count, count + " unsupported retries, of which there are " + seen);
    }

    /** Its handler has thrown an exception of this kind. */
    public TestSubscription hasThrown(Class<? extends Throwable> kind) {
        Objects.requireNonNull(kind, "kind");
        return expect(
                elements()
                        .anyMatch(element ->
                                element.thrown().filter(kind::isInstance).isPresent()),
                "a handler that threw " + kind.getSimpleName());
    }

    private static boolean removeFirst(List<Object> left, Object wanted) {
        for (int i = 0; i < left.size(); i++) {
            if (Objects.deepEquals(left.get(i), wanted)) {
                Object unused = left.remove(i);
                return true;
            }
        }
        return false;
    }

    private Stream<TestCall.Element> elements() {
        return calls().stream().flatMap(call -> call.elements().stream());
    }

    private TestSubscription expect(boolean held, String what) {
        if (!held) {
            throw unmet.error("Expected of subscription " + name + ": " + what + ", but was:\n" + this);
        }
        return this;
    }

    /** What was seen, a line for each call. */
    @Override
    public String toString() {
        List<TestCall> calls = calls();
        StringBuilder seen = new StringBuilder("subscription ")
                .append(name)
                .append(": ")
                .append(calls.isEmpty() ? "no calls" : calls.size() + " calls");
        calls.forEach(call -> seen.append("\n  ").append(call));
        undecodable().forEach(record -> seen.append("\n  ").append(record).append(" could not be decoded"));
        return seen.toString();
    }
}
