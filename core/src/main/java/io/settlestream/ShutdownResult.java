package io.settlestream;

import io.settlestream.kafka.ClosedKafkaBroker;
import java.util.List;
import java.util.Optional;

/**
 * How a shutdown ended.
 *
 * @param brokers what was left at each broker
 * @param failure the first failure of the service, or of the shutdown itself, if there was one
 * @since 0.1.0
 */
public record ShutdownResult(List<ClosedKafkaBroker> brokers, Optional<Throwable> failure) {

    public ShutdownResult {
        brokers = List.copyOf(brokers);
    }

    /** Whether nothing failed and every published record was accepted or refused in time. */
    public boolean clean() {
        return failure.isEmpty() && brokers.stream().allMatch(broker -> broker.unflushedRecords() == 0);
    }
}
