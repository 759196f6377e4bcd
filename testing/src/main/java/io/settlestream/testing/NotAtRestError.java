package io.settlestream.testing;

import java.util.List;

/**
 * A reaction has not come to rest. Its message lists what is still open.
 *
 * @since 0.1.0
 */
public final class NotAtRestError extends AssertionError {

    private static final long serialVersionUID = 1L;

    private final transient List<String> open;

    NotAtRestError(String why, List<String> open, String wayOut) {
        super(why + " Still open:" + (open.isEmpty() ? " nothing that is known" : "")
                + open.stream().map(each -> "\n  - " + each).reduce("", String::concat)
                + "\n" + wayOut);
        this.open = List.copyOf(open);
    }

    /** What was still open, one entry each. */
    public List<String> open() {
        return open;
    }
}
