package io.settlestream.examples.payouts.demo;

import io.settlestream.examples.payouts.PayoutService.Paid;
import io.settlestream.examples.payouts.PayoutService.Payout;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What the demo found out.
 *
 * @param asked how many payouts there should be in Kafka
 * @param payouts how many there are
 * @param valid those with an amount
 * @param confirmed different payouts that have a confirmation
 * @param lost valid payouts that have none
 * @param duplicates confirmations beyond the first of a payout
 * @param dropped payouts without an amount that have no confirmation
 * @param unexpected payouts that should have no confirmation and have one
 * @param tracked how far the groups with tracked commits have come
 * @param kills how often a process was killed while some, but not all, of the work was committed
 * @param told what the service says about itself
 * @param elapsed from the first payout produced until everything was committed
 */
record Result(
        long asked,
        long payouts,
        long valid,
        long confirmed,
        long lost,
        long duplicates,
        long dropped,
        long unexpected,
        List<GroupPosition> tracked,
        int kills,
        Told told,
        Duration elapsed) {

    static Result of(long asked, ReadBack found, int kills, Told told, Duration elapsed) {
        Map<Long, Long> amounts = new HashMap<>();
        for (Payout payout : found.payouts()) {
            amounts.put(payout.id(), payout.amountCents());
        }
        Map<Long, Integer> confirmations = new HashMap<>();
        for (Paid paid : found.confirmations()) {
            confirmations.merge(paid.payoutId(), 1, Integer::sum);
        }
        long valid = amounts.values().stream().filter(cents -> cents != 0).count();
        long confirmedValid = confirmations.keySet().stream()
                .filter(id -> amounts.getOrDefault(id, 0L) != 0)
                .count();
        long confirmedEmpty = confirmations.keySet().stream()
                .filter(id -> amounts.getOrDefault(id, 1L) == 0)
                .count();
        return new Result(
                asked,
                found.payouts().size(),
                valid,
                confirmations.size(),
                valid - confirmedValid,
                found.confirmations().size() - confirmations.size(),
                amounts.size() - valid - confirmedEmpty,
                confirmations.size() - confirmedValid,
                found.tracked(),
                kills,
                told,
                elapsed);
    }

    boolean atEnd() {
        return tracked.stream().allMatch(GroupPosition::atEnd);
    }

    long lag() {
        return tracked.stream().mapToLong(GroupPosition::lag).sum();
    }

    /** Whether every payout asked for was produced, confirmed if and only if it should be, and all is committed. */
    boolean passed() {
        return payouts == asked && lost == 0 && unexpected == 0 && atEnd();
    }

    /** The line for machines. */
    String line() {
        return String.format(
                Locale.ROOT,
                "RESULT payouts=%d valid=%d confirmed=%d lost=%d duplicates=%d dropped=%d retried=%d kills=%d"
                        + " rebalances=%d committed=%s lag=%d seconds=%.1f",
                payouts,
                valid,
                confirmed,
                lost,
                duplicates,
                dropped,
                told.retried(),
                kills,
                told.rebalances(),
                atEnd() ? "end" : "behind",
                lag(),
                elapsed.toMillis() / 1000.0);
    }
}
