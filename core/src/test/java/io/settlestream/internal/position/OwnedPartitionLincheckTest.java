package io.settlestream.internal.position;

import io.settlestream.internal.testing.Records;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Options;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Workers settle slots while the owner registers, reads the position and compacts. */
@Tag("lincheck")
@Param(name = "offset", gen = IntGen.class, conf = "0:3")
public class OwnedPartitionLincheckTest {

    private static final TopicPartition ORDERS_3 = new TopicPartition("orders", 3);

    private final OwnedPartition partition = new OwnedPartition(ORDERS_3, Slots.State.SETTLED, settled -> {});
    private final List<ConsumerRecord<byte[], byte[]>> records = Records.row(ORDERS_3, 0, 4);

    /** Three polls, so that there is something to merge: offsets 0 and 1, offset 2, offset 3. */
    private final Slots[] polls = {
        partition.register(records.subList(0, 2), 2, 0, 0),
        partition.register(records.subList(2, 3), 3, 0, 0),
        partition.register(records.subList(3, 4), 4, 0, 0)
    };

    private long logEnd = 4;

    public OwnedPartitionLincheckTest() {
        for (Slots poll : polls) {
            for (int slot = 0; slot < poll.size(); slot++) {
                poll.handOver(slot);
            }
        }
    }

    @Operation
    public boolean settle(@Param(name = "offset") int offset) {
        return partition.settle(polls[Math.max(0, offset - 1)], offset == 1 ? 1 : 0, records.get(offset));
    }

    @Operation(nonParallelGroup = "owner")
    public long position() {
        return partition.position().offset();
    }

    @Operation(nonParallelGroup = "owner")
    public void register() {
        partition.register(Records.row(ORDERS_3, logEnd++, 1), logEnd, 0, 0);
    }

    @Operation(nonParallelGroup = "owner")
    public int compact() {
        partition.compact();
        return 0;
    }

    @Test
    @DisplayName("1.2, 3.1: settling, registering and reading the position take effect one after the other")
    void everyInterleaving() {
        check(new ModelCheckingOptions().invocationsPerIteration(400));
    }

    @Test
    @DisplayName("1.2, 3.1: settling, registering and reading the position do so under stress")
    void stress() {
        check(new StressOptions().invocationsPerIteration(1_000));
    }

    private void check(Options<?, ?> options) {
        options.iterations(8)
                .threads(3)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(1)
                .check(getClass());
    }
}
