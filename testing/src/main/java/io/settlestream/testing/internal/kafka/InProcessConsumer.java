package io.settlestream.testing.internal.kafka;

import io.settlestream.testing.internal.kafka.Assigned.Where;
import io.settlestream.testing.internal.kafka.Subscriptions.Source;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.GroupProtocol;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.jspecify.annotations.Nullable;

/**
 * A consumer of the in-process Kafka. It does what {@code KafkaConsumer} does, in the same order; only network and
 * background threads are missing, so what a member must do in the background is done when it polls or by timers.
 */
final class InProcessConsumer implements Consumer<byte[], byte[]> {

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(30);

    private final Cluster cluster;
    private final ConsumerSettings settings;
    private final Waiting waiting;
    private final SingleThread user = new SingleThread();
    private final Subscriptions subscriptions = new Subscriptions();
    private final TopicMetadata topics;
    private final Fetcher fetcher;
    private final Positions positions;
    private final Lookups lookups;

    @Nullable
    private final Commits commits;

    @Nullable
    private final Membership membership;

    private boolean closed;

    /**
     * Makes a consumer.
     *
     * @throws org.apache.kafka.common.config.ConfigException if Kafka's consumer would not start with this configuration
     */
    InProcessConsumer(Cluster cluster, Map<String, ?> properties) {
        this.cluster = cluster;
        this.settings = ConsumerSettings.of(
                properties, cluster.locked(() -> cluster.groups().newClientNumber()));
        this.waiting = new Waiting(cluster, settings.clientId());
        this.topics = new TopicMetadata(cluster, settings.metadataMaxAge());
        this.fetcher = new Fetcher(cluster, settings, subscriptions);
        this.positions = new Positions(cluster, settings, subscriptions);
        this.lookups = new Lookups(cluster, settings, waiting);
        String group = settings.groupId();
        if (group == null) {
            this.commits = null;
            this.membership = null;
        } else {
            Commits made = new Commits(cluster, settings, group, subscriptions, waiting);
            this.commits = made;
            this.membership = settings.protocol() == GroupProtocol.CLASSIC
                    ? new ClassicMembership(
                            cluster, settings, group, subscriptions, topics, made::autoCommit, made::scheduleAutoCommit)
                    : new ConsumerMembership(cluster, settings, group, subscriptions, topics, made::autoCommit);
            made.membership(membership);
        }
    }

    /**
     * Ends the client as a crash of its process would. Its threads get {@link ClientCrashed} from all they call, and its
     * group notices when the session ends. Any thread.
     *
     * @param atOnce whether the group notices now
     */
    void crash(boolean atOnce) {
        waiting.crash();
        Membership member = membership;
        if (member != null) {
            cluster.change(() -> member.crash(atOnce));
        }
    }

    /** With the lock: what this consumer has not come to the end of, in words. Any thread. */
    List<String> open() {
        String group = settings.groupId();
        if (closed) {
            return List.of();
        }
        boolean readCommitted = settings.readCommitted();
        if (group == null) {
            return Rest.unread(cluster, readCommitted, unpaused());
        }
        List<String> open = new ArrayList<>(
                Rest.open(cluster, group, readCommitted, subscriptions.byGroup() ? membership : null, unpaused()));
        if (commits != null && commits.unanswered()) {
            open.add("the answer to a commit of group " + group + " is on its way");
        }
        return open;
    }

    /** What is paused has nothing to come; whether that is for good is for whoever paused it to say. */
    private List<Assigned> unpaused() {
        return subscriptions.assigned().stream()
                .filter(partition -> !partition.paused)
                .toList();
    }

    boolean isIn(String group) {
        return group.equals(settings.groupId());
    }

    /** With the lock: the name under which its group knows it, if it does. */
    Optional<String> memberId() {
        Membership member = membership;
        return member == null
                ? Optional.empty()
                : Optional.of(member.metadata().memberId()).filter(id -> !id.isEmpty());
    }

    // --- subscribing

    @Override
    public Set<TopicPartition> assignment() {
        return use(() -> Collections.unmodifiableSet(new LinkedHashSet<>(subscriptions.partitions())));
    }

    @Override
    public Set<String> subscription() {
        return use(() -> Collections.unmodifiableSet(new LinkedHashSet<>(subscriptions.topics())));
    }

