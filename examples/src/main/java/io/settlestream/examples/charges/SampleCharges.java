package io.settlestream.examples.charges;

import io.settlestream.examples.charges.ChargeService.Charge;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import tools.jackson.databind.json.JsonMapper;

/** Charges for the service to take, a few of which it cannot. */
final class SampleCharges {

    private static final int ACCOUNTS = 10;
    private static final JsonMapper JSON = new JsonMapper();

    private SampleCharges() {}

    /** Writes charges; of twenty, one has no amount, one is too large for the gateway, and one is no charge at all. */
    static void send(String bootstrap, int count) throws InterruptedException {
        List<Future<RecordMetadata>> reports = new ArrayList<>();
        try (Producer<String, byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrap), new StringSerializer(), new ByteArraySerializer())) {
            for (int id = 1; id <= count; id++) {
                String account = "account-" + id % ACCOUNTS;
                reports.add(producer.send(new ProducerRecord<>(ChargeService.CHARGES, account, value(id))));
            }
            for (Future<RecordMetadata> report : reports) {
                report.get();
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException("Kafka at %s did not take the charges".formatted(bootstrap), e);
        }
    }

    private static byte[] value(int id) {
        return switch (id % 20) {
            case 7 -> JSON.writeValueAsBytes(new Charge(id, 0));
            case 13 -> JSON.writeValueAsBytes(new Charge(id, Simulation.LIMIT_CENTS + 1));
            case 19 -> JSON.writeValueAsBytes("charge number " + id + ", please");
            default -> JSON.writeValueAsBytes(new Charge(id, 100L * id));
        };
    }
}
