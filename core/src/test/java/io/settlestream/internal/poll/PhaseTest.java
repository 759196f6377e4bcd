package io.settlestream.internal.poll;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The arrows of a subscription's life. */
class PhaseTest {

    private record Arrow(Phase from, Phase to) {}

    private static final Set<Arrow> ARROWS = Set.of(
            new Arrow(Phase.CONNECTING, Phase.RUNNING),
            new Arrow(Phase.CONNECTING, Phase.DRAINING),
            new Arrow(Phase.RUNNING, Phase.DRAINING),
            new Arrow(Phase.DRAINING, Phase.DRAINED),
            new Arrow(Phase.DRAINED, Phase.CLOSED));

    static Stream<Arrow> all() {
        return Stream.of(Phase.values())
                .flatMap(from -> Stream.of(Phase.values()).map(to -> new Arrow(from, to)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("all")
    @DisplayName("10.1, 10.3 a subscription goes along the arrows of its diagram and nowhere else")
    void goesAlongTheArrows(Arrow arrow) {
        if (ARROWS.contains(arrow)) {
            assertThat(arrow.from().to(arrow.to())).isEqualTo(arrow.to());
        } else {
            assertThatThrownBy(() -> arrow.from().to(arrow.to()))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(arrow.from().name())
                    .hasMessageContaining(arrow.to().name());
        }
    }
}
