package io.settlestream.spi;

/**
 * What an application is started in: real Kafka clients and real time in production, stand-ins in tests.
 *
 * @param clients makes the Kafka clients
 * @param time gives the time
 * @since 0.1.0
 */
public record AppEnvironment(KafkaClients clients, TimeSource time) {}
