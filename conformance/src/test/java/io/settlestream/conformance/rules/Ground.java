package io.settlestream.conformance.rules;

import java.util.ArrayList;
import java.util.List;

/**
 * What a scenario is played on.
 *
 * @param where which Kafka
 * @param protocol how members of groups agree
 */
record Ground(Where where, Protocol protocol) {

    enum Where {
        IN_PROCESS,
        BROKER
    }

    Kafka open() {
        return switch (where) {
            case IN_PROCESS -> new InProcessKafka();
            case BROKER -> new BrokerKafka();
        };
    }

    /** Where a scenario is to be played. */
    static List<Ground> of(Scenario scenario) {
        List<Ground> grounds = new ArrayList<>();
        for (Where where : Where.values()) {
            if (where == Where.IN_PROCESS || scenario.inProcessOnly().isEmpty()) {
                scenario.protocols().forEach(protocol -> grounds.add(new Ground(where, protocol)));
            }
        }
        return grounds;
    }

    @Override
    public String toString() {
        return (where == Where.IN_PROCESS ? "in process, " : "on a broker, ")
                + protocol.name().toLowerCase(java.util.Locale.ROOT);
    }
}
