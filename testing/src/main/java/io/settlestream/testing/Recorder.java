package io.settlestream.testing;

import io.settlestream.Context;
import io.settlestream.HandlerOutcome;
import io.settlestream.PublishException;
import io.settlestream.spi.AppObserver;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Writes down what handlers are called with and what they answer. Thread-safe; one lock, held for single steps. */
final class Recorder implements AppObserver {

    /** A value in a call, while it may still be answered. */
    private static final class Entry {
        final Object value;
        final String topic;
        final int partition;
        final long offset;
        final int attempt;

        @Nullable
        HandlerOutcome outcome;

        @Nullable
        Throwable thrown;
        /** The thread that runs the handler; null once that has returned. */
        @Nullable
        Thread handler = Thread.currentThread();

        Entry(Context<?> delivery, Object value) {
            this.value = value;
            this.topic = delivery.topic();
            this.partition = delivery.partition();
            this.offset = delivery.offset();
            this.attempt = delivery.attempt();
        }

        boolean answered() {
            return outcome != null || thrown != null;
        }

        TestCall.Element seen() {
            return new TestCall.Element(
                    value,
                    topic,
                    partition,
                    offset,
                    attempt,
                    Optional.ofNullable(outcome),
                    Optional.ofNullable(thrown));
        }
    }

    private static final class Seen {
        final List<List<Entry>> calls = new ArrayList<>();
        final List<String> undecodable = new ArrayList<>();
    }

    private final Runnable between;
    private volatile @Nullable Object state;
    private final Map<String, Seen> subscriptions = new LinkedHashMap<>();
    private final IdentityHashMap<Context<?>, Entry> unanswered = new IdentityHashMap<>();

    /**
     * @param between called before and after each handler, on its thread: where other threads may go first
     */
    Recorder(Runnable between) {
        this.between = between;
    }

    // --- what the application says

    @Override
    public void madeState(Object made) {
        state = made;
    }

    @Override
    public void called(String subscription, Context<?> delivery, Object value) {
        calledBatch(subscription, List.of(delivery), List.of(value));
    }

    @Override
    public void calledBatch(String subscription, List<? extends Context<?>> deliveries, List<Object> values) {
        between.run(); // first: what has crashed is not called any more
        synchronized (this) {
            List<Entry> call = new ArrayList<>(deliveries.size());
            for (int i = 0; i < deliveries.size(); i++) {
                Entry entry = new Entry(deliveries.get(i), values.get(i));
                call.add(entry);
                unanswered.put(deliveries.get(i), entry);
            }
            seen(subscription).calls.add(call);
        }
    }

    @Override
    public void replying(String subscription, Context<?> delivery) {
        synchronized (this) {
            Entry entry = unanswered.get(delivery);
            if (entry != null) {
                entry.handler = null;
            }
        }
        between.run();
    }

    @Override
    public void answered(String subscription, Context<?> delivery, HandlerOutcome outcome) {
        end(delivery, outcome, null);
    }

    @Override
    public void replyFailed(String subscription, Context<?> delivery, PublishException failure) {
        end(delivery, null, failure);
    }

    @Override
    public void threw(String subscription, Context<?> delivery, Throwable cause) {
        end(delivery, null, cause);
    }

    @Override
    public synchronized void undecodable(String subscription, Context<?> delivery, Throwable cause) {
        seen(subscription).undecodable.add(delivery.topic() + "-" + delivery.partition() + "@" + delivery.offset());
    }

    private void end(Context<?> delivery, @Nullable HandlerOutcome outcome, @Nullable Throwable thrown) {
        boolean ofHandler;
        synchronized (this) {
            Entry entry = unanswered.remove(delivery);
            // What is not known any more was in hand when the application crashed: its handler's thread ends in
            // between.
            ofHandler = entry == null || entry.handler != null;
            if (entry != null) {
                entry.handler = null;
                entry.outcome = outcome;
                entry.thrown = thrown;
            }
        }
        if (ofHandler) {
            between.run();
        }
    }

    private Seen seen(String subscription) {
        return subscriptions.computeIfAbsent(subscription, name -> new Seen());
    }

    // --- what the test asks

    /** The state that the last start has made, or null. */
    @Nullable
    Object state() {
        return state;
    }

    synchronized List<TestCall> calls(String subscription) {
        return seen(subscription).calls.stream()
                .map(call -> new TestCall(call.stream().map(Entry::seen).toList()))
                .toList();
    }

    synchronized List<String> undecodable(String subscription) {
        return List.copyOf(seen(subscription).undecodable);
    }

    synchronized void forget(String subscription) {
        subscriptions.remove(subscription);
    }

    /** Forgets who was about to answer: the process is no more. */
    synchronized void crashed() {
        unanswered.clear();
    }

    /** Calls that have not been answered, in words. */
    synchronized List<String> unanswered() {
        return unanswered.values().stream()
                .filter(entry -> !entry.answered())
                .map(entry -> "the " + (entry.handler == null ? "reply to " : "handler of ") + entry.seen()
                        + (entry.handler == null ? "" : " (on " + entry.handler.getName() + ")"))
                .sorted()
                .toList();
    }

    /** Whether a handler runs on a thread of which this is true. */
    synchronized boolean anyHandlerOn(Predicate<Thread> which) {
        return unanswered.values().stream().anyMatch(entry -> entry.handler != null && which.test(entry.handler));
    }
}
