package io.settlestream;

/**
 * What settles a record whose bytes cannot be decoded. Such a record never reaches the handler.
 *
 * @since 0.1.0
 */
public enum DecodePolicy {
    /** The record is settled, logged and counted. The default. */
    DROP,
    /** The record stays open and the service stops gracefully as failed. */
    FAIL_FAST,
    /** The record is decoded again, with back-off, until it can be. Not under Auto. */
    RETRY
}
