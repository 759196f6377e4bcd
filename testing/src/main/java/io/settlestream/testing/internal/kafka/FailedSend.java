package io.settlestream.testing.internal.kafka;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.RecordMetadata;

/** The future of a record that the producer did not take. */
record FailedSend(Exception why) implements Future<RecordMetadata> {

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return false;
    }

    @Override
    public boolean isCancelled() {
        return false;
    }

    @Override
    public boolean isDone() {
        return true;
    }

    @Override
    public RecordMetadata get() throws ExecutionException {
        throw new ExecutionException(why);
    }

    @Override
    public RecordMetadata get(long timeout, TimeUnit unit) throws ExecutionException {
        throw new ExecutionException(why);
    }
}
