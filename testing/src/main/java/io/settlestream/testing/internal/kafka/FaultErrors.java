package io.settlestream.testing.internal.kafka;

import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.TimeoutException;

/** Errors that the client makes up itself when an answer does not come, or in words of the broker. */
final class FaultErrors {

    private FaultErrors() {}

    static ApiException disconnected() {
        return new NetworkException("Disconnected from node 1");
    }

    static ApiException timedOut() {
        return new TimeoutException("Disconnected from node 1 due to timeout");
    }

    /** The same kind of error as the batch's, about one record of it. */
    static RuntimeException saying(ApiException error, String why) {
        return error instanceof InvalidTimestampException
                ? new InvalidTimestampException(why)
                : new InvalidRecordException(why);
    }
}
