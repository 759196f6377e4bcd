package io.settlestream.testing.internal.kafka;

import java.time.Duration;
import org.apache.kafka.common.errors.ApiException;

/** What goes wrong with a request. */
public sealed interface Fault {

    /** The broker refuses the request with this error and does nothing. */
    record Fail(ApiException error) implements Fault {}

    /** The broker does what it was asked, and its answer arrives so much later. */
    record Delay(Duration by) implements Fault {}

    /**
     * The broker does what it was asked, and the connection breaks before the answer arrives: the client cannot know
     * whether it was done, and asks again if its configuration lets it.
     */
    record LoseAnswer() implements Fault {}
}
