/**
 * Runs the threads of an application one at a time, in virtual time, by choices that a seed reproduces.
 *
 * <p>{@link io.settlestream.testing.internal.sim.Simulation} is the room to begin in.
 */
@NullMarked
package io.settlestream.testing.internal.sim;

import org.jspecify.annotations.NullMarked;
