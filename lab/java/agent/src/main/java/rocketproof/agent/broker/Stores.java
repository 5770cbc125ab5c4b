package rocketproof.agent.broker;

import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import net.bytebuddy.asm.Advice;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageExtBatch;
import org.apache.rocketmq.common.sysflag.MessageSysFlag;
import org.apache.rocketmq.store.AppendMessageResult;
import rocketproof.agent.Event;
import rocketproof.agent.Reflect;

/**
 * What is appended to the commit log: messages, retry copies, dead letters, what waits in the schedule topic, and what
 * leaves it (SB-14, DL-3, DL-6, DQ-1).
 *
 * <p>A message that leaves the schedule topic is a delay_deliver or a dead_letter, and not a store besides.
 */
public final class Stores {
    static final String SCHEDULE = "SCHEDULE_TOPIC_XXXX";

    private static final String KEY = "UNIQ_KEY";
    private static final String REAL_TOPIC = "REAL_TOPIC";
    private static final String DUE = "computeDeliverTimestamp";

    /** What the delay service of this thread has made of a message whose time has come. */
    private static final ThreadLocal<Ready> READY = new ThreadLocal<>();

    private static final Map<Class<?>, Method> DUES = new ConcurrentHashMap<>();

    private Stores() {
    }

    private static final class Ready {
        final Object message;
        final int level;
        final long due;

        Ready(Object message, int level, long due) {
            this.message = message;
            this.level = level;
            this.due = due;
        }
    }

    /**
     * CommitLog.DefaultAppendMessageCallback#doAppend, which the commit log calls with its lock held: the order of these
     * events is the order of the log.
     */
    public static final class Appending {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static Object enter(@Advice.Argument(3) Object message) {
            return Stores.encodedBatch(message);
        }

        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(
                @Advice.This Object callback,
                @Advice.Argument(3) Object message,
                @Advice.Enter Object batch,
                @Advice.Return Object result) {
            Stores.appended(callback, message, batch, result);
        }
    }

    /** ScheduleMessageService#messageTimeUp: a message that waited becomes the message it will be. */
    public static final class TimeUp {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(
                @Advice.This Object service, @Advice.Argument(0) Object waiting, @Advice.Return Object message) {
            Stores.timeUp(service, waiting, message);
        }
    }

    /** The messages of a batch one after the other as they will be in the log; null where it is one record there. */
    public static Object encodedBatch(Object message) {
        return message instanceof MessageExtBatch && !isInner(message)
                ? ((MessageExtBatch) message).getEncodedBuff()
                : null;
    }

    /** Whether a batch stays one record of the log, as in topics whose queue.type is BatchCQ, since 5.0. */
    private static boolean isInner(Object batch) {
        try {
            return (Boolean) Reflect.call(batch, "isInnerBatch");
        } catch (ReflectiveOperationException before5) {
            return false;
        }
    }

    /** A message, or a batch, was appended. */
    public static void appended(Object callback, Object message, Object batch, Object answer) {
        try {
            AppendMessageResult result = (AppendMessageResult) answer;
            if (result == null || !result.isOk()) {
                return;
            }
            Object store = Reflect.field(Reflect.field(callback, "this$0"), "defaultMessageStore");
            BrokerFile file = BrokerFile.of(
                    Reflect.field(store, "brokerConfig"), Reflect.call(store, "getMessageStoreConfig"));
            if (batch == null) {
                MessageExt single = (MessageExt) message;
                long offset = result.getLogicsOffset();
                for (String key : keysOf(single)) {
                    stored(file, store, single, key, offset++, result.getMsgId());
                }
                return;
            }
            ByteBuffer encoded = ((ByteBuffer) batch).duplicate();
            int from = 0;
            while (from < result.getWroteBytes()) {
                encoded.limit(encoded.capacity());
                int size = encoded.getInt(from);
                encoded.position(from);
                encoded.limit(from + size);
                MessageExt each = MessageDecoder.decode(encoded, false, false);
                stored(file, store, each, each.getProperty(KEY), each.getQueueOffset(), each.getMsgId());
                from += size;
            }
        } catch (Throwable error) {
            BrokerFile.trouble("CommitLog", error);
        }
    }

