package io.settlestream.testing.internal.kafka;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InvalidPartitionsException;
import org.apache.kafka.common.errors.InvalidTopicException;

/** A topic and its partitions. One that is deleted and created again is another topic. With the cluster's lock. */
final class Topic {

    /** The longest name, as its files' names have to have room for more. */
    private static final int MAX_NAME_LENGTH = 249;

    /** The broker. */
    static final Node NODE = new Node(1, "in-process", 9092);

    private final String name;
    private final Uuid id;
    private final TopicSettings settings;
    private final Host host;
    private final List<PartitionLog> partitions = new ArrayList<>();

    Topic(String name, Uuid id, TopicSettings settings, int partitions, Host host) {
        if (partitions < 1) {
            throw new InvalidPartitionsException("Topic " + name + " needs at least one partition, not " + partitions);
        }
        this.name = name;
        this.id = id;
        this.settings = settings;
        this.host = host;
        grow(partitions);
    }

    String name() {
        return name;
    }

    Uuid id() {
        return id;
    }

    TopicSettings settings() {
        return settings;
    }

    /** The partitions as metadata tells of them: all of them on the one broker there is. */
    List<PartitionInfo> partitionInfos() {
        Node[] nodes = {NODE};
        return partitions.stream()
                .map(log -> new PartitionInfo(name, partitions.indexOf(log), NODE, nodes, nodes))
                .toList();
    }

    List<PartitionLog> partitions() {
        return Collections.unmodifiableList(partitions);
    }

    /** Adds partitions until there are {@code total}. */
    void grow(int total) {
        if (total <= partitions.size() && !partitions.isEmpty()) {
            throw new InvalidPartitionsException("Topic " + name + " has " + partitions.size()
                    + " partitions and cannot be given " + total + ": partitions are only ever added");
        }
        while (partitions.size() < total) {
            partitions.add(new PartitionLog(name, partitions.size(), settings, host));
        }
    }

    /**
     * Returns if Kafka takes the name.
     *
     * @throws InvalidTopicException if not
     */
    static void requireLegalName(String name) {
        if (!isLegalName(name)) {
            throw new InvalidTopicException("Topic name '" + name + "' is illegal: it must be 1 to " + MAX_NAME_LENGTH
                    + " of the characters a-z, A-Z, 0-9, '.', '_', '-', and neither '.' nor '..'");
        }
    }

    static boolean isLegalName(String name) {
        return !name.isEmpty()
                && name.length() <= MAX_NAME_LENGTH
                && !name.equals(".")
                && !name.equals("..")
                && name.chars().allMatch(Topic::isLegal);
    }

    private static boolean isLegal(int c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || ".-_".indexOf(c) >= 0;
    }
}
