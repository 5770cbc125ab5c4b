package rocketproof.agent.broker;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import net.bytebuddy.asm.Advice;
import rocketproof.agent.Event;
import rocketproof.agent.Reflect;

/** The broker's table of offsets: what clients commit, and what an operator sets there (OF-20, OF-30). */
public final class Offsets {
    /**
     * A queue's offset is written and recorded under one lock, so that the last event has the last offset. It is held
     * for a few microseconds, and only those who write the offset of the same queue, or of one in 256, meet there.
     */
    private static final ReentrantLock[] LOCKS = new ReentrantLock[256];

    private static final ThreadLocal<Boolean> PULLS = new ThreadLocal<>();

    static {
        for (int at = 0; at < LOCKS.length; at++) {
            LOCKS[at] = new ReentrantLock();
        }
    }

    private Offsets() {
    }

    /** ConsumerOffsetManager#commitOffset(clientHost, group, topic, queueId, offset). */
    public static final class Committing {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static Object enter(
                @Advice.Argument(1) String group, @Advice.Argument(2) String topic, @Advice.Argument(3) int queue) {
            return Offsets.lock(group, topic, queue);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(
                @Advice.This Object manager,
                @Advice.Enter Object lock,
                @Advice.Argument(0) String address,
                @Advice.Argument(1) String group,
                @Advice.Argument(2) String topic,
                @Advice.Argument(3) int queue,
                @Advice.Argument(4) long offset,
                @Advice.Thrown Throwable thrown) {
            Offsets.committed(manager, lock, address, group, topic, queue, offset, thrown);
        }
    }

    /** ConsumerOffsetManager#assignResetOffset(topic, group, queueId, offset) of 5.x. */
    public static final class Assigning {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static Object enter(
                @Advice.Argument(0) String topic, @Advice.Argument(1) String group, @Advice.Argument(2) int queue) {
            return Offsets.lock(group, topic, queue);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(
                @Advice.This Object manager,
                @Advice.Enter Object lock,
                @Advice.Argument(0) String topic,
                @Advice.Argument(1) String group,
                @Advice.Argument(2) int queue,
                @Advice.Argument(3) long offset,
                @Advice.Thrown Throwable thrown) {
            Offsets.assigned(manager, lock, group, topic, queue, offset, thrown);
        }
    }

    /**
     * Methods of ConsumerOffsetManager that remove offsets of a group or topic, or copy those of another group. None of
     * them tells the clients, which go on with the offsets in their memory.
     */
    public static final class Replacing {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static Object enter(@Advice.This Object manager) {
            return Offsets.before(manager);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.This Object manager, @Advice.Enter Object before) {
            Offsets.replaced(manager, before);
        }
    }

    /** PullMessageProcessor: what is committed inside came with a pull. */
    public static final class Pulling {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static boolean enter() {
            return Offsets.pulls(true);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter boolean before) {
            Offsets.pulls(before);
        }
    }

    /** Takes the lock of a queue's offset; the answer is to be given back, and null without a topic or group. */
    public static Object lock(String group, String topic, int queue) {
        if (group == null || topic == null) {
            return null;
        }
        int hash = (group.hashCode() * 31 + topic.hashCode()) * 31 + queue;
        ReentrantLock lock = LOCKS[(hash ^ (hash >>> 16)) & (LOCKS.length - 1)];
        lock.lock();
        return lock;
    }

    /** An offset was committed. */
    public static void committed(
            Object manager,
            Object lock,
            String address,
            String group,
            String topic,
            int queue,
            long offset,
            Throwable thrown) {
        try {
            if (lock != null && thrown == null && isTold(group, topic)) {
                BrokerFile file = BrokerFile.ofPart(manager);
                Event event = event(file, "commit", group, topic, queue, offset);
                file.record(event.text("client", Clients.at(address))
                        .text("path", Boolean.TRUE.equals(PULLS.get()) ? "piggyback" : null));
            }
        } catch (Throwable error) {
            BrokerFile.trouble("ConsumerOffsetManager#commitOffset", error);
        } finally {
            unlock(lock);
        }
    }

    /** An operator has set an offset; what is illegal was ignored. */
    public static void assigned(
            Object manager, Object lock, String group, String topic, int queue, long offset, Throwable thrown) {
        try {
            boolean isLegal = queue >= 0 && offset >= 0;
            if (lock != null && thrown == null && isLegal && isTold(group, topic)) {
                BrokerFile file = BrokerFile.ofPart(manager);
                file.record(event(file, "reset", group, topic, queue, offset));
            }
        } catch (Throwable error) {
            BrokerFile.trouble("ConsumerOffsetManager#assignResetOffset", error);
        } finally {
            unlock(lock);
        }
    }

    /** The table as it is now: topic@group, and its offsets by queue. */
    public static Object before(Object manager) {
        try {
            return new HashMap<>(table(manager));
        } catch (Throwable error) {
            BrokerFile.trouble("ConsumerOffsetManager#getOffsetTable", error);
            return null;
        }
    }

    /** Offsets were removed, or replaced by those of another group. */
    public static void replaced(Object manager, Object before) {
        if (before == null) {
            return;
        }
        try {
            Map<?, ?> had = (Map<?, ?>) before;
            Set<Object> keys = new HashSet<>(had.keySet());
            keys.addAll(table(manager).keySet());
            for (Object key : keys) {
                String[] names = ((String) key).split("@");
                if (names.length == 2 && had.get(key) != table(manager).get(key) && isTold(names[1], names[0])) {
                    Set<Object> queues = new HashSet<>(offsets(had, key).keySet());
                    queues.addAll(offsets(table(manager), key).keySet());
                    for (Object queue : queues) {
                        replaced(manager, names[1], names[0], (Integer) queue);
                    }
                }
            }
        } catch (Throwable error) {
            BrokerFile.trouble("ConsumerOffsetManager#getOffsetTable", error);
        }
    }

    private static void replaced(Object manager, String group, String topic, int queue) throws Exception {
        Object lock = lock(group, topic, queue);
        try {
            Object offset = offsets(table(manager), topic + "@" + group).get(queue);
            BrokerFile file = BrokerFile.ofPart(manager);
            file.record(event(file, "commit", group, topic, queue, offset == null ? -1 : (Long) offset)
                    .text("path", "reset")
                    .text("result", offset == null ? "none" : null));
        } finally {
            unlock(lock);
        }
    }

    private static Map<?, ?> table(Object manager) throws ReflectiveOperationException {
        return (Map<?, ?>) Reflect.call(manager, "getOffsetTable");
    }

    private static Map<?, ?> offsets(Map<?, ?> table, Object key) {
        Object offsets = table.get(key);
        return offsets == null ? new HashMap<>() : (Map<?, ?>) offsets;
    }

    /** Says whether this thread serves a pull; the answer is what it was before. */
    public static boolean pulls(boolean now) {
        boolean before = Boolean.TRUE.equals(PULLS.get());
        PULLS.set(now);
        return before;
    }

    /** Whether offsets of a group and topic are recorded: those of RocketMQ itself are not. */
    static boolean isTold(String group, String topic) {
        return !group.isEmpty() && !BrokerFile.isInternalGroup(group) && !BrokerFile.isInternal(topic);
    }

    static Event event(BrokerFile file, String kind, String group, String topic, int queue, long offset) {
        return file.event(kind)
                .text("group", group)
                .text("topic", topic)
                .number("queue", queue)
                .known("offset", offset);
    }

    private static void unlock(Object lock) {
        if (lock != null) {
            ((ReentrantLock) lock).unlock();
        }
    }
}
