package io.settlestream;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The application could not start. Mistakes in how it was put together are all in {@link #problems()}, each with its
 * fix; nothing was opened. A failure while opening has one problem, and what was opened is closed again.
 *
 * @since 0.1.0
 */
public final class StartupException extends SettleStreamException {

    private static final long serialVersionUID = 1L;

    private final ArrayList<String> problems; // as Java serializes it; List says nothing of that

    public StartupException(String application, List<String> problems, @Nullable Throwable cause) {
        super(report(application, problems), cause);
        this.problems = new ArrayList<>(problems);
    }

    /** What is wrong, one sentence or two each, with the way out. */
    public List<String> problems() {
        return Collections.unmodifiableList(problems);
    }

    private static String report(String application, List<String> problems) {
        StringBuilder report = new StringBuilder(application)
                .append(" cannot start: ")
                .append(problems.size())
                .append(problems.size() == 1 ? " problem" : " problems");
        for (String problem : problems) {
            report.append(System.lineSeparator()).append("  - ").append(problem);
        }
        return report.toString();
    }
}
