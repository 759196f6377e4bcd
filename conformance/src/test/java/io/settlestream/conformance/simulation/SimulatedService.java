package io.settlestream.conformance.simulation;

import io.settlestream.App;
import io.settlestream.BatchContext;
import io.settlestream.BatchOutcome;
import io.settlestream.Context;
import io.settlestream.HandlerOutcome;
import io.settlestream.Message;
import io.settlestream.Mount;
import io.settlestream.Publisher;
import io.settlestream.Reply;
import io.settlestream.Scope;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.conformance.simulation.Behaviour.Answer;
import io.settlestream.conformance.simulation.Behaviour.Step;
import io.settlestream.conformance.simulation.DeliveryRules.End;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import io.settlestream.testing.TestClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.apache.kafka.common.TopicPartition;

/** The application of a run: subscriptions as planned, with handlers that behave by chance and tell what they do. */
final class SimulatedService {

    /** Where handlers publish to by hand. */
    static final String SIDE_TOPIC = "side";

    private final RunPlan plan;
    private final TestClock clock;
    private final Behaviour behaviour;
    private final Records records;
    private final DeliveryRules rules;
    private final AttemptRules attempts;
    private final UserPauses pauses;
    private final Trace trace;

    SimulatedService(
            RunPlan plan,
            TestClock clock,
            Behaviour behaviour,
            Records records,
            DeliveryRules rules,
            AttemptRules attempts,
            UserPauses pauses,
            Trace trace) {
        this.plan = plan;
        this.clock = clock;
        this.behaviour = behaviour;
        this.records = records;
        this.rules = rules;
        this.attempts = attempts;
        this.pauses = pauses;
        this.trace = trace;
    }

    /** @param state called at each start */
    App<Life> app(Callable<Life> state) {
        return SettleStream.app("simulated", "1")
                .<Life>onStartup(state)
                .shutdownTimeout(Duration.ofSeconds(30))
                .withBroker(
                        KafkaBroker.of("localhost:9092"),
                        scope -> plan.subscriptions().forEach(subscription -> include(scope, subscription)));
    }

    /** With short sessions, so that a run need not pass much time for them; the other protocol's are the broker's. */
    private static KafkaTopic classic(KafkaTopic topic) {
        return topic.config("group.protocol", "classic")
                .config("session.timeout.ms", 6_000)
                .config("heartbeat.interval.ms", 2_000);
    }

    private void include(Scope<Life> scope, SubscriptionPlan subscription) {
        KafkaTopic topic = KafkaTopic.of(subscription.topic())
                .group(subscription.group())
                .commit(subscription.tracked() ? Commit.tracked() : Commit.auto())
                .startOffset(StartOffset.EARLIEST)
                .config("max.poll.records", subscription.maxPollRecords())
                .config("auto.commit.interval.ms", (int)
                        subscription.commitInterval().toMillis());
        topic = switch (subscription.protocol()) {
            case EAGER ->
                classic(topic)
                        .config("partition.assignment.strategy", "org.apache.kafka.clients.consumer.RangeAssignor");
            case COOPERATIVE ->
                classic(topic)
                        .config(
                                "partition.assignment.strategy",
                                "org.apache.kafka.clients.consumer.CooperativeStickyAssignor");
            case CONSUMER -> topic.config("group.protocol", "consumer");
        };
        Subscriber.Draft<Item> draft = Subscriber.on(topic, new ItemCodec(subscription, behaviour, records));
        KafkaPublish publish = KafkaPublish.to(subscription.replyTopic());
        if (subscription.awaitReport()) {
            publish = publish.awaitReport();
        }
        Mount mount = scope.include(
                switch (subscription.kind()) {
                    case SINGLE -> draft.<Life>handle((item, context) -> outcome(subscription, context));
                    case ASYNC -> draft.<Life>handleAsync((item, context) -> later(subscription, context));
                    case BATCH ->
                        draft.<Life>handleBatch((items, context) -> outcomes(subscription, context))
                                .batch(subscription.batch());
                    case REPLY ->
                        draft.<String, Life>handleReply(String.class, (item, context) -> reply(subscription, context))
                                .reply(publish);
                    case REPLY_ASYNC ->
                        draft.<String, Life>handleReplyAsync(
                                        String.class, (item, context) -> replyLater(subscription, context))
                                .reply(publish);
                });
        mount.name(subscription.name())
                .onException(subscription.onException().policy())
                .onDecodeFailure(subscription.onDecodeFailure())
                .retryBackoff(subscription.backoffFirst(), subscription.backoffMax())
                .drainTimeout(subscription.drainTimeout());
        include(mount, subscription.recovery());
        subscription.inFlight().ifPresent(limit -> mount.inFlightLimit(limit, 1 << 20));
        switch (subscription.order()) {
            case ONE_LANE -> {}
            case NONE -> mount.workers(subscription.workers());
            case PARTITION -> mount.workersByKey(subscription.workers());
            case RECORD_KEY -> mount.workersByKey(subscription.workers(), io.settlestream.LaneKey.RECORD_KEY);
        }
        if (subscription.platformThreads()) {
            mount.dedicatedThreads(subscription.workers());
        }
    }

