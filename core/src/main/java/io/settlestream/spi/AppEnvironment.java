package io.settlestream.spi;

import io.settlestream.internal.runtime.SystemEnvironment;

/**
 * What an application is started in: real Kafka clients, time and threads in production, stand-ins in tests.
 *
 * @param clients makes the Kafka clients
 * @param scheduler gives time and threads
 * @param observer hears what handlers are called with
 * @since 0.1.0
 */
public record AppEnvironment(KafkaClients clients, Scheduler scheduler, AppObserver observer) {

    /** One that nobody observes. */
    public AppEnvironment(KafkaClients clients, Scheduler scheduler) {
        this(clients, scheduler, AppObserver.NONE);
    }

    /** Kafka's own clients, the machine's time and the JVM's threads. A new one for each run of an application. */
    public static AppEnvironment system() {
        return SystemEnvironment.create();
    }
}
