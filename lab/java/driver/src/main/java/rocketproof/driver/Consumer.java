package rocketproof.driver;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyContext;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueConsistentHash;
import org.apache.rocketmq.common.MixAll;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageExt;
import rocketproof.common.Moved;
import rocketproof.common.Reflect;

/**
 * One push consumer in PULL mode. Answers {@code ready} with its client id when it runs, then the commands {@code status}
 * and {@code stop}; the answer {@code stopped} comes when the shutdown is over and no listener call runs any more. With
 * the setting {@code start} = {@code later} it answers {@code loaded} and waits for the command {@code start}.
 *
 * <p>Settings: group, namesrv, instance, topics (topic to expression), listener (concurrently, orderly), mode
 * (clustering, broadcasting), threads, batch, pull_batch, max_attempts, consume_from (first, last), consume_timeout
 * (minutes), strategy, suspend_ms (of an orderly queue), await_ms (for listeners, at shutdown), acks (a concurrent
 * listener acknowledges up to the first message that fails, by ackIndex), behaviour, hook (file that a consume-message
 * hook writes to), and the intervals heartbeat_ms, persist_ms and route_ms.
 */
final class Consumer implements Driver.Role {
    private static final Map<String, Supplier<AllocateMessageQueueStrategy>> STRATEGIES = Map.of(
        "AVG", AllocateMessageQueueAveragely::new,
        "AVG_BY_CIRCLE", AllocateMessageQueueAveragelyByCircle::new,
        "CONSISTENT_HASH", AllocateMessageQueueConsistentHash::new);

    private final Answers answers;
    private final Behaviour behaviour;
    private final DefaultMQPushConsumer consumer;
    private final boolean later;
    private final boolean acks;

    Consumer(Settings settings, Answers answers) throws Exception {
        this.answers = answers;
        later = settings.text("start", "now").equals("later");
        acks = settings.flag("acks");
        behaviour = new Behaviour(settings.object("behaviour"));
        consumer = new DefaultMQPushConsumer(settings.text("group"));
        consumer.setNamesrvAddr(settings.text("namesrv"));
        consumer.setClientIP("127.0.0.1");
        consumer.setInstanceName(settings.text("instance"));
        consumer.setVipChannelEnabled(false);
        consumer.setHeartbeatBrokerInterval(settings.small("heartbeat_ms", 30_000));
        consumer.setPersistConsumerOffsetInterval(settings.small("persist_ms", 5_000));
        consumer.setPollNameServerInterval(settings.small("route_ms", 30_000));
        int threads = settings.small("threads", 4);
        consumer.setConsumeThreadMin(threads);
        consumer.setConsumeThreadMax(threads);
        consumer.setConsumeMessageBatchMaxSize(settings.small("batch", 1));
        consumer.setPullBatchSize(settings.small("pull_batch", 32));
        consumer.setMaxReconsumeTimes(settings.small("max_attempts", -1));
        consumer.setConsumeTimeout(settings.number("consume_timeout", 15));
        consumer.setSuspendCurrentQueueTimeMillis(settings.number("suspend_ms", 1_000));
        if (settings.number("await_ms", 0) > 0) { // not before 4.8
            consumer.setAwaitTerminationMillisWhenShutdown(settings.number("await_ms", 0));
        }
        consumer.setConsumeFromWhere(
            settings.text("consume_from", "first").equals("last")
                ? ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET
                : ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setAllocateMessageQueueStrategy(strategy(settings.text("strategy", "AVG")));
        Object model = Moved.messageModel(settings.text("mode", "clustering").toUpperCase(Locale.ROOT));
        Reflect.call(consumer, "setMessageModel", model);
        for (Map.Entry<String, Object> topic : settings.object("topics").members().entrySet()) {
            consumer.subscribe(topic.getKey(), String.valueOf(topic.getValue()));
        }
        if (settings.text("listener", "concurrently").equals("orderly")) {
            consumer.registerMessageListener((MessageListenerOrderly) (messages, context) -> orderly(messages));
        } else {
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> concurrently(messages, context));
        }
        if (settings.has("hook")) {
            Hook hook = Hook.to(settings.text("hook"), consumer.buildMQClientId());
            consumer.getDefaultMQPushConsumerImpl().registerConsumeMessageHook(hook);
        }
    }

    @Override
    public void start() throws Exception {
        if (later) {
            answers.say("loaded", consumer.buildMQClientId());
        } else {
            startNow();
        }
    }

    private void startNow() throws Exception {
        consumer.start();
        answers.say("ready", consumer.buildMQClientId());
    }

    @Override
    public boolean command(Settings command) throws Exception {
        switch (command.text("do")) {
            case "start":
                startNow();
                return true;
            case "status":
                answers.say(command.raw("id"), behaviour.status("queues", queues()));
                return true;
            case "stop":
                consumer.shutdown();
                while (behaviour.running() > 0) {
                    Thread.sleep(10);
                }
                answers.say(command.raw("id"), new Object[] {"stopped", consumer.buildMQClientId()});
                return false;
            default:
                answers.error("no command " + command.text("do") + "; there are start, status and stop");
                return true;
        }
    }

    /** How many queues it has, without those of its retry topic. */
    private long queues() {
        return consumer.getDefaultMQPushConsumerImpl().getRebalanceImpl().getProcessQueueTable().keySet().stream()
            .filter(queue -> !queue.getTopic().startsWith(MixAll.RETRY_GROUP_TOPIC_PREFIX))
            .count();
    }

    private static AllocateMessageQueueStrategy strategy(String name) {
        Supplier<AllocateMessageQueueStrategy> known = STRATEGIES.get(name);
        if (known == null) {
            throw new IllegalArgumentException("no strategy " + name + "; there are " + STRATEGIES.keySet());
        }
        return known.get();
    }

    private ConsumeConcurrentlyStatus concurrently(List<MessageExt> messages, ConsumeConcurrentlyContext context) {
        if (acks) {
            // The usual way: what failed, and all after it, comes again.
            for (int at = 0; at < messages.size(); at++) {
                if (behaviour.handle(messages.get(at)) != Behaviour.Ending.OK) {
                    context.setAckIndex(at - 1);
                    break;
                }
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        }
        switch (handle(messages)) {
            case OK:
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            case EXCEPTION:
                throw new IllegalStateException("as scripted");
            case NULL:
                return null;
            default:
                return ConsumeConcurrentlyStatus.RECONSUME_LATER;
        }
    }

    private ConsumeOrderlyStatus orderly(List<MessageExt> messages) {
        switch (handle(messages)) {
            case OK:
                return ConsumeOrderlyStatus.SUCCESS;
            case EXCEPTION:
                throw new IllegalStateException("as scripted");
            case NULL:
                return null;
            default:
                return ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT;
        }
    }

    /** A batch ends as its first message that fails. */
    private Behaviour.Ending handle(List<MessageExt> messages) {
        Behaviour.Ending ending = Behaviour.Ending.OK;
        for (MessageExt message : messages) {
            Behaviour.Ending own = behaviour.handle(message);
            ending = ending == Behaviour.Ending.OK ? own : ending;
        }
        return ending;
    }
}
