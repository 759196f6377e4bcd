package io.settlestream.examples.deadletters;

import static io.settlestream.examples.deadletters.ToolKafka.bytes;
import static io.settlestream.examples.deadletters.ToolKafka.letter;
import static io.settlestream.examples.deadletters.ToolKafka.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.examples.deadletters.ToolKafka.Told;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("Replaying dead letters")
@Timeout(180)
class ReplayIT {

    private static ToolKafka kafka;

    @BeforeAll
    static void start() {
        kafka = new ToolKafka();
    }

    @AfterAll
    static void stop() {
        kafka.close();
    }

    @Test
    @DisplayName(
            "publishes the record as it was: binary key, null value, repeated headers, its partition, without our headers")
    void original() {
        String origin = kafka.topic("charges", 3);
        String dead = kafka.topic("dead", 1);
        ProducerRecord<byte[], byte[]> framed = letter(dead, origin, 2, 41);
        byte[] key = {0, (byte) 0xfe, 10};
        ProducerRecord<byte[], byte[]> sent = new ProducerRecord<>(dead, 0, key, null, framed.headers());
        sent.headers()
                .add("trace", bytes("1"))
                .add("other", null)
                .add("settlestream-mine", bytes("x"))
                .add("trace", bytes("2"));
        kafka.send(sent);
        long begin = System.currentTimeMillis();

        Told told = kafka.tool("replay", dead, "--id=0:0", "--yes");

        assertThat(told.exit()).as(told.err()).isZero();
        assertThat(told.lines())
                .containsExactly(
                        "0:0 replayed to " + origin + "-2@0",
                        "Replayed 1 of 1 dead letters (before: 0, impossible: 0).");
        List<ConsumerRecord<byte[], byte[]>> records = kafka.records(origin);
        assertThat(records).hasSize(1);
        ConsumerRecord<byte[], byte[]> record = records.get(0);
        assertThat(record.partition()).isEqualTo(2);
        assertThat(record.key()).isEqualTo(key);
        assertThat(record.value()).isNull();
        assertThat(record.timestamp()).isBetween(begin, System.currentTimeMillis());
        assertThat(Arrays.stream(record.headers().toArray()).map(h -> h.key() + "=" + text(h.value())))
                .containsExactly("trace=1", "other=null", "settlestream-mine=x", "trace=2");
    }

    @Test
    @DisplayName("goes by key when the partition is no longer there")
    void partitionIsGone() {
        String origin = kafka.topic("charges", 1);
        String dead = kafka.topic("dead", 1);
        kafka.send(letter(dead, origin, 7, 41));

        assertThat(kafka.tool("replay", dead, "--id=0:0", "--yes").exit()).isZero();

        assertThat(kafka.values(origin)).containsExactly("value-41");
    }

    @Test
    @DisplayName("happens once however often it is called, unless it is to happen again")
    void once() {
        String origin = kafka.topic("charges", 1);
        String dead = kafka.topic("dead", 1);
        kafka.sendLetters(dead, origin, 3);

        assertThat(kafka.tool("replay", dead, "--id=0:1", "--yes").exit()).isZero();
        Told rest = kafka.tool("replay", dead, "--all", "--yes");
        Told nothing = kafka.tool("replay", dead, "--all");
        Told again = kafka.tool("replay", dead, "--id=0:2", "--again");

        assertThat(rest.exit()).isZero();
        assertThat(rest.out()).contains("0:1 not replayed: it was at 2", "--again");
        assertThat(rest.summary()).isEqualTo("Replayed 2 of 3 dead letters (before: 1, impossible: 0).");
        assertThat(nothing.exit()).as("nothing is left to ask about").isZero();
        assertThat(nothing.summary()).isEqualTo("Replayed 0 of 3 dead letters (before: 3, impossible: 0).");
        assertThat(again.exit()).isZero();
        assertThat(kafka.values(origin)).containsExactly("value-1", "value-0", "value-2", "value-2");
        assertThat(kafka.tool("list", dead).lines()).allMatch(line -> line.contains("  replayed 2"));
        assertThat(kafka.tool("list", dead, "--not-replayed").out()).isEmpty();
        assertThat(kafka.tool("show", dead, "0:1").out()).contains("replayed  2");
    }

    @Test
    @DisplayName("takes two dead letters of one record for what they are")
    void writtenTwice() {
        String origin = kafka.topic("charges", 1);
        String dead = kafka.topic("dead", 1);
        kafka.send(letter(dead, origin, 0, 41));
        kafka.send(letter(dead, origin, 0, 41));
        kafka.send(letter(dead, origin, 0, 42));

        Told told = kafka.tool("replay", dead, "--all", "--yes");
        Told other = kafka.tool("replay", dead, "--id=0:1", "--yes");

        assertThat(told.exit()).as(told.err()).isZero();
        assertThat(told.out()).contains("0:1 not replayed: another of these is the same record");
        assertThat(other.out()).contains("0:1 not replayed: it was at ");
        assertThat(kafka.values(origin)).containsExactly("value-41", "value-42");
    }

