package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** An application as a program. */
class MainIT {

    private static final int KILLED_BY_SIGTERM = 128 + 15;

    private final LiveKafka kafka = LiveKafka.shared();
    private final String group = LiveKafka.unique("group");

    @Test
    @DisplayName(
            "10.2 SIGTERM while a handler runs: it finishes, its reply is flushed, its offset committed, the group left")
    void terminated() throws Exception {
        String in = kafka.topic("in", 1);
        String out = kafka.topic("out", 1);
        kafka.produce(in, 0, "slow", "never");
        try (SignalledService service = new SignalledService(kafka.bootstrap(), in, out, group)) {
            service.awaitLine("started");
            service.awaitLine("handling slow");

            service.terminate();

            assertThat(service.exitCode()).isEqualTo(KILLED_BY_SIGTERM);
            assertThat(service.lines()).contains("stopping", "closed").doesNotContain("handling never");
        }
        assertThat(kafka.readValues(out, 1)).containsExactly("handled slow");
        assertThat(kafka.committed(group, in)).isEqualTo(Map.of(0, 1L));
        assertThat(kafka.members(group)).isZero();
    }

    @Test
    @DisplayName("7.5 a program that fails exits with 1")
    void failed() throws Exception {
        String in = kafka.topic("in", 1);
        String out = kafka.topic("out", 1);
        kafka.produce(in, 0, "good", "bad");
        try (SignalledService service = new SignalledService(kafka.bootstrap(), in, out, group)) {
            assertThat(service.exitCode()).isEqualTo(1);
            assertThat(service.lines()).containsSubsequence("handling bad", "stopping", "closed");
        }
        assertThat(kafka.readValues(out, 1)).containsExactly("handled good");
        assertThat(kafka.committed(group, in)).isEqualTo(Map.of(0, 1L));
    }

    @Test
    @DisplayName("10.2 SIGTERM while the application starts: what was opened is closed, and it ends")
    void terminatedWhileStarting() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
                SignalledService service =
                        new SignalledService("127.0.0.1:" + silent.getLocalPort(), "in", "out", group)) {
            // It has got this far once it connects; nobody will answer it.
            silent.setSoTimeout((int) LiveKafka.PATIENCE.toMillis());
            try (Socket taken = silent.accept()) {
                assertThat(taken.getInputStream().read()).isNotNegative();

                service.terminate();

                assertThat(service.exitCode()).isEqualTo(KILLED_BY_SIGTERM);
                assertThat(service.lines()).contains("closed").doesNotContain("started", "stopping");
            }
        }
    }
}
