package io.settlestream.examples.payouts.demo;

import org.jspecify.annotations.Nullable;

/** The demo cannot go on; the message says why. */
final class DemoException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    DemoException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
