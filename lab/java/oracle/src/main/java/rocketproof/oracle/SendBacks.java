package rocketproof.oracle;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.rocketmq.broker.processor.SendMessageProcessor;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.DispatchRequest;
import org.apache.rocketmq.store.PutMessageResult;
import org.apache.rocketmq.store.RunningFlags;
import org.apache.rocketmq.store.SelectMappedBufferResult;
import rocketproof.common.Json;
import rocketproof.common.Moved;
import rocketproof.common.Reflect;

/**
 * What a broker makes of a message that is sent back: request 36, and the fallback, a new message to the retry topic.
 *
 * <p>Given: {@code way} ("request" or "fallback"), {@code times} (as stored; of the fallback, as sent),
 * {@code maximum} (null: none is sent), {@code level} (of the fallback, as the client sets it),
 * {@code retry_queues} and {@code retry_maximum} of the group, {@code locked} (the group holds a lock), and
 * {@code broken}, names of {@code Circumstances} that are not as they should be. Answered with {@code code} and
 * {@code remark}, and of the copy, where there is one: {@code topic}, {@code queue}, {@code times}, {@code real_topic}, {@code level},
 * {@code origin}, {@code retry_topic}, {@code wait} (from storing until it is due, or null).
 */
final class SendBacks implements Oracle.Subject {
    private static final int SEND_BACK = 36;
    private static final int SEND = 10;
    private static final int READ_ONLY = 4;
    private static final int READ_WRITE = 6;
    private static final long SLAVE_ID = 1L;
    private static final long MASTER_ID = 0L;
    private static final String RETRY = "%RETRY%";
    private static final String DEAD_LETTER = "%DLQ%";
    private static final InetSocketAddress HOST = new InetSocketAddress("127.0.0.1", 10911);
    private final Brokers brokers;
    private SendMessageProcessor processor;

    SendBacks(Brokers brokers) {
        this.brokers = brokers;
    }

    @Override
    public Object answer(Map<String, Object> given) throws Exception {
        if (processor == null) {
            processor = new SendMessageProcessor(brokers.broker());
        }
        int queues = Json.integer(given.get("retry_queues"));
        int maximum = Json.integer(given.get("retry_maximum"));
        boolean locked = (Boolean) given.get("locked");
        String group = "group-" + queues + "-" + maximum + (locked ? "-locked" : "");
        brokers.group(group, queues, maximum);
        if (locked) {
            brokers.broker().getRebalanceLockManager().tryLock(group, new MessageQueue("topic", "broker", 0), "client");
        }
        DefaultMessageStore store = brokers.store();
        boolean asked = given.get("way").equals("request");
        long original = asked ? stored(store, Json.integer(given.get("times"))) : -1;
        RemotingCommand request = asked ? request(group, original, given) : fallback(group, given);
        long before;
        RemotingCommand answer;
        try {
            for (String each : Json.texts(given.get("broken"))) {
                change(each, true, group, request);
            }
            before = store.getMaxPhyOffset();
            answer = brokers.ask(processor, request);
        } finally {
            for (String each : Json.texts(given.get("broken"))) {
                change(each, false, group, request);
            }
        }
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("code", answer.getCode());
        told.put("remark", answer.getRemark());
        if (store.getMaxPhyOffset() > before) {
            tell(told, store, before);
        }
        return told;
    }

    /** Stores the message that fails, and gives its log offset. */
    private static long stored(DefaultMessageStore store, int times) throws Exception {
        long offset = store.getMaxPhyOffset();
        MessageExt message = (MessageExt) Moved.innerMessage().getDeclaredConstructor().newInstance();
        message.setTopic(Brokers.TOPIC);
        message.setBody(new byte[] {1});
        message.setBornHost(HOST);
        message.setStoreHost(HOST);
        message.setBornTimestamp(1);
        message.setReconsumeTimes(times);
        message.setWaitStoreMsgOK(false);
        Reflect.call(message, "setPropertiesString", MessageDecoder.messageProperties2String(message.getProperties()));
        if (!((PutMessageResult) Reflect.call(store, "putMessage", message)).isOk()) {
            throw new IllegalStateException("the message that is to fail cannot be stored");
        }
        return offset;
    }

    private static RemotingCommand request(String group, long offset, Map<String, Object> given) {
        Map<String, String> fields = new HashMap<>();
        fields.put("offset", Long.toString(offset));
        fields.put("group", group);
        fields.put("delayLevel", given.get("level").toString());
        fields.put("originMsgId", "origin");
        fields.put("originTopic", Brokers.TOPIC);
        fields.put("unitMode", "false");
        return sent(SEND_BACK, fields, given, null);
    }

