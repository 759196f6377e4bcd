package io.settlestream.examples.payouts.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.examples.payouts.PayoutService.Paid;
import io.settlestream.examples.payouts.PayoutService.Payout;
import io.settlestream.examples.payouts.demo.GroupPosition.Partition;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The demo's verdict")
class ResultTest {

    private static final Groups.Reading PAYOUTS = new Groups("").payouts();

    private static final List<Payout> FOUR =
            List.of(new Payout(1, 100), new Payout(2, 200), new Payout(3, 0), new Payout(4, 400));

    @Test
    @DisplayName("passes when each payout with an amount is confirmed once and all is committed")
    void passes() {
        Result result = result(FOUR, paid(1, 2, 4), committed(0, 4, 4));

        assertThat(result.passed()).isTrue();
        assertThat(result.line())
                .isEqualTo("RESULT payouts=4 valid=3 confirmed=3 lost=0 duplicates=0 dropped=1 retried=7 kills=2"
                        + " rebalances=5 committed=end lag=0 seconds=1.5");
    }

    @Test
    @DisplayName("fails when a payout with an amount has no confirmation")
    void lost() {
        Result result = result(FOUR, paid(1, 4), committed(0, 4, 4));

        assertThat(result.passed()).isFalse();
        assertThat(result.line()).contains("valid=3 confirmed=2 lost=1 duplicates=0 dropped=1");
    }

    @Test
    @DisplayName("counts confirmations beyond the first of a payout, and passes with them")
    void duplicates() {
        Result result = result(FOUR, paid(1, 2, 4, 2, 2, 4), committed(0, 4, 4));

        assertThat(result.passed()).isTrue();
        assertThat(result.line()).contains("confirmed=3 lost=0 duplicates=3 dropped=1");
    }

    @Test
    @DisplayName("fails when a payout with the amount 0 is confirmed")
    void emptyConfirmed() {
        Result result = result(FOUR, paid(1, 2, 3, 4), committed(0, 4, 4));

        assertThat(result.passed()).isFalse();
        assertThat(result.unexpected()).isEqualTo(1);
        assertThat(result.line()).contains("valid=3 confirmed=4 lost=0 duplicates=0 dropped=0");
    }

    @Test
    @DisplayName("fails when something is confirmed that is no payout of this run")
    void strangerConfirmed() {
        Result result = result(FOUR, paid(1, 2, 4, 99), committed(0, 4, 4));

        assertThat(result.passed()).isFalse();
        assertThat(result.unexpected()).isEqualTo(1);
    }

    @Test
    @DisplayName("does not let a confirmation too many make up for one too few")
    void lostAndUnexpected() {
        Result result = result(FOUR, paid(1, 2, 3), committed(0, 4, 4));

        assertThat(result.lost()).isEqualTo(1);
        assertThat(result.unexpected()).isEqualTo(1);
        assertThat(result.passed()).isFalse();
    }

    @Test
    @DisplayName("fails when a partition is not committed up to its end")
    void behind() {
        Result result = result(FOUR, paid(1, 2, 4), committed(0, 3, 4));

        assertThat(result.passed()).isFalse();
        assertThat(result.line()).contains("lost=0").contains("committed=behind lag=1");
    }

    @Test
    @DisplayName("fails when one partition is committed past its end as far as another is behind")
    void pastTheEnd() {
        GroupPosition position =
                new GroupPosition(PAYOUTS, Map.of(0, new Partition(0, 3, 2), 1, new Partition(0, 1, 2)));
        Result result = result(FOUR, paid(1, 2, 4), position);

        assertThat(result.passed()).isFalse();
        assertThat(result.line()).contains("committed=behind");
    }

    @Test
    @DisplayName("fails when any of the groups is behind")
    void anyGroupBehind() {
        GroupPosition statements = new GroupPosition(new Groups("").statements(), Map.of(0, new Partition(0, 0, 2)));
        ReadBack found = new ReadBack(FOUR, paid(1, 2, 4), List.of(committed(0, 4, 4), statements));
        Result result = Result.of(4, found, 0, Told.NOTHING, Duration.ZERO);

        assertThat(result.passed()).isFalse();
        assertThat(result.line()).contains("committed=behind lag=2");
    }

    @Test
    @DisplayName("fails when Kafka has fewer payouts than were asked for, or more")
    void notWhatWasAsked() {
        ReadBack found = new ReadBack(FOUR, paid(1, 2, 4), List.of(committed(0, 4, 4)));

        assertThat(Result.of(5, found, 0, Told.NOTHING, Duration.ZERO).passed()).isFalse();
        assertThat(Result.of(3, found, 0, Told.NOTHING, Duration.ZERO).passed()).isFalse();
    }

    @Test
    @DisplayName("is not reached at the end of topics that older runs wrote to, but at this run's records")
    void olderRecords() {
        GroupPosition position = committed(1_000, 1_004, 1_004);

        assertThat(position.done()).isEqualTo(4);
        assertThat(position.lag()).isZero();
        assertThat(position.atEnd()).isTrue();
    }

    private static Result result(List<Payout> payouts, List<Paid> confirmations, GroupPosition position) {
        ReadBack found = new ReadBack(payouts, confirmations, List.of(position));
        return Result.of(4, found, 2, new Told(7, 0, 5), Duration.ofMillis(1_500));
    }

    private static List<Paid> paid(long... ids) {
        return LongStream.of(ids).mapToObj(Paid::new).toList();
    }

    private static GroupPosition committed(long start, long committed, long end) {
        return new GroupPosition(PAYOUTS, Map.of(0, new Partition(start, committed, end)));
    }
}
