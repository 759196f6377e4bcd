package io.settlestream;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static java.util.Map.entry;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Which package may know which: the path of a record through the runtime points one way. */
class ArchitectureTest {

    private static final String INTERNAL = "io.settlestream.internal";

    /**
     * Stage of the runtime to the stages it may use. A stage may always use itself, the public API, and what every stage
     * reports to: {@code health}.
     */
    private static final Map<String, Set<String>> MAY_USE = Map.ofEntries(
            entry(
                    "runtime",
                    Set.of(
                            "config",
                            "codec",
                            "poll",
                            "lane",
                            "handle",
                            "settle",
                            "publish",
                            "commit",
                            "position",
                            "health")),
            entry("poll", Set.of("lane", "commit", "position", "settle", "health")),
            entry("lane", Set.of("handle", "settle", "position", "health")),
            entry("handle", Set.of("settle", "position", "publish", "health")),
            entry("settle", Set.of("position", "publish", "health")),
            entry("commit", Set.of("position", "health")),
            entry("publish", Set.of("codec", "config", "health")),
            entry("position", Set.of("health")),
            entry("codec", Set.of()),
            entry("config", Set.of()),
            entry("health", Set.of()));

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.settlestream");

    static Stream<String> stages() {
        return MAY_USE.keySet().stream().sorted();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("stages")
    @DisplayName("a stage uses only the stages behind it")
    void stageUsesOnlyTheStagesBehindIt(String stage) {
        var forbidden = new TreeSet<>(MAY_USE.keySet());
        forbidden.remove(stage);
        forbidden.removeAll(MAY_USE.get(stage));

        noClasses()
                .that(resideInAPackage(packageOf(stage)))
                .should()
                .dependOnClassesThat(resideInAnyPackage(packagesOf(forbidden)))
                .because("records pass the stages in one direction, and MAY_USE in this test says which")
                .allowEmptyShould(true)
                .check(CLASSES);
    }

    @Test
    @DisplayName("every internal package is a stage that the table knows")
    void everyInternalPackageIsAStage() {
        classes()
                .that(resideInAPackage(INTERNAL + ".."))
                .should()
                .resideInAnyPackage(packagesOf(MAY_USE.keySet()))
                .because("a package that MAY_USE in this test does not name would be checked by no rule")
                .allowEmptyShould(true)
                .check(CLASSES);
    }

    @Test
    @DisplayName("no class uses Kafka's internals")
    void noClassUsesKafkaInternals() {
        noClasses()
                .should()
                .dependOnClassesThat(resideInAPackage("org.apache.kafka..internals.."))
                .because("they change without notice between Kafka's releases")
                .allowEmptyShould(true)
                .check(CLASSES);
    }

    private static String packageOf(String stage) {
        return INTERNAL + "." + stage + "..";
    }

    private static String[] packagesOf(Set<String> stages) {
        return stages.stream().map(ArchitectureTest::packageOf).toArray(String[]::new);
    }
}
