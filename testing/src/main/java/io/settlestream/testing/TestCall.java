package io.settlestream.testing;

import io.settlestream.HandlerOutcome;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * One call of a handler: with one value, or with a batch of them. As it was when it was asked for.
 *
 * @param elements the values the handler was called with, and what became of each
 * @since 0.1.0
 */
public record TestCall(List<Element> elements) {

    public TestCall {
        elements = List.copyOf(elements);
    }

    /**
     * A value that a handler was called with.
     *
     * @param value the value
     * @param topic the topic its record was read from
     * @param partition its partition
     * @param offset its offset
     * @param attempt 1 for the first delivery, one more for each retry
     * @param outcome what the handler answered; for a reply, ack once Kafka has accepted it. Empty if it has not answered
     *     or has thrown
     * @param thrown what the handler threw, or why Kafka did not accept its reply
     */
    public record Element(
            Object value,
            String topic,
            int partition,
            long offset,
            int attempt,
            Optional<HandlerOutcome> outcome,
            Optional<Throwable> thrown) {

        @Override
        public String toString() {
            return topic + "-" + partition + "@" + offset + " attempt " + attempt + " "
                    + (value instanceof byte[] bytes ? Arrays.toString(bytes) : value) + " -> "
                    + outcome.map(Object::toString)
                            .orElseGet(
                                    () -> thrown.map(cause -> "threw " + cause).orElse("not answered"));
        }
    }

    /** The values, in the order in which the handler saw them. */
    public List<Object> values() {
        return elements.stream().map(Element::value).toList();
    }

    @Override
    public String toString() {
        return elements.size() == 1 ? elements.get(0).toString() : "batch of " + elements.size() + " " + elements;
    }
}
