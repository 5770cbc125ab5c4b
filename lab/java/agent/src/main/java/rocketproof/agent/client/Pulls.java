package rocketproof.agent.client;

import java.util.concurrent.locks.ReadWriteLock;
import rocketproof.agent.Event;
import rocketproof.agent.Reflect;

/** Pulls: requests, the offsets that go with them, answers, and when there is no pull (PL-1 to PL-24). */
public final class Pulls {
    /** PL-9: a pull that is put off for this long, ms, is put off because of what the window holds. */
    private static final long FLOW_CONTROL = 50;
    /** PL-14: bit of a request that says that an offset goes with it. */
    private static final long COMMIT_OFFSET = 1;

    /** An answer to a pull. */
    static final class Answer {
        final String result;
        final long next;
        final long min;
        final long max;
        final int count;
        final int sent;

        Answer(String result, long next, long min, long max, int count, int sent) {
            this.result = result;
            this.next = next;
            this.min = min;
            this.max = max;
            this.count = count;
            this.sent = sent;
        }
    }

    private Pulls() {
    }

    /** A window is about to pull. Consumers that started before the agent came are known from here on. */
    public static void begin(Object impl, Object queue, Object processQueue) throws ReflectiveOperationException {
        Window window = Windows.of(processQueue);
        OnThread.get().pulling = window != null ? window : Lives.adopt(impl, queue, processQueue);
    }

    /** It has pulled, or put it off. */
    public static void end() {
        OnThread.get().pulling = null;
    }

    /** PL-1: the request goes out, and an offset may go with it (PL-14). */
    public static void request(Object header) throws ReflectiveOperationException {
        Window window = OnThread.get().pulling;
        if (window == null) {
            return;
        }
        window.record(window.event("pull").number("offset", Reflect.number(header, "getQueueOffset")));
        if ((Reflect.number(header, "getSysFlag") & COMMIT_OFFSET) != 0) {
            window.record(window.event("commit")
                    .number("offset", Reflect.number(header, "getCommitOffset"))
                    .text("path", "piggyback"));
        }
    }

    /**
     * PL-9: a pull is put off.
     *
     * @param delay for how long, ms
     * @param count whether there are too many messages in the window
     * @param size whether there are too many bytes
     * @param locked whether the window is locked
     * @param paused whether the application has paused the consumer
     */
    public static void putOff(long delay, boolean count, boolean size, boolean locked, boolean paused) {
        Window window = OnThread.get().pulling;
        if (window == null || paused) {
            return;
        }
        String path = null;
        if (delay == FLOW_CONTROL) {
            path = count ? "count" : size ? "size" : window.consumer.orderly ? "count" : "span";
        } else if (window.consumer.orderly && !locked) {
            path = "orderly";
        }
        if (path != null) {
            window.record(window.event("flow_control").text("path", path));
        }
    }

    /** The answer of a pull from <code>offset</code> has come. */
    public static void answered(Object processQueue, long offset) {
        OnThread now = OnThread.get();
        now.answered = Windows.of(processQueue);
        now.asked = offset;
        now.answer = null;
    }

    /** How many messages are in what the broker sent: each begins with its length. */
    public static int count(byte[] messages) {
        int count = 0;
        for (int at = 0; messages != null && at + 4 <= messages.length; count++) {
            int length = (messages[at] & 255) << 24 | (messages[at + 1] & 255) << 16 | (messages[at + 2] & 255) << 8
                    | messages[at + 3] & 255;
            if (length <= 0) {
                break;
            }
            at += length;
        }
        return count;
    }

    /**
     * PL-23: what the answer is, after the client's own filter. Messages are told when they enter the window, all else
     * now.
     */
    public static void decoded(String status, long next, long min, long max, int count, int sent) {
        OnThread now = OnThread.get();
        if (now.answered == null) {
            return;
        }
        now.answer = new Answer(result(status), next, min, max, count, sent);
        if (count == 0) {
            tell(now);
        }
    }

    /** Messages have entered the window; gives its lock back. */
    public static void put(Object processQueue, ReadWriteLock lock, boolean locked) {
        if (!locked) {
            return;
        }
        try {
            OnThread now = OnThread.get();
            if (now.answered != null && now.answered == Windows.of(processQueue)) {
                tell(now);
            }
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** Nothing more comes of this answer. */
    public static void evaluated() {
        OnThread now = OnThread.get();
        tell(now);
        now.answered = null;
    }

    /** PL-23: the pull from <code>offset</code> has failed. */
    public static void failed(Object processQueue, long offset, Throwable error) {
        Window window = Windows.of(processQueue);
        if (window == null) {
            return;
        }
        Event event = window.event("pull_result").number("offset", offset);
        switch (code(error)) {
            case 24:
                event.text("result", "subscription_not_exist");
                break;
            case 25:
                event.text("result", "subscription_not_latest");
                break;
            default:
                event.text("result", "error").text("detail", String.valueOf(error));
        }
        window.record(event);
    }

    /** The response code that an exception of RocketMQ carries, or -1. */
    static int code(Throwable error) {
        try {
            return error == null ? -1 : (int) Reflect.number(error, "getResponseCode");
        } catch (ReflectiveOperationException other) {
            return -1;
        }
    }

    private static void tell(OnThread now) {
        Answer answer = now.answer;
        Window window = now.answered;
        now.answer = null;
        if (answer == null || window == null) {
            return;
        }
        Event event = window.event("pull_result")
                .number("offset", now.asked)
                .text("result", answer.result)
                .known("next", answer.next)
                .known("min", answer.min)
                .known("max", answer.max)
                .number("count", answer.count);
        if (answer.sent != answer.count) {
            event.text("detail", "the broker sent " + answer.sent);
        }
        window.record(event);
    }

    private static String result(String status) {
        switch (status) {
            case "FOUND":
                return "found";
            case "NO_NEW_MSG":
                return "no_new_message";
            case "NO_MATCHED_MSG":
                return "no_matched_message";
            default:
                return "offset_illegal";
        }
    }
}
