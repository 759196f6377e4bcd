package io.settlestream.internal.publish;

import io.settlestream.EncodeException;
import io.settlestream.Message;
import io.settlestream.MessageHeader;
import io.settlestream.PublishException;
import io.settlestream.PublishException.Reason;
import io.settlestream.PublishedRecord;
import io.settlestream.Publisher;
import io.settlestream.codec.Codec;
import io.settlestream.internal.codec.Codecs;
import io.settlestream.internal.health.SilencedException;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.spi.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * A publishing site of a broker: finds a message's topic and codec and sends what the codec makes of it. The transform of
 * a site is the affair of whoever knows the delivery; it has been applied before.
 *
 * <p>Thread-safe.
 */
public final class PublishSite implements Publisher {

    private final BrokerPublisher broker;
    private final Codecs codecs;
    private final Scheduler scheduler;
    private final @Nullable String topic;
    private final @Nullable Duration queueTimeout;

    /** By the class of the value, found once for each. */
    private final ConcurrentMap<Class<?>, TypeRoute> routes = new ConcurrentHashMap<>();

    PublishSite(BrokerPublisher broker, KafkaPublish publish, Codecs codecs, Scheduler scheduler) {
        this.broker = broker;
        this.codecs = codecs;
        this.scheduler = scheduler;
        this.topic = publish.topic().orElse(null);
        this.queueTimeout = publish.queueTimeout().orElse(null);
    }

    /**
     * Adds what startup can tell about a site alone: a name that Kafka does not take.
     *
     * @param where the site, as the start of a sentence
     */
    public static void check(String where, KafkaPublish publish, List<String> problems) {
        publish.topic().flatMap(TopicName::mistake).ifPresent(mistake -> problems.add(where + ": " + mistake));
    }

    /**
     * Adds what startup can tell about publishing values of a type at a site: two names for the topic, a name that Kafka
     * does not take, no codec. No name at all is fine here, as each message may bring its own.
     *
     * @param where the site, as the start of a sentence: {@code "the reply of subscriber payOut"}
     */
    public static void check(String where, Class<?> type, KafkaPublish publish, Codecs codecs, List<String> problems) {
        TypeRoute route = TypeRoute.of(type, codecs);
        String site = publish.topic().orElse(null);
        if (route.conflict() != null) {
            problems.add(where + ": " + route.conflict() + ".");
        }
        if (route.outgoing() != null && site != null) {
            problems.add(where + ": " + twoNames(route, site, null) + ".");
        }
        check(where, publish, problems);
        Optional.ofNullable(route.outgoing())
                .flatMap(TopicName::mistake)
                .ifPresent(mistake -> problems.add(where + ": " + mistake));
        if (route.codec() == null) {
            problems.add(where + ": " + noCodec(route) + ".");
        }
    }

    /**
     * Sends a message and returns when the producer has taken it.
     *
     * @param listener hears once what became of it if this returns normally, maybe before it returns, on whatever thread
     *     has the report, which it must not block; never if this throws
     * @throws PublishException if the message is refused, or was not taken
     * @throws InterruptedException if interrupted while waiting for room or for metadata; the message is not sent
     */
    public void send(Message<?> message, ReportListener listener) throws InterruptedException {
        broker.send(record(message, null), queueTimeout, listener);
    }

    /** {@link #send Sends} a message to a topic, whatever else names one: a transform has redirected it. */
    public void sendTo(String destination, Message<?> message, ReportListener listener) throws InterruptedException {
        broker.send(record(message, destination), queueTimeout, listener);
    }

    @Override
    public CompletionStage<PublishedRecord> publish(Message<?> message) {
        ProducerRecord<byte[], byte[]> record = record(message, null);
        CompletableFuture<PublishedRecord> published = new CompletableFuture<>();
        try {
            broker.send(record, queueTimeout, new Completion(published, scheduler));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new PublishException(
                    Reason.NOT_ACCEPTED,
                    record.topic(),
                    "A record for topic " + record.topic()
                            + " was not sent: the thread was interrupted while it waited.",
                    interrupted);
        }
        return published;
    }

    @Override
    public PublishedRecord publishAndWait(Message<?> message) throws InterruptedException {
        WaitingThread waiting = new WaitingThread();
        send(message, waiting);
        return waiting.await();
    }

    private ProducerRecord<byte[], byte[]> record(Message<?> message, @Nullable String redirected) {
        TypeRoute route = route(message.value().getClass());
        String destination = redirected != null ? redirected : destination(route, message.topic());
        return new ProducerRecord<>(
                destination,
                message.partition(),
                scheduler.now().toEpochMilli(),
                message.key(),
                encode(route, destination, message.value()),
                headers(message.headers()));
    }

