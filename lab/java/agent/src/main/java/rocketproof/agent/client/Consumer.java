package rocketproof.agent.client;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import rocketproof.agent.Agent;
import rocketproof.agent.Event;
import rocketproof.agent.Header;
import rocketproof.agent.Json;
import rocketproof.agent.Reflect;
import rocketproof.agent.TraceFile;

/** One push consumer (<code>DefaultMQPushConsumerImpl</code>) that is recorded: who it is, and into which file. */
final class Consumer {
    /** A queue of this consumer: members of its events, and the lock that keeps its offset and its events together. */
    static final class Place {
        final byte[] members;
        final ReentrantLock offset = new ReentrantLock();
        final AtomicInteger windows = new AtomicInteger();

        Place(byte[] members) {
            this.members = members;
        }
    }

    final String group;
    final String client;
    final boolean orderly;
    final boolean broadcasting;
    final String strategy;
    /** <code>consumeTimeout</code> in ms. */
    final long timeout;

    /** <code>MixAll.MASTER_ID</code>. */
    private static final Long MASTER = 0L;

    /** Mode and listener of the first consumer of each group in this JVM. */
    private static final Map<String, String> FIRST = new ConcurrentHashMap<>();

    // Whoever is known by this object must not keep it: see Weak.
    private final WeakReference<Object> impl;
    private final TraceFile file;
    private final byte[] members;
    private final Map<Object, Place> places = new ConcurrentHashMap<>();
    private final Map<String, List<String>> routes = new ConcurrentHashMap<>();

    /**
     * Reads who the consumer is; its client instance must be there already.
     *
     * @param impl a DefaultMQPushConsumerImpl
     * @param life how many consumers of that client id and group were in this JVM before
     * @throws ReflectiveOperationException where this release of RocketMQ is too different
     */
    Consumer(Object impl, int life) throws ReflectiveOperationException {
        this.impl = new WeakReference<>(impl);
        Object settings = Reflect.call(impl, "getDefaultMQPushConsumer");
        group = Reflect.text(settings, "getConsumerGroup");
        client = clientOf(impl);
        orderly = (Boolean) Reflect.call(impl, "isConsumeOrderly");
        broadcasting = Reflect.call(settings, "getMessageModel").toString().equals("BROADCASTING");
        strategy = isDividedByBrokers(settings)
                ? "BROKER"
                : Reflect.text(Reflect.call(settings, "getAllocateMessageQueueStrategy"), "getName");
        timeout = Reflect.number(settings, "getConsumeTimeout") * 60_000;
        members = new Json(128).text("client", client).number("incarnation", life).text("group", group).encoded();
        String release = release(impl.getClass().getClassLoader());
        String mode = broadcasting ? "broadcasting" : "clustering";
        String listener = orderly ? "orderly" : "concurrently";
        Json known = new Json(128)
                .text("mode", mode)
                .text("listener", listener)
                .number("max_attempts", Reflect.number(settings, "getMaxReconsumeTimes"))
                .text("strategy", strategy);
        Header header = new Header()
                .source(Agent.NAME + ", client of RocketMQ " + release)
                .evidence(Evidence.of(impl.getClass().getClassLoader(), orderly, broadcasting))
                .release(release)
                .group(group, known);
        if (!orderly) {
            // PQ-9: what an orderly consumer has in its cache is never cleaned.
            header.timer("consume_timeout", timeout);
        }
        // A header says one mode and one listener of a group: a consumer that has others gets a file of its own.
        String own = "-" + mode + "-" + listener;
        String other = FIRST.merge(group, own, (first, second) -> first).equals(own) ? "" : own;
        String name = "client-" + Agent.pid() + "-" + group + other + ".jsonl";
        file = Agent.recorder().open(name, header).recordedBy(members);
    }

