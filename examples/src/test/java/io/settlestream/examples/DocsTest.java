package io.settlestream.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The manual's code is code of this module, so it compiles: each Java block stands in some source, but
 * for white space. */
class DocsTest {

    private static final Path ROOT = Path.of("..");
    private static final List<Path> SOURCES = List.of(Path.of("src", "main", "java"), Path.of("src", "test", "java"));

    /** One fenced block of Java on a page. */
    record Block(String page, int line, String code) {
        @Override
        public String toString() {
            return page + ":" + line;
        }
    }

    static Stream<Block> blocks() throws IOException {
        try (Stream<Path> pages = Files.list(ROOT.resolve("docs"))) {
            return Stream.concat(pages.sorted(), Stream.of(ROOT.resolve("README.md")))
                    .filter(page -> page.toString().endsWith(".md") && Files.exists(page))
                    .flatMap(page -> blocks(page).stream())
                    .toList()
                    .stream();
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("blocks")
    @DisplayName("a page's Java stands in the examples")
    void blockStandsInASource(Block block) throws IOException {
        String wanted = withoutSpace(block.code());

        assertThat(sources().anyMatch(source -> source.contains(wanted)))
                .as("the examples have this code of %s:%n%s", block, block.code())
                .isTrue();
    }

    @Test
    @DisplayName("the pages that are known to have code are looked at")
    void pagesAreFound() throws IOException {
        assertThat(blocks().map(Block::page).distinct())
                .contains("commits.md", "handlers.md", "lifecycle.md", "testing.md");
    }

    private static Stream<String> sources() throws IOException {
        List<String> sources = new ArrayList<>();
        for (Path folder : SOURCES) {
            try (Stream<Path> files = Files.walk(folder)) {
                files.filter(file -> file.toString().endsWith(".java"))
                        .forEach(file -> sources.add(withoutSpace(String.join("\n", lines(file)))));
            }
        }
        return sources.stream();
    }

    private static List<Block> blocks(Path page) {
        List<String> lines = lines(page);
        List<Block> blocks = new ArrayList<>();
        int begin = -1;
        for (int i = 0; i < lines.size(); i++) {
            if (begin < 0 && lines.get(i).equals("```java")) {
                begin = i + 1;
            } else if (begin >= 0 && lines.get(i).equals("```")) {
                blocks.add(new Block(page.getFileName().toString(), begin, String.join("\n", lines.subList(begin, i))));
                begin = -1;
            }
        }
        return blocks;
    }

    private static String withoutSpace(String code) {
        return code.replaceAll("\\s", "");
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
