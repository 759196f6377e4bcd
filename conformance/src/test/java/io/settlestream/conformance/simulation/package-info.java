/**
 * Whole services under seeded chance: one seed makes an application, its input and its accidents, and rules watch what it
 * does. {@link io.settlestream.conformance.simulation.SimulationRun} is the room to begin in.
 */
@NullMarked
package io.settlestream.conformance.simulation;

import org.jspecify.annotations.NullMarked;
