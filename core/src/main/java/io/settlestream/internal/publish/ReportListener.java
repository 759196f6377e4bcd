package io.settlestream.internal.publish;

import io.settlestream.PublishException;
import io.settlestream.PublishedRecord;

/**
 * Hears what became of one record. Called once, on whatever thread has the report, which is the producer's own thread as
 * a rule: it must hand over and return, never block and never throw.
 */
public interface ReportListener {

    /** Kafka has the record. */
    void accepted(PublishedRecord record);

    /** Kafka did not accept the record, or it is not known whether it did. */
    void failed(PublishException failure);
}
