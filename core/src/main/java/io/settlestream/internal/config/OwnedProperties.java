package io.settlestream.internal.config;

import io.settlestream.kafka.Commit;
import java.util.Locale;
import java.util.Optional;

/** The properties that the framework sets itself, each with what to use instead. */
final class OwnedProperties {

    private OwnedProperties() {}

    /** How to get what an owned property is for, as a sentence; empty for a property that is free to set. */
    static Optional<String> instead(String property) {
        return Optional.ofNullable(
                switch (property) {
                    case "bootstrap.servers", "bootstrap.controllers" ->
                        "The framework sets it: name the nodes in KafkaBroker.of.";
                    case "group.id" ->
                        "The framework sets it: name the group with KafkaTopic.group or KafkaBroker.defaultGroup.";
                    case "key.deserializer", "value.deserializer" ->
                        "The framework sets it: records are read as bytes, and a Codec decodes the value.";
                    case "key.serializer", "value.serializer" ->
                        "The framework sets it: records are written as bytes, and a Codec encodes the value.";
                    case "auto.offset.reset" ->
                        "The framework sets it: use KafkaTopic.startOffset with COMMITTED (none), EARLIEST (earliest)"
                                + " or LATEST (latest).";
                    case "transactional.id" ->
                        "The producer that all publishing sites share is not transactional: leave it out.";
                    case "share.acknowledgement.mode", "share.acquire.mode" ->
                        "It belongs to share groups, which the framework does not use: leave it out.";
                    default -> null;
                });
    }

    /** Why a property may not be set to a value whatever the commit mode is, with the way out. */
    static Optional<String> refusal(String property, Object value) {
        if (property.equals("allow.auto.create.topics") && !isBoolean(value, false)) {
            return Optional.of(
                    "A subscription never creates its topic, and joins it when it appears: leave it out, or set false.");
        }
        if (property.equals("acks") && String.valueOf(value).trim().equals("0")) {
            return Optional.of("Without acknowledgement nobody knows whether Kafka has accepted a record, and a publish"
                    + " succeeds only when it has: use all, or 1.");
        }
        return instead(property);
    }

    /** Why {@code enable.auto.commit} may not be set to a value under a commit mode, with the way out. */
    static Optional<String> commitRefusal(Object value, Commit commit) {
        return switch (commit) {
            case Commit.Tracked tracked ->
                Optional.of("It cannot be combined with " + tracked
                        + ", which commits what is settled and nothing else:" + " leave it out, or use Commit.auto().");
            case Commit.Auto auto
            when !isBoolean(value, true) ->
                Optional.of("It contradicts " + auto + ", which commits as records are handed over: leave it out, or"
                        + " use Commit.tracked() to commit what is settled.");
            case Commit.Auto auto -> Optional.empty();
        };
    }

    private static boolean isBoolean(Object value, boolean wanted) {
        return String.valueOf(value).trim().toLowerCase(Locale.ROOT).equals(String.valueOf(wanted));
    }
}
