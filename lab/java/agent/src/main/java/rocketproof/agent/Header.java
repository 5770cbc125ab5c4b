package rocketproof.agent;

import java.util.Collection;

/**
 * The first line of a file: what recorded it, what its silence is evidence of, what is known of groups and brokers.
 *
 * <p>Members: docs/trace-format.md, "Header".
 */
public final class Header {
    private final Json members = new Json(512).number("rocketproof_trace", 1);
    private final Json groups = new Json(128);
    private final Json timers = new Json(64);

    /** Who records, in words such as <code>rocketproof agent 1, client of RocketMQ 5.3.3</code>. */
    public Header source(String source) {
        members.text("source", source);
        return this;
    }

    /** Kinds that this recorder would have recorded had they happened. */
    public Header evidence(Collection<String> kinds) {
        members.texts("evidence", kinds);
        return this;
    }

    /** The release of RocketMQ, such as <code>5.3.3</code>. */
    public Header release(String release) {
        members.text("release", release);
        return this;
    }

    /** <code>messageDelayLevel</code> of the broker, such as <code>1s 5s 10s</code>. */
    public Header delays(String delays) {
        members.text("delays", delays);
        return this;
    }

    /** A timer as the recorded process has it, ms, by its name in a header, which has room for 24 days. */
    public Header timer(String name, long duration) {
        timers.number(name, Math.min(duration, Integer.MAX_VALUE));
        return this;
    }

    /** What is known of a consumer group: members mode, listener, max_attempts, strategy. */
    public Header group(String group, Json known) {
        groups.object(group, known);
        return this;
    }

    Json json() {
        return new Json(1024).members(members.encoded()).object("timers", timers).object("groups", groups);
    }
}
