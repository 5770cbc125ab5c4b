package rocketproof.driver;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON as maps, lists, texts, numbers, booleans and null.
 *
 * <p>RocketMQ brings a parser along, but another one in each release.
 */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /**
     * Reads an object.
     *
     * @throws IllegalArgumentException if the text is no JSON object
     */
    @SuppressWarnings("unchecked")
    static Map<String, Object> object(String text) {
        Json reader = new Json(text);
        Object value = reader.value();
        reader.space();
        if (reader.at != text.length() || !(value instanceof Map)) {
            throw reader.wrong("one object");
        }
        return (Map<String, Object>) value;
    }

    /** Writes a value. */
    static String text(Object value) {
        StringBuilder out = new StringBuilder();
        write(out, value);
        return out.toString();
    }

    private Object value() {
        space();
        char next = peek();
        if (next == '{') {
            return object();
        }
        if (next == '[') {
            return list();
        }
        if (next == '"') {
            return string();
        }
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
            throw wrong("a value");
        }
    }

    private Map<String, Object> object() {
        Map<String, Object> members = new LinkedHashMap<>();
        at++;
        space();
        while (peek() != '}') {
            String name = string();
            space();
            take(':');
            members.put(name, value());
            space();
            if (peek() != '}') {
                take(',');
                space();
            }
        }
        at++;
        return members;
    }

    private List<Object> list() {
        List<Object> items = new ArrayList<>();
        at++;
        space();
        while (peek() != ']') {
            items.add(value());
            space();
            if (peek() != ']') {
                take(',');
                space();
            }
        }
        at++;
        return items;
    }

    private String string() {
        take('"');
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
                throw wrong("four digits");
            }
            at += 4;
            return (char) Integer.parseInt(text.substring(at - 4, at), 16);
        }
        int known = "\"\\/bfnrt".indexOf(next);
        if (known < 0) {
            throw wrong("an escape");
        }
        return "\"\\/\b\f\n\r\t".charAt(known);
    }

    private void space() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private char peek() {
        if (at >= text.length()) {
            throw wrong("more");
        }
        return text.charAt(at);
    }

    private void take(char wanted) {
        if (peek() != wanted) {
            throw wrong("'" + wanted + "'");
        }
        at++;
    }

    private IllegalArgumentException wrong(String wanted) {
        return new IllegalArgumentException("wanted " + wanted + " at " + at + " of " + text);
    }

    private static void write(StringBuilder out, Object value) {
        if (value instanceof Map) {
            String separator = "{";
            for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
                out.append(separator);
                writeText(out, String.valueOf(member.getKey()));
                out.append(": ");
                write(out, member.getValue());
                separator = ", ";
            }
            out.append(((Map<?, ?>) value).isEmpty() ? "{}" : "}");
        } else if (value instanceof Collection) {
            String separator = "[";
            for (Object item : (Collection<?>) value) {
                out.append(separator);
                write(out, item);
                separator = ", ";
            }
            out.append(((Collection<?>) value).isEmpty() ? "[]" : "]");
        } else if (value == null || value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else {
            writeText(out, value.toString());
        }
    }

    private static void writeText(StringBuilder out, String text) {
        out.append('"');
        for (int index = 0; index < text.length(); index++) {
            char next = text.charAt(index);
            if (next == '"' || next == '\\') {
                out.append('\\').append(next);
            } else if (next < ' ') {
                out.append(String.format("\\u%04x", (int) next));
            } else {
                out.append(next);
            }
        }
        out.append('"');
    }
}
