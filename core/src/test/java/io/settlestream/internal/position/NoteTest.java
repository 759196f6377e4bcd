package io.settlestream.internal.position;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is written next to a committed offset. */
class NoteTest {

    @Test
    @DisplayName("7.4: what is noted is read again, with the offset it was committed with")
    void roundTrip() {
        Note note = new Note(2, new Note.Alone(1200, 3), new TreeMap<>(Map.of(1200L, 2, 1207L, 1)));

        String text = note.text(1200);

        assertThat(text).isEqualTo("settlestream/1 at=1200 run=2 alone=1200:3 failed=0:2,7:1");
        assertThat(Note.read(text, 1200)).isEqualTo(note);
    }

    @Test
    @DisplayName("nothing to say is written as nothing")
    void nothing() {
        assertThat(Note.NONE.text(5)).isEmpty();
        assertThat(new Note(0, null, new TreeMap<>()).text(5)).isEmpty();
        assertThat(Note.read("", 5)).isEqualTo(Note.NONE);
    }

    @Test
    @DisplayName("7.4: it is at most 1 KiB long, and the counts of the highest offsets are left out")
    void truncated() {
        Map<Long, Integer> failed = new TreeMap<>();
        for (long offset = 0; offset < 1000; offset++) {
            failed.put(5_000_000_000L + offset, 3);
        }

        String text = new Note(1, null, failed).text(5_000_000_000L);

        assertThat(text.length()).isBetween(1000, 1024);
        Map<Long, Integer> read = Note.read(text, 5_000_000_000L).failed();
        assertThat(read).hasSizeGreaterThan(100).doesNotContainKey(5_000_000_999L);
        for (long offset = 0; offset < read.size(); offset++) {
            assertThat(read).containsEntry(5_000_000_000L + offset, 3);
        }
    }

    @Test
    @DisplayName("7.4: with another offset than it was written for, as a tool may commit it, it says nothing")
    void anotherOffset() {
        String text = new Note(1, new Note.Alone(7, 1), Map.of(7L, 2)).text(7);
        assertThat(Note.read(text, 8)).isEqualTo(Note.NONE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "settlestream/2 at=7 run=1",
                "settlestream/1",
                "settlestream/1 run=1 at=7",
                "settlestream/1 at=7 failed=x:1",
                "settlestream/1 at=7 failed=1",
                "settlestream/1 at=7 failed=1:99999999999",
                "settlestream/1 at=7 failed=9223372036854775807:1",
                "settlestream/1 at=7 alone=",
                "settlestream/1 at=7 alone=7",
                "settlestream/1 at=7 run=",
                "committed by somebody else",
                " "
            })
    @DisplayName("12.2: what is not of its form says nothing")
    void malformed(String text) {
        assertThat(Note.read(text, 7)).isEqualTo(Note.NONE);
    }

    @Test
    @DisplayName("12.2: a count below 0 counts as none")
    void negativeCount() {
        assertThat(Note.read("settlestream/1 at=7 failed=0:-3", 7).failed()).containsEntry(7L, 0);
    }

    @Test
    @DisplayName("7.4: the attempt at a record that was alone in hand counts if its owner did not come to an end")
    void alone() {
        Note.Alone second = new Note.Alone(9, 2);
        assertThat(new Note(1, second, Map.of(9L, 1)).failedWithTheLast()).isEqualTo(Map.of(9L, 2));
        assertThat(new Note(1, second, Map.of()).failedWithTheLast()).isEqualTo(Map.of(9L, 2));
        assertThat(new Note(1, second, Map.of(9L, 2)).failedWithTheLast())
                .as("after the attempt has failed, and before there was another")
                .isEqualTo(Map.of(9L, 2));
        assertThat(new Note(0, second, Map.of(9L, 1)).failedWithTheLast())
                .as("after a proper end")
                .isEqualTo(Map.of(9L, 1));
        assertThat(new Note(1, null, Map.of(9L, 1)).failedWithTheLast())
                .as("one of several in hand")
                .isEqualTo(Map.of(9L, 1));
    }

    @Test
    @DisplayName("12.2: a count that is too high to be one of ours is taken for the highest that can be")
    void highCount() {
        Note note = Note.read("settlestream/1 at=7 run=2147483647 alone=8:2147483647 failed=0:2147483647", 7);
        assertThat(note.failedWithTheLast().values()).allMatch(count -> count == 1 << 30);
        assertThat(note.lives()).isEqualTo(1 << 30);
    }

    @Test
    @DisplayName("what a later version adds is passed over, and the rest is understood")
    void laterVersion() {
        assertThat(Note.read("settlestream/1 at=7 more=8 run=1 less", 7)).isEqualTo(new Note(1, null, new TreeMap<>()));
    }
}
