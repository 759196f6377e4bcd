package io.settlestream.examples;

import io.settlestream.Message;
import io.settlestream.Outgoing;
import io.settlestream.PublishedRecord;
import io.settlestream.Publisher;
import io.settlestream.Reply;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.kafka.KafkaTopic;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The code of docs/publishing.md. */
final class Publishing {

    private static final Logger log = LoggerFactory.getLogger(Publishing.class);

    record Payout(long id) {}

    @Outgoing("payouts.done")
    record Paid(long payoutId) {}

    static final Subscriber<Payout, Object> PAY_OUT = Subscriber.on(
                    KafkaTopic.of("payouts").commit(Commit.tracked()), Payout.class)
            .handleReply(Paid.class, (payout, context) -> Reply.of(new Paid(payout.id())))
            .reply(KafkaPublish.create()
                    .transform((reply, delivery) -> reply.header("attempt", "" + delivery.attempt())));

    private Publishing() {}

    static PublishedRecord publish(Publisher publisher) throws InterruptedException {
        PublishedRecord at = publisher.publishAndWait(new Paid(4711)); // waits for Kafka's report
        publisher
                .publish(Message.of(new Paid(4711)).key("account-7")) // does not wait for it
                .thenAccept(record -> log.info("written at {}", record.offset()));
        return at;
    }

    static Reply<Paid> withKeyAndHeader(Payout payout) {
        return Reply.message(Message.of(new Paid(payout.id())).key("account-7").header("origin", "payouts"));
    }

    static KafkaPublish bounded() {
        return KafkaPublish.to("payouts.done").queueTimeout(Duration.ofSeconds(5));
    }
}
