package rocketproof.agent.client;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import rocketproof.agent.Agent;
import rocketproof.agent.Event;
import rocketproof.agent.Reflect;

/** Lives of consumers: start, heartbeats, routes, departure and stop (ST-1 to ST-9). */
public final class Lives {
    /** How long a stop waits until everything is in the file, ms: the JVM may end right after it. */
    private static final long LAST = 500;

    private Lives() {
    }

    /** ST-1: the client instance has a consumer of that group from now on. */
    public static void started(Object impl) throws ReflectiveOperationException {
        Consumer consumer = Consumers.know(impl);
        if (consumer != null) {
            consumer.record(consumer.event("client_start"));
            if (consumer.broadcasting) {
                // OF-10: it was read just before.
                consumer.record(consumer.event("file_load"));
            }
        }
    }

    /**
     * A consumer that started before the agent came; its queues are told as taken, from where is not known.
     *
     * @return the window of that ProcessQueue
     */
    static Window adopt(Object impl, Object queue, Object processQueue) throws ReflectiveOperationException {
        boolean isNew = Consumers.of(impl) == null;
        Consumer consumer = Consumers.know(impl);
        if (consumer == null) {
            return null;
        }
        Object rebalance = Reflect.call(impl, "getRebalanceImpl");
        if (isNew) {
            Calls.recordFromNowOn(Reflect.field(impl, "consumeMessageService"));
            consumer.record(consumer.event("heartbeat").texts("subscriptions", consumer.subscriptions()));
            for (Map.Entry<?, ?> each : ((Map<?, ?>) Reflect.call(rebalance, "getProcessQueueTable")).entrySet()) {
                Rebalances.taken(rebalance, each.getKey(), each.getValue(), -1);
            }
        }
        return Windows.know(consumer, queue, processQueue);
    }

    /** ST-4: a heartbeat was answered by a broker. */
    public static void beat(String address, Object data) throws ReflectiveOperationException {
        String client = Reflect.text(data, "getClientID");
        for (Object each : (Collection<?>) Reflect.call(data, "getConsumerDataSet")) {
            Consumer consumer = Consumers.of(client, Reflect.text(each, "getGroupName"));
            if (consumer != null) {
                Event event = consumer.event("heartbeat").texts("subscriptions", consumer.subscriptions());
                String broker = consumer.masterAt(address);
                if (broker != null) {
                    event.text("broker", broker);
                }
                consumer.record(event.text("detail", "to " + address));
            }
        }
    }

    /** ST-3: the client has other queues for the topic. */
    public static void routed(Object impl, String topic, Collection<?> queues) throws ReflectiveOperationException {
        Consumer consumer = Consumers.of(impl);
        if (consumer == null || !((Map<?, ?>) Reflect.call(impl, "getSubscriptionInner")).containsKey(topic)) {
            return;
        }
        List<String> words = Consumer.spelled(queues);
        if (consumer.isNews(topic, words)) {
            consumer.record(consumer.event("route").text("topic", topic).texts("queues", words));
        }
    }

    /** ST-8 (3): the client leaves the group. */
    public static void unregisters(String client, String group) {
        Consumer consumer = Consumers.of(client, group);
        if (consumer != null) {
            consumer.record(consumer.event("unregister"));
        }
    }

    /** ST-8: an orderly stop begins; the answer is whether the consumer runs. */
    public static boolean stops(Object impl) throws ReflectiveOperationException {
        return Consumers.of(impl) != null && Reflect.call(impl, "getServiceState").toString().equals("RUNNING");
    }

    /** ST-8 (5): it is complete. */
    public static void stopped(Object impl) {
        Consumer consumer = Consumers.of(impl);
        if (consumer != null) {
            consumer.record(consumer.event("client_stop"));
            Consumers.forget(consumer);
            Agent.recorder().flush(LAST);
        }
    }
}
