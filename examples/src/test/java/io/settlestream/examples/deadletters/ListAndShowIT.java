package io.settlestream.examples.deadletters;

import static io.settlestream.examples.deadletters.ToolKafka.bytes;
import static io.settlestream.examples.deadletters.ToolKafka.header;
import static io.settlestream.examples.deadletters.ToolKafka.letter;
import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.examples.deadletters.ToolKafka.Told;
import io.settlestream.kafka.RecordCopy;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@DisplayName("The dead-letters tool")
@Timeout(120)
class ListAndShowIT {

    private static ToolKafka kafka;

    /** A topic with five letters that differ. */
    private static String mixed;

    @BeforeAll
    static void start() {
        kafka = new ToolKafka();
        mixed = kafka.topic("dead", 2);
        kafka.send(letter(mixed, "charges", 0, 0));
        kafka.send(header(letter(mixed, "charges", 0, 1), RecordCopy.FAILURE, "java.lang.IllegalStateException"));
        kafka.send(header(letter(mixed, "charges", 0, 2), RecordCopy.GROUP, "audit"));
        kafka.send(onPartition(1, letter(mixed, "refunds", 0, 3)));
        kafka.send(onPartition(1, header(letter(mixed, "charges", 0, 4), RecordCopy.REASON, "bad currency")));
    }

    @AfterAll
    static void stop() {
        kafka.close();
    }

    @Test
    @DisplayName("lists id, time, origin, attempts, group, reason and key of a letter, but not its value")
    void list() {
        String dead = kafka.topic("dead", 1);
        kafka.send(letter(dead, "charges", 2, 41));

        Told told = kafka.tool("list", dead);

        assertThat(told.exit()).as(told.err()).isZero();
        assertThat(told.lines())
                .containsExactly("0:0  2026-09-21T14:15:41Z  charges-2@41  attempts 5  group payments"
                        + "  java.io.IOException: gateway down  key \"key-41\"");
        assertThat(told.err()).isEmpty();
    }

    @Test
    @DisplayName("lists a record that somebody else wrote as of unknown origin")
    void unknownOrigin() {
        String dead = kafka.topic("dead", 1);
        kafka.send(new ProducerRecord<>(dead, null, null, bytes("secret")));

        Told told = kafka.tool("list", dead);

        assertThat(told.lines()).hasSize(1);
        assertThat(told.out())
                .startsWith("0:0  ")
                .contains("  origin unknown  key null")
                .doesNotContain("secret");
    }

    @ParameterizedTest
    @CsvSource({
        "--id=0:1, 0:1",
        "--id=0:1 --id=1:0, 0:1 1:0",
        "--partition=1, 1:0 1:1",
        "--partition=1 --offset=1, 1:1",
        "--origin-topic=refunds, 1:0",
        "--reason=BAD cur, 1:1",
        "--reason=IllegalState, 0:1",
        "--group=audit, 0:2",
        "--since=2026-09-21T14:15:03Z, 1:0 1:1",
        "--until=2026-09-21T14:15:01Z, 0:0",
        "--since=2026-09-21T14:15:01Z --until=2026-09-21T14:15:02Z, 0:1",
        "--since=2026-09-22,",
        "--limit=2, 0:0 0:1",
        "--id=1:0 --group=audit,",
        "--not-replayed --limit=1, 0:0"
    })
    @DisplayName("lists those that options choose")
    void choose(String options, String ids) {
        Told told = kafka.tool("list", mixed, options.split(" (?=--)"));

        assertThat(told.exit()).as(told.err()).isZero();
        assertThat(told.lines().stream().map(line -> line.substring(0, line.indexOf(' '))))
                .containsExactly(ids == null ? new String[0] : ids.split(" "));
        assertThat(told.err().isEmpty()).isEqualTo(ids != null);
    }

