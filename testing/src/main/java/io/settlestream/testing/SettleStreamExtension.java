package io.settlestream.testing;

import io.settlestream.App;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives each test of a JUnit class an application of its own, started, and closes it afterwards.
 *
 * <pre>{@code
 * class PayoutServiceTest {
 *     @RegisterExtension
 *     static final SettleStreamExtension payouts = SettleStreamExtension.of(PayoutService::app);
 *
 *     @Test
 *     void paysOut(TestApp<Clients> app, TestClock clock) {
 *         app.publish("payouts", new Payout(1, 500));
 *         app.topic("payouts.done").hasValues(new Paid(1));
 *     }
 * }
 * }</pre>
 *
 * <p>A test method may have parameters of the types {@link TestApp}, {@link TestKafka} and {@link TestClock}, in whatever
 * order. All are of one Kafka; the application is started when a test asks for it, so that one that asks for the Kafka alone
 * can prepare it first and start the application itself. With a {@linkplain #seeded seed}, a test that fails says which.
 *
 * @since 0.1.0
 */
public final class SettleStreamExtension implements ParameterResolver, AfterEachCallback {

    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(SettleStreamExtension.class);

    private final @Nullable Supplier<? extends TestApp.Builder<?>> builder;
    private final @Nullable Supplier<Long> seed;

    private SettleStreamExtension(
            @Nullable Supplier<? extends TestApp.Builder<?>> builder, @Nullable Supplier<Long> seed) {
        this.builder = builder;
        this.seed = seed;
    }

    /** For tests that start applications themselves; injects a {@link TestKafka} and its {@link TestClock}. */
    public static SettleStreamExtension kafkaOnly() {
        return new SettleStreamExtension(null, null);
    }

    /** For tests of an application, which is made anew for each. */
    public static SettleStreamExtension of(Supplier<? extends App<?>> app) {
        return new SettleStreamExtension(() -> TestApp.of(app.get()), null);
    }

    /** For tests of an application of which more is to be said than its name, such as a state that fails. */
    public static SettleStreamExtension ofBuilder(Supplier<? extends TestApp.Builder<?>> app) {
        return new SettleStreamExtension(app, null);
    }

    /** With a seed for each test, drawn anew; see {@link TestKafka#seeded}. A test that fails says which it was. */
    public SettleStreamExtension seeded() {
        return new SettleStreamExtension(builder, () -> new java.util.SplittableRandom().nextLong(1L << 31));
    }

    /** With this seed for each test. */
    public SettleStreamExtension seeded(long fixed) {
        return new SettleStreamExtension(builder, () -> fixed);
    }

    /** What one test has been given. */
    private static final class Given implements AutoCloseable {
        final TestKafka kafka;

        @Nullable
        TestApp<?> app;

        Given(TestKafka kafka) {
            this.kafka = kafka;
        }

        TestApp<?> app(TestApp.Builder<?> builder) {
            TestApp<?> started = app;
            if (started == null) {
                started = builder.on(kafka).start();
                app = started;
            }
            return started;
        }

        @Override
        public void close() {
            try {
                TestApp<?> started = app;
                if (started != null) {
                    started.close();
                }
            } finally {
                kafka.close();
            }
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return (type == TestApp.class && builder != null) || type == TestKafka.class || type == TestClock.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Given given = context.getStore(NAMESPACE).computeIfAbsent(this, key -> new Given(kafka()), Given.class);
        Class<?> type = parameter.getParameter().getType();
        if (type == TestKafka.class) {
            return given.kafka;
        }
        return type == TestClock.class
                ? given.kafka.clock()
                : given.app(Objects.requireNonNull(builder, "supported with a builder only")
                        .get());
    }

    private TestKafka kafka() {
        // A seed in the system property is there to have one run again, so it counts more.
        return seed == null || Long.getLong(TestKafka.SEED_PROPERTY) != null
                ? TestKafka.create()
                : TestKafka.seeded(seed.get());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        Given given = context.getStore(NAMESPACE).remove(this, Given.class);
        if (given == null) {
            return;
        }
        if (context.getExecutionException().isPresent() && given.kafka.seed().isPresent()) {
            long used = given.kafka.seed().getAsLong();
            context.publishReportEntry(TestKafka.SEED_PROPERTY, Long.toString(used));
            context.getExecutionException()
                    .get()
                    .addSuppressed(new SeedNote("This run had the seed " + used + "; run it again with -D"
                            + TestKafka.SEED_PROPERTY + "=" + used
                            + (given.kafka.reproducible()
                                    ? ""
                                    : ". A handler blocked outside of the test's control, so" + " it may differ")));
        }
        given.close();
    }

    /** Goes along with the failure of a test and says how to have it again. */
    private static final class SeedNote extends RuntimeException {

        private static final long serialVersionUID = 1L;

        SeedNote(String message) {
            super(message, null, false, false);
        }
    }
}
