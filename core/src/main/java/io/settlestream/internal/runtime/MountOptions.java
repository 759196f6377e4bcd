package io.settlestream.internal.runtime;

import io.settlestream.DecodePolicy;
import io.settlestream.ExceptionPolicy;
import io.settlestream.LaneKey;
import io.settlestream.internal.settle.Backoff;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What a mount site has said; null where that is told apart from a default. */
public record MountOptions(
        @Nullable Integer workers,
        @Nullable Integer workersByKey,
        LaneKey laneKey,
        @Nullable Integer dedicatedThreads,
        @Nullable ExceptionPolicy saidOnException,
        @Nullable DecodePolicy saidOnDecodeFailure,
        @Nullable Integer maxAttempts,
        @Nullable String deadLetter,
        @Nullable String retryTopic,
        Duration drainTimeout,
        Backoff backoff,
        @Nullable Integer inFlightRecords,
        long inFlightBytes,
        @Nullable String name) {

    private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(10);
    private static final long IN_FLIGHT_BYTES = 64L << 20;

    /** How many handlers run at a time. */
    int concurrency() {
        if (workers != null) {
            return workers;
        }
        if (workersByKey != null) {
            return workersByKey;
        }
        return dedicatedThreads == null ? 1 : dedicatedThreads;
    }

    /** What settles a delivery whose handler threw: without another word it comes back where there is a cap, else all stops. */
    ExceptionPolicy onException() {
        if (saidOnException != null) {
            return saidOnException;
        }
        return maxAttempts == null ? ExceptionPolicy.FAIL_FAST : ExceptionPolicy.RETRY;
    }

    /** What settles a record that cannot be decoded: without another word it goes to the dead letters where there are any. */
    DecodePolicy onDecodeFailure() {
        if (saidOnDecodeFailure != null) {
            return saidOnDecodeFailure;
        }
        return deadLetter == null ? DecodePolicy.DROP : DecodePolicy.DEAD_LETTER;
    }

    /** What a mount site has said so far. Filled by one thread while the application is put together. */
    public static final class Draft {

        private final String topic;
        /** Seen by all threads, so that none of them changes an option in vain without hearing of it. */
        private volatile boolean done;

        private @Nullable Integer workers;
        private @Nullable Integer workersByKey;
        private LaneKey laneKey = LaneKey.PARTITION;
        private @Nullable Integer dedicatedThreads;
        private @Nullable ExceptionPolicy onException;
        private @Nullable DecodePolicy onDecodeFailure;
        private @Nullable Integer maxAttempts;
        private @Nullable String deadLetter;
        private @Nullable String retryTopic;
        private Duration drainTimeout = DRAIN_TIMEOUT;
        private Backoff backoff = Backoff.DEFAULT;
        private @Nullable Integer inFlightRecords;
        private long inFlightBytes = IN_FLIGHT_BYTES;
        private @Nullable String name;

        public Draft(String topic) {
            this.topic = topic;
        }

        public void workers(int n) {
            open("workers");
            workers = n;
        }

        public void workersByKey(int n, LaneKey key) {
            open("workersByKey");
            workersByKey = n;
            laneKey = key;
        }

        public void dedicatedThreads(int n) {
            open("dedicatedThreads");
            dedicatedThreads = n;
        }

        public void onException(ExceptionPolicy policy) {
            open("onException");
            onException = policy;
        }

        public void onDecodeFailure(DecodePolicy policy) {
            open("onDecodeFailure");
            onDecodeFailure = policy;
        }

        public void maxAttempts(int n) {
            open("maxAttempts");
            maxAttempts = n;
        }

        public void deadLetter(String wanted) {
            open("deadLetter");
            deadLetter = wanted;
        }

        public void retryTopic(String wanted) {
            open("retryTopic");
            retryTopic = wanted;
        }

        public void drainTimeout(Duration timeout) {
            open("drainTimeout");
            drainTimeout = timeout;
        }

        public void retryBackoff(Duration first, Duration max) {
            open("retryBackoff");
            backoff = new Backoff(first, max);
        }

        public void inFlightLimit(int records, long bytes) {
            open("inFlightLimit");
            inFlightRecords = records;
            inFlightBytes = bytes;
        }

        public void name(String wanted) {
            open("name");
            name = wanted;
        }

        /** Ends the draft. */
        public MountOptions done() {
            done = true;
            return new MountOptions(
                    workers,
                    workersByKey,
                    laneKey,
                    dedicatedThreads,
                    onException,
                    onDecodeFailure,
                    maxAttempts,
                    deadLetter,
                    retryTopic,
                    drainTimeout,
                    backoff,
                    inFlightRecords,
                    inFlightBytes,
                    name);
        }

        private void open(String option) {
            if (done) {
                throw new IllegalStateException("subscription of " + topic + ": " + option
                        + " cannot be set once withBroker has returned, since an application does not change."
                        + " Set it where scope.include(...) is called");
            }
        }
    }
}