    /** RebalancePushImpl#clientRebalance: brokers of 5.x may divide queues, of concurrent listeners in clustering. */
    private boolean isDividedByBrokers(Object settings) {
        try {
            return !orderly && !broadcasting && !(Boolean) Reflect.call(settings, "isClientRebalance");
        } catch (ReflectiveOperationException none) {
            return false; // 4.x: clients always divide queues themselves
        }
    }

    /** The client id of the consumer's client instance. */
    static String clientOf(Object impl) throws ReflectiveOperationException {
        return Reflect.text(Reflect.call(impl, "getmQClientFactory"), "getClientId");
    }

    /** The broker whose master has an address, as its client instance knows; null where it does not. */
    String masterAt(String address) throws ReflectiveOperationException {
        Object consumer = impl.get();
        if (consumer == null) {
            return null;
        }
        Map<?, ?> brokers = (Map<?, ?>) Reflect.field(Reflect.call(consumer, "getmQClientFactory"), "brokerAddrTable");
        for (Map.Entry<?, ?> each : brokers.entrySet()) {
            if (address.equals(((Map<?, ?>) each.getValue()).get(MASTER))) {
                return (String) each.getKey();
            }
        }
        return null;
    }

    /** An event of this consumer; it is recorded by {@link #record}. */
    Event event(String kind) {
        return Event.of(kind, members);
    }

    /** An event of this consumer and a queue. */
    Event event(String kind, Object queue) {
        return Event.of(kind, place(queue).members);
    }

    void record(Event event) {
        file.record(event);
    }

    /** What is known of a queue (MessageQueue). */
    Place place(Object queue) {
        Place place = places.get(queue);
        return place != null ? place : places.computeIfAbsent(queue, this::describe);
    }

    /** Members of events of this consumer and a queue. */
    byte[] members(String topic, String broker, long queue) {
        return new Json(256)
                .members(members)
                .text("topic", topic)
                .text("broker", broker)
                .number("queue", queue)
                .encoded();
    }

    private Place describe(Object queue) {
        try {
            return new Place(members(
                    Reflect.text(queue, "getTopic"),
                    Reflect.text(queue, "getBrokerName"),
                    Reflect.number(queue, "getQueueId")));
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    /** Whether the queues of a topic are others than those that were told last; they count as told then. */
    boolean isNews(String topic, List<String> queues) {
        return !queues.equals(routes.put(topic, queues));
    }

    /** Queues as lists of queues spell them, <code>broker:id</code>, in the order that strategies divide (RB-6). */
    static List<String> spelled(Collection<?> queues) throws ReflectiveOperationException {
        List<Object> sorted = new ArrayList<>(queues);
        sorted.sort(null);
        List<String> words = new ArrayList<>(sorted.size());
        for (Object queue : sorted) {
            words.add(Reflect.text(queue, "getBrokerName") + ":" + Reflect.number(queue, "getQueueId"));
        }
        return words;
    }

    /** What the consumer subscribes, each as <code>topic=expression@version</code>. */
    List<String> subscriptions() throws ReflectiveOperationException {
        List<String> words = new ArrayList<>();
        Object running = impl.get();
        if (running == null) {
            return words;
        }
        for (Object each : ((Map<?, ?>) Reflect.call(running, "getSubscriptionInner")).values()) {
            words.add(Reflect.text(each, "getTopic") + "=" + Reflect.text(each, "getSubString") + "@"
                    + Reflect.number(each, "getSubVersion"));
        }
        Collections.sort(words);
        return words;
    }

    private static String release(ClassLoader loader) throws ReflectiveOperationException {
        Class<?> versions = Class.forName("org.apache.rocketmq.common.MQVersion", true, loader);
        int current = versions.getField("CURRENT_VERSION").getInt(null);
        String name = (String) versions.getMethod("getVersionDesc", int.class).invoke(null, current);
        return name.replaceFirst("^V", "").replace('_', '.').replaceFirst("\\.SNAPSHOT$", "");
    }
}