    @Test
    @DisplayName("of a letter of unknown origin wants a topic, and remembers it until the dead-letter topic is another")
    void unknownOrigin() {
        String target = kafka.topic("charges", 1);
        String dead = kafka.topic("dead", 1);
        ProducerRecord<byte[], byte[]> foreign = new ProducerRecord<>(dead, 0, null, bytes("foreign"));
        kafka.send(foreign);

        Told without = kafka.tool("replay", dead, "--all", "--yes");
        Told missing = kafka.tool("replay", dead, "--all", "--yes", "--to=not-there");
        Told with = kafka.tool("replay", dead, "--all", "--yes", "--to=" + target);
        Told repeated = kafka.tool("replay", dead, "--all", "--yes", "--to=" + target);
        kafka.createAgain(dead, 1);
        kafka.send(foreign);
        Told other = kafka.tool("replay", dead, "--all", "--yes", "--to=" + target);

        assertThat(without.exit()).isEqualTo(1);
        assertThat(without.out()).contains("0:0 not replayed: its origin is unknown; --to");
        assertThat(missing.exit()).isEqualTo(1);
        assertThat(missing.err()).contains("not-there");
        assertThat(with.exit()).as(with.err()).isZero();
        assertThat(repeated.summary()).startsWith("Replayed 0 of 1");
        assertThat(other.summary()).startsWith("Replayed 1 of 1");
        assertThat(kafka.values(target)).containsExactly("foreign", "foreign");
    }

    @Test
    @DisplayName("asks before it touches several letters or creates a topic, and does nothing without a yes")
    void asks() {
        String origin = kafka.topic("charges", 1);
        String dead = kafka.topic("dead", 1);
        kafka.sendLetters(dead, origin, 4);

        Told unheard = kafka.tool("replay", dead, "--all");
        Told no = kafka.toolAnswered("n\n", "replay", dead, "--all");
        Told silent = kafka.toolAnswered("", "replay", dead, "--id=0:0");
        assertThat(unheard.exit()).isEqualTo(2);
        assertThat(unheard.err()).contains("4 dead letters: 4 to " + origin, dead + ".replayed", "--yes");
        assertThat(no.exit()).isEqualTo(1);
        assertThat(no.err()).contains("4 dead letters: 4 to " + origin + "?").contains(dead + ".replayed");
        assertThat(silent.exit()).as("the topic would be created").isEqualTo(1);
        assertThat(kafka.topics()).doesNotContain(dead + ".replayed");

        Told yes = kafka.toolAnswered("y\n", "replay", dead, "--id=0:0");
        Told one = kafka.tool("replay", dead, "--id=0:1");
        Told several = kafka.tool("replay", dead, "--all");
        assertThat(yes.exit()).as(yes.err()).isZero();
        assertThat(one.exit()).as("one letter, and the topic is there").isZero();
        assertThat(several.exit()).isEqualTo(2);
        assertThat(kafka.values(origin)).containsExactly("value-0", "value-1");
    }

    @Test
    @DisplayName("can be tried, which changes nothing")
    void dryRun() {
        String origin = kafka.topic("charges", 1);
        String dead = kafka.topic("dead", 1);
        kafka.sendLetters(dead, origin, 2);
        kafka.send(new ProducerRecord<>(dead, 0, null, bytes("foreign")));

        Told told = kafka.tool("replay", dead, "--all", "--dry-run");

        assertThat(told.exit()).isEqualTo(1);
        assertThat(told.lines())
                .containsExactly(
                        "0:2 not replayed: its origin is unknown; --to names a topic for it",
                        "0:0 would go to " + origin + "-0",
                        "0:1 would go to " + origin + "-0",
                        "Would replay 2 of 3 dead letters (before: 0, impossible: 1).");
        assertThat(kafka.records(origin)).isEmpty();
        assertThat(kafka.topics()).doesNotContain(dead + ".replayed");
    }

