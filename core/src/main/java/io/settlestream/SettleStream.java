package io.settlestream;

/**
 * Where an application begins.
 *
 * @since 0.1.0
 */
public final class SettleStream {

    private SettleStream() {}

    /**
     * Starts putting an application together.
     *
     * @param name names the application's clients and threads
     * @param version shown at startup
     */
    public static App<NoState> app(String name, String version) {
        return App.named(name, version);
    }
}
