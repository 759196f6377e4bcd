package io.settlestream;

/**
 * What settles a delivery whose handler threw an exception; under Tracked also one whose reply can never be published.
 *
 * @since 0.1.0
 */
public enum ExceptionPolicy {
    /** The record stays open and the service stops gracefully as failed. The default. */
    FAIL_FAST,
    /** The record comes back, as if the handler had answered {@link HandlerOutcome#retry()}. Not under Auto. */
    RETRY,
    /** The record is settled, logged and counted. */
    DROP
}