    @Test
    @DisplayName("lists a JSON object for each letter, with a binary key in Base64")
    void json() {
        String dead = kafka.topic("dead", 1);
        kafka.send(withKey(letter(dead, "charges", 2, 41), new byte[] {0, (byte) 0xff}));
        kafka.send(new ProducerRecord<>(dead, 0, bytes("k"), null));

        Told told = kafka.tool("list", dead, "--json");

        List<JsonNode> lines = told.lines().stream()
                .map(line -> new JsonMapper().readTree(line))
                .toList();
        assertThat(lines).hasSize(2);
        assertThat(lines.get(0)).isEqualTo(new JsonMapper().readTree("""
                        {"id": "0:0", "time": "2026-09-21T14:15:41Z",
                         "origin": {"topic": "charges", "partition": 2, "offset": 41,
                                    "timestamp": "2026-09-21T14:13:20Z"},
                         "group": "payments", "attempts": 5, "failure": "java.io.IOException",
                         "reason": "gateway down", "key": null, "keyBase64": "AP8=", "valueBytes": 8,
                         "replayed": null}"""));
        assertThat(lines.get(1).get("origin").isNull()).isTrue();
        assertThat(lines.get(1).get("key").asString()).isEqualTo("k");
        assertThat(lines.get(1).get("valueBytes").isNull()).isTrue();
    }

    @Test
    @DisplayName("keeps what others wrote into headers from moving the cursor")
    void hostileHeaders() {
        String dead = kafka.topic("dead", 1);
        ProducerRecord<byte[], byte[]> hostile = letter(dead, "char\u001b[2Jges", 0, 1);
        header(hostile, RecordCopy.REASON, "\u001b]0;you are hacked\u0007" + "x".repeat(1000));
        header(hostile, RecordCopy.GROUP, "a\nb");
        hostile.headers().add("\u001b[31m", new byte[] {27});
        kafka.send(hostile);

        for (Told told : List.of(kafka.tool("list", dead), kafka.tool("show", dead, "0:0"))) {
            assertThat(told.exit()).as(told.err()).isZero();
            assertThat(told.out()).doesNotContain("\u001b").doesNotContain("\u0007");
        }
        assertThat(kafka.tool("list", dead).lines()).hasSize(1);
        assertThat(kafka.tool("list", dead).out().length()).isLessThan(400);
    }

    @Test
    @DisplayName("shows headers in their order and a value that is text")
    void showText() {
        String dead = kafka.topic("dead", 1);
        ProducerRecord<byte[], byte[]> sent = letter(dead, "charges", 2, 41);
        sent.headers().add("trace", bytes("1")).add("trace", bytes("2"));
        kafka.send(sent);

        Told told = kafka.tool("show", dead, "0:0");

        assertThat(told.exit()).as(told.err()).isZero();
        assertThat(told.lines())
                .containsSubsequence(
                        "id        0:0",
                        "origin    charges-2@41",
                        "group     payments",
                        "attempts  5",
                        "reason    java.io.IOException: gateway down",
                        "key       \"key-41\"",
                        "header    settlestream-origin-topic = \"charges\"",
                        "header    trace = \"1\"",
                        "header    trace = \"2\"",
                        "value     8 bytes",
                        "value-41");
    }

    @Test
    @DisplayName("shows a value that is no text in hexadecimal, its beginning unless all is wanted")
    void showBytes() {
        String dead = kafka.topic("dead", 1);
        byte[] value = new byte[5000];
        value[0] = (byte) 0xff;
        value[1] = 'A';
        kafka.send(new ProducerRecord<>(dead, 0, null, value));

        Told some = kafka.tool("show", dead, "0:0");
        Told all = kafka.tool("show", dead, "0:0", "--all");

        assertThat(some.lines())
                .contains("00000000  ff 41 00 00 00 00 00 00 00 00 00 00 00 00 00 00  .A..............")
                .anyMatch(line -> line.startsWith("00000ff0  "))
                .noneMatch(line -> line.startsWith("00001000  "))
                .endsWith("... --all shows all of it");
        assertThat(all.lines())
                .endsWith("00001380  00 00 00 00 00 00 00 00                          ........")
                .doesNotContain("... --all shows all of it");
    }

    @Test
    @DisplayName("shows a value of null as that, and says which letter is not there")
    void showNothing() {
        String dead = kafka.topic("dead", 1);
        kafka.send(new ProducerRecord<>(dead, 0, null, null));

        assertThat(kafka.tool("show", dead, "0:0").lines()).contains("key       null", "value     null");
        for (String id : new String[] {"0:1", "7:0"}) {
            Told told = kafka.tool("show", dead, id);
            assertThat(told.exit()).isEqualTo(1);
            assertThat(told.err()).contains(id, dead);
        }
    }

