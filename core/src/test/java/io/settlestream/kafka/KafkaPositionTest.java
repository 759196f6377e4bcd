package io.settlestream.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Instant;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class KafkaPositionTest {

    @Test
    @DisplayName("9.4: a negative offset is refused, with what may have been meant")
    void negativeOffset() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> KafkaPosition.offset(-1))
                .withMessageContaining("-1")
                .withMessageContaining("earliest()")
                .withMessageContaining("latest()");
    }

    @Test
    @DisplayName("A position says what it is")
    void shown() {
        assertThat(KafkaPosition.offset(7)).hasToString("Offset[offset=7]").isEqualTo(KafkaPosition.offset(7));
        assertThat(KafkaPosition.timestamp(Instant.EPOCH)).hasToString("Timestamp[time=1970-01-01T00:00:00Z]");
        assertThat(KafkaPosition.earliest()).isEqualTo(KafkaPosition.earliest()).isNotEqualTo(KafkaPosition.latest());
    }
}
