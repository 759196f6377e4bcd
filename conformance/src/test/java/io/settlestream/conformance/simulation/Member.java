package io.settlestream.conformance.simulation;

import io.settlestream.Health;
import io.settlestream.ShutdownResult;
import io.settlestream.testing.TestApp;
import org.jspecify.annotations.Nullable;

/** One instance of the application, over all of its lives. */
final class Member {

    private final String name;
    private @Nullable TestApp<Life> app;
    private @Nullable Life life;
    private int lives;

    Member(String name) {
        this.name = name;
    }

    /** The state of the next life; called by the application as it starts. */
    Life nextLife() {
        Life next = new Life(name, ++lives);
        life = next;
        return next;
    }

    void started(TestApp<Life> started) {
        app = started;
        current().started(started);
    }

    void crash() {
        app().crash();
        current().ended();
        life = null;
    }

    ShutdownResult stop() {
        ShutdownResult result = app().stop();
        return result;
    }

    void ended() {
        current().ended();
        life = null;
    }

    /** Whether it was started and has not been crashed or stopped; it may have failed. */
    boolean up() {
        return app != null && life != null;
    }

    boolean runs() {
        return up() && app().health().status() == Health.Status.RUNNING;
    }

    /** Whether it ended by itself. */
    boolean failed() {
        return up() && app().health().status() == Health.Status.FAILED;
    }

    boolean everStarted() {
        return app != null;
    }

    TestApp<Life> app() {
        TestApp<Life> current = app;
        if (current == null) {
            throw new IllegalStateException(name + " was never started");
        }
        return current;
    }

    Life current() {
        Life current = life;
        if (current == null) {
            throw new IllegalStateException(name + " does not live");
        }
        return current;
    }

    @Override
    public String toString() {
        return life == null ? name : life.toString();
    }
}
