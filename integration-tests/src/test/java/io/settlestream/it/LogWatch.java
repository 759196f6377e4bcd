package io.settlestream.it;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** Keeps what one logger says. */
final class LogWatch extends AppenderBase<ILoggingEvent> implements AutoCloseable {

    private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();
    private final Logger logger;

    private LogWatch(Logger logger) {
        this.logger = logger;
    }

    static LogWatch on(String name) {
        Logger logger = (Logger) LoggerFactory.getLogger(name);
        LogWatch watch = new LogWatch(logger);
        watch.setContext(logger.getLoggerContext());
        watch.start();
        logger.addAppender(watch);
        return watch;
    }

    /** Messages with their key-value pairs. */
    List<String> lines(Level level) {
        return events.stream()
                .filter(event -> event.getLevel().equals(level))
                .map(event -> event.getFormattedMessage() + " " + event.getKeyValuePairs())
                .toList();
    }

    @Override
    protected void append(ILoggingEvent event) {
        events.add(event);
    }

    @Override
    public void close() {
        logger.detachAppender(this);
        stop();
    }
}
