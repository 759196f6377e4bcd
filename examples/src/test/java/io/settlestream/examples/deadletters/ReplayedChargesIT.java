package io.settlestream.examples.deadletters;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.Message;
import io.settlestream.embedded.EmbeddedKafka;
import io.settlestream.examples.charges.ChargeService;
import io.settlestream.examples.charges.ChargeService.Charge;
import io.settlestream.examples.charges.ChargeService.Clients;
import io.settlestream.examples.deadletters.ToolKafka.Told;
import io.settlestream.testing.TestApp;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("Charges that were given up while the gateway was down")
@Timeout(120)
class ReplayedChargesIT {

    @Test
    @DisplayName("are taken by the running service once when they are replayed")
    void taken() {
        AtomicBoolean up = new AtomicBoolean();
        List<Long> taken = new CopyOnWriteArrayList<>();
        try (EmbeddedKafka kafka = EmbeddedKafka.start()) {
            kafka.createTopic("charges", 3);
            kafka.createTopic("charges.dead", 1);
            var broker = ChargeService.broker("localhost:9092").config("auto.commit.interval.ms", 100);
            Clients clients = new Clients((id, cents) -> {
                if (!up.get()) {
                    throw new TimeoutException("the gateway does not answer");
                }
                return taken.add(id);
            });
            try (TestApp<Clients> app =
                    TestApp.of(ChargeService.app(broker, () -> clients)).startLive(kafka.bootstrapServers())) {
                for (long id = 1; id <= 3; id++) {
                    app.send("charges", Message.of(new Charge(id, 500)).key("account-" + id));
                }
                app.send("charges", Message.of(new Charge(4, 0)).key("account-4"));
                app.settle();
                app.topic("charges.dead").hasRecords(4);
                assertThat(tool(kafka, "list").lines())
                        .hasSize(4)
                        .filteredOn(line -> line.contains("attempts 5  group payments"
                                + "  java.util.concurrent.TimeoutException: the gateway does not answer"))
                        .hasSize(3);

                up.set(true);
                Told told = tool(kafka, "replay", "--reason=does not answer", "--yes");
                Told again = tool(kafka, "replay", "--reason=does not answer", "--yes");
                app.settle();

                assertThat(told.exit()).as(told.err()).isZero();
                assertThat(told.summary()).startsWith("Replayed 3 of 3 dead letters");
                assertThat(again.summary()).startsWith("Replayed 0 of 3 dead letters (before: 3");
                assertThat(taken).containsExactlyInAnyOrder(1L, 2L, 3L);
                assertThat(tool(kafka, "list", "--not-replayed").lines()).hasSize(1);
                app.topic("charges.dead").hasRecords(4);
                app.group("payments").hasLag("charges", 0);
            }
        }
    }

    private static Told tool(EmbeddedKafka kafka, String command, String... arguments) {
        String[] all = new String[arguments.length + 3];
        all[0] = command;
        all[1] = "--bootstrap=" + kafka.bootstrapServers();
        all[2] = "--topic=charges.dead";
        System.arraycopy(arguments, 0, all, 3, arguments.length);
        return ToolKafka.call(all);
    }
}
