package rocketproof.agent.client;

import java.util.Arrays;
import rocketproof.agent.Event;
import rocketproof.agent.Json;

/** One call of a listener: the messages that it gets, from their preparation to what is made of the result. */
public final class Call {
    final Object processQueue;
    final Window window;
    /** When the listener was called, see {@link Event#now}. */
    long began;
    /** The listener was called. */
    boolean called;
    /** The result was evaluated. */
    boolean processed;
    /** The offset in memory was updated. */
    boolean updated;

    private int size;
    private long[] offsets;
    /** The members that all events of a message have. */
    private byte[][] members;

    Call(Object processQueue, Window window, int room) {
        this.processQueue = processQueue;
        this.window = window;
        offsets = new long[room];
        members = new byte[room][];
    }

    /** The listener gets this message too. */
    public void add(long offset, int attempt, String key) {
        if (size == offsets.length) {
            int room = Math.max(4, size * 2);
            offsets = Arrays.copyOf(offsets, room);
            members = Arrays.copyOf(members, room);
        }
        offsets[size] = offset;
        members[size++] = members(offset, attempt, key);
    }

    /** The members that all events of a message have. */
    static byte[] members(long offset, int attempt, String key) {
        return new Json(96)
                .number("offset", offset)
                .text("key", key)
                .number("attempt", attempt)
                .encoded();
    }

    /** The next batch of the same worker. */
    void restart() {
        size = 0;
        called = false;
        processed = false;
        updated = false;
    }

    boolean has(long offset) {
        for (int at = 0; at < size; at++) {
            if (offsets[at] == offset) {
                return true;
            }
        }
        return false;
    }

    int size() {
        return size;
    }

    void delivered() {
        called = true;
        began = Event.now();
        for (int at = 0; at < size; at++) {
            window.record(message("deliver", at, began).number("count", size).number("next", offsets[size - 1] + 1));
        }
    }

    /** What became of that message, at that time. */
    void result(int at, String result, long micros) {
        window.record(message("result", at, micros).text("result", result));
    }

    /** That message has failed at that time; its listener asked for a delay level (CC-14). */
    void failed(int at, String result, long micros, long level) {
        window.record(message("result", at, micros).text("result", result).number("level", level));
    }

    /** The same became of all messages. */
    void result(String result) {
        long now = Event.now();
        for (int at = 0; at < size; at++) {
            result(at, result, now);
        }
    }

    /** All messages have failed; their listener asked for a delay level (CC-14). */
    void failed(String result, long level) {
        long now = Event.now();
        for (int at = 0; at < size; at++) {
            failed(at, result, now, level);
        }
    }

    void discarded() {
        long now = Event.now();
        for (int at = 0; at < size; at++) {
            window.record(message("discarded", at, now));
        }
    }

    private Event message(String kind, int at, long micros) {
        return window.event(kind, micros).members(members[at]);
    }
}
