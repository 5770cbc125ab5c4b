package rocketproof.agent;

import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;

/**
 * One event of a trace, as docs/trace-format.md describes it: made at the moment it happens, spelled out when it is
 * written, so that the thread that makes it does little.
 *
 * <p>An event belongs to the thread that makes it until it is given to {@link TraceFile#record}.
 * <code>seq</code>, and a time that never goes backward in a file, are added when it is written.
 *
 * <pre>file.record(Event.of("commit").text("group", group).number("offset", offset));</pre>
 */
public final class Event {
    private static final int USUAL = 5;

    private final String kind;
    private final byte[] shared;
    private final long micros;
    private int size;
    private String[] names = new String[USUAL];
    /** A text, members that were encoded before, or null where the member is a number. */
    private Object[] values = new Object[USUAL];
    private long[] numbers = new long[USUAL];

    private Event(String kind, byte[] shared) {
        Instant now = Instant.now();
        micros = now.getEpochSecond() * 1_000_000L + now.getNano() / 1000;
        this.kind = kind;
        this.shared = shared;
    }

    /** An event of that kind (docs/trace-format.md, "Kinds") that happens now. */
    public static Event of(String kind) {
        return new Event(kind, null);
    }

    /** An event of that kind that happens now, with members that many events share: see {@link Json#encoded()}. */
    public static Event of(String kind, byte[] shared) {
        return new Event(kind, shared);
    }

    /** A text; nothing where it is null. */
    public Event text(String name, String value) {
        if (value != null) {
            add(name, value, 0);
        }
        return this;
    }

    /** A whole number. */
    public Event number(String name, long value) {
        add(name, null, value);
        return this;
    }

    /** A whole number that is not known where it is negative, and then left out. */
    public Event known(String name, long value) {
        return value < 0 ? this : number(name, value);
    }

    /** A list of texts, as it is now; nothing where it is null. */
    public Event texts(String name, Collection<String> values) {
        if (values != null) {
            add(name, new Json(128).texts(name, values).encoded(), 0);
        }
        return this;
    }

    /** Members that were encoded before. */
    public Event members(byte[] encoded) {
        add(null, encoded, 0);
        return this;
    }

    private void add(String name, Object value, long number) {
        if (size == names.length) {
            names = Arrays.copyOf(names, size * 2);
            values = Arrays.copyOf(values, size * 2);
            numbers = Arrays.copyOf(numbers, size * 2);
        }
        names[size] = name;
        values[size] = value;
        numbers[size++] = number;
    }

    /** When it happened: microseconds since 1970 UTC. */
    long micros() {
        return micros;
    }

    /** Adds all members to those of the line. */
    void write(Json line) {
        line.text("kind", kind);
        if (shared != null) {
            line.members(shared);
        }
        for (int at = 0; at < size; at++) {
            Object value = values[at];
            if (value == null) {
                line.number(names[at], numbers[at]);
            } else if (value instanceof String) {
                line.text(names[at], (String) value);
            } else {
                line.members((byte[]) value);
            }
        }
    }
}
