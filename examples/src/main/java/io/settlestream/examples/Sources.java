package io.settlestream.examples;

import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPartitions;
import io.settlestream.kafka.KafkaPosition;
import io.settlestream.kafka.KafkaSource;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.KafkaTopics;
import io.settlestream.kafka.StartOffset;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** The code of docs/topics-groups-positions.md. */
final class Sources {

    private Sources() {}

    static List<KafkaSource<?>> topics() {
        KafkaTopics regions = KafkaTopics.of("payouts.eu", "payouts.us").commit(Commit.tracked());
        KafkaTopics all = KafkaTopics.matching(Pattern.compile("payouts\\..*")).commit(Commit.tracked());
        KafkaPartitions prices = KafkaPartitions.of("prices", 0, 1).startOffset(StartOffset.EARLIEST);
        return List.of(regions, all, prices);
    }

    static Map<KafkaBroker, List<KafkaTopic>> groups() {
        KafkaBroker broker = KafkaBroker.of("localhost:9092").defaultGroup("payouts");
        KafkaTopic payouts = KafkaTopic.of("payouts"); // in group payouts
        KafkaTopic views = KafkaTopic.of("page-views").group("analytics");
        return Map.of(broker, List.of(payouts, views));
    }

    static KafkaPartitions byHand() {
        KafkaPartitions third =
                KafkaPartitions.of("payouts", 3).group("payouts-3").commit(Commit.tracked());
        return third;
    }

    static List<KafkaTopic> starts() {
        KafkaTopic again =
                KafkaTopic.of("payouts").startAt(KafkaPosition.timestamp(Instant.parse("2026-01-31T00:00:00Z")));
        KafkaTopic whole = KafkaTopic.of("payouts").startAt(KafkaPosition.earliest());
        KafkaTopic now = KafkaTopic.of("payouts").startAt(KafkaPosition.latest());
        return List.of(again, whole, now);
    }
}
