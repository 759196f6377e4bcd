package io.settlestream.testing;

import java.util.List;

/** What an assertion that does not hold ends in. An application that has failed is often the reason, so it is said. */
record Unmet(List<TestApp<?>> apps) {

    AssertionError error(String expectation) {
        StringBuilder message = new StringBuilder(expectation);
        Throwable cause = null;
        for (TestApp<?> app : apps) {
            Throwable failure = app.failure();
            if (failure != null) {
                message.append('\n').append(app.name()).append(" has failed: ").append(failure.getMessage());
                cause = cause == null ? failure : cause;
            }
        }
        return new AssertionError(message.toString(), cause);
    }
}
