package io.settlestream.examples.payouts;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The simulated bank and store")
class SimulationTest {

    @Test
    @DisplayName("The bank refuses the chosen part of the payouts, each of them once")
    void refusesOnce() throws InterruptedException {
        Bank bank = Simulation.bank(0.1, Duration.ZERO, 42);

        assertThat(refused(bank)).isBetween(800L, 1_200L);
        assertThat(refused(bank)).isZero();
    }

    @Test
    @DisplayName("The same seed refuses the same payouts")
    void sameSeed() throws InterruptedException {
        Bank one = Simulation.bank(0.5, Duration.ZERO, 42);
        Bank other = Simulation.bank(0.5, Duration.ZERO, 42);

        for (long id = 1; id <= 100; id++) {
            assertThat(one.pay(id, 1)).isEqualTo(other.pay(id, 1));
        }
    }

    @Test
    @DisplayName("Rates of 0 and 1 are never and always")
    void extremes() {
        AnalyticsStore never = Simulation.analytics(0, 42);
        AnalyticsStore always = Simulation.analytics(1, 42);

        assertThat(LongStream.range(0, 1_000)).allMatch(n -> never.add("/") && !always.add("/"));
    }

    private static long refused(Bank bank) throws InterruptedException {
        long refused = 0;
        for (long id = 1; id <= 10_000; id++) {
            refused += bank.pay(id, 1) ? 0 : 1;
        }
        return refused;
    }
}
