package io.settlestream;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names the topic that messages of this type, or of a type below it, are published to. A publishing site or a message that names a topic for
 * such a type is refused: one message type, one name.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Outgoing {

    /** The topic. */
    String value();
}
