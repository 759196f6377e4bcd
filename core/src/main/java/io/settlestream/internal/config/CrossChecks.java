package io.settlestream.internal.config;

import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.types.Password;
import org.jspecify.annotations.Nullable;

/**
 * Kafka's own checks of properties that must fit together, made as the client would make them but before anything is
 * opened. A config object does no I/O as long as no config provider is named.
 */
final class CrossChecks {

    private CrossChecks() {}

    static Optional<String> consumer(Map<String, Object> properties) {
        return mistake(properties, () -> new ConsumerCheck(properties));
    }

    static Optional<String> producer(Map<String, Object> properties) {
        return mistake(properties, () -> new ProducerCheck(properties));
    }

    private static Optional<String> mistake(Map<String, Object> properties, Runnable check) {
        try {
            check.run();
            return Optional.empty();
        } catch (Passed e) {
            return Optional.empty();
        } catch (RuntimeException e) {
            return Optional.of(withoutSecrets(e.getMessage(), properties));
        }
    }

    private static String withoutSecrets(@Nullable String message, Map<String, Object> properties) {
        String safe = String.valueOf(message);
        for (Object value : properties.values()) {
            if (value instanceof Password password && !password.value().isEmpty()) {
                safe = safe.replace(password.value(), Password.HIDDEN);
            }
        }
        return PropertyValue.oneLine(safe);
    }

    private static final class ConsumerCheck extends ConsumerConfig {
        ConsumerCheck(Map<String, Object> properties) {
            super(properties, false);
        }
    }

    /**
     * The producer's config has no constructor that keeps quiet: it would log all values as if a producer had been
     * made. So it is left as soon as it has checked them.
     */
    private static final class ProducerCheck extends ProducerConfig {
        ProducerCheck(Map<String, Object> properties) {
            super(properties);
        }

        @Override
        protected Map<String, Object> postProcessParsedConfig(Map<String, Object> values) {
            super.postProcessParsedConfig(values);
            throw new Passed();
        }
    }

    private static final class Passed extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Passed() {
            super(null, null, false, false);
        }
    }
}
