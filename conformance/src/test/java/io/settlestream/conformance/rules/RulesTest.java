package io.settlestream.conformance.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Plays every scenario wherever it can be played. Each play must leave the trace that the contract asks for, letter by
 * letter; so the traces of the in-process Kafka and of a broker are the same, under every protocol.
 *
 * <p>{@code -Dscenario=words} plays only scenarios whose names have these words, {@code -Dground=words} only on such grounds.
 */
class RulesTest {

    /** Longer than anything that a scenario waits for. */
    private static final Duration LIMIT = Duration.ofSeconds(90);

    /** The rules of sections 1 to 6 and 9 that a service can rely on. */
    private static final List<String> BUILT = List.of(
            "1.1", "1.2", "1.3", "1.4", "1.5", "2.1", "2.2", "2.3", "3.1", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7",
            "3.8", "3.9", "3.10", "4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "5.1", "5.2", "5.3", "6.1", "6.2", "6.3",
            "6.4", "6.5", "6.6", "7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "9.1", "9.2", "9.3", "9.4", "9.5");

    private static List<Scenario> all() {
        return Stream.of(
                        SettlementRules.scenarios(),
                        PolicyRules.scenarios(),
                        AutoRules.scenarios(),
                        TrackedRules.scenarios(),
                        RetryRules.scenarios(),
                        RetryTopicRules.scenarios(),
                        RetryCopyRules.scenarios(),
                        CapRules.scenarios(),
                        AttemptRules.scenarios(),
                        DeadLetterRules.scenarios(),
                        FailingCopyRules.scenarios(),
                        DelayRules.scenarios(),
                        RebalanceRules.scenarios(),
                        AccidentRules.scenarios(),
                        BatchRules.scenarios(),
                        LaneRules.scenarios(),
                        PublishingRules.scenarios(),
                        ReplyRules.scenarios(),
                        SourceRules.scenarios(),
                        SourceSetRules.scenarios(),
                        StartRules.scenarios(),
                        SeekRules.scenarios(),
                        PauseRules.scenarios())
                .flatMap(List::stream)
                .toList();
    }

    @TestFactory
    @Execution(ExecutionMode.CONCURRENT)
    Stream<DynamicNode> rules() {
        String wanted = System.getProperty("scenario", "");
        return all().stream()
                .filter(scenario -> scenario.toString().contains(wanted))
                .map(scenario -> dynamicContainer(
                        scenario.toString(),
                        Ground.of(scenario).stream()
                                .filter(ground -> ground.toString().contains(System.getProperty("ground", "")))
                                .map(ground -> dynamicTest(ground.toString(), () -> play(scenario, ground)))));
    }

    private static void play(Scenario scenario, Ground ground) {
        Assertions.assertTimeoutPreemptively(LIMIT, () -> {
            List<String> trace = new ArrayList<>();
            try (Stage stage = new Stage(ground)) {
                scenario.play().on(stage);
                trace.addAll(stage.trace());
            }
            assertThat(trace).as("the trace " + ground).isEqualTo(scenario.trace());
        });
    }

    @Test
    @DisplayName("Every rule that a service can rely on has a scenario")
    void everyRuleHasAScenario() {
        Set<String> missing = new TreeSet<>(BUILT);
        all().forEach(scenario -> missing.removeAll(scenario.rules()));
        assertThat(missing).isEmpty();
    }
}
