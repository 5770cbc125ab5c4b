package rocketproof.agent.client;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * Windows: what enters and leaves them, and how they are dropped.
 *
 * <p>Advice takes the window's own lock around RocketMQ's method, which takes it again, and records before it gives it
 * back: so the order in the file is the order in which it happened. Nothing else is locked under it.
 */
public final class Windows {
    private static final Weak<Window> KNOWN = new Weak<>();
    private static final long[] NOTHING = {};

    private Windows() {
    }

    /** The window of a ProcessQueue, or null where it is not of a consumer that is recorded. */
    static Window of(Object processQueue) {
        return KNOWN.get(processQueue);
    }

    /** The window of a ProcessQueue, which is known from now on; null where the consumer is not recorded. */
    static Window know(Consumer consumer, Object queue, Object processQueue) {
        Window known = KNOWN.get(processQueue);
        if (known != null || consumer == null) {
            return known;
        }
        Window fresh = new Window(consumer, queue);
        Window first = KNOWN.putIfAbsent(processQueue, fresh);
        return first != null ? first : fresh;
    }

    /** Takes the lock of a window that is recorded; the answer is whether it was taken. */
    public static boolean lock(Object processQueue, ReadWriteLock lock) {
        if (of(processQueue) == null) {
            return false;
        }
        lock.writeLock().lock();
        return true;
    }

    /**
     * Takes the lock before messages are removed.
     *
     * @return those of the offsets that are there; null where the lock was not taken
     */
    public static long[] beforeRemoval(Object processQueue, ReadWriteLock lock, TreeMap<Long, ?> tree, long[] offsets) {
        if (!lock(processQueue, lock)) {
            return null;
        }
        try {
            int count = 0;
            for (long offset : offsets) {
                if (tree.containsKey(offset)) {
                    offsets[count++] = offset;
                }
            }
            return count == offsets.length ? offsets : Arrays.copyOf(offsets, count);
        } catch (Throwable unexpected) {
            return NOTHING;
        }
    }

    /** Takes the lock before what an orderly listener has taken is removed; the answer is as above. */
    public static long[] beforeCommit(Object processQueue, ReadWriteLock lock, TreeMap<Long, ?> taken) {
        if (!lock(processQueue, lock)) {
            return null;
        }
        try {
            return taken.keySet().stream().mapToLong(Long::longValue).toArray();
        } catch (Throwable unexpected) {
            return NOTHING;
        }
    }

    /** PQ-2: messages were removed; gives the lock back. Nothing is recorded where the mark is negative. */
    public static void afterRemoval(Object processQueue, ReadWriteLock lock, long[] offsets, long mark) {
        if (offsets == null) {
            return;
        }
        try {
            Window window = of(processQueue);
            if (mark >= 0 && window != null) {
                for (long offset : offsets) {
                    window.record(window.event("removed").number("offset", offset).number("next", mark));
                }
            }
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** The low-water mark of a window: its smallest offset, or else the one behind the last that was put (PQ-2). */
    public static long mark(TreeMap<Long, ?> tree, long last) {
        Map.Entry<Long, ?> first = tree.firstEntry();
        return first != null ? first.getKey() : last + 1;
    }

    /**
     * Takes the lock before a window is dropped; the answer is whether it was taken. A window that is dropped already is
     * not dropped again.
     */
    public static boolean beforeDrop(Object processQueue, ReadWriteLock lock, boolean drop, boolean dropped) {
        return drop && !dropped && lock(processQueue, lock);
    }

    /** RB-30: the window is dropped; gives the lock back. */
    public static void afterDrop(Object processQueue, ReadWriteLock lock, boolean locked) {
        if (!locked) {
            return;
        }
        try {
            Window window = of(processQueue);
            OnThread now = OnThread.get();
            // Only an answer to a pull drops a window without a reason: its offset is illegal (PL-19).
            String path = now.why == null ? "correction" : now.why;
            if (path.equals("removal") && now.assigned != null && now.assigned.contains(window.queue)) {
                path = "expired";
            }
            window.record(window.event("revoke").text("path", path));
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** OR-9: a window is not locked any more; it is a loss where all locks are being renewed. */
    public static void unlocked(Object processQueue, boolean before, boolean after) {
        if (before && !after && OnThread.get().renewing) {
            lockLost(processQueue);
        }
    }

    /** OR-5: the client finds its lock expired, before it would consume. */
    public static void lockLost(Object processQueue) {
        Window window = of(processQueue);
        if (window != null) {
            window.record(window.event("lock_lost"));
        }
    }
}
