package io.settlestream.internal.poll;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class OutlookTest {

    @Test
    @DisplayName("3.2: a record that is settled between the two looks is seen as behind, so its commit is not missed")
    void settledInBetween() {
        AtomicBoolean open = new AtomicBoolean(true);
        AtomicBoolean behind = new AtomicBoolean();
        // Settles as soon as one of the two has been looked at: what was open is behind from then on.
        Runnable settle = () -> {
            open.set(false);
            behind.set(true);
        };

        Outlook outlook = Outlook.of(() -> look(open, settle), () -> look(behind, settle));

        assertThat(outlook.open() || outlook.behind()).isTrue();
        assertThat(outlook.behind()).isTrue();
    }

    @Test
    @DisplayName("With nothing open and nothing behind, a fetch may last")
    void atRest() {
        assertThat(Outlook.of(() -> false, () -> false)).isEqualTo(new Outlook(false, false));
    }

    private static boolean look(AtomicBoolean what, Runnable then) {
        boolean seen = what.get();
        then.run();
        return seen;
    }
}
