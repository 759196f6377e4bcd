package io.settlestream.conformance.simulation;

import io.settlestream.testing.Faults;
import io.settlestream.testing.TestKafka;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.CoordinatorLoadInProgressException;
import org.apache.kafka.common.errors.CoordinatorNotAvailableException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.TopicAuthorizationException;

/** What goes wrong in Kafka. */
final class Accidents {

    private final TestKafka kafka;
    private final Trace trace;

    Accidents(TestKafka kafka, Trace trace) {
        this.kafka = kafka;
        this.trace = trace;
    }

    /** Lets the next commits, replies or fetches of a subscription go wrong. */
    void request(SplittableRandom random, SubscriptionPlan subscription) {
        int kind = random.nextInt(subscription.kind().replies() ? 4 : 3);
        Faults faults = kafka.faults();
        int times = random.nextInt(6) == 0 ? random.nextInt(2, 40) : 1;
        int nth = random.nextInt(1, 4);
        switch (kind) {
            case 0 ->
                go(
                        random,
                        "fetch of " + subscription.topic(),
                        faults.fetch(subscription.topic()),
                        nth,
                        times,
                        new NotLeaderOrFollowerException("simulated"));
            case 1, 2 ->
                go(
                        random,
                        "commit of " + subscription.group(),
                        faults.commit(subscription.group()),
                        nth,
                        times,
                        commitError(random));
            default ->
                go(
                        random,
                        "produce to " + subscription.replyTopic(),
                        faults.produce(subscription.replyTopic()),
                        nth,
                        times,
                        new NotEnoughReplicasException("simulated"));
        }
    }

    /** Lets the next copies of a subscription's records go wrong. Returns the topic. */
    String copies(SplittableRandom random, SubscriptionPlan subscription) {
        List<String> topics = subscription.recovery().topics();
        String topic = topics.get(random.nextInt(topics.size()));
        int times = random.nextInt(3) == 0 ? random.nextInt(2, 12) : 1;
        ApiException error = random.nextBoolean()
                ? new NotEnoughReplicasException("simulated")
                : new TopicAuthorizationException("simulated");
        go(random, "produce to " + topic, kafka.faults().produce(topic), random.nextInt(1, 3), times, error);
        return topic;
    }

    private static ApiException commitError(SplittableRandom random) {
        return switch (random.nextInt(3)) {
            case 0 -> new RebalanceInProgressException("simulated");
            case 1 -> new CoordinatorNotAvailableException("simulated");
            default -> new CoordinatorLoadInProgressException("simulated");
        };
    }

    private void go(SplittableRandom random, String what, Faults.Next next, int nth, int times, ApiException error) {
        Faults.Next which = next.nth(nth).times(times);
        String where = what + ", number " + nth + (times == 1 ? "" : " and " + (times - 1) + " more");
        switch (random.nextInt(3)) {
            case 0 -> {
                which.fail(error);
                trace.add("fault: " + where + " fails with " + error.getClass().getSimpleName());
            }
            case 1 -> {
                Duration by = Duration.ofMillis(random.nextInt(1, 3_000));
                which.delay(by);
                trace.add("fault: " + where + " answers after " + by);
            }
            default -> {
                which.loseAnswer();
                trace.add("fault: " + where + " has its answer lost");
            }
        }
    }

    /** Something happens to a topic. */
    void topic(SplittableRandom random, SubscriptionPlan subscription) {
        String topic = subscription.topic();
        int partition = random.nextInt(kafka.partitions(topic));
        switch (random.nextInt(5)) {
            case 0 -> {
                kafka.pauseLog(topic);
                trace.add("log: " + topic + " stands still");
            }
            case 1 -> {
                kafka.resumeLog(topic);
                trace.add("log: " + topic + " goes on");
            }
            case 2 -> {
                long start = kafka.startOffset(topic, partition);
                long end = kafka.endOffset(topic, partition);
                long to = random.nextLong(start, end + 1);
                kafka.trim(topic, partition, to);
                trace.add("log: " + topic + "-" + partition + " is trimmed to " + to + " of " + end);
            }
            case 3 -> {
                kafka.changeLeader(topic, partition);
                trace.add("log: " + topic + "-" + partition + " has another leader");
            }
            default -> {
                if (kafka.partitions(topic) < 8) {
                    kafka.addPartitions(topic, kafka.partitions(topic) + 1);
                    trace.add("log: " + topic + " has " + kafka.partitions(topic) + " partitions");
                }
            }
        }
    }
}
