package io.settlestream.conformance.rules;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

import io.settlestream.testing.TestApp;
import io.settlestream.testing.TestCall;
import io.settlestream.testing.TestRecord;
import io.settlestream.testing.TestSubscription;
import java.util.ArrayList;
import java.util.List;

/** How a trace writes down what handlers were called with: {@code b#2 ack} for the second attempt at b, which was acked. */
final class Seen {

    private Seen() {}

    /** All calls, in their order. */
    static String calls(TestApp<?> app) {
        return calls(app.subscription("in"));
    }

    static String calls(TestSubscription subscription) {
        return subscription.calls().stream().map(Seen::call).collect(joining(", "));
    }

    /** All elements of all calls of all these applications, in no order. */
    static String sorted(TestApp<?>... apps) {
        List<String> all = new ArrayList<>();
        for (TestApp<?> app : apps) {
            app.subscription("in")
                    .calls()
                    .forEach(call -> call.elements().forEach(element -> all.add(element(element))));
        }
        return all.stream().sorted().collect(joining(", "));
    }

    private static String call(TestCall call) {
        return call.elements().size() == 1
                ? element(call.elements().get(0))
                : call.elements().stream().map(Seen::element).collect(joining(", ", "[", "]"));
    }

    private static String element(TestCall.Element element) {
        return element.value() + "#" + element.attempt() + " "
                + element.outcome()
                        .map(Object::toString)
                        .orElseGet(() -> element.thrown()
                                .map(thrown -> "threw " + thrown.getClass().getSimpleName())
                                .orElse("..."));
    }

    /** A record as it lies in a topic, without its offset. */
    static String record(TestRecord record) {
        return record.partition() + " key "
                + record.keyText().orElse("none")
                + record.headers().stream()
                        .map(header -> " " + header.key() + "="
                                + (header.value() == null ? "null" : new String(header.value(), UTF_8)))
                        .collect(joining())
                + " " + new String(record.value(), UTF_8);
    }
}
