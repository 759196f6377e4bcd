package io.settlestream.it;

import io.settlestream.Context;
import io.settlestream.Handler;
import io.settlestream.HandlerOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;

/** What the members of a group do with the records of one topic: who has what in hand, and who settled what. */
final class Ledger {

    /** One delivery. */
    record Entry(String member, int partition, long offset, int attempt) {}

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, List<Context<?>>> inHand = new TreeMap<>();
    private final List<Entry> begun = new ArrayList<>();
    private final List<Entry> settled = new ArrayList<>();
    private final List<String> violations = new ArrayList<>();

    /** A handler that keeps this ledger while it does what {@code handler} does. */
    <T> Handler<T, Object> kept(String member, Handler<T, Object> handler) {
        return (value, context) -> {
            begin(member, context);
            HandlerOutcome outcome = HandlerOutcome.retry();
            try {
                outcome = handler.handle(value, context);
                return outcome;
            } finally {
                end(member, context, outcome.equals(HandlerOutcome.ack()));
            }
        };
    }

    private void begin(String member, Context<?> context) {
        lock.lock();
        try {
            List<Context<?>> others = inHand.computeIfAbsent(name(context), at -> new ArrayList<>());
            for (Context<?> other : others) {
                if (!other.cancelled()) {
                    violations.add(name(context) + " was given to " + member + " while another live delivery ran");
                }
            }
            others.add(context);
            begun.add(entry(member, context));
        } finally {
            lock.unlock();
        }
    }

    private void end(String member, Context<?> context, boolean acked) {
        lock.lock();
        try {
            if (acked) {
                settled.add(entry(member, context));
            }
            inHand.get(name(context)).remove(context);
        } finally {
            lock.unlock();
        }
    }

    /** Deliveries that handlers were given, in order. */
    List<Entry> begun() {
        lock.lock();
        try {
            return List.copyOf(begun);
        } finally {
            lock.unlock();
        }
    }

    List<Entry> begun(int partition, long offset) {
        return begun().stream()
                .filter(entry -> entry.partition == partition && entry.offset == offset)
                .toList();
    }

    List<Entry> begunBy(String member) {
        return begun().stream().filter(entry -> entry.member.equals(member)).toList();
    }

    /** How often each offset of a partition was acked. */
    Map<Long, Long> settled(int partition) {
        lock.lock();
        try {
            Map<Long, Long> counts = new TreeMap<>();
            settled.stream()
                    .filter(entry -> entry.partition == partition)
                    .forEach(entry -> counts.merge(entry.offset, 1L, Long::sum));
            return counts;
        } finally {
            lock.unlock();
        }
    }

    /** Records that two live deliveries had in hand at a time. */
    List<String> violations() {
        lock.lock();
        try {
            return List.copyOf(violations);
        } finally {
            lock.unlock();
        }
    }

    private static Entry entry(String member, Context<?> context) {
        return new Entry(member, context.partition(), context.offset(), context.attempt());
    }

    private static String name(Context<?> context) {
        return context.partition() + "@" + context.offset();
    }
}
