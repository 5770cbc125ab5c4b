package rocketproof.agent.client;

import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.locks.ReadWriteLock;
import net.bytebuddy.asm.Advice;
import org.apache.rocketmq.common.message.MessageExt;

/** Advice for ProcessQueue: see {@link Windows} and {@link Calls}. */
final class WindowAdvice {
    private WindowAdvice() {
    }

    /** Around putMessage. */
    static final class Put {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static boolean enter(@Advice.This Object queue, @TreeLock.Of ReadWriteLock lock) {
            return Windows.lock(queue, lock);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(
                @Advice.This Object queue,
                @TreeLock.Of ReadWriteLock lock,
                @Advice.Enter boolean locked) {
            Pulls.put(queue, lock, locked);
        }
    }

    /** Around removeMessage. */
    static final class Remove {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long[] enter(
                @Advice.This Object queue,
                @TreeLock.Of ReadWriteLock lock,
                @Advice.FieldValue("msgTreeMap") TreeMap<Long, MessageExt> tree,
                @Advice.Argument(0) List<MessageExt> messages) {
            long[] offsets = new long[messages.size()];
            for (int at = 0; at < offsets.length; at++) {
                offsets[at] = messages.get(at).getQueueOffset();
            }
            return Windows.beforeRemoval(queue, lock, tree, offsets);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(
                @Advice.This Object queue,
                @TreeLock.Of ReadWriteLock lock,
                @Advice.Return long mark,
                @Advice.Enter long[] offsets) {
            Windows.afterRemoval(queue, lock, offsets, mark);
        }
    }

    /** Around commit. */
    static final class Commit {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long[] enter(
                @Advice.This Object queue,
                @TreeLock.Of ReadWriteLock lock,
                @Advice.FieldValue("consumingMsgOrderlyTreeMap") TreeMap<Long, MessageExt> taken) {
            return Windows.beforeCommit(queue, lock, taken);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(
                @Advice.This Object queue,
                @TreeLock.Of ReadWriteLock lock,
                @Advice.FieldValue("msgTreeMap") TreeMap<Long, MessageExt> tree,
                @Advice.FieldValue("queueOffsetMax") long last,
                @Advice.Return long committed,
                @Advice.Enter long[] offsets) {
            Windows.afterRemoval(queue, lock, offsets, committed < 0 ? -1 : Windows.mark(tree, last));
        }
    }

    /** Before rollback. */
    static final class Rollback {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(
                @Advice.This Object queue,
                @Advice.FieldValue("consumingMsgOrderlyTreeMap") TreeMap<Long, MessageExt> taken) {
            Call earlier = Calls.rolledBack(queue, taken.size());
            if (earlier != null) {
                for (MessageExt message : taken.values()) {
                    if (Calls.isEarlier(message.getQueueOffset())) {
                        earlier.add(message.getQueueOffset(), message.getReconsumeTimes(), message.getMsgId());
                    }
                }
                Calls.rolledBack(earlier);
            }
        }
    }

    /** After takeMessages. */
    static final class Take {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This Object queue, @Advice.Return List<MessageExt> messages) {
            Call call = Calls.taken(queue);
            if (call != null) {
                for (MessageExt message : messages) {
                    call.add(message.getQueueOffset(), message.getReconsumeTimes(), message.getMsgId());
                }
            }
        }
    }

    /** Around setDropped. */
    static final class Drop {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static boolean enter(
                @Advice.This Object queue,
                @TreeLock.Of ReadWriteLock lock,
                @Advice.FieldValue("dropped") boolean dropped,
                @Advice.Argument(0) boolean drop) {
            return Windows.beforeDrop(queue, lock, drop, dropped);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(
                @Advice.This Object queue,
                @TreeLock.Of ReadWriteLock lock,
                @Advice.Enter boolean locked) {
            Windows.afterDrop(queue, lock, locked);
        }
    }

    /** Around setLocked. */
    static final class SetLocked {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static boolean enter(@Advice.FieldValue("locked") boolean before) {
            return before;
        }

        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(
                @Advice.This Object queue, @Advice.Argument(0) boolean after, @Advice.Enter boolean before) {
            Windows.unlocked(queue, before, after);
        }
    }

    /** Around cleanExpiredMsg. */
    static final class Clean {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object queue) {
            SendBack.cleaning(queue);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit() {
            SendBack.cleaning(null);
        }
    }
}