    private TypeRoute route(Class<?> type) {
        TypeRoute route = routes.get(type);
        if (route == null) {
            // Not computeIfAbsent: it would hold a lock while providers of codecs run.
            route = TypeRoute.of(type, codecs);
            routes.put(type, route);
        }
        return route;
    }

    /** The one name among those that the type, the site and the message give. */
    private String destination(TypeRoute route, @Nullable String named) {
        String outgoing = route.outgoing();
        if (route.conflict() != null) {
            throw new PublishException(Reason.DESTINATION, null, route.conflict() + ".", null);
        }
        String destination = outgoing != null ? outgoing : topic != null ? topic : named;
        if (destination == null) {
            throw new PublishException(
                    Reason.DESTINATION,
                    null,
                    "No topic is named for a message of " + route.type()
                            + ": annotate the type with @Outgoing, or name it"
                            + " at the publishing site with KafkaPublish.to, or in the message with Message.to.",
                    null);
        }
        int names = (outgoing != null ? 1 : 0) + (topic != null ? 1 : 0) + (named != null ? 1 : 0);
        if (names > 1) {
            throw new PublishException(Reason.DESTINATION, destination, twoNames(route, topic, named) + ".", null);
        }
        return destination;
    }

    private static byte[] encode(TypeRoute route, String destination, Object value) {
        Codec<Object> codec = route.codec();
        if (codec == null) {
            throw new PublishException(
                    Reason.NOT_ENCODABLE, destination, noCodec(route) + " (topic " + destination + ").", null);
        }
        try {
            return codec.encode(value);
        } catch (EncodeException failure) {
            throw notEncodable(route, destination, ": " + failure.getMessage(), failure);
        } catch (Exception failure) {
            throw notEncodable(route, destination, " (" + failure.getClass().getSimpleName() + ").", failure);
        } catch (Error failure) {
            throw SilencedException.error(failure);
        }
    }

    private static List<Header> headers(List<MessageHeader> headers) {
        return headers.isEmpty()
                ? List.of()
                : headers.stream()
                        .<Header>map(header -> new PlainHeader(header.name(), header.value()))
                        .toList();
    }

    private static PublishException notEncodable(TypeRoute route, String destination, String why, Exception failure) {
        return new PublishException(
                Reason.NOT_ENCODABLE,
                destination,
                "The codec could not encode a " + route.type() + " for topic " + TopicName.shown(destination) + why,
                SilencedException.of(failure));
    }

    private static String twoNames(TypeRoute route, @Nullable String site, @Nullable String named) {
        List<String> names = Stream.of(
                        route.outgoing() == null
                                ? ""
                                : "@Outgoing on " + route.type() + " (" + TopicName.shown(route.outgoing()) + ")",
                        site == null ? "" : "the publishing site (" + TopicName.shown(site) + ")",
                        named == null ? "" : "the message (" + TopicName.shown(named) + ")")
                .filter(name -> !name.isEmpty())
                .toList();
        return "the topic is named more than once, by " + String.join(" and by ", names) + "; keep one of them";
    }

    private static String noCodec(TypeRoute route) {
        return "there is no codec for " + route.type()
                + "; add settlestream-jackson for JSON, or a CodecProvider that knows the type";
    }

    /**
     * Completes a stage from a thread of its own: what users chain to it may block, which must hold up neither the
     * producer nor the next completion. A virtual thread for each does that for less than a microsecond.
     */
    private record Completion(CompletableFuture<PublishedRecord> published, Scheduler scheduler)
            implements ReportListener {

        @Override
        public void accepted(PublishedRecord record) {
            onItsOwnThread(() -> published.complete(record));
        }

        @Override
        public void failed(PublishException failure) {
            onItsOwnThread(() -> published.completeExceptionally(failure));
        }

        private void onItsOwnThread(Runnable completion) {
            Thread unused = scheduler.start(Scheduler.Kind.VIRTUAL, "settlestream-report", completion);
        }
    }

    /** Hands a report to the thread that waits for it. It comes in time: delivery.timeout.ms bounds it, and a close. */
    private final class WaitingThread implements ReportListener {
        private final Thread thread = Thread.currentThread();
        private volatile @Nullable PublishedRecord accepted;
        private volatile @Nullable PublishException failure;

        @Override
        public void accepted(PublishedRecord record) {
            accepted = record;
            scheduler.unpark(thread);
        }

        @Override
        public void failed(PublishException publishException) {
            failure = publishException;
            scheduler.unpark(thread);
        }

        PublishedRecord await() throws InterruptedException {
            while (true) {
                PublishedRecord record = accepted;
                if (record != null) {
                    return record;
                }
                PublishException failed = failure;
                if (failed != null) {
                    // Its stack trace shall show who published, not the producer's thread.
                    failed.fillInStackTrace();
                    throw failed;
                }
                if (Thread.interrupted()) {
                    throw new InterruptedException("interrupted while waiting for Kafka's report");
                }
                scheduler.park(this);
            }
        }
    }
}
