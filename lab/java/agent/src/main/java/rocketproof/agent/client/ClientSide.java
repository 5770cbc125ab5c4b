package rocketproof.agent.client;

import static net.bytebuddy.matcher.ElementMatchers.hasSuperType;
import static net.bytebuddy.matcher.ElementMatchers.isConstructor;
import static net.bytebuddy.matcher.ElementMatchers.isSynchronized;
import static net.bytebuddy.matcher.ElementMatchers.nameStartsWith;
import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.takesArgument;
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;

import net.bytebuddy.agent.builder.AgentBuilder;
import rocketproof.agent.Advices;
import rocketproof.agent.Side;

/** The consumer's side: which method of RocketMQ's client is recorded by which advice. */
public final class ClientSide implements Side {
    private static final String HERE = "rocketproof.agent.client.";
    private static final String CLIENT = "org.apache.rocketmq.client.";
    private static final String CONSUMER = CLIENT + "impl.consumer.";
    private static final String IMPL = CONSUMER + "DefaultMQPushConsumerImpl";
    private static final String INSTANCE = CLIENT + "impl.factory.MQClientInstance";
    private static final String API = CLIENT + "impl.MQClientAPIImpl";
    private static final String REBALANCE = CONSUMER + "RebalanceImpl";
    private static final String WINDOW = CONSUMER + "ProcessQueue";
    private static final String CONCURRENTLY = CONSUMER + "ConsumeMessageConcurrentlyService";
    private static final String ORDERLY = CONSUMER + "ConsumeMessageOrderlyService";
    private static final String MESSAGE = "org.apache.rocketmq.common.message.Message";
    private static final String REMOTE = CLIENT + "consumer.store.RemoteBrokerOffsetStore";
    private static final String LOCAL = CLIENT + "consumer.store.LocalFileOffsetStore";

    @Override
    public AgentBuilder install(AgentBuilder builder) {
        return sendBacks(calls(offsets(pulls(windows(rebalances(lives(builder)))))));
    }

    private static AgentBuilder lives(AgentBuilder builder) {
        AgentBuilder with = Advices.around(builder, INSTANCE, "registerConsumer", advice("Life", "Register"));
        with = Advices.around(with, INSTANCE, "unregisterConsumer", advice("Life", "Unregister"));
        with = Advices.around(with, API, "sendHeartbeat", advice("Life", "Beat"));
        with = Advices.around(with, API, "sendHearbeat", advice("Life", "Beat")); // so 4.8 and before call it
        with = Advices.around(with, API, "sendHeartbeatV2", advice("Life", "Beat"));
        with = Advices.around(with, IMPL, "updateTopicSubscribeInfo", advice("Life", "Route"));
        // The form that does it: since 4.7 it has an argument, and another one calls it.
        return Advices.around(with, IMPL, named("shutdown").and(isSynchronized()), advice("Life", "Shutdown"));
    }

    private static AgentBuilder rebalances(AgentBuilder builder) {
        AgentBuilder with = Advices.around(builder, REBALANCE, "rebalanceByTopic", advice("Rebalance", "Topic"));
        with = Advices.around(with, INSTANCE, "findConsumerIdList", advice("Rebalance", "Members"));
        with = Advices.around(with, REBALANCE, "updateProcessQueueTableInRebalance", advice("Rebalance", "Update"));
        with = Advices.around(with, REBALANCE, "truncateMessageQueueNotMyTopic", advice("Rebalance", "Truncate"));
        with = Advices.around(with, REBALANCE, "removeProcessQueue", advice("Rebalance", "Correct"));
        with = Advices.around(with, REBALANCE, "lockAll", advice("Rebalance", "LockAll"));
        with = Advices.around(with, CONSUMER + "RebalancePushImpl", "dispatchPullRequest", advice("Rebalance", "Taken"));
        with = Advices.around(with, API, "lockBatchMQ", advice("Rebalance", "Lock"));
        with = Advices.around(with, API, "unlockBatchMQ", advice("Rebalance", "Unlock"));
        // The task that mends an illegal offset is a class without a name in the callback of the pull.
        return with.type(nameStartsWith(IMPL + "$").and(hasSuperType(named("java.lang.Runnable"))))
                .transform(Advices.advice(named("run"), advice("Rebalance", "Correct")));
    }