    /** The unique keys of what one record of the log holds: a batch inside has an offset for each of its messages. */
    private static List<String> keysOf(MessageExt record) throws Exception {
        if (!(record instanceof MessageExtBatch)) {
            return Collections.singletonList(record.getProperty(KEY));
        }
        List<String> keys = new ArrayList<>();
        for (Message each : MessageDecoder.decodeMessages(ByteBuffer.wrap(record.getBody()))) {
            keys.add(each.getProperty(KEY));
        }
        return keys;
    }

    /** The time of a message has come; it will be appended next, or again if that fails. */
    public static void timeUp(Object service, Object waiting, Object message) {
        try {
            MessageExt stored = (MessageExt) waiting;
            int level = levelOf(stored);
            READY.set(new Ready(message, level, due(service, level, stored.getStoreTimestamp())));
        } catch (Throwable error) {
            BrokerFile.trouble("ScheduleMessageService", error);
        }
    }

    private static void stored(
            BrokerFile file, Object store, MessageExt message, String key, long offset, String id)
            throws ReflectiveOperationException {
        int transaction = MessageSysFlag.getTransactionValue(message.getSysFlag());
        boolean isQueued = transaction == MessageSysFlag.TRANSACTION_NOT_TYPE
                || transaction == MessageSysFlag.TRANSACTION_COMMIT_TYPE;
        String topic = message.getTopic();
        if (topic.equals(SCHEDULE)) {
            waits(file, store, message, key, id);
        } else if (isQueued && !BrokerFile.isInternal(topic)) {
            Ready ready = READY.get();
            boolean waited = ready != null && ready.message == message;
            Event event = file.event(kindOf(topic, waited), topic)
                    .number("queue", message.getQueueId())
                    .number("offset", offset);
            if (waited) {
                READY.remove();
                event.number("level", ready.level).number("due", ready.due);
            }
            record(file, event, message, key, id);
        }
    }

    private static String kindOf(String topic, boolean waited) {
        if (BrokerFile.isDeadLetter(topic)) {
            return "dead_letter";
        }
        return waited ? "delay_deliver" : "store";
    }

    private static void waits(BrokerFile file, Object store, MessageExt message, String key, String id)
            throws ReflectiveOperationException {
        String topic = message.getProperty(REAL_TOPIC);
        if (topic == null || BrokerFile.isInternal(topic)) {
            return;
        }
        int level = levelOf(message);
        Event event = file.event("delay_store", topic)
                .number("level", level)
                .number("due", due(scheduleOf(store), level, message.getStoreTimestamp()));
        record(file, event, message, key, id);
    }

    private static void record(BrokerFile file, Event event, MessageExt message, String key, String id) {
        event.text("key", key).number("attempt", message.getReconsumeTimes());
        file.record(event.text("msg_id", id));
    }

    /** ScheduleMessageService#queueId2DelayLevel: the queue of the schedule topic is the level, from 1 on. */
    private static int levelOf(MessageExt waiting) {
        return waiting.getQueueId() + 1;
    }

    /** Who knows the delays: in 5.x the message store, in 4.x its delay service. */
    private static Object scheduleOf(Object store) throws ReflectiveOperationException {
        try {
            dueOf(store.getClass());
            return store;
        } catch (NoSuchMethodException before5) {
            return Reflect.call(store, "getScheduleMessageService");
        }
    }

    private static long due(Object schedule, int level, long storedAt) throws ReflectiveOperationException {
        return Event.stamp((Long) dueOf(schedule.getClass()).invoke(schedule, level, storedAt));
    }

    private static Method dueOf(Class<?> type) throws NoSuchMethodException {
        Method found = DUES.get(type);
        if (found == null) {
            found = type.getMethod(DUE, int.class, long.class);
            DUES.put(type, found);
        }
        return found;
    }
}
