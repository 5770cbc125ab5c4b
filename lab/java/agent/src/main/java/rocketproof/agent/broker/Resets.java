package rocketproof.agent.broker;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import net.bytebuddy.asm.Advice;
import org.apache.rocketmq.common.message.MessageQueue;
import rocketproof.agent.Event;
import rocketproof.agent.Reflect;

/**
 * A reset that the broker orders its clients to do, and does not store itself (OF-31): the only way of 4.x, and that of
 * 5.x without useServerSideResetOffset.
 */
public final class Resets {
    private static final ThreadLocal<Order> ORDER = new ThreadLocal<>();

    private Resets() {
    }

    private static final class Order {
        final BrokerFile file;
        final String group;
        final List<Event> events = new ArrayList<>();

        Order(BrokerFile file, String group) {
            this.file = file;
            this.group = group;
        }
    }

    /** Broker2Client#resetOffset(topic, group, timeStamp, isForce, isC). */
    public static final class Ordering {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object broker, @Advice.Argument(1) String group) {
            Resets.begins(broker, group);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Return Object response) {
            Resets.ends(response);
        }
    }

    /** ResetOffsetBody#setOffsetTable: the offsets are known, and go to the clients next. */
    public static final class Counting {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.Argument(0) Object offsets) {
            Resets.counted(offsets);
        }
    }

    /** An operator asks for a reset. */
    public static void begins(Object broker, String group) {
        try {
            ORDER.set(new Order(BrokerFile.ofPart(broker), group));
        } catch (Throwable error) {
            BrokerFile.trouble("Broker2Client#resetOffset", error);
        }
    }

    /** The offsets that clients are told; when they are told is when the reset happens. */
    public static void counted(Object offsets) {
        Order order = ORDER.get();
        // The answer to the operator has them once more.
        if (order == null || !order.events.isEmpty()) {
            return;
        }
        try {
            for (Map.Entry<?, ?> each : ((Map<?, ?>) offsets).entrySet()) {
                MessageQueue queue = (MessageQueue) each.getKey();
                order.events.add(Offsets.event(
                        order.file, "reset", order.group, queue.getTopic(), queue.getQueueId(), (Long) each.getValue()));
            }
        } catch (Throwable error) {
            BrokerFile.trouble("ResetOffsetBody#setOffsetTable", error);
        }
    }

    /** The clients were told, unless there are none: then the broker answers with an error code. */
    public static void ends(Object response) {
        Order order = ORDER.get();
        ORDER.remove();
        try {
            if (order != null && response != null && (Integer) Reflect.call(response, "getCode") == 0) {
                for (Event event : order.events) {
                    order.file.record(event);
                }
            }
        } catch (Throwable error) {
            BrokerFile.trouble("Broker2Client#resetOffset", error);
        }
    }
}