    private void include(Mount mount, RecoveryPlan recovery) {
        recovery.maxAttempts().ifPresent(mount::maxAttempts);
        recovery.deadLetterTopic().ifPresent(mount::deadLetter);
        recovery.retryTopic().ifPresent(mount::retryTopic);
    }

    // --- handlers

    private void enter(Life life, SubscriptionPlan subscription, List<Context<Life>> contexts) {
        rules.enter(life, subscription, contexts);
        for (Context<Life> context : contexts) {
            attempts.enter(life, subscription, context);
            pauses.enter(life, subscription, context);
        }
    }

    private HandlerOutcome outcome(SubscriptionPlan subscription, Context<Life> context) throws Exception {
        enter(context.state(), subscription, List.of(context));
        Step step = behaviour.next(subscription, context);
        began(subscription, context, step);
        try {
            take(step, context.publisher());
        } catch (Exception e) {
            throw failed(subscription, context, e);
        }
        return finish(subscription, context, step);
    }

    private CompletionStage<HandlerOutcome> later(SubscriptionPlan subscription, Context<Life> context) {
        return after(subscription, context, step -> finish(subscription, context, step));
    }

    private Reply<String> reply(SubscriptionPlan subscription, Context<Life> context) throws Exception {
        enter(context.state(), subscription, List.of(context));
        Step step = behaviour.next(subscription, context);
        began(subscription, context, step);
        try {
            take(step, context.publisher());
        } catch (Exception e) {
            throw failed(subscription, context, e);
        }
        return finishWithReply(subscription, context, step);
    }

    private CompletionStage<Reply<String>> replyLater(SubscriptionPlan subscription, Context<Life> context) {
        return after(subscription, context, step -> finishWithReply(subscription, context, step));
    }

    /** How an asynchronous handler ends. */
    private interface Finish<R> {
        R with(Step step) throws Trouble;
    }

    private <R> CompletionStage<R> after(SubscriptionPlan subscription, Context<Life> context, Finish<R> finish) {
        enter(context.state(), subscription, List.of(context));
        Step step = behaviour.next(subscription, context);
        began(subscription, context, step);
        CompletionStage<?> delayed;
        try {
            delayed = delay(step, context.publisher());
        } catch (RuntimeException e) {
            throw failed(subscription, context, e);
        }
        return delayed.handle((done, failure) -> {
            if (failure != null) {
                throw new CompletionException(failed(subscription, context, new Trouble(where(context))));
            }
            try {
                return finish.with(step);
            } catch (Trouble e) {
                throw new CompletionException(e);
            }
        });
    }

    private BatchOutcome outcomes(SubscriptionPlan subscription, BatchContext<Life> batch) throws Exception {
        List<Context<Life>> contexts = new ArrayList<>();
        for (int i = 0; i < batch.size(); i++) {
            contexts.add(batch.element(i));
        }
        enter(batch.state(), subscription, contexts);
        List<Step> steps = new ArrayList<>();
        for (Context<Life> context : contexts) {
            Step step = behaviour.next(subscription, context);
            began(subscription, context, step);
            steps.add(step);
        }
        if (steps.stream().anyMatch(step -> step.answer() == Answer.THROW)) {
            Trouble trouble = new Trouble("a batch");
            contexts.forEach(context -> threw(subscription, context, trouble));
            throw trouble;
        }
        try {
            take(steps.get(0), batch.publisher());
        } catch (Exception e) {
            contexts.forEach(context -> threw(subscription, context, e));
            throw e;
        }
        List<HandlerOutcome> outcomes = new ArrayList<>();
        for (int i = 0; i < steps.size(); i++) {
            outcomes.add(finish(subscription, contexts.get(i), steps.get(i)));
        }
        return BatchOutcome.each(outcomes);
    }

    // --- steps

    private void take(Step step, Publisher publisher) throws InterruptedException {
        if (step.sleep().isPositive()) {
            try {
                clock.sleep(step.sleep());
            } catch (InterruptedException e) {
                if (!step.stubborn()) {
                    throw e;
                }
                clock.sleep(step.sleep());
            }
        }
        if (step.publishes()) {
            var unused = publisher.publishAndWait(Message.of("by hand").to(SIDE_TOPIC));
        }
    }

