package rocketproof.oracle;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON with whole numbers only. Written text is ASCII, so lone surrogates survive in both directions.
 *
 * <p>Not a library's: the releases of RocketMQ bring different ones.
 */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** The value of a text: Map, List, String, Long, Boolean or null. */
    static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.space();
        if (json.at != text.length()) {
            throw json.bad();
        }
        return value;
    }

    /** The text of a value made of Maps, Iterables, Strings, whole numbers, Booleans and nulls. */
    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) {
        return (Map<String, Object>) value;
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object value) {
        return (List<Object>) value;
    }

    /** A list of texts; null for null. */
    @SuppressWarnings("unchecked")
    static List<String> texts(Object value) {
        return (List<String>) value;
    }

    static int integer(Object value) {
        return Math.toIntExact((Long) value);
    }

    private Object value() {
        space();
        char first = next();
        switch (first) {
            case '{':
                return readObject();
            case '[':
                return readList();
            case '"':
                return readText();
            case 't':
                return word("rue", Boolean.TRUE);
            case 'f':
                return word("alse", Boolean.FALSE);
            case 'n':
                return word("ull", null);
            default:
                at--;
                return readNumber();
        }
    }

    private Map<String, Object> readObject() {
        Map<String, Object> object = new LinkedHashMap<>();
        if (taken('}')) {
            return object;
        }
        do {
            space();
            expect('"');
            String key = readText();
            space();
            expect(':');
            object.put(key, value());
        } while (taken(','));
        expect('}');
        return object;
    }

    private List<Object> readList() {
        List<Object> list = new ArrayList<>();
        if (taken(']')) {
            return list;
        }
        do {
            list.add(value());
        } while (taken(','));
        expect(']');
        return list;
    }

    private String readText() {
        StringBuilder out = new StringBuilder();
        for (char c = next(); c != '"'; c = next()) {
            if (c != '\\') {
                out.append(c);
                continue;
            }
            char escaped = next();
            int place = "bfnrt".indexOf(escaped);
            if (escaped == 'u') {
                out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                at += 4;
            } else {
                out.append(place < 0 ? escaped : "\b\f\n\r\t".charAt(place));
            }
        }
        return out.toString();
    }

    private Long readNumber() {
        int start = at;
        while (at < text.length() && "+-0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        if (start == at) {
            throw bad();
        }
        return Long.valueOf(text.substring(start, at));
    }

    private Object word(String rest, Object value) {
        if (!text.startsWith(rest, at)) {
            throw bad();
        }
        at += rest.length();
        return value;
    }

    private boolean taken(char expected) {
        space();
        if (at < text.length() && text.charAt(at) == expected) {
            at++;
            return true;
        }
        return false;
    }

    private void expect(char expected) {
        if (!taken(expected)) {
            throw bad();
        }
    }

    private char next() {
        if (at >= text.length()) {
            throw bad();
        }
        return text.charAt(at++);
    }

    private void space() {
        while (at < text.length() && text.charAt(at) <= ' ') {
            at++;
        }
    }

    private IllegalArgumentException bad() {
        return new IllegalArgumentException("no JSON with whole numbers at character " + at);
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map) {
            String separator = "{";
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                out.append(separator);
                writeText(entry.getKey().toString(), out);
                out.append(':');
                write(entry.getValue(), out);
                separator = ",";
            }
            out.append(separator.equals("{") ? "{}" : "}");
        } else if (value instanceof Iterable) {
            String separator = "[";
            for (Object item : (Iterable<?>) value) {
                out.append(separator);
                write(item, out);
                separator = ",";
            }
            out.append(separator.equals("[") ? "[]" : "]");
        } else if (value instanceof String) {
            writeText((String) value, out);
        } else {
            out.append(value);
        }
    }

    private static void writeText(String value, StringBuilder out) {
        out.append('"');
        for (char c : value.toCharArray()) {
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c >= ' ' && c < 127) {
                out.append(c);
            } else {
                out.append(String.format("\\u%04x", (int) c));
            }
        }
        out.append('"');
    }
}
