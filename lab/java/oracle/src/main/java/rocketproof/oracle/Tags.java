package rocketproof.oracle;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.broker.filter.ExpressionMessageFilter;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.impl.consumer.PullAPIWrapper;
import org.apache.rocketmq.client.impl.consumer.PullResultExt;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import rocketproof.common.Json;
import rocketproof.common.Moved;
import rocketproof.common.Reflect;

/**
 * Filtering by tags: at the broker by the code in the index, then at the client by the words.
 *
 * <p>Given: {@code expression}, {@code tags} (of messages at offsets 0, 1, …; null for none). Answered with two lists
 * of offsets: what the broker sends, and what the client keeps of that.
 */
final class Tags implements Oracle.Subject {
    private MQClientInstance client;

    @Override
    public Object answer(Map<String, Object> given) throws Exception {
        Class<?> api = Moved.type("remoting.protocol.filter.FilterAPI", "common.filter.FilterAPI");
        Object subscription = given.get("expression") == null
            ? api.getMethod("buildSubscriptionData", String.class, String.class).invoke(null, "topic", null)
            : Reflect.call(api, "buildSubscriptionData", "topic", given.get("expression"));
        ExpressionMessageFilter filter = (ExpressionMessageFilter)
            ExpressionMessageFilter.class.getConstructors()[0].newInstance(subscription, null, null);
        List<MessageExt> sent = new ArrayList<>();
        List<Object> sentOffsets = new ArrayList<>();
        long offset = 0;
        for (Object tag : Json.list(given.get("tags"))) {
            MessageExt message = message((String) tag, offset++);
            Object code = Reflect.call(Moved.innerMessage(), "tagsString2tagsCode", null, message.getTags());
            if (filter.isMatchedByConsumeQueue((Long) code, null)) {
                sent.add(message);
                sentOffsets.add(message.getQueueOffset());
            }
        }
        List<Object> kept = new ArrayList<>();
        for (MessageExt message : received(sent, subscription, offset)) {
            kept.add(message.getQueueOffset());
        }
        return List.of(sentOffsets, kept);
    }

    private List<MessageExt> received(List<MessageExt> sent, Object subscription, long next) throws Exception {
        if (client == null) {
            client = new MQClientInstance(new ClientConfig(), 0, "tags");
        }
        ByteBuffer wire = ByteBuffer.allocate(1 << 20);
        for (MessageExt message : sent) {
            wire.put(MessageDecoder.encode(message, false));
        }
        byte[] bytes = new byte[wire.position()];
        wire.flip();
        wire.get(bytes);
        PullResultExt answer = new PullResultExt(PullStatus.FOUND, next, 0, next, null, 0, bytes);
        PullResult result = (PullResult) Reflect.call(
            new PullAPIWrapper(client, "group", false),
            "processPullResult", new MessageQueue("topic", "broker", 0), answer, subscription);
        return result.getMsgFoundList();
    }

    private static MessageExt message(String tag, long offset) {
        MessageExt message = new MessageExt();
        message.setTopic("topic");
        message.setBody(new byte[] {1});
        message.setQueueOffset(offset);
        message.setBornHost(new InetSocketAddress("127.0.0.1", 1));
        message.setStoreHost(new InetSocketAddress("127.0.0.1", 1));
        if (tag != null) {
            message.setTags(tag);
        }
        return message;
    }
}
