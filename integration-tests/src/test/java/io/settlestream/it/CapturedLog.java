package io.settlestream.it;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.LoggerFactory;

/** What a logger and those below it say from now on, at a level or above, also where the configuration is quieter. */
final class CapturedLog implements AutoCloseable {

    private final Logger logger;
    private final Level before;
    private final Queue<ILoggingEvent> events = new ConcurrentLinkedQueue<>();
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            events.add(event);
        }
    };

    CapturedLog(String name, Level level) {
        logger = (Logger) LoggerFactory.getLogger(name);
        before = logger.getLevel();
        logger.setLevel(level);
        logger.setAdditive(false);
        appender.start();
        logger.addAppender(appender);
    }

    /** Each event with all that it would print: message, key-values and the messages of what was thrown. */
    List<String> lines(Level level) {
        return events.stream()
                .filter(event -> event.getLevel().isGreaterOrEqual(level))
                .map(CapturedLog::line)
                .toList();
    }

    private static String line(ILoggingEvent event) {
        StringBuilder line = new StringBuilder(event.getLoggerName())
                .append(' ')
                .append(event.getFormattedMessage())
                .append(' ')
                .append(event.getKeyValuePairs());
        for (IThrowableProxy thrown = event.getThrowableProxy(); thrown != null; thrown = thrown.getCause()) {
            line.append(" | ").append(thrown.getClassName()).append(": ").append(thrown.getMessage());
        }
        return line.toString();
    }

    @Override
    public void close() {
        logger.detachAppender(appender);
        logger.setAdditive(true);
        logger.setLevel(before);
    }
}
