package rocketproof.agent;

import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * One event of a trace, as docs/trace-format.md describes it. Its own members are spelled out by the thread that makes
 * it, in whose cache they are; what it shares with others was spelled out before.
 *
 * <p>An event belongs to the thread that makes it until it is given to {@link TraceFile#record}.
 * <code>seq</code>, and a time that never goes backward in a file, are added when it is written.
 *
 * <pre>file.record(Event.of("commit").text("group", group).number("offset", offset));</pre>
 */
public final class Event {
    /** Room for the members of an event of a message. */
    private static final int USUAL = 112;

    private static final byte[] NONE = {};
    private static final Map<String, byte[]> KINDS = new ConcurrentHashMap<>();
    /** What is added to this machine's clock, in ms. */
    private static volatile long ahead;

    private final byte[] kind;
    private final byte[] shared;
    private final long micros;
    private final Json own = new Json(USUAL);
    /** Where it is recorded. */
    TraceFile file;

    private Event(String kind, byte[] shared, long micros) {
        this.micros = micros;
        byte[] known = KINDS.get(kind);
        this.kind = known != null ? known : KINDS.computeIfAbsent(kind, Event::spelled);
        this.shared = shared;
    }

    private static byte[] spelled(String kind) {
        return new Json(32).text("kind", kind).encoded();
    }

    /** An event of that kind (docs/trace-format.md, "Kinds") that happens now. */
    public static Event of(String kind) {
        return new Event(kind, NONE, now());
    }

    /** An event of that kind that happens now, with members that many events share: see {@link Json#encoded()}. */
    public static Event of(String kind, byte[] shared) {
        return new Event(kind, shared, now());
    }

    /** As above, of something that happened at that time: see {@link #now}. */
    public static Event of(String kind, byte[] shared, long micros) {
        return new Event(kind, shared, micros);
    }

    /** From now on stamps are so many ms ahead of this machine's clock. */
    static void setClock(long millis) {
        ahead = millis;
    }

    /** A time by this machine's clock, in ms, as stamps have it. */
    public static long stamp(long millis) {
        return millis + ahead;
    }

    /** The time: microseconds since 1970 UTC. */
    public static long now() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000L + now.getNano() / 1000 + ahead * 1000;
    }

    /** A text; nothing where it is null. */
    public Event text(String name, String value) {
        own.text(name, value);
        return this;
    }

    /** A whole number. */
    public Event number(String name, long value) {
        own.number(name, value);
        return this;
    }

    /** A whole number that is not known where it is negative, and then left out. */
    public Event known(String name, long value) {
        return value < 0 ? this : number(name, value);
    }

    /** A list of texts, as it is now; nothing where it is null. */
    public Event texts(String name, Collection<String> values) {
        own.texts(name, values);
        return this;
    }

    /** Members that were encoded before. */
    public Event members(byte[] encoded) {
        own.members(encoded);
        return this;
    }

    /** When it happened: microseconds since 1970 UTC. */
    long micros() {
        return micros;
    }

    /** Adds all members to those of the line. */
    void write(Json line) {
        line.members(kind).members(shared).append(own);
    }
}
