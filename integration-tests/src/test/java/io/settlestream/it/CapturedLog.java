package io.settlestream.it;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.LoggerFactory;

/** What loggers and those below them say from now on, at a level or above, also where the configuration is quieter. */
final class CapturedLog implements AutoCloseable {

    private final Map<Logger, Level> before = new HashMap<>();
    private final Queue<ILoggingEvent> events = new ConcurrentLinkedQueue<>();
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            events.add(event);
        }
    };

    CapturedLog(Level level, String... names) {
        appender.start();
        for (String name : names) {
            Logger logger = (Logger) LoggerFactory.getLogger(name);
            before.put(logger, logger.getLevel());
            logger.setLevel(level);
            logger.setAdditive(false);
            logger.addAppender(appender);
        }
    }

    /** Each event with all that it would print: message, key-values and the messages of what was thrown. */
    List<String> lines() {
        return events.stream().map(CapturedLog::line).toList();
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
        before.forEach((logger, level) -> {
            logger.detachAppender(appender);
            logger.setAdditive(true);
            logger.setLevel(level);
        });
    }
}
