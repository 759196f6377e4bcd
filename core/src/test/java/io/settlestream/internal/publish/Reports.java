package io.settlestream.internal.publish;

import io.settlestream.PublishException;
import io.settlestream.PublishedRecord;
import java.util.concurrent.atomic.AtomicInteger;

/** A listener that remembers what it was told and how often. */
final class Reports implements ReportListener {

    final AtomicInteger calls = new AtomicInteger();
    volatile PublishedRecord accepted;
    volatile PublishException failure;

    @Override
    public void accepted(PublishedRecord record) {
        accepted = record;
        calls.incrementAndGet();
    }

    @Override
    public void failed(PublishException publishException) {
        failure = publishException;
        calls.incrementAndGet();
    }
}
