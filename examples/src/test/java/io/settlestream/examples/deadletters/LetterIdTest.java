package io.settlestream.examples.deadletters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The id of a dead letter")
class LetterIdTest {

    @Test
    @DisplayName("is its partition and offset, and nothing else")
    void ids() {
        assertThat(LetterId.parse("3:17")).isEqualTo(new LetterId(3, 17)).hasToString("3:17");
        assertThat(new LetterId(0, 9)).isLessThan(new LetterId(0, 10));
        assertThat(new LetterId(1, 0)).isGreaterThan(new LetterId(0, 10));
        for (String wrong : new String[] {"", "17", "0:", ":1", "0:-1", "a:b", "0:1:2", "0:9999999999999999999"}) {
            assertThatThrownBy(() -> LetterId.parse(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("'" + wrong + "'");
        }
    }
}
