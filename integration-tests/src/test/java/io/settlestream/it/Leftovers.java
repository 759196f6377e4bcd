package io.settlestream.it;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** What applications started after this was made have left behind in this JVM: threads of ours and of Kafka's clients. */
final class Leftovers {

    private static final Pattern OURS =
            Pattern.compile("settlestream-.*|kafka-producer.*|kafka-coordinator.*|consumer_background_thread.*");

    private final Set<Thread> before = new HashSet<>(Thread.getAllStackTraces().keySet());

    List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !before.contains(thread))
                .map(Thread::getName)
                .filter(name -> OURS.matcher(name).matches())
                .sorted()
                .toList();
    }

    /** Waits until nothing is left: a thread may take a moment to end after what it was for is over. */
    void awaitNone() {
        LiveKafka.eventually(
                "no thread is left, but " + threads(), () -> threads().isEmpty());
    }
}
