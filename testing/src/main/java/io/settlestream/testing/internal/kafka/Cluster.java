package io.settlestream.testing.internal.kafka;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The state of the in-process Kafka: topics, groups and transactions, and the lock that guards them. */
final class Cluster {

    private final Host host;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, List<? extends LogView>> topics = new LinkedHashMap<>();
    private final Groups groups = new Groups(this);

    Cluster(Host host) {
        this.host = host;
    }

    Host host() {
        return host;
    }

    /** Held for single steps, never while waiting or calling code of the application. */
    ReentrantLock lock() {
        return lock;
    }

    /** With the lock: the partitions of a topic, or null if there is no such topic. */
    @Nullable
    List<? extends LogView> topic(String name) {
        return topics.get(name);
    }

    Groups groups() {
        return groups;
    }
}
