package rocketproof.driver;

import java.lang.reflect.InvocationTargetException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;
import rocketproof.common.Moved;
import rocketproof.common.Reflect;

/**
 * What an operator does, and a producer beside it. Settings: namesrv. Commands are objects with {@code do}, and an
 * {@code id} that the answer repeats:
 *
 * <ul>
 *   <li>{@code topic}: name, read and write (queues), brokers (addresses): made or changed there
 *   <li>{@code group}: name, retry_queues, brokers
 *   <li>{@code send}: a {@link Load}, answered when it is sent; other commands are answered meanwhile
 *   <li>{@code reset}: topic, group, timestamp (ms, -1 for the end)
 *   <li>{@code progress}: group, topics, brokers: for each writable queue of the topics what is stored there and how far
 *       the group is, -1 where nothing is known; and how many messages wait for their delay
 *   <li>{@code stop}
 * </ul>
 */
final class Admin implements Driver.Role {
    private static final String DELAYED = "scheduleMessageOffset_";

    private final Answers answers;
    private final Settings settings;
    private final DefaultMQAdminExt admin;
    private DefaultMQProducer producer;

    Admin(Settings settings, Answers answers) {
        this.answers = answers;
        this.settings = settings;
        admin = new DefaultMQAdminExt(20_000);
        admin.setNamesrvAddr(settings.text("namesrv"));
        admin.setInstanceName(settings.text("instance", "admin"));
        admin.setVipChannelEnabled(false);
    }

    @Override
    public void start() throws Exception {
        admin.start();
        producer = Producer.started(settings);
        answers.say("ready", "admin");
    }

    @Override
    public boolean command(Settings command) {
        Object id = command.raw("id");
        try {
            switch (command.text("do")) {
                case "topic":
                    topic(command);
                    answers.say(id, new Object[] {"done", command.text("name")});
                    return true;
                case "group":
                    group(command);
                    answers.say(id, new Object[] {"done", command.text("name")});
                    return true;
                case "send":
                    Thread sender = new Thread(() -> Producer.send(producer, command, answers), "load");
                    sender.setDaemon(true);
                    sender.start();
                    return true;
                case "reset":
                    Map<MessageQueue, Long> offsets = admin.resetOffsetByTimestamp(
                        command.text("topic"), command.text("group"), command.number("timestamp", -1), true);
                    answers.say(id, new Object[] {"done", offsets.size()});
                    return true;
                case "progress":
                    progress(command);
                    return true;
                case "stop":
                    answers.say(id, new Object[] {"stopped", "admin"});
                    return false;
                default:
                    throw new IllegalArgumentException("no command " + command.text("do"));
            }
        } catch (Exception failure) {
            failure.printStackTrace();
            answers.say(id, new Object[] {"error", Reflect.unwrapped(failure).toString()});
            return true;
        }
    }

    private void topic(Settings command) throws Exception {
        TopicConfig config = new TopicConfig(command.text("name"));
        config.setReadQueueNums(command.small("read", 4));
        config.setWriteQueueNums(command.small("write", 4));
        for (String broker : command.texts("brokers")) {
            admin.createAndUpdateTopicConfig(broker, config);
        }
    }

    private void group(Settings command) throws Exception {
        Map<String, Object> settings = Map.of("setRetryQueueNums", command.small("retry_queues", 1));
        for (String broker : command.texts("brokers")) {
            Object config = Moved.group(command.text("name"), settings);
            Reflect.call(admin, "createAndUpdateSubscriptionGroupConfig", broker, config);
        }
    }

    private void progress(Settings command) throws Exception {
        Map<MessageQueue, Long> stored = storedOffsets(command.text("group"));
        Map<String, Object> queues = new TreeMap<>();
        for (String topic : command.texts("topics")) {
            for (MessageQueue queue : writable(topic)) {
                String name = queue.getTopic() + "@" + queue.getBrokerName() + ":" + queue.getQueueId();
                queues.put(name, Map.of("stored", admin.maxOffset(queue), "offset", stored.getOrDefault(queue, -1L)));
            }
        }
        long delayed = 0;
        for (String broker : command.texts("brokers")) {
            delayed += delayed(broker);
        }
        answers.say(command.raw("id"), new Object[] {"queues", queues, "delayed", delayed});
    }

    /** Stored offsets of a group, by queue: {@code DefaultMQAdminExt#examineConsumeStats}; none before the first. */
    private Map<MessageQueue, Long> storedOffsets(String group) throws Exception {
        Map<MessageQueue, Long> stored = new HashMap<>();
        try {
            Object stats = Reflect.call(admin, "examineConsumeStats", group);
            Map<?, ?> table = (Map<?, ?>) Reflect.call(stats, "getOffsetTable");
            for (Map.Entry<?, ?> entry : table.entrySet()) {
                Object offset = Reflect.call(entry.getValue(), "getConsumerOffset");
                stored.put((MessageQueue) entry.getKey(), (Long) offset);
            }
        } catch (InvocationTargetException failure) {
            Throwable cause = Reflect.unwrapped(failure);
            if (!(cause instanceof MQClientException || cause instanceof MQBrokerException)) {
                throw failure;
            }
        }
        return stored;
    }

    private Set<MessageQueue> writable(String topic) throws Exception {
        try {
            return Set.copyOf(producer.fetchPublishMessageQueues(topic));
        } catch (MQClientException notThereYet) {
            return Set.of();
        }
    }

    /** Messages of the schedule topic that no delivery has reached: {@code ScheduleMessageService#buildRunningStats}. */
    private long delayed(String broker) throws Exception {
        long waiting = 0;
        Object stats = Reflect.call(admin, "fetchBrokerRuntimeStats", broker);
        for (Map.Entry<?, ?> entry : ((Map<?, ?>) Reflect.call(stats, "getTable")).entrySet()) {
            if (entry.getKey().toString().startsWith(DELAYED)) {
                String[] reachedAndEnd = entry.getValue().toString().split(",");
                waiting += Long.parseLong(reachedAndEnd[1].trim()) - Long.parseLong(reachedAndEnd[0].trim());
            }
        }
        return waiting;
    }
}
