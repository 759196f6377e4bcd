/** A payouts service: payouts and statement lines must not be lost, page views may be. */
@NullMarked
package io.settlestream.examples.payouts;

import org.jspecify.annotations.NullMarked;
