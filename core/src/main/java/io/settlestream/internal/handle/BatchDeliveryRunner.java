package io.settlestream.internal.handle;

import io.settlestream.BatchContext;
import io.settlestream.BatchHandler;
import io.settlestream.BatchOutcome;
import io.settlestream.Context;
import io.settlestream.HandlerOutcome;
import io.settlestream.Publisher;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.health.Episodes;
import io.settlestream.internal.settle.BatchUnit;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.Disposition;
import io.settlestream.internal.settle.Settlement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A batch from its bytes to the settlement of each element. */
final class BatchDeliveryRunner implements BatchRunner {

    private static final Logger log = LoggerFactory.getLogger(BatchDeliveryRunner.class);

    private final String subscription;
    private final HandlerEnvironment environment;
    private final BatchHandler<Object, Object> handler;
    private final Policies policies;
    private final Settlement settlement;
    private final Counters counters;
    private final Episodes mismatches;

    @SuppressWarnings("unchecked") // what was declared with the value's type is called with values of that type
    BatchDeliveryRunner(HandlerEnvironment environment, Policies policies, BatchHandler<?, ?> handler) {
        this.subscription = environment.subscription();
        this.environment = environment;
        this.handler = (BatchHandler<Object, Object>) handler;
        this.policies = policies;
        this.settlement = environment.settlement();
        this.counters = environment.counters();
        this.mismatches = new Episodes(environment.scheduler());
    }

    @Override
    public Result run(BatchUnit batch) {
        Ending ending = new Ending();
        List<Delivery> decoded = new ArrayList<>(batch.deliveries().size());
        List<Object> values = new ArrayList<>(batch.deliveries().size());
        for (Delivery delivery : batch.deliveries()) {
            if (environment.recovery().exhausted(delivery)) {
                ending.add(delivery, settlement.exhausted(delivery));
                continue;
            }
            try {
                values.add(environment.decode(delivery));
                decoded.add(delivery);
            } catch (Throwable t) {
                environment.observer().undecodable(subscription, delivery, t);
                ending.add(delivery, policies.undecodable(delivery, t));
            }
        }
        if (!values.isEmpty()) {
            handle(decoded, values, ending);
        }
        return new Result(ending.again, ending.later, ending.failed);
    }

    private void handle(List<Delivery> deliveries, List<Object> values, Ending ending) {
        environment.observer().calledBatch(subscription, deliveries, values);
        BatchOutcome outcome;
        try {
            outcome = Invocation.present(
                    handler.handle(Collections.unmodifiableList(values), new Elements(deliveries)), "an outcome");
        } catch (Throwable t) {
            deliveries.forEach(delivery -> environment.observer().threw(subscription, delivery, t));
            Map<Delivery, Disposition> dispositions = policies.threw(deliveries, t);
            // In their order, as they come back in it.
            deliveries.forEach(delivery -> ending.add(delivery, Objects.requireNonNull(dispositions.get(delivery))));
            return;
        }
        switch (outcome) {
            case HandlerOutcome one -> deliveries.forEach(delivery -> ending.add(delivery, settle(delivery, one)));
            case BatchOutcome.Each each -> settle(deliveries, each.outcomes(), ending);
        }
    }

    private void settle(List<Delivery> deliveries, List<HandlerOutcome> outcomes, Ending ending) {
        if (outcomes.size() != deliveries.size()) {
            counters.batchMismatches.increment();
            mismatches.failed(n -> log.atWarn()
                    .addKeyValue("subscription", subscription)
                    .addKeyValue("record", deliveries.get(0))
                    .addKeyValue("elements", deliveries.size())
                    .addKeyValue("outcomes", outcomes.size())
                    .addKeyValue("mismatches", n)
                    .log("a batch was answered with another number of outcomes than it has elements;"
                            + " elements without one are retried, surplus outcomes ignored"));
        }
        for (int i = 0; i < deliveries.size(); i++) {
            HandlerOutcome outcome = i < outcomes.size() ? outcomes.get(i) : HandlerOutcome.retry();
            ending.add(deliveries.get(i), settle(deliveries.get(i), outcome));
        }
    }

    private Disposition settle(Delivery delivery, HandlerOutcome outcome) {
        environment.observer().answered(subscription, delivery, outcome);
        return policies.answered(delivery, outcome);
    }

    /** What elements have come to so far. */
    private static final class Ending {
        private final List<Delivery> again = new ArrayList<>();
        private final List<Later> later = new ArrayList<>();
        private boolean failed;

        void add(Delivery delivery, Disposition disposition) {
            switch (disposition) {
                case Disposition.Later delay -> later.add(new Later(delivery, delay.nanos()));
                case Disposition.Plain plain -> {
                    switch (plain) {
                        case RETRY -> again.add(delivery);
                        case FAILED -> failed = true;
                        case DONE, AWAITING_REPORT -> {}
                    }
                }
            }
        }
    }

    /** What the handler sees of the batch: the elements that could be decoded. */
    private record Elements(List<Delivery> deliveries) implements BatchContext<Object> {

        @Override
        public Object state() {
            return deliveries.get(0).state();
        }

        @Override
        public int size() {
            return deliveries.size();
        }

        @Override
        public Context<Object> element(int index) {
            return deliveries.get(index);
        }

        @Override
        public boolean cancelled() {
            return deliveries.stream().allMatch(Delivery::cancelled);
        }

        @Override
        public Publisher publisher() {
            return deliveries.get(0).publisher();
        }
    }
}
