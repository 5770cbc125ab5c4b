package rocketproof.common;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON as Map, List, String, Long, Double, Boolean and null. Written text is ASCII, so lone surrogates survive in both
 * directions.
 *
 * <p>RocketMQ brings a parser along, but another one in each release.
 */
public final class Json {
    private static final String ESCAPES = "\"\\/bfnrt";
    private static final String ESCAPED = "\"\\/\b\f\n\r\t";

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /**
     * The value of a text.
     *
     * @throws IllegalArgumentException if it is no JSON; the message says where
     */
    public static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.space();
        if (json.at != text.length()) {
            throw json.bad("the end");
        }
        return value;
    }

    /**
     * The object of a text.
     *
     * @throws IllegalArgumentException if it is no JSON object; the message says where
     */
    public static Map<String, Object> readObject(String text) {
        Object value = read(text);
        if (value instanceof Map) {
            return object(value);
        }
        throw new IllegalArgumentException("wanted an object, not " + text);
    }

    /** The text of a value made of Maps, Iterables, Numbers, Booleans, nulls, and others by their text. */
    public static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    /** A value that is an object; null for null. */
    @SuppressWarnings("unchecked")
    public static Map<String, Object> object(Object value) {
        return (Map<String, Object>) value;
    }

    /** A value that is a list; null for null. */
    @SuppressWarnings("unchecked")
    public static List<Object> list(Object value) {
        return (List<Object>) value;
    }

    /** A value that is a list of texts; null for null. */
    @SuppressWarnings("unchecked")
    public static List<String> texts(Object value) {
        return (List<String>) value;
    }

    /** A value that is a whole number of 32 bits. */
    public static int integer(Object value) {
        return Math.toIntExact((Long) value);
    }

    private Object value() {
        space();
        char first = peek();
        switch (first) {
            case '{':
                at++;
                return readMembers();
            case '[':
                at++;
                return readItems();
            case '"':
                at++;
                return readText();
            default:
                return readWord();
        }
    }

    private Map<String, Object> readMembers() {
        Map<String, Object> members = new LinkedHashMap<>();
        if (taken('}')) {
            return members;
        }
        do {
            take('"');
            String name = readText();
            take(':');
            members.put(name, value());
        } while (taken(','));
        take('}');
        return members;
    }

    private List<Object> readItems() {
        List<Object> items = new ArrayList<>();
        if (taken(']')) {
            return items;
        }
        do {
            items.add(value());
        } while (taken(','));
        take(']');
        return items;
    }

    private String readText() {
        StringBuilder out = new StringBuilder();
        while (peek() != '"') {
            char next = text.charAt(at++);
            out.append(next == '\\' ? escaped() : next);
        }
        at++;
        return out.toString();
    }

    private char escaped() {
        char next = peek();
        at++;
        if (next == 'u') {
            if (at + 4 > text.length()) {
                throw bad("four digits");
            }
            at += 4;
            return (char) Integer.parseInt(text.substring(at - 4, at), 16);
        }
        int known = ESCAPES.indexOf(next);
        if (known < 0) {
            throw bad("an escape");
        }
        return ESCAPED.charAt(known);
    }

    private Object readWord() {
        int from = at;
        while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(from, at);
        switch (word) {
            case "true":
                return true;
            case "false":
                return false;
            case "null":
                return null;
            default:
                return number(word);
        }
    }

    private Number number(String word) {
        try {
            if (word.matches("-?[0-9]+")) {
                return Long.valueOf(word);
            }
            return Double.valueOf(word);
        } catch (NumberFormatException failure) {
            throw bad("a value");
        }
    }

    private boolean taken(char wanted) {
        space();
        if (peek() != wanted) {
            return false;
        }
        at++;
        return true;
    }

    private void take(char wanted) {
        if (!taken(wanted)) {
            throw bad("'" + wanted + "'");
        }
    }

    private char peek() {
        if (at >= text.length()) {
            throw bad("more");
        }
        return text.charAt(at);
    }

    private void space() {
        while (at < text.length() && text.charAt(at) <= ' ') {
            at++;
        }
    }

    private IllegalArgumentException bad(String wanted) {
        return new IllegalArgumentException("no JSON: wanted " + wanted + " at character " + at);
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map) {
            String separator = "";
            out.append('{');
            for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
                out.append(separator);
                writeText(member.getKey().toString(), out);
                out.append(':');
                write(member.getValue(), out);
                separator = ",";
            }
            out.append('}');
        } else if (value instanceof Iterable) {
            String separator = "";
            out.append('[');
            for (Object item : (Iterable<?>) value) {
                out.append(separator);
                write(item, out);
                separator = ",";
            }
            out.append(']');
        } else if (value == null || value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else {
            writeText(value.toString(), out);
        }
    }

    private static void writeText(String text, StringBuilder out) {
        out.append('"');
        for (char next : text.toCharArray()) {
            if (next == '"' || next == '\\') {
                out.append('\\').append(next);
            } else if (next >= ' ' && next < 127) {
                out.append(next);
            } else {
                out.append(String.format("\\u%04x", (int) next));
            }
        }
        out.append('"');
    }
}
