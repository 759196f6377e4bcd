package io.settlestream.internal.health;

import org.jspecify.annotations.Nullable;

/**
 * What somebody else's code threw, without its words: the kind, the place, and the same of its causes. Codecs and what
 * plugs into clients like to quote the bytes or the value they choke on, and no log or error may show a payload.
 */
public final class SilencedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Deeper chains of causes are cut off; some go round in a circle. */
    private static final int MOST_CAUSES = 16;

    private SilencedException(String kind, @Nullable Throwable cause) {
        super(kind, cause, false, true);
    }

    /** Its message is the kind of what was thrown, its stack trace the same. */
    public static SilencedException of(Throwable foreign) {
        return of(foreign, MOST_CAUSES);
    }

    /** Of a cause, which may be none. */
    public static @Nullable SilencedException ofCause(@Nullable Throwable cause) {
        return cause == null ? null : of(cause);
    }

    /** An error instead of {@code foreign}. Those of the JVM and of class loading know no payloads and are kept. */
    public static Error error(Error foreign) {
        return foreign instanceof VirtualMachineError || foreign instanceof LinkageError
                ? foreign
                : new Error(foreign.getClass().getName(), of(foreign));
    }

    private static SilencedException of(Throwable foreign, int causes) {
        Throwable cause = foreign.getCause();
        SilencedException silenced = new SilencedException(
                foreign.getClass().getName(), cause == null || causes == 0 ? null : of(cause, causes - 1));
        silenced.setStackTrace(foreign.getStackTrace());
        return silenced;
    }
}
