package io.settlestream.conformance.simulation;

import io.settlestream.DecodeException;
import io.settlestream.codec.Codec;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Decodes one subscription's items. What begins with {@code !} cannot be decoded: never, or not in the first tries. */
final class ItemCodec implements Codec<Item> {

    /** Marks bytes that are hard to decode. */
    static final char BROKEN = '!';

    private final SubscriptionPlan subscription;
    private final Behaviour behaviour;
    private final Records records;
    private final Map<String, Integer> tries = new HashMap<>();

    ItemCodec(SubscriptionPlan subscription, Behaviour behaviour, Records records) {
        this.subscription = subscription;
        this.behaviour = behaviour;
        this.records = records;
    }

    @Override
    public synchronized Item decode(byte @Nullable [] data) {
        if (data == null) {
            return new Item(null);
        }
        String id = new String(data, StandardCharsets.UTF_8);
        records.met(subscription, id);
        if (id.charAt(0) == BROKEN && fails(id)) {
            records.undecodable(subscription, id);
            throw new DecodeException(id + " is broken", null);
        }
        return new Item(id);
    }

    private boolean fails(String id) {
        int attempt = tries.merge(id, 1, Integer::sum);
        return switch (subscription.onDecodeFailure()) {
            case DROP, DEAD_LETTER -> true;
            case FAIL_FAST -> attempt == 1 && !behaviour.healed();
            case RETRY -> attempt <= 3 && !behaviour.healed();
        };
    }

    @Override
    public byte[] encode(Item value) {
        return String.valueOf(value.id()).getBytes(StandardCharsets.UTF_8);
    }
}
