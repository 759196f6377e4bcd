package io.settlestream.internal.poll;

import io.settlestream.ControlException;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.DeliveryControl;
import io.settlestream.kafka.KafkaPosition;
import io.settlestream.spi.Scheduler;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Takes what users and handlers want of a subscription to its poll thread. Any thread. */
final class Control implements DeliveryControl {

    private static final Logger log = LoggerFactory.getLogger(Control.class);

    private record Asked(Request request, BiConsumer<Controls, Request> what) implements PollLoop.Command {

        @Override
        public void run(PollLoop poll) {
            what.accept(poll.controls(), request);
        }

        @Override
        public void tooLate() {
            request.tooLate();
        }
    }

    private final String subscription;
    private final Consumer<PollLoop.Command> pollThread;
    private final Scheduler scheduler;

    Control(String subscription, Consumer<PollLoop.Command> pollThread, Scheduler scheduler) {
        this.subscription = subscription;
        this.pollThread = pollThread;
        this.scheduler = scheduler;
    }

    @Override
    public CompletableFuture<@Nullable Void> seek(KafkaPosition position) {
        Objects.requireNonNull(position, "position");
        return ask((controls, request) -> controls.seek(request, position));
    }

    @Override
    public CompletableFuture<@Nullable Void> seek(String topic, int partition, KafkaPosition position) {
        TopicPartition name = named(topic, partition);
        Objects.requireNonNull(position, "position");
        return ask((controls, request) -> controls.seek(request, name, position));
    }

    @Override
    public void seek(Delivery delivery, KafkaPosition position) {
        Objects.requireNonNull(position, "position");
        CompletableFuture<?> unused = ask((controls, request) -> controls.seek(request, delivery, position))
                .whenComplete((done, failure) -> {
                    if (failure != null) {
                        log.atLevel(isNews(failure) ? Level.WARN : Level.DEBUG)
                                .addKeyValue("subscription", subscription)
                                .addKeyValue("record", delivery)
                                .addKeyValue("position", position)
                                .setCause(failure)
                                .log("a handler's seek came to nothing");
                    }
                });
    }

    /** Who has lost its partition, or stops, knows that anyway. */
    private static boolean isNews(Throwable failure) {
        return !(failure instanceof ControlException refused)
                || switch (refused.reason()) {
                    case REFUSED, NOT_ASSIGNED -> true;
                    case REVOKED, STOPPING -> false;
                };
    }

    @Override
    public CompletableFuture<@Nullable Void> pause() {
        return ask(Controls::pause);
    }

    @Override
    public CompletableFuture<@Nullable Void> resume() {
        return ask(Controls::resume);
    }

    @Override
    public CompletableFuture<@Nullable Void> pause(String topic, int partition) {
        TopicPartition name = named(topic, partition);
        return ask((controls, request) -> controls.pause(request, name));
    }

    @Override
    public CompletableFuture<@Nullable Void> resume(String topic, int partition) {
        TopicPartition name = named(topic, partition);
        return ask((controls, request) -> controls.resume(request, name));
    }

    private static TopicPartition named(String topic, int partition) {
        return new TopicPartition(Objects.requireNonNull(topic, "topic"), partition);
    }

    private CompletableFuture<@Nullable Void> ask(BiConsumer<Controls, Request> what) {
        Request request = new Request(subscription, scheduler);
        pollThread.accept(new Asked(request, what));
        return request.answer();
    }
}