    private static RemotingCommand fallback(String group, Map<String, Object> given) {
        MessageExt message = new MessageExt();
        MessageAccessor.putProperty(message, MessageConst.PROPERTY_RETRY_TOPIC, Brokers.TOPIC);
        message.setDelayTimeLevel(Json.integer(given.get("level")));
        Map<String, String> fields = new HashMap<>();
        fields.put("producerGroup", "CLIENT_INNER_PRODUCER");
        fields.put("topic", RETRY + group);
        fields.put("defaultTopic", "TBW102");
        fields.put("defaultTopicQueueNums", "4");
        fields.put("queueId", "0");
        fields.put("sysFlag", "0");
        fields.put("bornTimestamp", "1");
        fields.put("flag", "0");
        fields.put("properties", MessageDecoder.messageProperties2String(message.getProperties()));
        fields.put("reconsumeTimes", given.get("times").toString());
        fields.put("unitMode", "false");
        fields.put("batch", "false");
        return sent(SEND, fields, given, new byte[] {1});
    }

    private static RemotingCommand sent(int code, Map<String, String> fields, Map<String, Object> given, byte[] body) {
        if (given.get("maximum") != null) {
            fields.put("maxReconsumeTimes", given.get("maximum").toString());
        }
        return Brokers.request(code, fields, body);
    }

    private void change(String what, boolean broken, String group, RemotingCommand request) throws Exception {
        BrokerConfig config = brokers.broker().getBrokerConfig();
        switch (what) {
            case "has_master":
                config.setBrokerId(broken ? SLAVE_ID : MASTER_ID);
                break;
            case "group_exists":
                if (broken) {
                    brokers.forgetGroup(group);
                }
                break;
            case "broker_writable":
                config.setBrokerPermission(broken ? READ_ONLY : READ_WRITE);
                break;
            case "retry_topic":
                impossible(RETRY + group, broken);
                break;
            case "retry_topic_writable":
                TopicConfig topic = new TopicConfig(RETRY + group);
                topic.setPerm(broken ? READ_ONLY : READ_WRITE);
                brokers.broker().getTopicConfigManager().getTopicConfigTable().put(RETRY + group, topic);
                break;
            case "message_readable":
                request.getExtFields().put("offset", Long.toString(brokers.store().getMaxPhyOffset() + 1));
                break;
            case "dead_letter_topic":
                impossible(DEAD_LETTER + group, broken);
                break;
            case "stored":
                writable(!broken);
                break;
            default:
                throw new IllegalStateException("nothing is called " + what);
        }
    }

    private void writable(boolean now) throws Exception {
        RunningFlags flags = brokers.store().getRunningFlags();
        String forbid = Reflect.has(flags, "getAndMakeNotWriteable")
            ? "getAndMakeNotWriteable" : "getAndMakeStoreNotWriteable";
        Reflect.call(flags, now ? "getAndMakeWriteable" : forbid);
    }

    private void impossible(String topic, boolean broken) throws Exception {
        if (broken) {
            brokers.impossibleTopics().add(topic);
        } else {
            brokers.impossibleTopics().remove(topic);
        }
    }

    private static void tell(Map<String, Object> told, DefaultMessageStore store, long offset) throws Exception {
        MessageExt copy = store.lookMessageByOffset(offset);
        told.put("topic", copy.getTopic());
        told.put("queue", copy.getQueueId());
        told.put("times", copy.getReconsumeTimes());
        told.put("real_topic", copy.getProperty(MessageConst.PROPERTY_REAL_TOPIC));
        told.put("level", copy.getProperty(MessageConst.PROPERTY_DELAY_TIME_LEVEL));
        told.put("origin", copy.getProperty("ORIGIN_MESSAGE_ID"));
        told.put("retry_topic", copy.getProperty(MessageConst.PROPERTY_RETRY_TOPIC));
        SelectMappedBufferResult bytes = store.selectOneMessageByOffset(offset);
        try {
            DispatchRequest index = (DispatchRequest) (Moved.isFour()
                ? Reflect.call(store.getCommitLog(), "checkMessageAndReturnSize", bytes.getByteBuffer(), false)
                : Reflect.call(store.getCommitLog(), "checkMessageAndReturnSize", bytes.getByteBuffer(), false, false));
            boolean delayed = copy.getTopic().equals("SCHEDULE_TOPIC_XXXX");
            told.put("wait", delayed ? index.getTagsCode() - copy.getStoreTimestamp() : null);
        } finally {
            bytes.release();
        }
    }
}
