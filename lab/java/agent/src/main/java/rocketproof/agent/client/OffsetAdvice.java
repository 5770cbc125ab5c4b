package rocketproof.agent.client;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import net.bytebuddy.asm.Advice;
import org.apache.rocketmq.client.consumer.store.OffsetStore;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.message.MessageQueue;
import rocketproof.agent.Event;

/** Advice for offset stores: see {@link Offsets}. */
final class OffsetAdvice {
    private OffsetAdvice() {
    }

    /** Around fetchConsumeOffsetFromBroker of RemoteBrokerOffsetStore. */
    static final class Query {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter() {
            return Event.stamp(System.currentTimeMillis());
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(
                @Advice.This Object store,
                @Advice.Argument(0) Object queue,
                @Advice.Enter long asked,
                @Advice.Return long offset,
                @Advice.Thrown Throwable error) {
            Offsets.queried(store, queue, asked, offset, error);
        }
    }

    /** Around updateOffset and updateAndFreezeOffset of both stores. */
    static final class Update {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static Object enter(
                @Advice.This Object store, @Advice.Argument(0) Object queue, @Advice.Argument(1) long offset) {
            return Offsets.updating(store, queue, offset);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(
                @Advice.This OffsetStore store, @Advice.Argument(0) MessageQueue queue, @Advice.Enter Object place) {
            if (place != null) {
                Offsets.updated(store, place, store.readOffset(queue, ReadOffsetType.READ_FROM_MEMORY));
            }
        }
    }

    /** After updateConsumeOffsetToBroker of RemoteBrokerOffsetStore, the form that sends. */
    static final class Send {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(
                @Advice.This Object store, @Advice.Argument(0) Object queue, @Advice.Argument(1) long offset) {
            Offsets.sent(store, queue, offset);
        }
    }

    /** Around persistAll of RemoteBrokerOffsetStore: every 5 s, unless there is another reason. */
    static final class PersistAll {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static String enter() {
            return OnThread.unlessBecause("periodic");
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter String before) {
            OnThread.back(before);
        }
    }

    /** Around persistAll of LocalFileOffsetStore. */
    static final class WriteAll {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static Map<MessageQueue, Long> enter(
                @Advice.This OffsetStore store, @Advice.Argument(0) Set<MessageQueue> queues) {
            Map<MessageQueue, Long> had = new HashMap<>();
            if (queues != null) {
                for (MessageQueue queue : queues) {
                    had.put(queue, store.readOffset(queue, ReadOffsetType.READ_FROM_MEMORY));
                }
            }
            return had;
        }

        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This OffsetStore store, @Advice.Enter Map<MessageQueue, Long> had)
                throws ReflectiveOperationException {
            if (!had.isEmpty()) {
                Offsets.written(store);
                Map<?, ?> file = Offsets.file(store);
                for (Map.Entry<MessageQueue, Long> each : had.entrySet()) {
                    long has = store.readOffset(each.getKey(), ReadOffsetType.READ_FROM_MEMORY);
                    Offsets.inFile(store, each.getKey(), each.getValue(), has, file);
                }
            }
        }
    }

    /** Around persist of LocalFileOffsetStore. */
    static final class Write {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(@Advice.This OffsetStore store, @Advice.Argument(0) MessageQueue queue) {
            return store.readOffset(queue, ReadOffsetType.READ_FROM_MEMORY);
        }

        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(
                @Advice.This OffsetStore store, @Advice.Argument(0) MessageQueue queue, @Advice.Enter long had)
                throws ReflectiveOperationException {
            long has = store.readOffset(queue, ReadOffsetType.READ_FROM_MEMORY);
            if (has >= 0) {
                Offsets.written(store);
                Offsets.inFile(store, queue, had, has, Offsets.file(store));
            }
        }
    }

    /** Around resetOffset of MQClientInstance. */
    static final class Reset {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static String enter(
                @Advice.This MQClientInstance instance,
                @Advice.Argument(1) String group,
                @Advice.Argument(2) Map<MessageQueue, Long> offsets)
                throws ReflectiveOperationException {
            for (Map.Entry<MessageQueue, Long> each : offsets.entrySet()) {
                Offsets.reset(instance.getClientId(), group, each.getKey(), each.getValue());
            }
            return OnThread.because("reset");
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter String before) {
            OnThread.back(before);
        }
    }
}
