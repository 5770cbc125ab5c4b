package rocketproof.agent;

import java.time.Instant;
import java.util.Collection;

/**
 * One event of a trace, as docs/trace-format.md describes it: made at the moment it happens, encoded by who makes it.
 *
 * <p>An event belongs to the thread that makes it until it is given to {@link TraceFile#record}.
 * <code>seq</code>, and a time that never goes backward in a file, are added when it is written.
 *
 * <pre>file.record(Event.of("commit").text("group", group).number("offset", offset));</pre>
 */
public final class Event {
    private final long micros;
    private final Json members;

    private Event(String kind, int capacity) {
        Instant now = Instant.now();
        micros = now.getEpochSecond() * 1_000_000L + now.getNano() / 1000;
        members = new Json(capacity);
        members.text("kind", kind);
    }

    /** An event of that kind (docs/trace-format.md, "Kinds") that happens now. */
    public static Event of(String kind) {
        return new Event(kind, 256);
    }

    /** An event of that kind that happens now, with members that many events share: see {@link Json#encoded()}. */
    public static Event of(String kind, byte[] shared) {
        Event event = new Event(kind, shared.length + 128);
        event.members.members(shared);
        return event;
    }

    /** A text; nothing where it is null. */
    public Event text(String name, String value) {
        members.text(name, value);
        return this;
    }

    /** A whole number. */
    public Event number(String name, long value) {
        members.number(name, value);
        return this;
    }

    /** A whole number that is not known where it is negative, and then left out. */
    public Event known(String name, long value) {
        return value < 0 ? this : number(name, value);
    }

    /** A list of texts; nothing where it is null. */
    public Event texts(String name, Collection<String> values) {
        members.texts(name, values);
        return this;
    }

    /** Members that were encoded before. */
    public Event members(byte[] shared) {
        members.members(shared);
        return this;
    }

    /** When it happened: microseconds since 1970 UTC. */
    long micros() {
        return micros;
    }

    Json json() {
        return members;
    }
}
