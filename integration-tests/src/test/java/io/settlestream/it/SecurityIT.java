package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ch.qos.logback.classic.Level;
import io.settlestream.App;
import io.settlestream.NoState;
import io.settlestream.Reply;
import io.settlestream.RunningApp;
import io.settlestream.SettleStream;
import io.settlestream.StartupException;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** TLS, SASL and refusals of a cluster that checks. */
class SecurityIT {

    private static SecuredKafka kafka;
    private final List<String> seen = new CopyOnWriteArrayList<>();

    @BeforeAll
    static void start() throws Exception {
        kafka = new SecuredKafka();
    }

    @AfterAll
    static void stop() throws IOException {
        kafka.close();
    }

    @ParameterizedTest
    @CsvSource({"sasl, classic", "sasl, consumer", "tls, classic", "tls, consumer"})
    @DisplayName("12.1 SASL and TLS reach the consumer and the producer; no secret is logged above debug")
    void secured(String how, String protocol) {
        String in = topic("in");
        String out = topic("out");
        produce(in, "a", "b");
        try (CapturedLog log = new CapturedLog(Level.INFO, "org.apache.kafka", "io.settlestream")) {
            KafkaBroker broker = how.equals("sasl") ? sasl(SecuredKafka.PASSWORD) : tls(SecuredKafka.STORE_PASSWORD);
            App<NoState> app = app(broker.config("group.protocol", protocol), in, out);
            try (RunningApp running = app.start()) {
                LiveKafka.eventually(
                        "replies are accepted",
                        () -> seen.size() == 2
                                && running.health()
                                                .subscriptions()
                                                .get(0)
                                                .counts()
                                                .acked()
                                        == 2);
                assertThat(app + " " + broker + " " + running + " " + running.health())
                        .satisfies(this::isFreeOfSecrets);
            }

            assertThat(log.lines()).anyMatch(line -> line.contains("ConsumerConfig values"));
            assertThat(log.lines()).anyMatch(line -> line.contains("ProducerConfig values"));
            assertThat(log.lines()).allSatisfy(this::isFreeOfSecrets);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("9.3 a wrong password fails the start at once; 12.1 and is not in the error or the log")
    void wrongPassword(String protocol) {
        Leftovers leftovers = new Leftovers();
        String wrong = "cheshire-5502";
        try (CapturedLog log = new CapturedLog(Level.INFO, "org.apache.kafka", "io.settlestream")) {
            StartupException refusal =
                    refused(sasl(wrong).config("group.protocol", protocol), topic("in"), topic("out"));

            assertThat(refusal.problems())
                    .singleElement()
                    .satisfies(problem ->
                            assertThat(problem).contains("subscription in", "group group", "Authentication"));
            assertThat(printed(refusal)).doesNotContain(wrong);
            assertThat(log.lines()).allSatisfy(line -> assertThat(line).doesNotContain(wrong));
        }
        leftovers.awaitNone();
    }

    @ParameterizedTest
    @CsvSource({"GROUP, classic", "GROUP, consumer", "TOPIC, classic", "TOPIC, consumer"})
    @DisplayName("9.3 a group or topic that the cluster denies fails the start at once")
    void denied(ResourceType what, String protocol) {
        Leftovers leftovers = new Leftovers();
        String in = topic("in");
        String group = LiveKafka.unique("group");
        deny(what, what == ResourceType.GROUP ? group : in);

        StartupException refusal = refused(
                sasl(SecuredKafka.PASSWORD).defaultGroup(group).config("group.protocol", protocol), in, topic("out"));

        assertThat(refusal.problems())
                .singleElement()
                .satisfies(problem ->
                        assertThat(problem).contains("subscription " + in, "group " + group, "Not authorized"));
        leftovers.awaitNone();
    }

    @Test
    @DisplayName("10.1 a trust store that is not there is named in the error; 12.1 its password is not")
    void noTrustStore() {
        Leftovers leftovers = new Leftovers();
        KafkaBroker broker = tls(SecuredKafka.STORE_PASSWORD).config("ssl.truststore.location", "/nowhere/trust.p12");

        StartupException refusal = refused(broker, topic("in"), topic("out"));

        assertThat(refusal).hasMessageContaining("/nowhere/trust.p12").hasMessageContaining(kafka.tls());
        assertThat(printed(refusal)).satisfies(this::isFreeOfSecrets);
        leftovers.awaitNone();
    }

    @Test
    @DisplayName("12.1 a mistake in the report does not quote the secret next to it")
    void reportWithoutSecrets() {
        KafkaBroker broker = sasl(SecuredKafka.PASSWORD)
                .config("ssl.keystore.pasword", SecuredKafka.STORE_PASSWORD)
                .config("ssl.truststore.type", 5);

        StartupException refusal = refused(broker, topic("in"), topic("out"));

        assertThat(refusal).hasMessageContaining("Did you mean ssl.keystore.password?");
        assertThat(printed(refusal)).satisfies(this::isFreeOfSecrets);
    }

    @Test
    @DisplayName("9.3 a consumer never creates its topic, even where the cluster would")
    void createsNothing() {
        String missing = LiveKafka.unique("missing");
        try (RunningApp running = app(KafkaBroker.of(kafka.plain()).defaultGroup("group"), missing, topic("out"))
                .start()) {
            assertThat(running.health().healthy()).isTrue();
        }
        assertThat(LiveKafka.get(kafka.admin().listTopics().names())).doesNotContain(missing);
    }

    /** The start of an application that would wait for a day if it were not refused. */
    private StartupException refused(KafkaBroker broker, String in, String out) {
        App<NoState> app = app(broker.assignmentTimeout(Duration.ofDays(1)), in, out);
        return catchThrowableOfType(StartupException.class, app::start);
    }

    private App<NoState> app(KafkaBroker broker, String in, String out) {
        return SettleStream.app("security-it", "1")
                .withBroker(
                        broker.commit(Commit.tracked()),
                        scope -> scope.include(
                                Subscriber.on(KafkaTopic.of(in).startOffset(StartOffset.EARLIEST), String.class)
                                        .<String, Object>handleReply(String.class, (value, context) -> {
                                            seen.add(value);
                                            return Reply.of(value);
                                        })
                                        .reply(KafkaPublish.to(out))));
    }

    private static KafkaBroker sasl(String password) {
        return KafkaBroker.of(kafka.sasl())
                .defaultGroup(LiveKafka.unique("group"))
                .config("security.protocol", "SASL_PLAINTEXT")
                .config("sasl.mechanism", "PLAIN")
                .config(
                        "sasl.jaas.config",
                        "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"%s\" password=\"%s\";"
                                .formatted(SecuredKafka.USER, password));
    }

    private static KafkaBroker tls(String password) {
        return KafkaBroker.of(kafka.tls())
                .defaultGroup(LiveKafka.unique("group"))
                .config("security.protocol", "SSL")
                .config("ssl.truststore.type", "PKCS12")
                .config("ssl.truststore.location", kafka.keyStore().toString())
                .config("ssl.truststore.password", password);
    }

    private static String topic(String prefix) {
        String name = LiveKafka.unique(prefix);
        LiveKafka.get(kafka.admin()
                .createTopics(List.of(new NewTopic(name, 1, (short) 1)))
                .all());
        return name;
    }

    private static void produce(String topic, String... values) {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", kafka.plain()), new StringSerializer(), new StringSerializer())) {
            for (String value : values) {
                LiveKafka.get(producer.send(new ProducerRecord<>(topic, value)));
            }
        }
    }

    private static void deny(ResourceType what, String name) {
        AclBinding denial = new AclBinding(
                new ResourcePattern(what, name, PatternType.LITERAL),
                new AccessControlEntry("User:" + SecuredKafka.USER, "*", AclOperation.ALL, AclPermissionType.DENY));
        LiveKafka.get(kafka.admin().createAcls(List.of(denial)).all());
    }

    private static String printed(Throwable thrown) {
        StringWriter text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    private void isFreeOfSecrets(String text) {
        assertThat(text).doesNotContain(SecuredKafka.PASSWORD, SecuredKafka.STORE_PASSWORD);
    }
}
