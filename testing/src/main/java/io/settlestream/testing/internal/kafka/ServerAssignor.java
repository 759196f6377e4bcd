package io.settlestream.testing.internal.kafka;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnsupportedAssignorException;
import org.jspecify.annotations.Nullable;

/** The assignors of a coordinator, for {@code group.remote.assignor}. */
enum ServerAssignor {
    /** As many partitions for each as for any other, and as few moves as that allows. */
    UNIFORM,

    /** Of each topic a run of partitions for each member. */
    RANGE;

    /**
     * What an assignor goes by.
     *
     * @param instanceId the name of a static member, by which it takes its place
     * @param topics those a member subscribes to
     * @param now what it was to have so far
     */
    record Candidate(String id, Optional<String> instanceId, Set<String> topics, Set<TopicPartition> now) {

        private static final Comparator<Candidate> FIXED_FIRST = Comparator.comparing(
                        (Candidate candidate) -> candidate.instanceId().isEmpty())
                .thenComparing(candidate -> candidate.instanceId().orElse(candidate.id()));
    }

    /** The one of a name; the broker's own choice for none. */
    static ServerAssignor of(String name) {
        return switch (name) {
            case "", "uniform" -> UNIFORM;
            case "range" -> RANGE;
            default ->
                throw new UnsupportedAssignorException(
                        "group.remote.assignor=" + name + " is none of uniform and range");
        };
    }

    /** What each candidate is to have of these partitions, by its id. */
    Map<String, Set<TopicPartition>> assign(List<Candidate> candidates, Set<TopicPartition> partitions) {
        return switch (this) {
            case UNIFORM -> new Uniform(candidates).assign(partitions);
            case RANGE -> range(candidates, partitions);
        };
    }

    private static Map<String, Set<TopicPartition>> range(List<Candidate> candidates, Set<TopicPartition> partitions) {
        Map<String, Set<TopicPartition>> result = new LinkedHashMap<>();
        candidates.forEach(candidate -> result.put(candidate.id(), PartitionOrder.sorted(Set.of())));
        Map<String, List<TopicPartition>> byTopic = new LinkedHashMap<>();
        PartitionOrder.sorted(partitions)
                .forEach(partition -> byTopic.computeIfAbsent(partition.topic(), topic -> new ArrayList<>())
                        .add(partition));
        byTopic.forEach((topic, all) -> {
            List<Candidate> takers = candidates.stream()
                    .filter(candidate -> candidate.topics().contains(topic))
                    .sorted(Candidate.FIXED_FIRST)
                    .toList();
            int next = 0;
            for (int i = 0; i < takers.size(); i++) {
                int share = all.size() / takers.size() + (i < all.size() % takers.size() ? 1 : 0);
                result.computeIfAbsent(takers.get(i).id(), id -> PartitionOrder.sorted(Set.of()))
                        .addAll(all.subList(next, next + share));
                next += share;
            }
        });
        return result;
    }

    /** Keeps what can be kept, deals out the rest, and then evens out. */
    private static final class Uniform {

        private record Share(Candidate candidate, Set<TopicPartition> partitions) {

            boolean takes(TopicPartition partition) {
                return candidate.topics().contains(partition.topic());
            }

            int load() {
                return partitions.size();
            }
        }

        private final List<Share> shares;

        Uniform(List<Candidate> candidates) {
            shares = candidates.stream()
                    .map(candidate -> new Share(candidate, PartitionOrder.sorted(candidate.now())))
                    .toList();
        }

        Map<String, Set<TopicPartition>> assign(Set<TopicPartition> partitions) {
            Set<TopicPartition> left = PartitionOrder.sorted(partitions);
            for (Share share : shares) {
                share.partitions().removeIf(partition -> !share.takes(partition) || !left.contains(partition));
                left.removeAll(share.partitions());
            }
            for (TopicPartition partition : left) {
                Share least = leastLoaded(partition);
                if (least != null) {
                    least.partitions().add(partition);
                }
            }
            boolean moved = true;
            while (moved) {
                moved = moveOne();
            }
            Map<String, Set<TopicPartition>> result = new LinkedHashMap<>();
            shares.forEach(share -> result.put(share.candidate().id(), share.partitions()));
            return result;
        }

        /** Each move makes two loads more alike. */
        private boolean moveOne() {
            for (Share from : shares) {
                for (TopicPartition partition : List.copyOf(from.partitions()).reversed()) {
                    Share to = leastLoaded(partition);
                    if (to != null && to.load() + 1 < from.load()) {
                        from.partitions().remove(partition);
                        to.partitions().add(partition);
                        return true;
                    }
                }
            }
            return false;
        }

        @Nullable
        private Share leastLoaded(TopicPartition partition) {
            Share least = null;
            for (Share share : shares) {
                if (share.takes(partition) && (least == null || share.load() < least.load())) {
                    least = share;
                }
            }
            return least;
        }
    }
}
