package io.settlestream.examples.deadletters;

import org.jspecify.annotations.Nullable;

/** The tool cannot go on; its message is for the one who called it, and says what can be done. */
final class ToolException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String message;

    ToolException(String message, @Nullable Throwable cause) {
        super(message, cause);
        this.message = message;
    }

    String message() {
        return message;
    }
}
