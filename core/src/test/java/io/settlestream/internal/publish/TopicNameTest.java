package io.settlestream.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class TopicNameTest {

    @Test
    @DisplayName("12.2: a hostile topic name cannot break a message")
    void hostileNameIsShownHarmless() {
        assertThat(TopicName.shown("payouts.done_v2-eu")).isEqualTo("payouts.done_v2-eu");
        assertThat(TopicName.shown("a\r\nERROR all is lost")).isEqualTo("a??ERROR?all?is?lost");
        assertThat(TopicName.shown("/".repeat(100_000))).hasSizeLessThan(300);
    }
}
