package io.settlestream.embedded;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;

/**
 * What runs in a node's own process. It talks to the JVM that started it by lines: out go {@link #READY} or
 * {@link #FAILED} with the reason, in come {@link #STOP} or {@link #CLOSE}. The end of its input means that the other
 * JVM is gone, however hard it was killed, and then this one goes too.
 */
final class NodeMain {
    static final String READY = "ready";
    static final String FAILED = "failed ";

    /** Stop cleanly: the other nodes go on. */
    static final String STOP = "stop";

    /** Stop cleanly together with all other nodes. */
    static final String CLOSE = "close";

    private static final int NO_SUCCESS = 1;

    private NodeMain() {}

    /**
     * Runs a node until it is told to stop.
     *
     * @param args the file with the broker configuration, and the cluster id
     */
    public static void main(String[] args) {
        PrintStream toParent = System.out;
        System.setOut(System.err); // the lines to the parent are not for others
        var commands = new LinkedBlockingQueue<String>();
        Thread.ofPlatform().daemon().name("commands").start(() -> readCommands(commands));
        try {
            var server = new NodeServer(args[1], load(Path.of(args[0])), fault -> fail(toParent, fault));
            server.start();
            // Also for a signal from outside, such as Ctrl-C, which a terminal sends to this process as well.
            Runtime.getRuntime().addShutdownHook(new Thread(server::end, "close"));
            toParent.println(READY);
            if (commands.take().equals(STOP)) {
                server.stopBroker(NodeServer.HANDOVER);
                server.stopController();
            }
            System.exit(0);
        } catch (Throwable e) {
            fail(toParent, e);
        }
    }

    private static void readCommands(BlockingQueue<String> commands) {
        try (var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                commands.add(line);
            }
        } catch (IOException e) {
            // as good as its end
        }
        Runtime.getRuntime().halt(NO_SUCCESS);
    }

    private static Map<String, String> load(Path file) throws IOException {
        var properties = new Properties();
        try (var in = Files.newBufferedReader(file)) {
            properties.load(in);
        }
        return properties.stringPropertyNames().stream().collect(Collectors.toMap(key -> key, properties::getProperty));
    }

    private static void fail(PrintStream toParent, Throwable failure) {
        failure.printStackTrace();
        toParent.println(FAILED + NodeServer.reason(failure).replaceAll("\\R", " "));
        Runtime.getRuntime().halt(NO_SUCCESS);
    }
}
