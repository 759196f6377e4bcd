package io.settlestream.examples.deadletters;

import java.util.HexFormat;
import java.util.function.Consumer;

/** Bytes in lines of sixteen: their place, their digits, and their ASCII. */
final class HexDump {

    private static final int WIDTH = 16;
    private static final HexFormat SPACED = HexFormat.ofDelimiter(" ");

    private HexDump() {}

    /** Gives the lines of the first {@code length} bytes to {@code line}. */
    static void lines(byte[] bytes, int length, Consumer<String> line) {
        for (int from = 0; from < length; from += WIDTH) {
            int to = Math.min(from + WIDTH, length);
            StringBuilder ascii = new StringBuilder();
            for (int i = from; i < to; i++) {
                ascii.append(bytes[i] >= ' ' && bytes[i] < 0x7f ? (char) bytes[i] : '.');
            }
            line.accept("%08x  %-47s  %s".formatted(from, SPACED.formatHex(bytes, from, to), ascii));
        }
    }
}