    private static AgentBuilder windows(AgentBuilder builder) {
        AgentBuilder with = window(builder, "putMessage", "Put");
        with = window(with, "removeMessage", "Remove");
        with = window(with, "commit", "Commit");
        with = window(with, "rollback", "Rollback");
        with = window(with, "takeMessages", "Take");
        with = window(with, "takeMessags", "Take"); // its name before 4.7
        with = window(with, "setDropped", "Drop");
        with = window(with, "setLocked", "SetLocked");
        return window(with, "cleanExpiredMsg", "Clean");
    }

    private static AgentBuilder window(AgentBuilder builder, String method, String name) {
        return builder.type(named(WINDOW))
                .transform(Advices.advice(named(method), advice("Window", name), TreeLock.mapping()));
    }

    private static AgentBuilder pulls(AgentBuilder builder) {
        AgentBuilder with = Advices.around(builder, IMPL, "pullMessage", advice("Pull", "Pull"));
        with = Advices.around(with, IMPL, "executePullRequestLater", advice("Pull", "Later"));
        with = Advices.around(with, API, "pullMessage", advice("Pull", "Send"));
        with = Advices.around(with, CONSUMER + "PullAPIWrapper", "processPullResult", advice("Pull", "Decode"));
        return with.type(nameStartsWith(IMPL + "$").and(hasSuperType(named(CLIENT + "consumer.PullCallback"))))
                .transform(Advices.advice(named("onSuccess"), advice("Pull", "Success")))
                .transform(Advices.advice(named("onException"), advice("Pull", "Failure")));
    }

    private static AgentBuilder offsets(AgentBuilder builder) {
        AgentBuilder with = Advices.around(builder, REMOTE, "fetchConsumeOffsetFromBroker", advice("Offset", "Query"));
        for (String store : new String[] {REMOTE, LOCAL}) {
            with = Advices.around(with, store, "updateOffset", advice("Offset", "Update"));
            with = Advices.around(with, store, "updateAndFreezeOffset", advice("Offset", "Update"));
        }
        with = Advices.around(
                with, REMOTE, named("updateConsumeOffsetToBroker").and(takesArguments(3)), advice("Offset", "Send"));
        with = Advices.around(with, REMOTE, "persistAll", advice("Offset", "PersistAll"));
        // A single queue is persisted by a rebalance, a reset, or else by a correction.
        with = Advices.around(with, REMOTE, "persist", advice("Rebalance", "Correct"));
        with = Advices.around(with, LOCAL, "persistAll", advice("Offset", "WriteAll"));
        with = Advices.around(with, LOCAL, "persist", advice("Offset", "Write"));
        return Advices.around(with, INSTANCE, "resetOffset", advice("Offset", "Reset"));
    }

    private static AgentBuilder calls(AgentBuilder builder) {
        AgentBuilder with = Advices.around(builder, CONCURRENTLY, isConstructor(), advice("Call", "Concurrently"));
        with = Advices.around(with, ORDERLY, isConstructor(), advice("Call", "Orderly"));
        with = Advices.around(with, CONCURRENTLY + "$ConsumeRequest", "run", advice("Call", "Run"));
        with = Advices.around(with, ORDERLY + "$ConsumeRequest", "run", advice("Call", "Work"));
        with = Advices.around(with, CONCURRENTLY, "processConsumeResult", advice("Call", "Process"));
        with = Advices.around(with, ORDERLY, "processConsumeResult", advice("Call", "Process"));
        with = Advices.around(with, ORDERLY, "processConsumeResult", advice("Call", "Processed"));
        return Advices.around(with, ORDERLY, "tryLockLaterAndReconsume", advice("Call", "LockLater"));
    }

    private static AgentBuilder sendBacks(AgentBuilder builder) {
        AgentBuilder with = Advices.around(builder, IMPL, "sendMessageBack", advice("SendBack", "ByRequest"));
        with = Advices.around(
                with, CLIENT + "consumer.DefaultMQPushConsumer", "sendMessageBack", advice("SendBack", "ByApplication"));
        with = Advices.around(with, ORDERLY, "sendMessageBack", advice("SendBack", "InOrder"));
        with = Advices.around(with, API, "consumerSendMessageBack", advice("SendBack", "Request"));
        return Advices.around(
                with,
                CLIENT + "producer.DefaultMQProducer",
                named("send").and(takesArguments(1)).and(takesArgument(0, named(MESSAGE))),
                advice("SendBack", "Produce"));
    }

    private static String advice(String concept, String name) {
        return HERE + concept + "Advice$" + name;
    }
}
