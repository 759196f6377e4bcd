package io.settlestream.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.testing.Payouts.Bank;
import io.settlestream.testing.Payouts.Paid;
import io.settlestream.testing.Payouts.Payout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

@Timeout(60)
class SettleStreamExtensionTest {

    @RegisterExtension
    static final SettleStreamExtension payouts = SettleStreamExtension.of(Payouts::replying);

    @Test
    @DisplayName("A test is given a started application, its Kafka and its clock, all of one Kafka")
    void injected(TestApp<Bank> app, TestClock clock, TestKafka kafka) {
        app.publish("payouts", new Payout(1, 500));

        app.topic("payouts.done").hasValues(new Paid(1));
        assertThat(app.kafka()).isSameAs(kafka);
        assertThat(app.clock()).isSameAs(clock);
    }

    @Test
    @DisplayName("The next test has another application, on a Kafka where nothing has happened")
    void anew(TestApp<Bank> app) {
        app.topic("payouts").isEmpty();
        app.subscription("payouts").hasCalls(0);
    }

    @Test
    @DisplayName("A test that fails with a seed says which, and how to have it again")
    void failureNamesTheSeed() {
        Throwable failure = failureOf(Seeded.class);

        assertThat(failure).hasMessage("as the test wanted");
        assertThat(failure.getSuppressed())
                .singleElement()
                .satisfies(note -> assertThat(note).hasMessageContaining("-Dsettlestream.seed=4711"));
    }

    @Test
    @DisplayName("A test that fails without a seed is left alone")
    void failureWithoutSeed() {
        assertThat(failureOf(Unseeded.class).getSuppressed()).isEmpty();
    }

    /** Run by the launcher above; its name keeps it from being run as a test itself. */
    static class Seeded {
        @RegisterExtension
        static final SettleStreamExtension payouts =
                SettleStreamExtension.of(Payouts::replying).seeded(4711);

        @Test
        void fails(TestApp<Bank> app) {
            app.publish("payouts", new Payout(1, 500));
            throw new AssertionError("as the test wanted");
        }
    }

    /** Run by the launcher above; its name keeps it from being run as a test itself. */
    static class Unseeded {
        @RegisterExtension
        static final SettleStreamExtension payouts = SettleStreamExtension.ofBuilder(
                () -> TestApp.of(Payouts.replying()).settleLimit(Duration.ofSeconds(5)));

        @Test
        void fails(TestApp<Bank> app) {
            throw new AssertionError("as the test wanted");
        }
    }

    private static Throwable failureOf(Class<?> test) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(test))
                .build();
        List<Throwable> failures = new ArrayList<>();
        LauncherFactory.create().execute(request, new TestExecutionListener() {
            @Override
            public void executionFinished(TestIdentifier identifier, TestExecutionResult result) {
                result.getThrowable().ifPresent(failures::add);
            }
        });
        assertThat(failures).hasSize(1);
        return failures.get(0);
    }
}
