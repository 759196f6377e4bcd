package io.settlestream.testing.internal.kafka;

/** Ends the threads of a client whose process has crashed: nothing they do reaches the cluster any more. */
final class ClientCrashed extends RuntimeException {

    private static final long serialVersionUID = 1L;

    ClientCrashed(String clientId) {
        super("client " + clientId + " has crashed, as the test wanted", null, false, false);
    }
}
