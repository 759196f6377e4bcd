package io.settlestream.internal.handle;

import io.settlestream.HandlerOutcome;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.Disposition;
import io.settlestream.internal.settle.HandBack;
import io.settlestream.internal.settle.Recovery;
import io.settlestream.internal.settle.Settlement;

/** One delivery from its bytes to its settlement. */
final class DeliveryRunner implements DeliveryHandler {

    private final HandlerEnvironment environment;
    private final Invocation invocation;
    private final Policies policies;
    private final Settlement settlement;
    private final Recovery recovery;

    DeliveryRunner(HandlerEnvironment environment, Policies policies, Invocation invocation) {
        this.environment = environment;
        this.settlement = environment.settlement();
        this.recovery = environment.recovery();
        this.policies = policies;
        this.invocation = invocation;
    }

    @Override
    public Disposition run(Delivery delivery, HandBack lanes) {
        if (recovery.exhausted(delivery)) {
            return settlement.exhausted(delivery);
        }
        Object value;
        try {
            value = environment.decode(delivery);
        } catch (Throwable t) {
            environment.observer().undecodable(environment.subscription(), delivery, t);
            return policies.undecodable(delivery, t);
        }
        environment.observer().called(environment.subscription(), delivery, value);
        try {
            HandlerOutcome outcome = invocation.call(value, delivery, lanes);
            if (outcome == null) {
                return Disposition.AWAITING_REPORT;
            }
            environment.observer().answered(environment.subscription(), delivery, outcome);
            return policies.answered(delivery, outcome);
        } catch (Throwable t) {
            environment.observer().threw(environment.subscription(), delivery, t);
            return policies.threw(delivery, t);
        }
    }
}
