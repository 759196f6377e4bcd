package io.settlestream.internal.publish;

import io.settlestream.internal.publish.InFlight.Entry;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Records pass through room for one large or two small ones in every order that the scheduler has. Each leaves after it
 * entered, so a thread that waits for ever, which the checker reports as a deadlock, has lost its wake-up. One of them
 * closes, and if nothing is in flight then, nothing may enter any more.
 */
@Tag("lincheck")
@Param(name = "size", gen = IntGen.class, conf = "1:4")
public class InFlightLincheckTest {

    private final InFlight inFlight = new InFlight(3, new ManualTime());
    private volatile boolean drained;

    @Operation
    public String pass(@Param(name = "size") int size) throws InterruptedException {
        Entry entry = inFlight.enter(size, null);
        if (entry == Entry.ENTERED) {
            if (drained) {
                throw new IllegalStateException("entered after the last one had left and the doors were closed");
            }
            inFlight.freeRoom(size);
            inFlight.reported();
        }
        return entry.name();
    }

    @Operation(runOnce = true)
    public void close() {
        inFlight.close();
        drained = inFlight.none().isDone();
    }

    @Validate
    public void nothingIsLeft() {
        if (inFlight.bytes() != 0 || inFlight.records() != 0 || inFlight.waiters() != 0) {
            throw new IllegalStateException(inFlight.bytes() + " bytes, " + inFlight.records() + " records, "
                    + inFlight.waiters() + " waiters");
        }
    }

    @Test
    @DisplayName("6.2, 6.5: whoever waits is woken by a report or the close, and nothing enters after the last report")
    void everyInterleaving() {
        new ModelCheckingOptions()
                .iterations(8)
                .invocationsPerIteration(1_000)
                .threads(3)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(0)
                .check(getClass());
    }
}
