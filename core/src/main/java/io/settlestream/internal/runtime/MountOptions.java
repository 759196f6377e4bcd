package io.settlestream.internal.runtime;

import io.settlestream.DecodePolicy;
import io.settlestream.ExceptionPolicy;
import io.settlestream.LaneKey;
import io.settlestream.internal.settle.Backoff;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What a mount site has said so far. Filled by one thread while the application is put together. */
public final class MountOptions {

    private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(10);
    private static final long IN_FLIGHT_BYTES = 64L << 20;

    private @Nullable Integer workers;
    private @Nullable Integer workersByKey;
    private LaneKey laneKey = LaneKey.PARTITION;
    private @Nullable Integer dedicatedThreads;
    private ExceptionPolicy onException = ExceptionPolicy.FAIL_FAST;
    private DecodePolicy onDecodeFailure = DecodePolicy.DROP;
    private Duration drainTimeout = DRAIN_TIMEOUT;
    private Backoff backoff = Backoff.DEFAULT;
    private @Nullable Integer inFlightRecords;
    private long inFlightBytes = IN_FLIGHT_BYTES;
    private @Nullable String name;

    public void workers(int n) {
        workers = n;
    }

    public void workersByKey(int n, LaneKey key) {
        workersByKey = n;
        laneKey = key;
    }

    public void dedicatedThreads(int n) {
        dedicatedThreads = n;
    }

    public void onException(ExceptionPolicy policy) {
        onException = policy;
    }

    public void onDecodeFailure(DecodePolicy policy) {
        onDecodeFailure = policy;
    }

    public void drainTimeout(Duration timeout) {
        drainTimeout = timeout;
    }

    public void retryBackoff(Duration first, Duration max) {
        backoff = new Backoff(first, max);
    }

    public void inFlightLimit(int records, long bytes) {
        inFlightRecords = records;
        inFlightBytes = bytes;
    }

    public void name(String wanted) {
        name = wanted;
    }

    @Nullable
    Integer workers() {
        return workers;
    }

    @Nullable
    Integer workersByKey() {
        return workersByKey;
    }

    LaneKey laneKey() {
        return laneKey;
    }

    @Nullable
    Integer dedicatedThreads() {
        return dedicatedThreads;
    }

    ExceptionPolicy onException() {
        return onException;
    }

    DecodePolicy onDecodeFailure() {
        return onDecodeFailure;
    }

    Duration drainTimeout() {
        return drainTimeout;
    }

    Backoff backoff() {
        return backoff;
    }

    @Nullable
    public Integer inFlightRecords() {
        return inFlightRecords;
    }

    public long inFlightBytes() {
        return inFlightBytes;
    }

    @Nullable
    String name() {
        return name;
    }

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
}
