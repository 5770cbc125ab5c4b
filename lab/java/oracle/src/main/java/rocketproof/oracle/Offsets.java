package rocketproof.oracle;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.rocketmq.broker.offset.ConsumerOffsetManager;
import org.apache.rocketmq.broker.processor.ConsumerManageProcessor;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.consumer.store.RemoteBrokerOffsetStore;
import org.apache.rocketmq.client.impl.FindBrokerResult;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.RemotingClient;
import org.apache.rocketmq.remoting.exception.RemotingConnectException;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import rocketproof.common.Json;
import rocketproof.common.Reflect;

/**
 * Runs of offsets: the real {@code RemoteBrokerOffsetStore} of several clients, whose requests the real
 * {@code ConsumerManageProcessor} and {@code ConsumerOffsetManager} of a broker answer.
 *
 * <p>Given: {@code steps}, lists of a word and its arguments; clients and queues are numbers. {@code start} a client,
 * {@code update} (client, queue, offset, only to increase), {@code freeze} (client, queue, offset), {@code read}
 * (client, queue, where from), {@code persist} (client, queue), {@code persistAll} (client, queues), {@code remove}
 * (client, queue); {@code hold} keeps one-way requests from now on, {@code let} lets new ones pass,
 * {@code arrive} lets the oldest kept one arrive; {@code cut} and {@code heal} the network; {@code flush} and
 * {@code restart} the broker's offsets; {@code reset} (queue, offset) and {@code erase} (queue) a note of 5.x.
 * Answered with a list for each step: what was answered, the memory of each client, and the broker's cells.
 */
final class Offsets implements Oracle.Subject {
    private final Brokers brokers;
    private MQClientInstance client;
    private Run current;
    private int groups;

    Offsets(Brokers brokers) {
        this.brokers = brokers;
    }

    @Override
    public Object answer(Map<String, Object> given) throws Exception {
        if (client == null) {
            client = connected();
        }
        Run run = new Run(brokers, client, "offsets-" + groups++);
        current = run;
        List<Object> told = new ArrayList<>();
        for (Object step : Json.list(given.get("steps"))) {
            List<Object> parts = Json.list(step);
            Object answer = run.step((String) parts.get(0), parts.subList(1, parts.size()));
            told.add(Arrays.asList(answer, run.memories(), run.cells()));
        }
        brokers.forgetGroup(run.group);
        return told;
    }

    /** The client of all offset stores; its network is the run that goes on. Each would have threads of its own. */
    private MQClientInstance connected() throws Exception {
        MQClientInstance made = new MQClientInstance(new ClientConfig(), 0, "client") {
            @Override
            public FindBrokerResult findBrokerAddressInSubscribe(String broker, long id, boolean onlyThis) {
                return new FindBrokerResult("127.0.0.1:10911", false);
            }
        };
        InvocationHandler network = (proxy, method, arguments) -> method.getName().startsWith("invoke")
            ? current.sent((RemotingCommand) arguments[1], method.getName().equals("invokeOneway"))
            : null;
        Reflect.set(made.getMQClientAPIImpl(), "remotingClient", Proxy.newProxyInstance(
            RemotingClient.class.getClassLoader(), new Class<?>[] {RemotingClient.class}, network));
        return made;
    }

    /** One run, in a group of its own. */
    private static final class Run {
        private final Brokers brokers;
        private final MQClientInstance client;
        private final String group;
        private final ConsumerManageProcessor processor;
        private final ConsumerOffsetManager manager;
        private final Map<Integer, RemoteBrokerOffsetStore> stores = new TreeMap<>();
        private final List<RemotingCommand> kept = new ArrayList<>();
        private boolean holding;
        private boolean cut;

        private Run(Brokers brokers, MQClientInstance client, String group) throws Exception {
            this.brokers = brokers;
            this.client = client;
            this.group = group;
            processor = new ConsumerManageProcessor(brokers.broker());
            manager = brokers.broker().getConsumerOffsetManager();
            manager.getOffsetTable().clear();
            manager.persist();
            brokers.group(group, 1, 16);
        }

        private Object step(String word, List<Object> arguments) throws Exception {
            switch (word) {
                case "start":
                    stores.put(Json.integer(arguments.get(0)), new RemoteBrokerOffsetStore(client, group));
                    return null;
                case "hold":
                    holding = true;
                    return null;
                case "let":
                    holding = false;
                    return null;
                case "arrive":
                    return brokers.ask(processor, kept.remove(0)).getCode();
                case "cut":
                    cut = true;
                    return null;
                case "heal":
                    cut = false;
                    return null;
                case "flush":
                    manager.persist();
                    return null;
                case "restart":
                    manager.getOffsetTable().clear();
                    return manager.load();
                case "reset":
                    Reflect.call(manager, "assignResetOffset",
                        Brokers.TOPIC, group, Json.integer(arguments.get(0)), arguments.get(1));
                    return null;
                case "erase":
                    return Reflect.call(manager, "queryThenEraseResetOffset",
                        Brokers.TOPIC, group, Json.integer(arguments.get(0)));
                default:
                    return clientStep(stores.get(Json.integer(arguments.get(0))), word, arguments);
            }
        }

        private static Object clientStep(RemoteBrokerOffsetStore store, String word, List<Object> arguments)
            throws Exception {
            if (word.equals("persistAll")) {
                Set<MessageQueue> queues = new HashSet<>();
                for (Object number : Json.list(arguments.get(1))) {
                    queues.add(queue(number));
                }
                store.persistAll(queues);
                return null;
            }
            MessageQueue queue = queue(arguments.get(1));
            switch (word) {
                case "update":
                    store.updateOffset(queue, (Long) arguments.get(2), (Boolean) arguments.get(3));
                    return null;
                case "freeze":
                    Reflect.call(store, "updateAndFreezeOffset", queue, arguments.get(2));
                    return null;
                case "read":
                    return store.readOffset(queue, ReadOffsetType.valueOf((String) arguments.get(2)));
                case "persist":
                    store.persist(queue);
                    return null;
                case "remove":
                    store.removeOffset(queue);
                    return null;
                default:
                    throw new IllegalStateException("no step " + word);
            }
        }

        private static MessageQueue queue(Object number) {
            return new MessageQueue(Brokers.TOPIC, "broker", Json.integer(number));
        }

        /** What the network makes of a request: it arrives, or is kept, or there is no network. */
        private RemotingCommand sent(RemotingCommand request, boolean oneWay) throws Exception {
            if (cut) {
                throw new RemotingConnectException("127.0.0.1:10911");
            }
            if (oneWay && holding) {
                kept.add(request);
                return null;
            }
            return brokers.ask(processor, request);
        }

        private Map<Integer, Object> memories() {
            Map<Integer, Object> told = new TreeMap<>();
            stores.forEach((number, store) -> {
                Map<Integer, Long> memory = new TreeMap<>();
                store.cloneOffsetTable("").forEach((queue, offset) -> memory.put(queue.getQueueId(), offset));
                told.put(number, memory);
            });
            return told;
        }

        private Map<Integer, Long> cells() {
            Map<Integer, Long> cells = manager.getOffsetTable().get(Brokers.TOPIC + "@" + group);
            return cells == null ? new HashMap<>() : new TreeMap<>(cells);
        }
    }
}
