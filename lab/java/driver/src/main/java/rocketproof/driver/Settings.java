package rocketproof.driver;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A JSON object with typed access; what is missing has a default, or is an error that names it. */
final class Settings {
    private final Map<String, Object> members;

    Settings(Map<String, Object> members) {
        this.members = members;
    }

    boolean has(String name) {
        return members.get(name) != null;
    }

    Object raw(String name) {
        return members.get(name);
    }

    String text(String name) {
        Object value = members.get(name);
        if (value instanceof String) {
            return (String) value;
        }
        throw new IllegalArgumentException(name + " must be a text, not " + value);
    }

    String text(String name, String otherwise) {
        return has(name) ? text(name) : otherwise;
    }

    long number(String name, long otherwise) {
        Object value = members.get(name);
        if (value == null) {
            return otherwise;
        }
        if (value instanceof Number) {
            return ((Number) value).longValue();
        }
        throw new IllegalArgumentException(name + " must be a number, not " + value);
    }

    int small(String name, int otherwise) {
        return Math.toIntExact(number(name, otherwise));
    }

    boolean flag(String name) {
        return Boolean.TRUE.equals(members.get(name));
    }

    List<String> texts(String name) {
        List<String> texts = new ArrayList<>();
        Object value = members.get(name);
        if (value instanceof List) {
            ((List<?>) value).forEach(each -> texts.add(String.valueOf(each)));
        }
        return texts;
    }

    /** The object of this name; an empty one if there is none. */
    @SuppressWarnings("unchecked")
    Settings object(String name) {
        Object value = members.get(name);
        return new Settings(value instanceof Map ? (Map<String, Object>) value : Map.of());
    }

    /** The list of objects of this name; an empty one if there is none. */
    @SuppressWarnings("unchecked")
    List<Settings> objects(String name) {
        List<Settings> objects = new ArrayList<>();
        Object value = members.get(name);
        if (value instanceof List) {
            ((List<?>) value).forEach(each -> objects.add(new Settings((Map<String, Object>) each)));
        }
        return objects;
    }

    Map<String, Object> members() {
        return members;
    }
}
