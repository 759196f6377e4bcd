package io.settlestream.internal.config;

import static java.util.Map.entry;

import java.util.Map;
import java.util.Optional;

/** Properties of librdkafka, the C client, that its Java sibling does not have under the same name. */
final class LibrdkafkaNames {

    /** To the Java client's name for the same thing, or for what comes nearest. */
    static final Map<String, String> JAVA_NAMES = Map.ofEntries(
            entry("auto.commit.enable", "enable.auto.commit"),
            entry("batch.num.messages", "batch.size"),
            entry("compression.codec", "compression.type"),
            entry("consume.callback.max.messages", "max.poll.records"),
            entry("fetch.error.backoff.ms", "retry.backoff.ms"),
            entry("fetch.message.max.bytes", "max.partition.fetch.bytes"),
            entry("fetch.wait.max.ms", "fetch.max.wait.ms"),
            entry("max.in.flight", "max.in.flight.requests.per.connection"),
            entry("message.max.bytes", "max.request.size"),
            entry("message.send.max.retries", "retries"),
            entry("message.timeout.ms", "delivery.timeout.ms"),
            entry("metadata.broker.list", "bootstrap.servers"),
            entry("partitioner", "partitioner.class"),
            entry("plugin.library.paths", "interceptor.classes"),
            entry("queue.buffering.max.ms", "linger.ms"),
            entry("queued.max.messages.kbytes", "fetch.max.bytes"),
            entry("receive.message.max.bytes", "fetch.max.bytes"),
            entry("request.required.acks", "acks"),
            entry("sasl.kerberos.keytab", "sasl.jaas.config"),
            entry("sasl.kerberos.principal", "sasl.jaas.config"),
            entry("sasl.mechanisms", "sasl.mechanism"),
            entry("sasl.oauthbearer.client.id", "sasl.oauthbearer.client.credentials.client.id"),
            entry("sasl.oauthbearer.client.secret", "sasl.oauthbearer.client.credentials.client.secret"),
            entry("sasl.oauthbearer.config", "sasl.jaas.config"),
            entry("sasl.oauthbearer.extensions", "sasl.jaas.config"),
            entry("sasl.password", "sasl.jaas.config"),
            entry("sasl.username", "sasl.jaas.config"),
            entry("socket.receive.buffer.bytes", "receive.buffer.bytes"),
            entry("socket.send.buffer.bytes", "send.buffer.bytes"),
            entry("socket.timeout.ms", "request.timeout.ms"),
            entry("ssl.ca.location", "ssl.truststore.location"),
            entry("ssl.ca.pem", "ssl.truststore.certificates"),
            entry("ssl.certificate.location", "ssl.keystore.location"),
            entry("ssl.certificate.pem", "ssl.keystore.certificate.chain"),
            entry("ssl.key.location", "ssl.keystore.location"),
            entry("ssl.key.pem", "ssl.keystore.key"),
            entry("statistics.interval.ms", "metric.reporters"),
            entry("topic.metadata.refresh.fast.interval.ms", "retry.backoff.ms"),
            entry("topic.metadata.refresh.interval.ms", "metadata.max.age.ms"));

    private static final String NOTHING_ALIKE = "The Java client has nothing like it: leave it out.";
    private static final String BYTES_AHEAD =
            "The Java client has no queue that fills up: max.poll.records and fetch.max.bytes say how much it fetches"
                    + " ahead.";
    private static final String BYTES_IN_FRONT =
            "The Java client counts bytes, not records: set buffer.memory with KafkaBroker.producerConfig.";

    /** To a sentence, where no property of the Java client does the same. */
    static final Map<String, String> NOTES = Map.ofEntries(
            entry("api.version.fallback.ms", NOTHING_ALIKE),
            entry("api.version.request", NOTHING_ALIKE),
            entry("api.version.request.timeout.ms", NOTHING_ALIKE),
            entry("broker.address.family", NOTHING_ALIKE),
            entry("broker.address.ttl", NOTHING_ALIKE),
            entry("broker.version.fallback", NOTHING_ALIKE),
            entry("builtin.features", NOTHING_ALIKE),
            entry(
                    "compression.level",
                    "The Java client has a level per type: compression.gzip.level,"
                            + " compression.lz4.level and compression.zstd.level."),
            entry("coordinator.query.interval.ms", NOTHING_ALIKE),
            entry("debug", "The Java client logs through SLF4J: set the level of org.apache.kafka there."),
            entry("delivery.report.only.error", NOTHING_ALIKE),
            entry("enable.auto.offset.store", "The framework decides what is committed: see KafkaTopic.commit."),
            entry("enable.gapless.guarantee", NOTHING_ALIKE),
            entry("enable.partition.eof", NOTHING_ALIKE),
            entry("enable.random.seed", NOTHING_ALIKE),
            entry("enable.sasl.oauthbearer.unsecure.jwt", NOTHING_ALIKE),
            entry("enable.ssl.certificate.verification", NOTHING_ALIKE),
            entry("fetch.queue.backoff.ms", BYTES_AHEAD),
            entry("internal.termination.signal", NOTHING_ALIKE),
            entry("log.connection.close", NOTHING_ALIKE),
            entry("log.queue", NOTHING_ALIKE),
            entry("log.thread.name", NOTHING_ALIKE),
            entry("log_level", "The Java client logs through SLF4J: set the level of org.apache.kafka there."),
            entry("message.copy.max.bytes", NOTHING_ALIKE),
            entry("offset.store.method", NOTHING_ALIKE),
            entry("offset.store.path", NOTHING_ALIKE),
            entry("offset.store.sync.interval.ms", NOTHING_ALIKE),
            entry("produce.offset.report", NOTHING_ALIKE),
            entry("queue.buffering.backpressure.threshold", NOTHING_ALIKE),
            entry("queue.buffering.max.kbytes", BYTES_IN_FRONT),
            entry("queue.buffering.max.messages", BYTES_IN_FRONT),
            entry("queued.min.messages", BYTES_AHEAD),
            entry("queuing.strategy", NOTHING_ALIKE),
            entry("sasl.oauthbearer.method", NOTHING_ALIKE),
            entry("socket.blocking.max.ms", NOTHING_ALIKE),
            entry("socket.keepalive.enable", NOTHING_ALIKE),
            entry("socket.max.fails", NOTHING_ALIKE),
            entry("socket.nagle.disable", NOTHING_ALIKE),
            entry("ssl.ca.certificate.stores", NOTHING_ALIKE),
            entry("ssl.crl.location", NOTHING_ALIKE),
            entry("ssl.curves.list", NOTHING_ALIKE),
            entry("ssl.engine.location", NOTHING_ALIKE),
            entry("ssl.providers", NOTHING_ALIKE),
            entry("ssl.sigalgs.list", NOTHING_ALIKE),
            entry("sticky.partitioning.linger.ms", NOTHING_ALIKE),
            entry("topic.blacklist", NOTHING_ALIKE),
            entry("topic.metadata.propagation.max.ms", NOTHING_ALIKE),
            entry("topic.metadata.refresh.sparse", NOTHING_ALIKE));

    private LibrdkafkaNames() {}

    /** What to do about a property of librdkafka, as a sentence; empty if the name is not one. */
    static Optional<String> advice(String property) {
        String javaName = JAVA_NAMES.get(property);
        if (javaName == null) {
            return Optional.ofNullable(NOTES.get(property));
        }
        return Optional.of(OwnedProperties.instead(javaName)
                .map(instead -> "The Java client calls it " + javaName + ". " + instead)
                .orElse("The Java client's name for it, or what comes nearest, is " + javaName + "."));
    }
}
