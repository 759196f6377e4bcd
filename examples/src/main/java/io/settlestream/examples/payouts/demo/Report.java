package io.settlestream.examples.payouts.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The result in words. */
@SuppressWarnings("AnnotateFormatMethod") // would take a library for one annotation
final class Report {

    private Report() {}

    static List<String> lines(Result result, Workload workload) {
        List<String> lines = new ArrayList<>();
        lines.add("");
        lines.add("Read back from Kafka");
        lines.add(line("payouts", "%,d in the topic, %,d of them with an amount", result.payouts(), result.valid()));
        if (result.payouts() != result.asked()) {
            lines.add(line("", "WRONG: there should be %,d; does somebody else write there?", result.asked()));
        }
        lines.add(line("confirmations", "%,d payouts confirmed, %,d lost", result.confirmed(), result.lost()));
        lines.add(line("repeated", "%,d confirmations beyond the first of a payout", result.duplicates()));
        lines.add(line("amount 0", "%,d dropped without a confirmation", result.dropped()));
        if (result.unexpected() > 0) {
            lines.add(line("", "WRONG: %,d confirmations that should not be", result.unexpected()));
        }
        for (GroupPosition position : result.tracked()) {
            lines.add(line(
                    "committed",
                    "group %s: %s of topic %s, lag %,d",
                    position.reading().group(),
                    position.atEnd() ? "up to the end" : "NOT up to the end",
                    position.reading().topic(),
                    position.lag()));
        }
        lines.add("Told by the service");
        lines.add(line(
                "retries",
                "%,d payouts were refused by the bank and came back",
                result.told().retried()));
        lines.add(line(
                "page views",
                "%,d of %,d did not reach the store and did not come back (they are read with automatic commits)",
                result.told().lostViews(),
                workload.pageViews()));
        lines.add(line(
                "rebalances",
                "%,d, counted by each subscription that saw one",
                result.told().rebalances()));
        lines.add("");
        return lines;
    }

    private static String line(String what, String text, Object... numbers) {
        return String.format(Locale.ROOT, "  %-14s", what) + String.format(Locale.ROOT, text, numbers);
    }
}
