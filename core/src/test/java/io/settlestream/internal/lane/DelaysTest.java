package io.settlestream.internal.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Slots;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.testing.Records;
import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The one timer for all delays. */
class DelaysTest {

    private final ArrayDeque<Runnable> timers = new ArrayDeque<>();
    private long now;

    /** Timers fire when the test says so, which may be early. */
    private final TimeSource time = new TimeSource() {
        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public Instant now() {
            return Instant.EPOCH.plusNanos(now);
        }

        @Override
        public Timer schedule(Duration delay, Runnable task) {
            timers.add(task);
            return () -> timers.remove(task);
        }
    };

    @Test
    @DisplayName("3.5: a timer that fires early loses no delay: another is set for what is left of it")
    void firesEarly() {
        Delays delays = new Delays(time, () -> {});
        OwnedPartition partition =
                new OwnedPartition(new TopicPartition("orders", 0), Slots.State.SETTLED, settled -> {});
        Delivery delivery =
                new Delivery(null, partition.register(Records.row(partition.topicPartition(), 0, 1), 1, 0, 0), 0);
        delays.add(delivery, 100);
        timers.remove().run();
        now = 99;

        assertThat(delays.takeDue()).isEmpty();
        assertThat(timers).hasSize(1);
        now = 100;
        timers.remove().run();
        assertThat(delays.takeDue()).containsExactly(delivery);
        assertThat(timers).isEmpty();
        assertThat(partition.delayedRecords()).isZero();
    }
}