    @Test
    @DisplayName("says that there is nothing on an empty topic, and that a missing one is not there")
    void nothing() {
        String dead = kafka.topic("dead", 3);

        Told empty = kafka.tool("list", dead);
        assertThat(empty.exit()).isZero();
        assertThat(empty.out()).isEmpty();
        assertThat(empty.err()).contains("no dead letters on " + dead);

        for (String command : new String[] {"list", "show", "replay"}) {
            Told missing = kafka.tool(command, "not-there", command.equals("show") ? "0:0" : "--id=0:0");
            assertThat(missing.exit()).isEqualTo(1);
            assertThat(missing.err()).contains("no topic not-there", kafka.bootstrap(), "--topic");
            assertThat(kafka.topics()).doesNotContain("not-there");
        }
        assertThat(kafka.tool("list", "no topic's name").err()).contains("no topic no topic's name");
    }

    @Test
    @DisplayName("says that a Kafka cannot be reached, and what may be wrong")
    void unreachable(@TempDir Path folder) throws IOException {
        Path config = Files.writeString(
                folder.resolve("client.properties"), "default.api.timeout.ms=500\nrequest.timeout.ms=300\n");
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }

        Told told = ToolKafka.call(
                "--directory=" + folder,
                "list",
                "--bootstrap=127.0.0.1:" + port,
                "--topic=dead",
                "--command-config=" + config.getFileName());

        assertThat(told.exit()).isEqualTo(1);
        assertThat(told.err()).contains("127.0.0.1:" + port, "500 ms", "--bootstrap", "--command-config");
    }

    @Test
    @DisplayName("says which address or file is none")
    void badAddress() {
        Told address = ToolKafka.call("list", "--bootstrap=localhost", "--topic=dead");
        assertThat(address.exit()).isEqualTo(1);
        assertThat(address.err()).contains("localhost", "--bootstrap");

        Told file = kafka.tool("list", "dead", "--command-config=/not/there");
        assertThat(file.exit()).isEqualTo(1);
        assertThat(file.err()).contains("/not/there", "--command-config");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "list --topic=t",
                "list --bootstrap=b:1",
                "list --bootstrap=b:1 --topic=t --id=17",
                "list --bootstrap=b:1 --topic=t --offset=1",
                "list --bootstrap=b:1 --topic=t --limit=0",
                "list --bootstrap=b:1 --topic=t --since=yesterday",
                "list --bootstrap=b:1 --topic=t --nothing",
                "show --bootstrap=b:1 --topic=t",
                "show --bootstrap=b:1 --topic=t x",
                "replay --bootstrap=b:1 --topic=t",
                "replay --bootstrap=b:1 --topic=t --limit=1",
                "",
                "eat"
            })
    @DisplayName("exits with 2 and says why when it is used wrongly, before anything is asked of Kafka")
    void wrongUsage(String arguments) {
        Told told = ToolKafka.call(arguments.isEmpty() ? new String[0] : arguments.split(" "));

        assertThat(told.exit()).as(told.err()).isEqualTo(2);
        assertThat(told.err()).contains("--help").doesNotContain("Exception");
        assertThat(told.out()).isEmpty();
    }

    @Test
    @DisplayName("uses colours on a terminal only")
    void colours() {
        String dead = kafka.topic("dead", 1);
        kafka.send(letter(dead, "charges", 2, 41));

        Told told = ToolKafka.call("--colours", "list", "--bootstrap=" + kafka.bootstrap(), "--topic=" + dead);

        assertThat(told.out()).contains("\u001b[1m0:0");
        assertThat(kafka.tool("list", dead).out()).doesNotContain("\u001b");
        assertThat(ToolKafka.call("list", "--help").out()).doesNotContain("\u001b");
    }

    private static ProducerRecord<byte[], byte[]> onPartition(int partition, ProducerRecord<byte[], byte[]> letter) {
        return new ProducerRecord<>(letter.topic(), partition, letter.key(), letter.value(), letter.headers());
    }

    private static ProducerRecord<byte[], byte[]> withKey(ProducerRecord<byte[], byte[]> letter, byte[] key) {
        return new ProducerRecord<>(letter.topic(), letter.partition(), key, letter.value(), letter.headers());
    }
}