    @Test
    @DisplayName("does not go where headers say that it should but no service reads")
    void hostileOrigins() {
        String origin = kafka.topic("charges", 1);
        String dead = kafka.topic("dead", 1);
        kafka.send(letter(dead, origin, 0, 0));
        assertThat(kafka.tool("replay", dead, "--all", "--yes").exit()).isZero();
        kafka.send(letter(dead, "__transaction_state", 0, 1));
        kafka.send(letter(dead, dead, 0, 2));
        kafka.send(letter(dead, dead + ".replayed", 0, 3));
        kafka.send(letter(dead, "not-there", 0, 4));
        kafka.send(letter(dead, "no topic's\nname", 0, 5));
        kafka.send(letter(dead, origin, 0, 6));

        Told told = kafka.tool("replay", dead, "--all", "--yes");

        assertThat(told.exit()).isEqualTo(1);
        assertThat(told.lines())
                .contains(
                        "0:1 not replayed: topic __transaction_state is Kafka's own",
                        "0:2 not replayed: it would go to " + dead + ", which is no topic of a service",
                        "0:3 not replayed: it would go to " + dead + ".replayed, which is no topic of a service",
                        "0:4 not replayed: there is no topic not-there; --to names another",
                        "0:5 not replayed: there is no topic no topic's name; --to names another");
        assertThat(told.summary()).isEqualTo("Replayed 1 of 7 dead letters (before: 1, impossible: 5).");
        assertThat(kafka.values(origin)).containsExactly("value-0", "value-6");
        assertThat(kafka.topics()).doesNotContain("not-there");
    }

    @Test
    @DisplayName("does not stop at a letter that its topic does not take")
    void refused() {
        String origin = kafka.topic("charges", 1, Map.of("max.message.bytes", "1000"));
        String dead = kafka.topic("dead", 1);
        kafka.send(letter(dead, origin, 0, 0));
        ProducerRecord<byte[], byte[]> large = letter(dead, origin, 0, 1);
        kafka.send(new ProducerRecord<>(dead, 0, large.key(), new byte[5000], large.headers()));
        kafka.send(letter(dead, origin, 0, 2));

        Told told = kafka.tool("replay", dead, "--all", "--yes");

        assertThat(told.exit()).isEqualTo(1);
        assertThat(told.out()).contains("0:1 not replayed: " + origin + "-0 does not take it: ");
        assertThat(told.summary()).isEqualTo("Replayed 2 of 3 dead letters (before: 0, impossible: 1).");
        assertThat(kafka.values(origin)).containsExactly("value-0", "value-2");
        assertThat(kafka.tool("list", dead, "--not-replayed").lines()).hasSize(1);
    }

    @Test
    @DisplayName("does not begin when what it remembers would be deleted")
    void forgetful() {
        String origin = kafka.topic("charges", 1);
        String dead = kafka.topic("dead", 1);
        kafka.sendLetters(dead, origin, 1);
        kafka.create(dead + ".replayed", Map.of("cleanup.policy", "compact,delete"));

        Told told = kafka.tool("replay", dead, "--all", "--yes");

        assertThat(told.exit()).isEqualTo(1);
        assertThat(told.err()).contains(dead + ".replayed", "cleanup.policy is compact,delete", "set it to compact");
        assertThat(kafka.records(origin)).isEmpty();
    }

    @Test
    @DisplayName("says which letter is not there")
    void missing() {
        String origin = kafka.topic("charges", 1);
        String dead = kafka.topic("dead", 1);
        kafka.sendLetters(dead, origin, 1);

        Told told = kafka.tool("replay", dead, "--id=0:0", "--id=0:9", "--yes");

        assertThat(told.exit()).isEqualTo(1);
        assertThat(told.out()).contains("0:9 not replayed: there is no such dead letter");
        assertThat(kafka.values(origin)).containsExactly("value-0");
    }

    @Test
    @DisplayName("with a limit goes on where it was each time")
    void limit() {
        String origin = kafka.topic("charges", 1);
        String dead = kafka.topic("dead", 1);
        kafka.sendLetters(dead, origin, 5);

        for (int run = 0; run < 3; run++) {
            assertThat(kafka.tool("replay", dead, "--all", "--limit=2", "--yes").exit())
                    .isZero();
        }

        assertThat(kafka.values(origin)).containsExactly("value-0", "value-1", "value-2", "value-3", "value-4");
    }

    @Test
    @DisplayName("manages ten thousand letters on several partitions, each once")
    void many() {
        String origin = kafka.topic("charges", 1);
        String dead = kafka.topic("dead", 3);
        List<String> expected = new ArrayList<>();
        for (int partition = 0; partition < 3; partition++) {
            for (int i = partition; i < 10_000; i += 3) {
                expected.add("value-" + i);
            }
        }
        kafka.sendLetters(dead, 3, origin, 10_000);

        Told list = kafka.tool("list", dead);
        Told told = kafka.tool("replay", dead, "--all", "--yes");

        assertThat(list.lines()).hasSize(10_000);
        assertThat(told.exit()).as(told.err()).isZero();
        assertThat(told.lines()).hasSize(10_001);
        assertThat(told.summary()).isEqualTo("Replayed 10,000 of 10,000 dead letters (before: 0, impossible: 0).");
        assertThat(kafka.values(origin)).as("in the order of the dead letters").isEqualTo(expected);
        assertThat(IntStream.range(0, 10_000).mapToObj(i -> "value-" + i)).hasSameElementsAs(expected);
    }
}
