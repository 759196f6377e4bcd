package io.settlestream.examples.deadletters;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Publishes dead letters, and in the same transactions what remembers that they were. For one thread.
 *
 * <p>All runs on one dead-letter topic have the same transactional id, and that is what keeps two of them from replaying
 * one letter twice. A run that begins aborts what an earlier one left open, be it dead or alive, and Kafka takes nothing
 * from the earlier one any more. So what a run reads of {@link Replayed} after it has begun stays true while it lasts: it
 * is everything that was ever replayed, and nobody else can add to it.
 */
final class Transactions implements AutoCloseable {

    /** Little enough to be far from the transaction's timeout of a minute, and to be held in memory. */
    private static final int MOST_LETTERS = 100;

    private static final long MOST_BYTES = 4 << 20;
    private static final int COMMIT_ATTEMPTS = 3;

    /** Nothing is on its way any more, unless Kafka is gone. */
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    /** A letter with where it goes and what it is remembered by. */
    record Item(DeadLetter letter, Targets.Target.Place place, String identity) {

        private long bytes() {
            return Math.max(0, letter.record().serializedKeySize())
                    + (long) Math.max(0, letter.record().serializedValueSize());
        }
    }

    /** Is told what became of each letter, when it is certain. */
    interface Listener {

        void replayed(Item item, RecordMetadata written);

        void refused(Item item, Throwable cause);
    }

    private final Producer<byte[], byte[]> producer;
    private final Replayed replayed;
    private final Listener listener;
    private final List<Item> waiting = new ArrayList<>();
    private long bytes;

    private Transactions(Producer<byte[], byte[]> producer, Replayed replayed, Listener listener) {
        this.producer = producer;
        this.replayed = replayed;
        this.listener = listener;
    }

    /** Ends every other run on this dead-letter topic. */
    static Transactions begin(Cluster cluster, Replayed replayed, Listener listener) {
        Producer<byte[], byte[]> producer = cluster.writer(replayed.transactionalId());
        try {
            producer.initTransactions();
            return new Transactions(producer, replayed, listener);
        } catch (KafkaException e) {
            producer.close(Duration.ZERO);
            throw new ToolException("Kafka does not begin a transaction: %s".formatted(e.getMessage()), e);
        }
    }

    /** Publishes the letter, now or together with the next ones. */
    void add(Item item) {
        waiting.add(item);
        bytes += item.bytes();
        if (waiting.size() >= MOST_LETTERS || bytes >= MOST_BYTES) {
            commit();
        }
    }

    /** Publishes all letters that were added. */
    void commit() {
        List<Item> items = List.copyOf(waiting);
        waiting.clear();
        bytes = 0;
        if (items.isEmpty() || published(items) == null || items.size() == 1) {
            return;
        }
        // One of them is not to be had by its topic. Each for itself, it holds up none of the others.
        items.forEach(item -> published(List.of(item)));
    }

    /** Publishes all of the letters or none, and returns what was the matter with one of them. */
    private @Nullable Throwable published(List<Item> items) {
        List<RecordMetadata> written;
        try {
            producer.beginTransaction();
            written = sent(items);
            commitTransaction();
        } catch (ExecutionException | KafkaException e) {
            Throwable cause = e instanceof ExecutionException && e.getCause() != null ? e.getCause() : e;
            abort(cause);
            if (cause instanceof RetriableException) {
                throw stopped("Kafka did not take %s: %s".formatted(range(items), cause.getMessage()), cause);
            }
            if (items.size() == 1) {
                listener.refused(items.get(0), cause);
            }
            return cause;
        }
        for (int i = 0; i < items.size(); i++) {
            listener.replayed(items.get(i), written.get(i));
        }
        return null;
    }

    private List<RecordMetadata> sent(List<Item> items) throws ExecutionException {
        List<Future<RecordMetadata>> originals = new ArrayList<>();
        List<Future<RecordMetadata>> markers = new ArrayList<>();
        for (Item item : items) {
            originals.add(producer.send(Targets.original(item.letter(), item.place())));
            markers.add(
                    producer.send(replayed.marker(item.identity(), item.letter().id())));
        }
        producer.flush();
        reports(markers);
        return reports(originals);
    }

    private static List<RecordMetadata> reports(List<Future<RecordMetadata>> futures) throws ExecutionException {
        List<RecordMetadata> reports = new ArrayList<>();
        for (Future<RecordMetadata> future : futures) {
            try {
                reports.add(future.get());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw stopped("It was interrupted", e);
            }
        }
        return reports;
    }

    /** After a timeout nobody knows whether the transaction is committed, and asking again is allowed. */
    private void commitTransaction() {
        for (int attempt = 1; ; attempt++) {
            try {
                producer.commitTransaction();
                return;
            } catch (TimeoutException e) {
                if (attempt == COMMIT_ATTEMPTS) {
                    throw stopped("Kafka does not say whether the last letters are committed", e);
                }
            }
        }
    }

    private void abort(Throwable cause) {
        if (fenced(cause)) {
            throw takenOver(cause);
        }
        try {
            producer.abortTransaction();
        } catch (KafkaException e) {
            if (fenced(e)) {
                throw takenOver(e);
            }
            cause.addSuppressed(e);
            throw stopped("Kafka did not take the last letters: " + cause.getMessage(), cause);
        }
    }

    private static boolean fenced(@Nullable Throwable error) {
        for (Throwable e = error; e != null; e = e.getCause()) {
            if (e instanceof ProducerFencedException || e instanceof InvalidProducerEpochException) {
                return true;
            }
        }
        return false;
    }

    private static ToolException takenOver(Throwable cause) {
        return stopped("Another run has begun on the same dead letters, and goes on in place of this one", cause);
    }

    private static ToolException stopped(String why, Throwable cause) {
        return new ToolException(
                why + ". What is not listed above as replayed may be; run the tool again, it replays nothing twice.",
                cause);
    }

    private static String range(List<Item> items) {
        LetterId first = items.get(0).letter().id();
        LetterId last = items.get(items.size() - 1).letter().id();
        return items.size() == 1 ? first.toString() : "the letters from %s to %s".formatted(first, last);
    }

    @Override
    public void close() {
        producer.close(CLOSE_TIMEOUT);
    }
}
