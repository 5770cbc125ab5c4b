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

    /** Begins the names of LMQ's topics, and of the groups that read them (MixAll#isLmq). */
    private static final String LMQ = "%LMQ%";

    /** On which way this thread commits; null if it is not known. */
    private static final ThreadLocal<String> PATH = new ThreadLocal<>();

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
            Long stored = Offsets.stored(manager, group, topic, queue, offset);
            Offsets.committed(manager, lock, address, group, topic, queue, stored, thrown);
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
        static String enter() {
            return Offsets.on("piggyback");
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter String before) {
            Offsets.on(before);
        }
    }

    /**
     * Takes the lock of a queue's offset; the answer is to be given back. It is null where nothing is to be recorded:
     * without a topic or group, and within a method of a subclass, which calls that of its superclass.
     */
    public static Object lock(String group, String topic, int queue) {
        if (group == null || topic == null) {
            return null;
        }
        int hash = (group.hashCode() * 31 + topic.hashCode()) * 31 + queue;
        ReentrantLock lock = LOCKS[(hash ^ (hash >>> 16)) & (LOCKS.length - 1)];
        if (lock.isHeldByCurrentThread()) {
            return null;
        }
        lock.lock();
        return lock;
    }

    /**
     * What the broker has for a queue after a commit, which may not be what it was asked to have; null if it has nothing.
     * A queue of LMQ is in no table that all releases have, so what was asked for is taken.
     */
    public static Long stored(Object manager, String group, String topic, int queue, long asked) {
        try {
            if (group == null || topic == null || group.startsWith(LMQ) || topic.startsWith(LMQ)) {
                return asked;
            }
            return (Long) offsets(table(manager), topic + "@" + group).get(queue);
        } catch (Throwable error) {
            BrokerFile.trouble("ConsumerOffsetManager#getOffsetTable", error);
            return asked;
        }
    }

    /** An offset was committed. Nothing is recorded of a commit after which the broker has no offset. */
    public static void committed(
            Object manager,
            Object lock,
            String address,
            String group,
            String topic,
            int queue,
            Long offset,
            Throwable thrown) {
        try {
            if (lock != null && thrown == null && offset != null && isTold(group, topic)) {
                BrokerFile file = BrokerFile.ofPart(manager);
                Event event = event(file, "commit", group, topic, queue, offset);
                String path = PATH.get();
                file.record(event.text("client", Clients.at(address))
                        .text("path", path)
                        .text("result", offset < 0 && "reset".equals(path) ? "none" : null));
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

    /** Offsets were removed, or replaced by those of another group: each is recorded as it is now. */
    public static void replaced(Object manager, Object before) {
        try {
            Map<?, ?> had = (Map<?, ?>) before;
            Map<?, ?> has = table(manager);
            Set<Object> keys = new HashSet<>(had.keySet());
            keys.addAll(has.keySet());
            for (Object key : keys) {
                String[] names = ((String) key).split("@");
                if (names.length == 2 && had.get(key) != has.get(key)) {
                    Set<Object> queues = new HashSet<>(offsets(had, key).keySet());
                    queues.addAll(offsets(has, key).keySet());
                    for (Object queue : queues) {
                        replaced(manager, has, names[1], names[0], (Integer) queue);
                    }
                }
            }
        } catch (Throwable error) {
            BrokerFile.trouble("ConsumerOffsetManager#getOffsetTable", error);
        }
    }

    private static void replaced(Object manager, Map<?, ?> has, String group, String topic, int queue) {
        String before = on("reset");
        Object lock = lock(group, topic, queue);
        Long offset = (Long) offsets(has, topic + "@" + group).get(queue);
        committed(manager, lock, null, group, topic, queue, offset == null ? Long.valueOf(-1) : offset, null);
        on(before);
    }

    private static Map<?, ?> table(Object manager) throws ReflectiveOperationException {
        return (Map<?, ?>) Reflect.call(manager, "getOffsetTable");
    }

    private static Map<?, ?> offsets(Map<?, ?> table, Object key) {
        Object offsets = table.get(key);
        return offsets == null ? new HashMap<>() : (Map<?, ?>) offsets;
    }

    /** Says on which way this thread commits from now on; the answer is what it was before. */
    public static String on(String path) {
        String before = PATH.get();
        PATH.set(path);
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