    @Override
    public void subscribe(Collection<String> names) {
        subscribeTo(names, null);
    }

    @Override
    public void subscribe(Collection<String> names, ConsumerRebalanceListener listener) {
        subscribeTo(names, requireListener(listener));
    }

    private void subscribeTo(Collection<String> names, @Nullable ConsumerRebalanceListener listener) {
        run(() -> {
            Membership member = requireMembership();
            if (names == null) {
                throw new IllegalArgumentException("Topic collection to subscribe to cannot be null");
            }
            if (names.isEmpty()) {
                unsubscribe();
                return;
            }
            for (String name : names) {
                if (name == null || name.isBlank()) {
                    throw new IllegalArgumentException(
                            "Topic collection to subscribe to cannot contain null or empty topic");
                }
            }
            Source to = new Source.Topics(new LinkedHashSet<>(names));
            subscriptions.subscribe(to, listener);
            fetcher.keepOnly(subscriptions.partitions().stream()
                    .filter(partition -> subscriptions.covers(partition.topic()))
                    .toList());
            member.subscriptionChanged();
        });
    }

    @Override
    public void subscribe(Pattern pattern) {
        subscribeTo(pattern, null);
    }

    @Override
    public void subscribe(Pattern pattern, ConsumerRebalanceListener listener) {
        subscribeTo(pattern, requireListener(listener));
    }

    private void subscribeTo(Pattern pattern, @Nullable ConsumerRebalanceListener listener) {
        run(() -> {
            Membership member = requireMembership();
            if (pattern == null || pattern.pattern().isEmpty()) {
                throw new IllegalArgumentException(
                        "Topic pattern to subscribe to cannot be " + (pattern == null ? "null" : "empty"));
            }
            subscriptions.subscribe(new Source.ByPattern(pattern), listener);
            member.subscriptionChanged();
        });
    }

    @Override
    public void subscribe(SubscriptionPattern pattern) {
        subscribeTo(pattern, null);
    }

    @Override
    public void subscribe(SubscriptionPattern pattern, ConsumerRebalanceListener listener) {
        subscribeTo(pattern, requireListener(listener));
    }

    private void subscribeTo(SubscriptionPattern pattern, @Nullable ConsumerRebalanceListener listener) {
        run(() -> {
            Membership member = requireMembership();
            if (settings.protocol() == GroupProtocol.CLASSIC) {
                throw new UnsupportedOperationException(
                        "Subscribe to RE2/J pattern is not supported when using the classic protocol. Use"
                                + " group.protocol=consumer");
            }
            if (pattern == null || pattern.pattern().isEmpty()) {
                throw new IllegalArgumentException(
                        "Topic pattern to subscribe to cannot be " + (pattern == null ? "null" : "empty"));
            }
            subscriptions.subscribe(new Source.ByServerPattern(pattern.pattern()), listener);
            member.subscriptionChanged();
        });
    }

    private static ConsumerRebalanceListener requireListener(ConsumerRebalanceListener listener) {
        if (listener == null) {
            throw new IllegalArgumentException("RebalanceListener cannot be null");
        }
        return listener;
    }

    @Override
    public void assign(Collection<TopicPartition> partitions) {
        run(() -> {
            if (partitions == null) {
                throw new IllegalArgumentException("Topic partition collection to assign to cannot be null");
            }
            if (partitions.isEmpty()) {
                unsubscribe();
                return;
            }
            for (TopicPartition partition : partitions) {
                if (partition == null || partition.topic().isBlank()) {
                    throw new IllegalArgumentException("Topic partitions to assign to cannot have null or empty topic");
                }
            }
            fetcher.keepOnly(partitions);
            if (commits != null && !(subscriptions.source() instanceof Source.Nothing)) {
                commits.autoCommit();
            }
            subscriptions.assign(partitions);
        });
    }

    @Override
    public void unsubscribe() {
        run(() -> {
            fetcher.clear();
            try {
                if (membership != null && subscriptions.byGroup()) {
                    membership.release();
                }
            } finally {
                if (membership != null && subscriptions.byGroup()) {
                    membership.leave(Membership.Leave.DEFAULT);
                }
                subscriptions.unsubscribe();
            }
        });
    }

    // --- polling

