package rocketproof.agent.client;

import java.util.Arrays;
import rocketproof.agent.Event;

/** One call of a listener: the messages that it gets, from their preparation to what is made of the result. */
public final class Call {
    final Object processQueue;
    final Window window;
    /** When the listener was called, ns of {@link System#nanoTime}. */
    long began;
    /** The listener was called. */
    boolean called;
    /** The result was evaluated. */
    boolean processed;
    /** The offset in memory was updated. */
    boolean updated;

    private int size;
    private long[] offsets;
    private int[] attempts;
    private String[] keys;

    Call(Object processQueue, Window window, int room) {
        this.processQueue = processQueue;
        this.window = window;
        offsets = new long[room];
        attempts = new int[room];
        keys = new String[room];
    }

    /** The listener gets this message too. */
    public void add(long offset, int attempt, String key) {
        if (size == offsets.length) {
            int room = Math.max(4, size * 2);
            offsets = Arrays.copyOf(offsets, room);
            attempts = Arrays.copyOf(attempts, room);
            keys = Arrays.copyOf(keys, room);
        }
        offsets[size] = offset;
        attempts[size] = attempt;
        keys[size++] = key;
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
        for (int at = 0; at < size; at++) {
            window.record(message("deliver", at).number("count", size).number("next", offsets[size - 1] + 1));
        }
    }

    void result(int at, String result) {
        window.record(message("result", at).text("result", result));
    }

    void discarded() {
        for (int at = 0; at < size; at++) {
            window.record(message("discarded", at));
        }
    }

    private Event message(String kind, int at) {
        return window.event(kind)
                .number("offset", offsets[at])
                .text("key", keys[at])
                .number("attempt", attempts[at]);
    }
}
