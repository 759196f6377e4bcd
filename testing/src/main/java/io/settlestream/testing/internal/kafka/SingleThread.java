package io.settlestream.testing.internal.kafka;

import java.util.ConcurrentModificationException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Notices when two threads use a consumer at once; callbacks of the thread that uses it are welcome. */
final class SingleThread {

    private final AtomicReference<@Nullable Thread> user = new AtomicReference<>();
    private int depth;

    void acquire() {
        Thread current = Thread.currentThread();
        Thread other = user.get();
        if (other != current && !user.compareAndSet(null, current)) {
            throw new ConcurrentModificationException("KafkaConsumer is not safe for multi-threaded access."
                    + " currentThread(name: " + current.getName() + ") otherThread(name: "
                    + (other == null ? "" : other.getName()) + ")");
        }
        depth++;
    }

    void release() {
        depth--;
        if (depth == 0) {
            user.set(null);
        }
    }
}
