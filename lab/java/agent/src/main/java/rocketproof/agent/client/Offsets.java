package rocketproof.agent.client;

import java.lang.reflect.Method;
import java.util.Collections;
import java.util.Map;
import rocketproof.agent.Event;
import rocketproof.agent.Reflect;

/** Offsets: what is asked for, what is in memory, what is sent or written to the local file (OF-1 to OF-10). */
public final class Offsets {
    private static final int QUERY_NOT_FOUND = 22;

    private Offsets() {
    }

    /** OF-3: the answer to a query of the stored offset, and when the client asked: see {@link Event#stamp}. */
    public static void queried(Object store, Object queue, long asked, long offset, Throwable error) {
        Consumer consumer = Consumers.of(store);
        if (consumer == null) {
            return;
        }
        Event event = consumer.event("offset_query", queue).number("due", asked);
        if (error == null) {
            event.text("result", "ok").known("offset", offset);
        } else if (error.getClass().getSimpleName().equals("OffsetNotFoundException")
                || Pulls.code(error) == QUERY_NOT_FOUND) {
            event.text("result", "none");
        } else {
            event.text("result", "error").text("detail", String.valueOf(error));
        }
        consumer.record(event);
    }

    /**
     * OF-1: the offset in memory is about to be set; what is known of the queue is the answer, locked until
     * {@link #updated}. A correction is told by the offset that it sets (PL-23).
     */
    public static Object updating(Object store, Object queue, long offset) {
        Consumer consumer = Consumers.of(store);
        if (consumer == null || queue == null) {
            return null;
        }
        Consumer.Place place = consumer.place(queue);
        place.offset.lock();
        try {
            if ("correction".equals(OnThread.get().why)) {
                consumer.record(consumer.event("correct", queue).number("offset", offset));
            }
        } catch (Throwable ignored) {
            // The lock is given back all the same.
        }
        return place;
    }

    /** OF-1: the offset in memory is <code>value</code> now. */
    public static void updated(Object store, Object place, long value) {
        if (place == null) {
            return;
        }
        Consumer.Place known = (Consumer.Place) place;
        try {
            Call call = OnThread.get().call;
            if (call != null) {
                call.updated = true;
            }
            if (value >= 0) {
                Consumers.of(store).record(Event.of("commit_memory", known.members).number("offset", value));
            }
        } finally {
            known.offset.unlock();
        }
    }

    /** OF-5: an offset was sent to the broker. */
    public static void sent(Object store, Object queue, long offset) {
        tell(store, queue, offset, OnThread.get().why);
    }

    /** OF-10: the file was written, with these queues among others. */
    public static void written(Object store) {
        Consumer consumer = Consumers.of(store);
        if (consumer != null) {
            consumer.record(consumer.event("file_persist"));
        }
    }

    /** OF-10: what is in the file, by queue; null where this release of RocketMQ reads it in another way. */
    public static Map<?, ?> file(Object store) throws ReflectiveOperationException {
        Method read;
        try {
            read = store.getClass().getDeclaredMethod("readLocalOffset");
        } catch (NoSuchMethodException other) {
            return null;
        }
        read.setAccessible(true);
        Object file = read.invoke(store);
        return file == null ? Collections.emptyMap() : (Map<?, ?>) Reflect.call(file, "getOffsetTable");
    }

    /**
     * OF-10: the file was written when the offset in memory was <code>had</code>, and is <code>has</code> now.
     *
     * <p>Another process may write the same file (OF-11): then there may be a lower one, which is not ours.
     */
    public static void inFile(Object store, Object queue, long had, long has, Map<?, ?> file) {
        if (file == null) {
            tell(store, queue, has, "file");
            return;
        }
        Object known = file.get(queue);
        long offset = known == null ? -1 : ((Number) known).longValue();
        if (offset >= had) {
            tell(store, queue, Math.min(offset, has), "file");
        }
    }

    private static void tell(Object store, Object queue, long offset, String path) {
        Consumer consumer = Consumers.of(store);
        if (consumer != null && offset >= 0) {
            consumer.record(consumer.event("commit", queue).number("offset", offset).text("path", path));
        }
    }

    /** OF-31: the broker tells the client to what offset an operator sets a queue. */
    public static void reset(String client, String group, Object queue, long offset)
            throws ReflectiveOperationException {
        Consumer consumer = Consumers.of(client, group);
        if (consumer != null) {
            // An event of the broker, as the client was told: who acts is not the client.
            consumer.record(Event.of("reset")
                    .text("group", group)
                    .text("topic", Reflect.text(queue, "getTopic"))
                    .text("broker", Reflect.text(queue, "getBrokerName"))
                    .number("queue", Reflect.number(queue, "getQueueId"))
                    .number("offset", offset)
                    .text("detail", "as " + client + " was told"));
        }
    }
}