    @Override
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
        return use(() -> {
            if (subscriptions.source() instanceof Source.Nothing) {
                throw new IllegalStateException("Consumer is not subscribed to any topics or assigned any partitions");
            }
            long deadline = waiting.deadline(timeout);
            do {
                waiting.throwIfWoken();
                work();
                ConsumerRecords<byte[], byte[]> found = collect(timeout.isZero());
                if (found != null) {
                    return found;
                }
                await(deadline);
            } while (!waiting.past(deadline));
            return ConsumerRecords.empty();
        });
    }

    @Nullable
    private ConsumerRecords<byte[], byte[]> collect(boolean atOnce) {
        ConsumerRecords<byte[], byte[]> found = fetcher.collect();
        if (found == null) {
            fetcher.fetch();
            // No network is so fast that the answer would be there without any wait.
            found = atOnce ? null : fetcher.collect();
        }
        if (found != null) {
            // The application handles these while the next ones are on their way.
            fetcher.fetch();
        }
        return found;
    }

    /** What a poll does before it fetches. */
    private void work() {
        if (commits != null && membership != null) {
            commits.runCallbacks();
            membership.poll();
            commits.autoCommitIfDue();
        }
        lookForTopics();
        positions.resolve();
    }

    private void lookForTopics() {
        Set<String> wanted = new LinkedHashSet<>(subscriptions.topics());
        subscriptions.partitions().forEach(partition -> wanted.add(partition.topic()));
        Set<String> illegal = new LinkedHashSet<>(wanted);
        illegal.removeIf(Topic::isLegalName);
        if (!illegal.isEmpty()) {
            throw new InvalidTopicException(illegal);
        }
        if (settings.autoCreateTopics()) {
            create(wanted);
        }
    }

    /** As a broker with {@code auto.create.topics.enable} does for those who ask for it. */
    private void create(Set<String> wanted) {
        for (String topic : wanted) {
            if (cluster.locked(() -> cluster.topic(topic)) == null) {
                cluster.createTopic(topic, 1, Map.of());
            }
        }
    }

    private void await(long deadline) {
        Membership member = membership;
        Commits due = commits;
        if (member == null || due == null) {
            boolean unused = waiting.until(this::somethingToDo, deadline);
            return;
        }
        long until = Deadline.earlier(deadline, Deadline.earlier(due.autoCommitAt(), member.dueAt()));
        member.waits(true);
        try {
            boolean unused = waiting.until(this::somethingToDo, until);
        } finally {
            member.waits(false);
        }
    }

    private boolean somethingToDo() {
        return (membership != null && membership.due())
                || (commits != null && commits.callbacksDue())
                || positions.due()
                || fetcher.ready();
    }

    // --- commits

    @Override
    public void commitSync() {
        commitSync(settings.apiTimeout());
    }

    @Override
    public void commitSync(Duration timeout) {
        run(() -> commitSync(subscriptions.consumed(), timeout));
    }

    @Override
    public void commitSync(Map<TopicPartition, OffsetAndMetadata> offsets) {
        commitSync(offsets, settings.apiTimeout());
    }

    @Override
    public void commitSync(Map<TopicPartition, OffsetAndMetadata> offsets, Duration timeout) {
        run(() -> {
            Commits to = requireCommits();
            waiting.throwIfWoken();
            to.sync(new LinkedHashMap<>(offsets), waiting.deadline(timeout));
        });
    }

    @Override
    public void commitAsync() {
        commit(null);
    }

    @Override
    public void commitAsync(OffsetCommitCallback callback) {
        commit(callback);
    }

    private void commit(@Nullable OffsetCommitCallback callback) {
        run(() -> requireCommits().async(subscriptions.consumed(), callback));
    }

    @Override
    public void commitAsync(Map<TopicPartition, OffsetAndMetadata> offsets, OffsetCommitCallback callback) {
        run(() -> requireCommits().async(new LinkedHashMap<>(offsets), callback));
    }

    @Override
    public Map<TopicPartition, OffsetAndMetadata> committed(Set<TopicPartition> partitions) {
        return committed(partitions, settings.apiTimeout());
    }

    @Override
    public Map<TopicPartition, OffsetAndMetadata> committed(Set<TopicPartition> partitions, Duration timeout) {
        return use(() -> lookups.committed(partitions, timeout));
    }

    // --- positions

    @Override
    public void seek(TopicPartition partition, long offset) {
        run(() -> {
            if (offset < 0) {
                throw new IllegalArgumentException("seek offset must not be a negative number");
            }
            subscriptions.require(partition, "sought").where(new Where.At(offset, null));
        });
    }

    @Override
    public void seek(TopicPartition partition, OffsetAndMetadata offset) {
        run(() -> {
            if (offset.offset() < 0) {
                throw new IllegalArgumentException("seek offset must not be a negative number");
            }
            subscriptions
                    .require(partition, "sought")
                    .where(new Where.At(offset.offset(), offset.leaderEpoch().orElse(null)));
        });
    }

    @Override
    public void seekToBeginning(Collection<TopicPartition> partitions) {
        reset(partitions, new Reset.Earliest());
    }

    @Override
    public void seekToEnd(Collection<TopicPartition> partitions) {
        reset(partitions, new Reset.Latest());
    }

    private void reset(Collection<TopicPartition> partitions, Reset to) {
        run(() -> {
            if (partitions == null) {
                throw new IllegalArgumentException("Partitions collection cannot be null");
            }
            Collection<TopicPartition> which = partitions.isEmpty() ? subscriptions.partitions() : partitions;
            which.forEach(
                    partition -> subscriptions.require(partition, "sought").where(new Where.Resetting(to)));
        });
    }

    @Override
    public long position(TopicPartition partition) {
        return position(partition, settings.apiTimeout());
    }

    @Override
    public long position(TopicPartition partition, Duration timeout) {
        return use(() -> {
            Assigned assigned = subscriptions.find(partition);
            if (assigned == null) {
                throw new IllegalStateException(
                        "You can only check the position for partitions assigned to this consumer.");
            }
            long deadline = waiting.deadline(timeout);
            do {
                if (assigned.where() instanceof Where.At at) {
                    return at.offset();
                }
                waiting.throwIfWoken();
                positions.resolve();
                if (assigned.where() instanceof Where.At at) {
                    return at.offset();
                }
                boolean unused = waiting.until(positions::due, deadline);
            } while (!waiting.past(deadline));
            throw new TimeoutException("Timeout of " + timeout.toMillis()
                    + "ms expired before the position for partition " + partition + " could be determined");
        });
    }

    @Override
    public OptionalLong currentLag(TopicPartition partition) {
        return use(() -> cluster.locked(() -> {
            Assigned assigned = subscriptions.require(partition, "asked for its lag");
            if (assigned.end == null) {
                LogView log = Offsets.log(cluster, partition);
                assigned.end = log == null ? null : (Long) positions.end(log);
                return OptionalLong.empty();
            }
            return assigned.where() instanceof Where.At at
                    ? OptionalLong.of(assigned.end - at.offset())
                    : OptionalLong.empty();
        }));
    }

    // --- pausing

    @Override
    public Set<TopicPartition> paused() {
        return use(() -> {
            Set<TopicPartition> paused = new HashSet<>();
            for (Assigned partition : subscriptions.assigned()) {
                if (partition.paused) {
                    paused.add(partition.partition());
                }
            }
            return paused;
        });
    }

    @Override
    public void pause(Collection<TopicPartition> partitions) {
        run(() -> partitions.forEach(partition -> subscriptions.require(partition, "paused").paused = true));
    }

    @Override
    public void resume(Collection<TopicPartition> partitions) {
        run(() -> partitions.forEach(partition -> subscriptions.require(partition, "resumed").paused = false));
    }

    // --- lookups

    @Override
    public List<PartitionInfo> partitionsFor(String topic) {
        return use(() -> lookups.partitions(topic));
    }

    @Override
    public List<PartitionInfo> partitionsFor(String topic, Duration timeout) {
        return partitionsFor(topic);
    }

    @Override
    public Map<String, List<PartitionInfo>> listTopics() {
        return use(lookups::topics);
    }

    @Override
    public Map<String, List<PartitionInfo>> listTopics(Duration timeout) {
        return listTopics();
    }

    @Override
    public Map<TopicPartition, OffsetAndTimestamp> offsetsForTimes(Map<TopicPartition, Long> timestamps) {
        return offsetsForTimes(timestamps, settings.apiTimeout());
    }

    @Override
    public Map<TopicPartition, OffsetAndTimestamp> offsetsForTimes(
            Map<TopicPartition, Long> timestamps, Duration timeout) {
        return use(() -> lookups.since(timestamps, timeout));
    }

    @Override
    public Map<TopicPartition, Long> beginningOffsets(Collection<TopicPartition> partitions) {
        return beginningOffsets(partitions, settings.apiTimeout());
    }

    @Override
    public Map<TopicPartition, Long> beginningOffsets(Collection<TopicPartition> partitions, Duration timeout) {
        return use(() -> lookups.beginnings(partitions, timeout));
    }

    @Override
    public Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> partitions) {
        return endOffsets(partitions, settings.apiTimeout());
    }

    @Override
    public Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> partitions, Duration timeout) {
        return use(() -> lookups.ends(partitions, timeout));
    }

    // --- the group

    @Override
    public ConsumerGroupMetadata groupMetadata() {
        return use(() -> requireMembership().metadata());
    }

    @Override
    public void enforceRebalance() {
        run(() -> requireMembership().enforceRebalance());
    }

    @Override
    public void enforceRebalance(String reason) {
        enforceRebalance();
    }

    // --- the end

    @Override
    public void wakeup() {
        waiting.wakeUp();
    }

    @Override
    public void close() {
        close(CLOSE_TIMEOUT);
    }

    @Override
    @SuppressWarnings("deprecation")
    public void close(Duration timeout) {
        close(CloseOptions.timeout(timeout));
    }

    @Override
    public void close(CloseOptions options) {
        user.acquire();
        try {
            if (!closed) {
                try {
                    end(options);
                } finally {
                    closed = true;
                }
            }
        } finally {
            user.release();
        }
    }

    private void end(CloseOptions options) {
        Membership member = membership;
        Commits last = commits;
        waiting.deafen();
        waiting.throwIfCrashed();
        if (member == null || last == null) {
            return;
        }
        RuntimeException failure = null;
        last.autoCommit();
        try {
            last.runCallbacks();
            member.release();
        } catch (ClientCrashed e) {
            throw e;
        } catch (RuntimeException e) {
            failure = e;
        }
        if (subscriptions.byGroup()) {
            member.leave(
                    switch (options.groupMembershipOperation()) {
                        case DEFAULT -> Membership.Leave.DEFAULT;
                        case LEAVE_GROUP -> Membership.Leave.FOR_GOOD;
                        case REMAIN_IN_GROUP -> Membership.Leave.REMAIN;
                    });
        }
        if (failure instanceof InterruptException interrupted) {
            throw interrupted;
        }
        if (failure != null) {
            throw new KafkaException("Failed to close kafka consumer", failure);
        }
    }

    // --- not here

    @Override
    public Uuid clientInstanceId(Duration timeout) {
        throw missing("clientInstanceId");
    }

    @Override
    public Map<MetricName, ? extends Metric> metrics() {
        return Map.of();
    }

    @Override
    public void registerMetricForSubscription(KafkaMetric metric) {
        throw missing("registerMetricForSubscription");
    }

    @Override
    public void unregisterMetricFromSubscription(KafkaMetric metric) {
        throw missing("unregisterMetricFromSubscription");
    }

    private static UnsupportedOperationException missing(String method) {
        return new UnsupportedOperationException("Consumer." + method + " is not part of the in-process Kafka");
    }

    // --- guards

    private Membership requireMembership() {
        String unused = Lookups.requireGroup(settings);
        if (membership == null) {
            throw new IllegalStateException("a consumer with a group has a membership");
        }
        return membership;
    }

    private Commits requireCommits() {
        String unused = Lookups.requireGroup(settings);
        if (commits == null) {
            throw new IllegalStateException("a consumer with a group can commit");
        }
        return commits;
    }

    private void run(Runnable call) {
        var unused = use(() -> {
            call.run();
            return Boolean.TRUE;
        });
    }

    private <T> T use(Supplier<T> call) {
        user.acquire();
        try {
            if (closed) {
                throw new IllegalStateException("This consumer has already been closed.");
            }
            waiting.throwIfCrashed();
            return call.get();
        } finally {
            user.release();
        }
    }
}