    private CompletionStage<?> delay(Step step, Publisher publisher) {
        if (step.publishes()) {
            return publisher.publish(Message.of("by hand").to(SIDE_TOPIC));
        }
        return clock.after(step.sleep());
    }

    private HandlerOutcome finish(SubscriptionPlan subscription, Context<Life> context, Step step) throws Trouble {
        HandlerOutcome outcome = switch (step.answer()) {
            case ACK -> HandlerOutcome.ack();
            case DROP -> HandlerOutcome.drop();
            case RETRY -> HandlerOutcome.retry();
            case LATER -> HandlerOutcome.retryAfter(step.delay());
            case GIVE_UP -> HandlerOutcome.deadLetter("chance");
            case THROW -> throw failed(subscription, context, new Trouble(where(context)));
        };
        End end = switch (step.answer()) {
            case ACK, DROP, THROW -> End.SETTLED;
            case RETRY -> again(subscription, context, End.AGAIN);
            case LATER -> again(subscription, context, End.DELAYED);
            case GIVE_UP -> End.GIVEN_UP;
        };
        left(subscription, context, end, step.delay(), outcome.toString());
        return outcome;
    }

    /** What comes of an attempt that fails. */
    private static End again(SubscriptionPlan subscription, Context<Life> context, End wanted) {
        RecoveryPlan recovery = subscription.recovery();
        if (!subscription.tracked()) {
            return End.SETTLED;
        }
        if (recovery.isLast(context.attempt())) {
            return recovery.deadLetterTopic().isPresent() ? End.GIVEN_UP : End.SETTLED;
        }
        return wanted == End.DELAYED && recovery.retryTopic().isPresent() ? End.POSTPONED : wanted;
    }

    private Reply<String> finishWithReply(SubscriptionPlan subscription, Context<Life> context, Step step)
            throws Trouble {
        if (step.answer() != Answer.ACK) {
            return Reply.none(finish(subscription, context, step));
        }
        left(subscription, context, End.REPLYING, Duration.ZERO, "reply");
        return Reply.of(where(context));
    }

    private <E extends Exception> E failed(SubscriptionPlan subscription, Context<Life> context, E cause) {
        threw(subscription, context, cause);
        return cause;
    }

    private void threw(SubscriptionPlan subscription, Context<Life> context, Exception cause) {
        End end = switch (subscription.onException().choice(cause)) {
            case DROP -> End.SETTLED;
            case RETRY -> again(subscription, context, End.AGAIN);
            case RETRY_AFTER -> again(subscription, context, End.DELAYED);
            case DEAD_LETTER -> End.GIVEN_UP;
            case FAIL_FAST -> End.FAILED;
            case BY_CAUSE -> throw new IllegalStateException("no choice was made");
        };
        left(
                subscription,
                context,
                end,
                RecoveryPlan.POLICY_DELAY,
                "threw " + cause.getClass().getSimpleName());
    }

    private void began(SubscriptionPlan subscription, Context<Life> context, Step step) {
        trace.add(context.state() + " " + subscription.name() + " " + where(context) + " attempt " + context.attempt()
                + " begins" + (step.sleep().isPositive() ? ", takes " + step.sleep() : ""));
    }

    private void left(SubscriptionPlan subscription, Context<Life> context, End end, Duration delay, String how) {
        boolean late = context.cancelled();
        rules.leave(context.state(), subscription, context, end, end == End.DELAYED ? delay : Duration.ZERO);
        TopicPartition partition = new TopicPartition(context.topic(), context.partition());
        // Under Auto nobody waits for a reply.
        boolean done = end == End.SETTLED || end == End.REPLYING && !subscription.tracked();
        if (done && !late) {
            records.settled(subscription, partition, context.offset());
        } else if (end == End.FAILED) {
            records.failed(subscription, partition, context.offset());
        } else if (end == End.GIVEN_UP && !late) {
            records.givenUp(subscription, Original.of(context));
        } else if (end == End.POSTPONED && !late) {
            records.postponed(subscription, Original.of(context));
        }
        trace.add(context.state() + " " + subscription.name() + " " + where(context) + " attempt " + context.attempt()
                + " " + how + (late ? ", too late" : ""));
    }

    /** A record as replies name it. */
    static String where(TopicPartition partition, long offset) {
        return partition + "@" + offset;
    }

    private static String where(Context<?> context) {
        return where(new TopicPartition(context.topic(), context.partition()), context.offset());
    }
}
