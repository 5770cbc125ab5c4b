package rocketproof.agent.client;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import rocketproof.agent.Hooks;

/** Kinds that are recorded at the client's side: those whose hooks are in place in the release that runs. */
final class Evidence {
    private static final String CLIENT = "org.apache.rocketmq.client.";
    private static final String CONSUMER = CLIENT + "impl.consumer.";
    private static final String IMPL = CONSUMER + "DefaultMQPushConsumerImpl";
    private static final String INSTANCE = CLIENT + "impl.factory.MQClientInstance";
    private static final String API = CLIENT + "impl.MQClientAPIImpl";
    private static final String REBALANCE = CONSUMER + "RebalanceImpl";
    private static final String WINDOW = CONSUMER + "ProcessQueue";
    private static final String REMOTE = CLIENT + "consumer.store.RemoteBrokerOffsetStore";
    private static final String LOCAL = CLIENT + "consumer.store.LocalFileOffsetStore";

    private Evidence() {
    }

    /** The kinds. A reset is none of them: it is seen only where the broker tells the client. */
    static List<String> of(ClassLoader loader, boolean orderly, boolean broadcasting) {
        String service = CONSUMER + (orderly ? "ConsumeMessageOrderlyService" : "ConsumeMessageConcurrentlyService");
        String store = broadcasting ? LOCAL : REMOTE;
        Map<String, String[]> hooks = new LinkedHashMap<>();
        hooks.put("client_start", new String[] {INSTANCE, "registerConsumer"});
        hooks.put("client_stop", new String[] {IMPL, "shutdown"});
        hooks.put("heartbeat", new String[] {API, "sendHeartbeat", API, "sendHearbeat"});
        hooks.put("unregister", new String[] {INSTANCE, "unregisterConsumer"});
        hooks.put("route", new String[] {IMPL, "updateTopicSubscribeInfo"});
        hooks.put("rebalance", new String[] {REBALANCE, "rebalanceByTopic"});
        hooks.put("assign", new String[] {CONSUMER + "RebalancePushImpl", "dispatchPullRequest"});
        hooks.put("revoke", new String[] {WINDOW, "setDropped"});
        hooks.put("lock", new String[] {API, "lockBatchMQ"});
        hooks.put("unlock", new String[] {API, "unlockBatchMQ"});
        hooks.put("lock_lost", new String[] {WINDOW, "setLocked"});
        hooks.put("offset_query", new String[] {REMOTE, "fetchConsumeOffsetFromBroker"});
        hooks.put("commit_memory", new String[] {store, "updateOffset"});
        hooks.put("commit", broadcasting
                ? new String[] {LOCAL, "persistAll"}
                : new String[] {REMOTE, "updateConsumeOffsetToBroker"});
        hooks.put("correct", new String[] {REBALANCE, "removeProcessQueue"});
        hooks.put("file_load", new String[] {INSTANCE, "registerConsumer"});
        hooks.put("file_persist", new String[] {LOCAL, "persistAll"});
        hooks.put("pull", new String[] {API, "pullMessage"});
        hooks.put("pull_result", new String[] {CONSUMER + "PullAPIWrapper", "processPullResult"});
        hooks.put("flow_control", new String[] {IMPL, "executePullRequestLater"});
        // What a call of an orderly listener is about is seen where its messages are taken.
        String request = service + "$ConsumeRequest";
        String[] called = orderly
                ? new String[] {WINDOW, "takeMessages", WINDOW, "takeMessags"}
                : new String[] {request, "run"};
        if (Hooks.inPlace(loader, request, "run")) {
            hooks.put("deliver", called);
            hooks.put("result", called);
        }
        hooks.put("removed", new String[] {WINDOW, "removeMessage"});
        hooks.put("discarded", new String[] {service, "processConsumeResult"});
        hooks.put("expire", new String[] {WINDOW, "cleanExpiredMsg"});
        hooks.put("send_back", new String[] {IMPL, "sendMessageBack"});
        List<String> kinds = new ArrayList<>();
        hooks.forEach((kind, places) -> {
            for (int at = 0; at < places.length; at += 2) {
                if (Hooks.inPlace(loader, places[at], places[at + 1])) {
                    kinds.add(kind);
                    return;
                }
            }
        });
        return kinds;
    }
}
