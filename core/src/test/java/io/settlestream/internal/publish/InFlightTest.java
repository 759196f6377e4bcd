package io.settlestream.internal.publish;

import static io.settlestream.internal.publish.InFlight.Entry.CLOSED;
import static io.settlestream.internal.publish.InFlight.Entry.ENTERED;
import static io.settlestream.internal.publish.InFlight.Entry.FULL;
import static io.settlestream.internal.publish.Publishing.large;
import static io.settlestream.internal.publish.Publishing.small;
import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.internal.publish.InFlight.Entry;
import io.settlestream.internal.publish.Threads.Call;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class InFlightTest {

    private final ManualTime time = new ManualTime();
    private final InFlight inFlight = new InFlight(100, time);

    @Test
    @DisplayName("6.2: records enter while they fit, and room that is given back is used again")
    void entersWhileItFits() throws InterruptedException {
        assertThat(inFlight.enter(60, Duration.ZERO)).isEqualTo(ENTERED);
        assertThat(inFlight.enter(40, Duration.ZERO)).isEqualTo(ENTERED);
        assertThat(inFlight.enter(1, Duration.ZERO)).isEqualTo(FULL);

        leave(40);

        assertThat(inFlight.enter(40, Duration.ZERO)).isEqualTo(ENTERED);
        assertThat(inFlight.records()).isEqualTo(2);
        assertThat(inFlight.bytes()).isEqualTo(100);
    }

    @Test
    @DisplayName("6.2: a record larger than all the room there is goes when it is alone")
    void largerThanTheCapacity() throws InterruptedException {
        inFlight.enter(1, null);
        Call<Entry> large = waiting(1000, null);

        leave(1);

        assertThat(large.join()).isEqualTo(ENTERED);
        assertThat(inFlight.enter(1, Duration.ZERO)).isEqualTo(FULL);
        leave(1000);
        assertThat(inFlight.enter(1, Duration.ZERO)).isEqualTo(ENTERED);
    }

    @Test
    @DisplayName("6.2: a large record is not starved by small ones that came later")
    void largeRecordIsNotStarved() throws InterruptedException {
        inFlight.enter(30, null);
        inFlight.enter(30, null);
        Call<Entry> large = waiting(90, null);
        Call<Entry> small = waiting(10, null);

        assertThat(inFlight.enter(10, Duration.ZERO))
                .as("fits, but others wait")
                .isEqualTo(FULL);
        leave(30);
        assertThat(inFlight.waiters())
                .as("90 does not fit yet, and 10 is behind it")
                .isEqualTo(2);
        leave(30);

        assertThat(large.join()).isEqualTo(ENTERED);
        assertThat(small.join()).isEqualTo(ENTERED);
        assertThat(inFlight.bytes()).isEqualTo(100);
    }

    @Test
    @DisplayName("6.2: the bound ends the wait, and not before; whoever waited behind goes on")
    void boundEndsTheWait() throws InterruptedException {
        inFlight.enter(50, null);
        Call<Entry> bounded = waiting(60, Duration.ofSeconds(5));
        Call<Entry> behind = waiting(50, null);
        Threads.until("the wait is scheduled", () -> time.timers() == 1);

        time.advance(Duration.ofSeconds(5).minusNanos(1));
        assertThat(inFlight.waiters()).isEqualTo(2);
        time.advance(Duration.ofNanos(1));

        assertThat(bounded.join()).isEqualTo(FULL);
        assertThat(behind.join()).as("fits as soon as the large one is gone").isEqualTo(ENTERED);
        assertThat(time.timers()).isZero();
    }

    @Test
    @DisplayName("6.2: without a bound a wait ends by close")
    void closeEndsTheWait() throws InterruptedException {
        inFlight.enter(100, null);
        Call<Entry> first = waiting(1, null);
        Call<Entry> second = waiting(1, Duration.ofDays(1));

        inFlight.close();

        assertThat(first.join()).isEqualTo(CLOSED);
        assertThat(second.join()).isEqualTo(CLOSED);
        assertThat(inFlight.enter(1, null)).isEqualTo(CLOSED);
        assertThat(inFlight.records()).isEqualTo(1);
        assertThat(time.timers()).isZero();
    }

    @Test
    @DisplayName("6.2: without a bound a wait ends by an interrupt, and takes nothing")
    void interruptEndsTheWait() throws InterruptedException {
        inFlight.enter(50, null);
        Call<Entry> interrupted = waiting(60, null);
        Call<Entry> behind = waiting(50, null);

        interrupted.thread().interrupt();

        assertThat(interrupted.failure()).isInstanceOf(InterruptedException.class);
        assertThat(behind.join()).isEqualTo(ENTERED);
        assertThat(inFlight.bytes()).isEqualTo(100);
        assertThat(inFlight.waiters()).isZero();
    }

    @Test
    @DisplayName("6.2: an interrupt that is set before does not matter while there is room")
    void interruptedWithRoom() throws InterruptedException {
        Thread.currentThread().interrupt();

        assertThat(inFlight.enter(1, null)).isEqualTo(ENTERED);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    @DisplayName("6.5: nothing is in flight when the last record is reported")
    void noneAfterTheLastReport() throws InterruptedException {
        inFlight.enter(1, null);
        inFlight.enter(1, null);
        inFlight.close();
        CompletableFuture<Boolean> none = inFlight.none();

        leave(1);
        assertThat(none).isNotDone();
        leave(1);

        assertThat(none).isCompletedWithValue(true);
    }

    private void leave(int size) {
        inFlight.freeRoom(size);
        inFlight.reported();
    }

    private Call<Entry> waiting(int size, Duration bound) {
        int before = inFlight.waiters();
        Call<Entry> call = Threads.call(() -> inFlight.enter(size, bound));
        Threads.until("a thread waits for room", () -> inFlight.waiters() == before + 1);
        return call;
    }
}
