package io.settlestream.conformance.clients;

/** What clients do on some Kafka, written once for all of them. */
@FunctionalInterface
interface Script {

    void run(Stage stage) throws Exception;
}
