package rocketproof.agent.client;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import rocketproof.agent.Reflect;

/** The consumers of this JVM that are recorded, by the objects of RocketMQ that belong to them. */
final class Consumers {
    private static final String PUSH = "org.apache.rocketmq.client.impl.consumer.DefaultMQPushConsumerImpl";
    private static final Weak<Consumer> BY_PART = new Weak<>();
    private static final Map<String, Consumer> BY_NAME = new ConcurrentHashMap<>();
    private static final Map<String, Integer> LIVES = new ConcurrentHashMap<>();

    private Consumers() {
    }

    /** The consumer that an object belongs to: its implementation, offset store or rebalance; null for others. */
    static Consumer of(Object part) {
        return BY_PART.get(part);
    }

    /** The latest consumer of that client id and group, or null. */
    static Consumer of(String client, String group) {
        return BY_NAME.get(name(client, group));
    }

    /**
     * The consumer of an implementation, which is known from now on; null where it is not of a push consumer.
     *
     * @throws ReflectiveOperationException where this release of RocketMQ is too different
     */
    static synchronized Consumer know(Object impl) throws ReflectiveOperationException {
        if (!impl.getClass().getName().equals(PUSH)) {
            return null;
        }
        Consumer known = of(impl);
        if (known != null) {
            return known;
        }
        String name = name(Consumer.clientOf(impl), Reflect.text(impl, "groupName"));
        Consumer consumer = new Consumer(impl, LIVES.merge(name, 1, Integer::sum) - 1);
        BY_NAME.put(name, consumer);
        BY_PART.putIfAbsent(impl, consumer);
        BY_PART.putIfAbsent(Reflect.call(impl, "getRebalanceImpl"), consumer);
        BY_PART.putIfAbsent(Reflect.call(impl, "getOffsetStore"), consumer);
        return consumer;
    }

    /** The consumer has stopped; what is late is still recorded. */
    static void forget(Consumer consumer) {
        BY_NAME.remove(name(consumer.client, consumer.group), consumer);
    }

    private static String name(String client, String group) {
        return client + "\n" + group;
    }
}
