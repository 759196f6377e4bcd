package io.settlestream.conformance.rules;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Something that services and Kafka do, and what the contract says comes of it.
 *
 * @param name the sentence that it proves
 * @param rules the numbers of the rules that the sentence is about
 * @param protocols the protocols it is played under
 * @param inProcessOnly why it cannot be played on a broker, if it cannot
 * @param trace what it leaves, line by line, wherever it is played
 * @param play what is done
 */
record Scenario(
        String name,
        Set<String> rules,
        List<Protocol> protocols,
        Optional<String> inProcessOnly,
        List<String> trace,
        Play play) {

    /** Does something on a stage, and notes there what it sees. */
    @FunctionalInterface
    interface Play {
        void on(Stage stage) throws Exception;
    }

    /** What a scenario is before it says what is done. Immutable. */
    record Draft(String name, Set<String> rules, List<Protocol> protocols, Optional<String> inProcessOnly) {

        /** Under the eager protocol, too: partitions change hands. */
        Draft withEveryProtocol() {
            return new Draft(name, rules, List.of(Protocol.values()), inProcessOnly);
        }

        Draft inProcessOnly(String reason) {
            return new Draft(name, rules, protocols, Optional.of(reason));
        }

        Scenario play(Play play, String trace) {
            return new Scenario(
                    name, rules, protocols, inProcessOnly, trace.lines().toList(), play);
        }
    }

    /** A scenario that proves a sentence about rules. */
    static Draft of(String name, String... rules) {
        return new Draft(
                name,
                new TreeSet<>(List.of(rules)),
                List.of(Protocol.COOPERATIVE, Protocol.CONSUMER),
                Optional.empty());
    }

    @Override
    public String toString() {
        return String.join(", ", rules) + " " + name;
    }
}
