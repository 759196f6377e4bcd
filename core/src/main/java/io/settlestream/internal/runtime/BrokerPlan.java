package io.settlestream.internal.runtime;

import io.settlestream.codec.Codec;
import io.settlestream.internal.codec.Codecs;
import io.settlestream.internal.config.ClientProperties;
import io.settlestream.internal.config.ConsumerSettings;
import io.settlestream.internal.config.ProducerSettings;
import io.settlestream.internal.handle.HandlerSpec;
import io.settlestream.internal.poll.Reading;
import io.settlestream.internal.poll.SubscriptionPlan;
import io.settlestream.internal.publish.PublishSite;
import io.settlestream.internal.settle.Recovery;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPartitions;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.kafka.KafkaSource;
import io.settlestream.kafka.StartOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A broker whose subscriptions and sites have been checked: what is needed to open it. */
record BrokerPlan(
        KafkaBroker broker, ProducerSettings producer, List<Mount> mounts, List<BrokerSpec.Site> sites, Codecs codecs) {

    private static final int POLLS_IN_FLIGHT = 2;

    /** A subscription that has been checked. */
    record Mount(SubscriptionPlan plan, Commit commit, Codec<?> codec, HandlerSpec handler, MountOptions options) {

        /** What is done for records that could not be handled. */
        Recovery.Plan recovery() {
            return new Recovery.Plan(
                    options.maxAttempts(),
                    options.deadLetter(),
                    options.retryTopic(),
                    plan.group().orElse(null),
                    plan.source() instanceof Reading.Partitions);
        }

        private boolean publishes() {
            return handler instanceof HandlerSpec.Replying
                    || handler instanceof HandlerSpec.ReplyingAsync
                    || options.deadLetter() != null
                    || options.retryTopic() != null;
        }
    }

    /** Whether something is sure to be published. */
    boolean publishes() {
        return !sites.isEmpty() || mounts.stream().anyMatch(Mount::publishes);
    }

    /** Checks a broker; every mistake goes into {@code problems}, and what is returned counts only without any. */
    static BrokerPlan check(AppSpec app, BrokerSpec spec, Names names, List<String> problems) {
        return new Check(app, spec, names, problems).run();
    }

    /** What an application has given out so far, over all its brokers. */
    static final class Names {
        private final Set<String> given = new HashSet<>();
        private final GroupUse groups = new GroupUse();

        GroupUse groups() {
            return groups;
        }

        /** What is called the same is told apart by a number. */
        String unique(String wanted) {
            String name = wanted;
            for (int n = 2; !given.add(name); n++) {
                name = wanted + "-" + n;
            }
            return name;
        }
    }

    private static final class Check {

        private final AppSpec app;
        private final BrokerSpec spec;
        private final KafkaBroker broker;
        private final List<String> problems;
        private final Codecs codecs;
        private final Names names;

        /** Topics that copies go to, with the subscription that has named each first. */
        private final Map<String, String> deadLetters = new HashMap<>();

        private final Map<String, String> retryTopics = new HashMap<>();

        Check(AppSpec app, BrokerSpec spec, Names names, List<String> problems) {
            this.names = names;
            this.app = app;
            this.spec = spec;
            this.broker = spec.broker();
            this.problems = problems;
            this.codecs = Codecs.load(problems);
        }

        BrokerPlan run() {
            List<Mount> mounts = new ArrayList<>();
            for (BrokerSpec.Mounted mounted : spec.mounted()) {
                Mount mount = check(mounted);
                if (mount != null) {
                    mounts.add(mount);
                }
            }
            for (BrokerSpec.Site site : spec.sites()) {
                checkPublisher("publisher of " + broker, site.publish());
            }
            ProducerSettings producer =
                    ClientProperties.producer(broker, names.unique(app.name() + "-producer"), problems);
            return new BrokerPlan(broker, producer, mounts, spec.sites(), codecs);
        }

        /** What a site says about replies would be without effect for a publisher. */
        private void checkPublisher(String where, KafkaPublish publish) {
            PublishSite.check(where, publish, problems);
            if (publish.transform().isPresent()) {
                problems.add(where + ": transform(...) is for replies, and a publisher has none."
                        + " Change each message before it is published, and leave it out here");
            }
            if (publish.awaitsReport()) {
                problems.add(where + ": awaitReport() is for replies, and a publisher has none."
                        + " Wait for single messages with publishAndWait(...), and leave it out here");
            }
        }

        private @Nullable Mount check(BrokerSpec.Mounted mounted) {
            KafkaSource<?> source = mounted.source();
            Reading reading = Reading.of(source);
            MountOptions options = mounted.options();
            Optional<String> group = group(source);
            String name = names.unique(options.name() != null ? options.name() : reading.name());
            String where = "subscription " + name;
            Commit commit = source.commit().orElse(broker.commit());
            checkWorkers(where, mounted);
            checkRecovery(where, name, commit, reading, group, options);
            Codec<?> codec = codec(where, mounted.handler().input());
            checkReplies(where, mounted.handler());
            SourceChecks.check(where, source, group, problems);
            group.ifPresent(it -> names.groups().add(where, broker, it, name, reading, problems));
            String retryTopic = options.retryTopic();
            if (retryTopic != null && !reading.reads(retryTopic)) {
                group.ifPresent(it -> names.groups()
                        .add(where + ", retryTopic", broker, it, name, reading.retried(retryTopic), problems));
            }
            ConsumerSettings consumer =
                    ClientProperties.consumer(broker, source, commit, group, app.name() + "-" + name, name, problems);
            if (options.drainTimeout().compareTo(consumer.maxPollInterval().dividedBy(2)) >= 0) {
                problems.add(where + ": drainTimeout " + options.drainTimeout()
                        + " must be less than half of max.poll.interval.ms (" + consumer.maxPollInterval()
                        + "), or a rebalance could outlast what the group waits for. Lower the one or raise the other");
            }
            if (codec == null) {
                return null;
            }
            Integer records = options.inFlightRecords();
            SubscriptionPlan plan = new SubscriptionPlan(
                    name,
                    reading,
                    Optional.ofNullable(options.retryTopic()),
                    group,
                    Optional.ofNullable(options.maxAttempts()),
                    source.startOffset().orElse(StartOffset.LATEST),
                    source.startAt(),
                    consumer.properties(),
                    consumer.autoCommitInterval(),
                    consumer.maxPollInterval(),
                    options.drainTimeout(),
                    records != null ? records : (long) POLLS_IN_FLIGHT * consumer.maxPollRecords(),
                    options.inFlightBytes());
            return new Mount(plan, commit, codec, mounted.handler(), options);
        }

        /** A group with members takes no commits of what is none, so the broker's group is not for partitions by hand. */
        private Optional<String> group(KafkaSource<?> source) {
            return source instanceof KafkaPartitions
                    ? source.group()
                    : source.group().or(broker::defaultGroup);
        }

        private void checkWorkers(String where, BrokerSpec.Mounted mounted) {
            MountOptions options = mounted.options();
            if (options.workers() != null && options.workersByKey() != null) {
                problems.add(where + ": workers(" + options.workers() + ") and workersByKey(" + options.workersByKey()
                        + ") exclude each other. Keep workersByKey where order by key matters, else workers");
            }
            Integer threads = options.dedicatedThreads();
            if (threads != null && threads != options.concurrency()) {
                problems.add(where + ": dedicatedThreads(" + threads + ") differs from the " + options.concurrency()
                        + " workers. Each worker runs on a thread of its own: make the numbers equal");
            }
            if (mounted.handler() instanceof HandlerSpec.Batch && options.workersByKey() != null) {
                problems.add(where + ": workersByKey(" + options.workersByKey() + ") on a batch handler, whose batches"
                        + " hold many keys. Use workers(" + options.workersByKey() + "), or handle records one by one");
            }
        }

        private void checkRecovery(
                String where,
                String name,
                Commit commit,
                Reading reading,
                Optional<String> group,
                MountOptions options) {
            RecoveryChecks checks = new RecoveryChecks(where, options, problems);
            if (commit instanceof Commit.Auto) {
                checks.nothingComesBack();
            }
            checks.policies();
            checks.topics(reading);
            if (group.isEmpty() && reading instanceof Reading.Partitions) {
                checks.noGroup();
            }
            checks.keptApart(name, deadLetters, retryTopics);
        }

        private @Nullable Codec<?> codec(String where, HandlerSpec.Input input) {
            if (input.codec() != null) {
                return input.codec();
            }
            Class<?> type = input.type();
            Codec<?> codec = type == null ? null : codecs.find(type).orElse(null);
            if (codec == null) {
                problems.add(where + ": nothing on the class path decodes " + (type == null ? "it" : type.getName())
                        + ". Add settlestream-jackson for JSON, or give a codec to Subscriber.on(...)");
            }
            return codec;
        }

        private void checkReplies(String where, HandlerSpec handler) {
            if (handler instanceof HandlerSpec.Replying replying) {
                checkReply(where, replying.replyType(), replying.publish());
            } else if (handler instanceof HandlerSpec.ReplyingAsync replying) {
                checkReply(where, replying.replyType(), replying.publish());
            }
        }

        private void checkReply(String where, Class<?> type, KafkaPublish publish) {
            PublishSite.check(where + ", replies", type, publish, codecs, problems);
        }
    }
}
