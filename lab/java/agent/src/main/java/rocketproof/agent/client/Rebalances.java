package rocketproof.agent.client;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import rocketproof.agent.Reflect;

/** Rebalances: what a pass saw and answered, queues that are taken, and the broker's locks (RB-1 to RB-40, OR-1). */
public final class Rebalances {
    private Rebalances() {
    }

    /** RB-4: a pass over one topic begins; these are its queues, null where they are not known. */
    public static void begin(Collection<?> queues) {
        OnThread now = OnThread.get();
        now.seen = queues == null ? null : new ArrayList<>(queues);
        now.members = null;
    }

    /** RB-4: the pass has asked for the members of the group. */
    public static void asked(List<String> members) {
        if (members != null) {
            List<String> sorted = new ArrayList<>(members);
            Collections.sort(sorted);
            OnThread.get().members = sorted;
        }
    }

    /**
     * RB-6, RB-30: the pass knows what the client shall have, and begins to act upon it.
     *
     * <p>A route may arrive between {@link #begin} and the moment when the pass reads the queues: then they are those
     * that the table has now.
     */
    public static void divided(Object rebalance, String topic, Collection<?> queues, Set<?> assigned)
            throws ReflectiveOperationException {
        OnThread now = OnThread.get();
        now.assigned = assigned;
        if (now.seen == null && queues != null) {
            now.seen = new ArrayList<>(queues);
        }
        Consumer consumer = Consumers.of(rebalance);
        if (consumer != null && now.seen != null) {
            consumer.record(consumer.event("rebalance")
                    .text("topic", topic)
                    .texts("members", consumer.broadcasting ? null : now.members)
                    .texts("queues", Consumer.spelled(now.seen))
                    .texts("assigned", Consumer.spelled(assigned))
                    .text("detail", consumer.strategy));
        }
    }

    /** The pass has acted. */
    public static void acted() {
        OnThread.get().assigned = null;
    }

    /** RB-30: a queue has entered the table. */
    public static void taken(Object rebalance, Object queue, Object processQueue, long offset) {
        Window window = Windows.know(Consumers.of(rebalance), queue, processQueue);
        if (window != null) {
            window.record(window.event("assign").known("offset", offset));
        }
    }

    /** OR-1: the answer to a request for locks: those that were granted; null where it failed. */
    public static void locked(Object body, Set<?> granted) throws ReflectiveOperationException {
        Consumer consumer = consumerOf(body);
        if (consumer != null) {
            for (Object queue : (Set<?>) Reflect.call(body, "getMqSet")) {
                String result = granted == null ? "error" : granted.contains(queue) ? "ok" : "failed";
                consumer.record(consumer.event("lock", queue).text("result", result));
            }
        }
    }

    /** OR-1: locks are given back. */
    public static void unlocked(Object body) throws ReflectiveOperationException {
        Consumer consumer = consumerOf(body);
        if (consumer != null) {
            for (Object queue : (Set<?>) Reflect.call(body, "getMqSet")) {
                consumer.record(consumer.event("unlock", queue));
            }
        }
    }

    private static Consumer consumerOf(Object body) throws ReflectiveOperationException {
        return Consumers.of(Reflect.text(body, "getClientId"), Reflect.text(body, "getConsumerGroup"));
    }
}
