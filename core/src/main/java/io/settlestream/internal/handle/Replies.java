package io.settlestream.internal.handle;

import io.settlestream.AsyncReplyHandler;
import io.settlestream.HandlerOutcome;
import io.settlestream.Message;
import io.settlestream.PublishException;
import io.settlestream.PublishedRecord;
import io.settlestream.Reply;
import io.settlestream.ReplyHandler;
import io.settlestream.internal.publish.PublishSite;
import io.settlestream.internal.publish.ReportListener;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.Disposition;
import io.settlestream.internal.settle.HandBack;
import io.settlestream.internal.settle.Settlement;
import io.settlestream.kafka.KafkaPublish;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Publishes what handlers answer, and settles each delivery when Kafka's report on its reply arrives.
 *
 * <p>A report is acted on where it arrives, on the producer's thread: settling is a few lock-free steps, and a delivery
 * that must run again is only put into its lane's queue.
 */
final class Replies {

    private final PublishSite site;
    private final KafkaPublish publish;
    private final HandlerEnvironment environment;
    private final Settlement settlement;
    private final Policies policies;

    Replies(PublishSite site, KafkaPublish publish, HandlerEnvironment environment, Policies policies) {
        this.site = site;
        this.publish = publish;
        this.environment = environment;
        this.settlement = environment.settlement();
        this.policies = policies;
    }

    @SuppressWarnings("unchecked") // what was declared with the value's type is called with values of that type
    Invocation sync(ReplyHandler<?, ?, ?> handler) {
        ReplyHandler<Object, ?, Object> typed = (ReplyHandler<Object, ?, Object>) handler;
        return (value, delivery, lanes) -> answer(typed.handle(value, delivery), delivery, lanes);
    }

    @SuppressWarnings("unchecked")
    Invocation async(AsyncReplyHandler<?, ?, ?> handler) {
        AsyncReplyHandler<Object, Object, Object> typed = (AsyncReplyHandler<Object, Object, Object>) handler;
        return (value, delivery, lanes) -> answer(
                Invocation.await(typed.handle(value, delivery), delivery, environment.scheduler()), delivery, lanes);
    }

    private @Nullable HandlerOutcome answer(@Nullable Reply<?> reply, Delivery delivery, HandBack lanes)
            throws Exception {
        return switch (Invocation.present(reply, "a reply")) {
            case Reply.None<?> none -> none.outcome();
            case Reply.Publish<?> answer -> {
                environment.observer().replying(environment.subscription(), delivery);
                Message<?> said = answer.message();
                Message<?> message = publish.transform().isPresent()
                        ? transformed(publish.transform().get(), said, delivery)
                        : said;
                String redirected = Objects.equals(message.topic(), said.topic()) ? null : message.topic();
                send(message, redirected, delivery, lanes);
                yield null;
            }
        };
    }

    private static Message<?> transformed(KafkaPublish.Transform transform, Message<?> said, Delivery delivery) {
        return Objects.requireNonNull(
                transform.apply(said, delivery), "the transform of a reply gave null instead of a message");
    }

    /**
     * @param redirected the topic that a transform has set, or null
     */
    private void send(Message<?> message, @Nullable String redirected, Delivery delivery, HandBack lanes)
            throws Exception {
        Report report = new Report(delivery, lanes, publish.awaitsReport() ? new CompletableFuture<>() : null);
        delivery.owner().reportAwaited();
        try {
            if (redirected == null) {
                site.send(message, report);
            } else {
                site.sendTo(redirected, message, report);
            }
        } catch (PublishException refused) {
            report.failed(refused);
        } catch (Throwable t) {
            delivery.owner().reportArrived();
            throw t;
        }
        report.await();
    }

    private final class Report implements ReportListener {

        private final Delivery delivery;
        private final HandBack lanes;
        private final @Nullable CompletableFuture<Boolean> arrived;

        Report(Delivery delivery, HandBack lanes, @Nullable CompletableFuture<Boolean> arrived) {
            this.delivery = delivery;
            this.lanes = lanes;
            this.arrived = arrived;
        }

        @Override
        public void accepted(PublishedRecord record) {
            environment.observer().answered(environment.subscription(), delivery, HandlerOutcome.ack());
            settlement.settle(delivery, HandlerOutcome.ack());
            arrived();
        }

        @Override
        public void failed(PublishException failure) {
            environment.observer().replyFailed(environment.subscription(), delivery, failure);
            Disposition disposition =
                    settlement.losesFailedReplies() || failure.reason().canHeal()
                            ? settlement.replyFailed(delivery, failure)
                            : policies.replyRefused(delivery, failure);
            if (disposition.equals(Disposition.RETRY)) {
                lanes.retry(delivery);
            } else if (disposition instanceof Disposition.Later later) {
                lanes.later(delivery, later.nanos());
            } else if (disposition.equals(Disposition.FAILED)) {
                lanes.halt();
            }
            arrived();
        }

        private void arrived() {
            delivery.owner().reportArrived();
            if (arrived != null) {
                arrived.complete(true);
            }
        }

        private void await() throws InterruptedException, ExecutionException {
            if (arrived != null) {
                boolean unused = environment.scheduler().await(arrived);
            }
        }
    }
}
