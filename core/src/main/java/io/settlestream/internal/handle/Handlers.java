package io.settlestream.internal.handle;

import io.settlestream.internal.publish.PublishSite;
import io.settlestream.kafka.KafkaPublish;
import java.util.function.Function;

/** Makes what runs the handlers of a subscription from how they were declared. */
public final class Handlers {

    private Handlers() {}

    /** For handlers that take deliveries one by one. */
    public static DeliveryHandler single(
            HandlerSpec spec, HandlerEnvironment environment, Function<KafkaPublish, PublishSite> sites) {
        Policies policies = new Policies(environment);
        Invocation invocation = switch (spec) {
            case HandlerSpec.Single single -> Invocation.sync(single.handler());
            case HandlerSpec.Async async -> Invocation.async(async.handler(), environment.scheduler());
            case HandlerSpec.Replying replying ->
                replies(replying.publish(), environment, policies, sites).sync(replying.handler());
            case HandlerSpec.ReplyingAsync replying ->
                replies(replying.publish(), environment, policies, sites).async(replying.handler());
            case HandlerSpec.Batch batch ->
                throw new IllegalArgumentException("a batch handler takes no single deliveries");
        };
        return new DeliveryRunner(environment, policies, invocation);
    }

    /** For handlers that take batches. */
    public static BatchRunner batch(HandlerSpec.Batch spec, HandlerEnvironment environment) {
        return new BatchDeliveryRunner(environment, new Policies(environment), spec.handler());
    }

    private static Replies replies(
            KafkaPublish publish,
            HandlerEnvironment environment,
            Policies policies,
            Function<KafkaPublish, PublishSite> sites) {
        return new Replies(sites.apply(publish), publish, environment, policies);
    }
}
