package rocketproof.driver;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/**
 * Calls whose parameter or result types moved from {@code common.protocol} (4.9) to {@code remoting.protocol} (5.x):
 * found by name, so that one build runs with both.
 */
final class Moved {
    private Moved() {
    }

    /** {@code DefaultMQPushConsumer#setMessageModel}. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    static void setMessageModel(DefaultMQPushConsumer consumer, String model) throws Exception {
        Method setter = method(consumer, "setMessageModel", 1);
        Class<?> type = setter.getParameterTypes()[0];
        for (Object constant : type.getEnumConstants()) {
            if (((Enum) constant).name().equals(model)) {
                setter.invoke(consumer, constant);
                return;
            }
        }
        throw new IllegalArgumentException("no message model " + model);
    }

    /** {@code DefaultMQAdminExt#createAndUpdateSubscriptionGroupConfig} with the defaults of the release. */
    static void createGroup(DefaultMQAdminExt admin, String broker, String group, int retryQueues) throws Exception {
        Method create = method(admin, "createAndUpdateSubscriptionGroupConfig", 2);
        Object config = create.getParameterTypes()[1].getDeclaredConstructor().newInstance();
        method(config, "setGroupName", 1).invoke(config, group);
        method(config, "setRetryQueueNums", 1).invoke(config, retryQueues);
        call(create, admin, broker, config);
    }

    /** Stored offsets of a group, by queue: {@code DefaultMQAdminExt#examineConsumeStats}. */
    static Map<MessageQueue, Long> storedOffsets(DefaultMQAdminExt admin, String group) throws Exception {
        Object stats = call(admin.getClass().getMethod("examineConsumeStats", String.class), admin, group);
        Map<?, ?> table = (Map<?, ?>) method(stats, "getOffsetTable", 0).invoke(stats);
        Map<MessageQueue, Long> stored = new HashMap<>();
        for (Map.Entry<?, ?> entry : table.entrySet()) {
            Object wrapper = entry.getValue();
            stored.put((MessageQueue) entry.getKey(), (Long) method(wrapper, "getConsumerOffset", 0).invoke(wrapper));
        }
        return stored;
    }

    /** What a broker says of itself: {@code DefaultMQAdminExt#fetchBrokerRuntimeStats}. */
    static Map<?, ?> runtimeStats(DefaultMQAdminExt admin, String broker) throws Exception {
        Object table = call(method(admin, "fetchBrokerRuntimeStats", 1), admin, broker);
        return (Map<?, ?>) method(table, "getTable", 0).invoke(table);
    }

    private static Method method(Object target, String name, int parameters) throws NoSuchMethodException {
        for (Method each : target.getClass().getMethods()) {
            if (each.getName().equals(name) && each.getParameterCount() == parameters) {
                return each;
            }
        }
        throw new NoSuchMethodException(target.getClass() + "#" + name + " with " + parameters + " parameters");
    }

    private static Object call(Method method, Object target, Object... arguments) throws Exception {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException failure) {
            if (failure.getCause() instanceof Exception) {
                throw (Exception) failure.getCause();
            }
            throw failure;
        }
    }
}
