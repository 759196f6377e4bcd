package io.settlestream.embedded;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The ports of one node.
 *
 * @param client for clients and other brokers
 * @param controller for the controllers
 */
record Ports(int client, int controller) {
    /*
     * Below what operating systems hand out for outgoing connections (Linux from 32768, others from 49152). A port from
     * there could be taken by any client while its node is stopped; a client that keeps connecting to it could even
     * connect to itself.
     */
    private static final int LOWEST = 20_000;
    private static final int END = 32_768;

    private static final int ATTEMPTS = 1_000;

    /** Ports for so many nodes, that nobody listened on a moment ago; fixed ones for clients from {@code first} on unless it is 0. */
    static List<Ports> free(int nodes, int first) {
        var held = new ArrayList<ServerSocket>();
        try {
            var ports = new ArrayList<Ports>();
            for (int node = 0; node < nodes; node++) {
                ports.add(new Ports(first == 0 ? hold(held) : first + node, hold(held)));
            }
            return List.copyOf(ports);
        } finally {
            held.forEach(Ports::release);
        }
    }

    private static int hold(List<ServerSocket> held) {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            ServerSocket socket = tryBind(ThreadLocalRandom.current().nextInt(LOWEST, END));
            if (socket != null) {
                held.add(socket);
                return socket.getLocalPort();
            }
        }
        throw new EmbeddedKafkaException(
                "No free port for Kafka: %d of those from %d to %d on %s were tried. Is something holding them all?"
                        .formatted(ATTEMPTS, LOWEST, END - 1, NodeSpec.HOST),
                null);
    }

    private static @Nullable ServerSocket tryBind(int port) {
        try {
            var socket = new ServerSocket();
            try {
                socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                return socket;
            } catch (IOException e) {
                socket.close();
                return null;
            }
        } catch (IOException e) {
            return null;
        }
    }

    private static void release(ServerSocket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // the node that binds the port says so if it is not free
        }
    }
}
