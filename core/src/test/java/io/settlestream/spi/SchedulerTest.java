package io.settlestream.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class SchedulerTest {

    private final Scheduler scheduler = AppEnvironment.system().scheduler();

    @Test
    @DisplayName(
            "A platform thread keeps the JVM alive, whoever starts it: also the stop that a failure in a lane asks for")
    void platform() throws Exception {
        CompletableFuture<Boolean> daemon = new CompletableFuture<>();
        Thread.ofVirtual()
                .start(() -> scheduler.start(
                        Scheduler.Kind.PLATFORM,
                        "stop",
                        () -> daemon.complete(Thread.currentThread().isDaemon())));

        assertThat(daemon.get()).isFalse();
    }
}
