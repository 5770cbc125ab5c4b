package rocketproof.agent.broker;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.common.MQVersion;
import rocketproof.agent.Agent;
import rocketproof.agent.Event;
import rocketproof.agent.Header;
import rocketproof.agent.Json;
import rocketproof.agent.Recorder;
import rocketproof.agent.Reflect;
import rocketproof.agent.TraceFile;

/** The file of a broker. A JVM has one broker, or several in a BrokerContainer. */
final class BrokerFile {
    /** Kinds that are recorded whenever they happen. */
    private static final List<String> EVIDENCE = Collections.unmodifiableList(Arrays.asList(
            "broker_start",
            "broker_stop",
            "role_change",
            "members",
            "commit",
            "reset",
            "store",
            "delay_store",
            "delay_deliver",
            "dead_letter",
            "file_load",
            "file_persist",
            "gap"));

    private static final List<String> STORES =
            Collections.unmodifiableList(Arrays.asList("store", "delay_store", "delay_deliver", "dead_letter"));

    private static final String RETRY = "%RETRY%";
    private static final String DEAD_LETTER = "%DLQ%";

    /** Topics that RocketMQ keeps for itself, besides those with its prefix. */
    private static final List<String> INTERNAL = Collections.unmodifiableList(Arrays.asList(
            Stores.SCHEDULE,
            "TBW102",
            "TRANS_CHECK_MAX_TIME_TOPIC",
            "SELF_TEST_TOPIC",
            "OFFSET_MOVED_EVENT",
            "CHECKPOINT_TOPIC"));

    private static final Set<String> TROUBLES = ConcurrentHashMap.newKeySet();

    /** By BrokerConfig, of which each broker has one. */
    private static final Map<Object, BrokerFile> FILES = new IdentityHashMap<>();

    private static volatile List<BrokerFile> all = Collections.emptyList();

    private final TraceFile file;
    private final byte[] broker;
    private volatile Object controller;

    /** What the broker was told to be last: the controller of a cluster may tell it again. */
    private String role = "";

    private BrokerFile(String name, String delays, Collection<String> evidence) {
        String release = release();
        broker = new Json(64).text("broker", name).encoded();
        file = Agent.recorder()
                .open(
                        "broker-" + Agent.pid() + "-" + name + ".jsonl",
                        new Header()
                                .source(Agent.NAME + ", broker " + name + " of RocketMQ " + release)
                                .evidence(evidence)
                                .release(release)
                                .delays(delays)
                                // OR-1: as RebalanceLockManager reads it.
                                .timer("lock_life", Long.getLong("rocketmq.broker.rebalance.lockMaxLiveTime", 60_000)))
                .recordedBy(broker);
    }

    /** The files of all brokers of this JVM whose names are known. */
    static List<BrokerFile> all() {
        return all;
    }

    /** The file of the only broker, null if there are several, or none whose name is known. */
    static BrokerFile only() {
        List<BrokerFile> known = all;
        return known.size() == 1 ? known.get(0) : null;
    }

    /** The file of the broker with these settings: BrokerConfig and MessageStoreConfig. */
    static synchronized BrokerFile of(Object settings, Object storeSettings) throws ReflectiveOperationException {
        BrokerFile file = FILES.get(settings);
        if (file == null) {
            List<String> evidence = new ArrayList<>(EVIDENCE);
            if (isOfDLedger(storeSettings)) {
                evidence.removeAll(STORES); // its log takes messages on another way
            }
            file = new BrokerFile(
                    (String) Reflect.call(settings, "getBrokerName"),
                    (String) Reflect.call(storeSettings, "getMessageDelayLevel"),
                    evidence);
            FILES.put(settings, file);
            all = Collections.unmodifiableList(new ArrayList<>(FILES.values()));
        }
        return file;
    }

    /** The file of a BrokerController. */
    static BrokerFile of(Object controller) throws ReflectiveOperationException {
        BrokerFile file =
                of(Reflect.call(controller, "getBrokerConfig"), Reflect.call(controller, "getMessageStoreConfig"));
        file.controller = controller;
        return file;
    }

    /** The file of the broker that a part of it belongs to: a manager, a service, the controller itself. */
    static BrokerFile ofPart(Object part) throws ReflectiveOperationException {
        try {
            return of(Reflect.field(part, "brokerController"));
        } catch (NoSuchFieldException before5) {
            return only(); // ScheduleMessageService and BrokerController of 4.x
        }
    }

    /** The BrokerController, null if it has not been seen yet. */
    Object controller() {
        return controller;
    }

    /** Whether what the broker is told to be is something else than before. */
    synchronized boolean changes(String elected) {
        boolean isOther = !elected.equals(role);
        role = elected;
        return isOther;
    }

    private static boolean isOfDLedger(Object storeSettings) {
        try {
            return Boolean.TRUE.equals(Reflect.call(storeSettings, "isEnableDLegerCommitLog"));
        } catch (ReflectiveOperationException earlier) {
            return false; // 4.4 and before
        }
    }

    /** An event of this broker that happens now. */
    Event event(String kind) {
        return Event.of(kind, broker);
    }

    /** The same, of a topic; retry and dead-letter topics tell their group. */
    Event event(String kind, String topic) {
        Event event = event(kind).text("topic", topic);
        if (topic.startsWith(RETRY)) {
            event.text("group", topic.substring(RETRY.length()));
        } else if (isDeadLetter(topic)) {
            event.text("group", topic.substring(DEAD_LETTER.length()));
        }
        return event;
    }

    void record(Event event) {
        file.record(event);
    }

    static boolean isDeadLetter(String topic) {
        return topic.startsWith(DEAD_LETTER);
    }

    /** Whether a topic is one that RocketMQ keeps for itself: half messages, traces, revive logs and the like. */
    static boolean isInternal(String topic) {
        return topic.regionMatches(true, 0, "rmq_sys_", 0, 8) || INTERNAL.contains(topic);
    }

    /** Whether a group is RocketMQ's own. */
    static boolean isInternalGroup(String group) {
        return group.startsWith("CID_RMQ_SYS_");
    }

    /** Something of the broker could not be read: told once for each place, and the broker goes on. */
    static void trouble(String where, Throwable error) {
        if (TROUBLES.add(where)) {
            System.err.println("rocketproof agent: does not record all of " + where + ": " + error);
        }
    }

    /** Waits a moment for what was recorded to be in the file: the JVM may end now. */
    static void flush() {
        Recorder recorder = Agent.recorder();
        if (recorder != null) {
            recorder.flush(2000);
        }
    }

    /** MQVersion says it as V5_3_3. */
    private static String release() {
        return MQVersion.getVersionDesc(MQVersion.CURRENT_VERSION).replaceFirst("^V", "").replace('_', '.');
    }
}
