package io.settlestream.conformance.simulation;

import io.settlestream.Context;
import io.settlestream.kafka.RecordCopy;
import io.settlestream.testing.TestRecord;

/** A record of the input, whether it is met itself or as a copy of it. */
record Original(String topic, int partition, long offset) {

    static Original of(Context<?> context) {
        return context.origin()
                .map(Original::of)
                .orElseGet(() -> new Original(context.topic(), context.partition(), context.offset()));
    }

    static Original of(RecordCopy copy) {
        return new Original(copy.topic(), copy.partition(), copy.offset());
    }

    static Original of(TestRecord record) {
        return new Original(record.topic(), record.partition(), record.offset());
    }

    @Override
    public String toString() {
        return topic + "-" + partition + "@" + offset;
    }
}
