package io.settlestream.conformance.simulation;

import org.jspecify.annotations.Nullable;

/**
 * A value that handlers are given.
 *
 * @param id what its producer called it, the same for the whole run; null for a tombstone
 */
record Item(@Nullable String id) {}
