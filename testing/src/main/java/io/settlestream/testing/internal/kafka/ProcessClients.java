package io.settlestream.testing.internal.kafka;

import io.settlestream.spi.KafkaClients;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;

/** The clients that one process has made, which end together when it crashes. Thread-safe. */
public final class ProcessClients implements KafkaClients {

    private final Cluster cluster;
    private final List<InProcessConsumer> consumers = new CopyOnWriteArrayList<>();
    private final List<InProcessProducer> producers = new CopyOnWriteArrayList<>();

    ProcessClients(Cluster cluster) {
        this.cluster = cluster;
    }

    @Override
    public Consumer<byte[], byte[]> consumer(Map<String, Object> properties) {
        InProcessConsumer consumer = new InProcessConsumer(cluster, properties);
        consumers.add(consumer);
        return consumer;
    }

    @Override
    public Producer<byte[], byte[]> producer(Map<String, Object> properties) {
        InProcessProducer producer = new InProcessProducer(cluster, properties);
        producers.add(producer);
        return producer;
    }

    /** From now on nothing that these clients do reaches the cluster, which notices when sessions and transactions end. */
    public void crash() {
        consumers.forEach(consumer -> consumer.crash(false));
        producers.forEach(InProcessProducer::crash);
    }

    /** What the process has not come to the end of, in words. */
    public List<String> open() {
        List<String> open = new ArrayList<>();
        for (InProcessConsumer consumer : consumers) {
            open.addAll(cluster.locked(consumer::open));
        }
        for (InProcessProducer producer : producers) {
            int unreported = producer.unreported();
            if (unreported > 0) {
                open.add(unreported + " records of a producer are not reported");
            }
        }
        return open;
    }

    /** The members of a group that these clients are. */
    public List<String> members(String group) {
        return cluster.locked(() -> consumers.stream()
                .filter(consumer -> consumer.isIn(group))
                .flatMap(consumer -> consumer.memberId().stream())
                .toList());
    }
}
