package io.settlestream;

import io.settlestream.internal.handle.HandlerSpec;
import io.settlestream.internal.poll.Reading;
import io.settlestream.internal.runtime.BrokerSpec;
import io.settlestream.internal.runtime.MountOptions;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.kafka.KafkaSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/** Collects what one call of {@link App#withBroker} names, as long as it runs. */
final class BrokerScope<S> implements Scope<S> {

    private final KafkaBroker broker;
    private final List<Included> included = new ArrayList<>();
    private final List<BrokerSpec.Site> sites = new ArrayList<>();
    /** Seen by all threads, so that none of them adds something in vain without hearing of it. */
    private volatile boolean done;

    private record Included(KafkaSource<?> source, HandlerSpec handler, MountOptions.Draft options) {}

    private BrokerScope(KafkaBroker broker) {
        this.broker = broker;
    }

    static <S> BrokerSpec collect(KafkaBroker broker, Consumer<? super Scope<S>> user) {
        BrokerScope<S> scope = new BrokerScope<>(broker);
        try {
            user.accept(scope);
        } finally {
            scope.done = true;
        }
        List<BrokerSpec.Mounted> mounted = scope.included.stream()
                .map(each -> new BrokerSpec.Mounted(
                        each.source(), each.handler(), each.options().done()))
                .toList();
        return new BrokerSpec(broker, mounted, scope.sites);
    }

    @Override
    public Mount include(Subscriber<?, ? super S> subscriber) {
        KafkaSource<?> source = subscriber.source();
        String read = Reading.of(source).toString();
        open("the subscription of " + read);
        MountOptions.Draft options = new MountOptions.Draft(read);
        included.add(new Included(source, subscriber.spec(), options));
        return new Mount(options);
    }

    @Override
    public Publisher publisher(KafkaPublish publish) {
        Objects.requireNonNull(publish, "publish");
        open("a publisher");
        BrokerSpec.Site site = new BrokerSpec.Site(publish);
        sites.add(site);
        return site;
    }

    private void open(String what) {
        if (done) {
            throw new IllegalStateException(what + " cannot be added to " + broker
                    + " once withBroker has returned, since an application does not change."
                    + " Use the scope only while the function that was given to withBroker runs");
        }
    }
}
