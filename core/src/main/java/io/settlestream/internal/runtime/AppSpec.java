package io.settlestream.internal.runtime;

import io.settlestream.App;
import io.settlestream.NoState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** An application as it was put together. Immutable. */
public record AppSpec(
        String name,
        String version,
        @Nullable Callable<?> state,
        Hooks hooks,
        Duration shutdownTimeout,
        List<BrokerSpec> brokers) {

    private static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(30);

    public AppSpec {
        brokers = List.copyOf(brokers);
    }

    /** What runs at the turning points of an application's life, each list in its order. */
    record Hooks(
            List<App.Hook<Object>> afterStartup,
            List<App.Hook<Object>> onShutdown,
            List<App.Hook<Object>> afterShutdown) {

        static final Hooks NONE = new Hooks(List.of(), List.of(), List.of());

        Hooks {
            afterStartup = List.copyOf(afterStartup);
            onShutdown = List.copyOf(onShutdown);
            afterShutdown = List.copyOf(afterShutdown);
        }
    }

    public static AppSpec named(String name, String version) {
        return new AppSpec(name, version, null, Hooks.NONE, SHUTDOWN_TIMEOUT, List.of());
    }

    public AppSpec withState(Callable<?> wanted) {
        if (state != null) {
            throw new IllegalStateException("onStartup is called twice; the state can be made only once");
        }
        if (!brokers.isEmpty() || !hooks.equals(Hooks.NONE)) {
            throw new IllegalStateException(
                    "onStartup must be called before brokers and hooks are added, which rely on the state's type");
        }
        return new AppSpec(name, version, wanted, hooks, shutdownTimeout, brokers);
    }

    /** With a state of the type that brokers and hooks rely on. */
    public AppSpec withOtherState(Callable<?> wanted) {
        return new AppSpec(name, version, wanted, hooks, shutdownTimeout, brokers);
    }

    public AppSpec withAfterStartup(App.Hook<?> hook) {
        return with(new Hooks(plus(hooks.afterStartup, untyped(hook)), hooks.onShutdown, hooks.afterShutdown));
    }

    public AppSpec withOnShutdown(App.Hook<?> hook) {
        return with(new Hooks(hooks.afterStartup, plus(hooks.onShutdown, untyped(hook)), hooks.afterShutdown));
    }

    public AppSpec withAfterShutdown(App.Hook<?> hook) {
        return with(new Hooks(hooks.afterStartup, hooks.onShutdown, plus(hooks.afterShutdown, untyped(hook))));
    }

    private AppSpec with(Hooks others) {
        return new AppSpec(name, version, state, others, shutdownTimeout, brokers);
    }

    public AppSpec withShutdownTimeout(Duration timeout) {
        return new AppSpec(name, version, state, hooks, timeout, brokers);
    }

    public AppSpec withBroker(BrokerSpec broker) {
        return new AppSpec(name, version, state, hooks, shutdownTimeout, plus(brokers, broker));
    }

    /** Makes the state; an application without any has {@link NoState}. */
    Object makeState() throws Exception {
        if (state == null) {
            return NoState.INSTANCE;
        }
        Object made = state.call();
        if (made == null) {
            throw new NullPointerException("onStartup returned null instead of the state");
        }
        return made;
    }

    @SuppressWarnings("unchecked") // App lets only hooks through that accept the state it makes
    private static App.Hook<Object> untyped(App.Hook<?> hook) {
        return (App.Hook<Object>) hook;
    }

    private static <T> List<T> plus(List<T> list, T element) {
        List<T> longer = new ArrayList<>(list);
        longer.add(element);
        return longer;
    }
}
