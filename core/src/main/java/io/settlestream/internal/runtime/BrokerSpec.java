package io.settlestream.internal.runtime;

import io.settlestream.Message;
import io.settlestream.Outgoing;
import io.settlestream.PublishException;
import io.settlestream.PublishedRecord;
import io.settlestream.Publisher;
import io.settlestream.internal.handle.HandlerSpec;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.kafka.KafkaSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A broker with what is read from it and written to it. */
public record BrokerSpec(KafkaBroker broker, List<Mounted> mounted, List<Site> sites) {

    public BrokerSpec {
        mounted = List.copyOf(mounted);
        sites = List.copyOf(sites);
    }

    /** The topics that types, sites and mount sites name for what is published; a topic may be there more than once. */
    public List<String> topicsWritten() {
        Stream<Optional<String>> replies = mounted.stream().map(each -> switch (each.handler()) {
            case HandlerSpec.Replying reply -> destination(reply.publish(), reply.replyType());
            case HandlerSpec.ReplyingAsync reply -> destination(reply.publish(), reply.replyType());
            case HandlerSpec.Single ignored -> Optional.empty();
            case HandlerSpec.Async ignored -> Optional.empty();
            case HandlerSpec.Batch ignored -> Optional.empty();
        });
        Stream<Optional<String>> published =
                sites.stream().map(site -> site.publish().topic());
        Stream<Optional<String>> copies = mounted.stream()
                .map(Mounted::options)
                .flatMap(options -> Stream.of(options.deadLetter(), options.retryTopic()))
                .map(Optional::ofNullable);
        return Stream.of(replies, published, copies)
                .flatMap(Function.identity())
                .flatMap(Optional::stream)
                .toList();
    }

    private static Optional<String> destination(KafkaPublish publish, Class<?> replyType) {
        return publish.topic()
                .or(() -> Optional.ofNullable(replyType.getAnnotation(Outgoing.class))
                        .map(Outgoing::value));
    }

    /** An included subscriber. */
    public record Mounted(KafkaSource<?> source, HandlerSpec handler, MountOptions options) {}

    /**
     * A publisher that was handed out before its application was started; works while the application runs. It can lead
     * to one run at a time, so a run takes it when it begins and leaves it when it has ended; see {@link SiteLease}.
     */
    public static final class Site implements Publisher {

        private final KafkaPublish publish;
        private final AtomicBoolean taken = new AtomicBoolean();
        private volatile @Nullable Publisher target;

        public Site(KafkaPublish publish) {
            this.publish = publish;
        }

        KafkaPublish publish() {
            return publish;
        }

        /** Whether it was free; then it is the caller's until it is {@link #leave left}. */
        boolean take() {
            return taken.compareAndSet(false, true);
        }

        void bind(Publisher running) {
            target = running;
        }

        void leave() {
            target = null;
            taken.set(false);
        }

        @Override
        public CompletionStage<PublishedRecord> publish(Message<?> message) {
            return target().publish(message);
        }

        @Override
        public PublishedRecord publishAndWait(Message<?> message) throws InterruptedException {
            return target().publishAndWait(message);
        }

        private Publisher target() {
            Publisher running = target;
            if (running == null) {
                throw new PublishException(
                        PublishException.Reason.CLOSED,
                        publish.topic().orElse(null),
                        "the application of this publisher is not running; publish after its start and before it has stopped",
                        null);
            }
            return running;
        }
    }
}
