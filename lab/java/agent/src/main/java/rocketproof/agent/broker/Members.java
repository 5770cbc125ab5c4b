package rocketproof.agent.broker;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.bytebuddy.asm.Advice;
import org.apache.rocketmq.broker.client.ClientChannelInfo;
import org.apache.rocketmq.broker.client.ConsumerGroupInfo;
import org.apache.rocketmq.remoting.common.RemotingHelper;
import rocketproof.agent.Reflect;

/** Who is in which group, as the broker's table of channels has it after each change (ST-6). */
public final class Members {
    private static final Map<BrokerFile, Map<String, List<String>>> KNOWN = new HashMap<>();

    private Members() {
    }

    /** ConsumerGroupInfo#updateChannel: a heartbeat; it answers whether the channel is new. */
    public static final class Updating {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(
                @Advice.This Object group, @Advice.Argument(0) Object channel, @Advice.Return boolean isNew) {
            Members.updated(group, channel, isNew);
        }
    }

    /** ConsumerGroupInfo#unregisterChannel and #doChannelCloseEvent, which answer differently in 4.x and 5.x. */
    public static final class Leaving {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This Object group) {
            Members.left(group);
        }
    }

    /** ConsumerManager#scanNotActiveChannel, which drops channels of several groups. */
    public static final class Scanning {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This Object manager) {
            Members.scanned(manager);
        }
    }

    /** A client has sent a heartbeat for a group. */
    public static void updated(Object group, Object channel, boolean isNew) {
        try {
            ClientChannelInfo info = (ClientChannelInfo) channel;
            Clients.learn(RemotingHelper.parseChannelRemoteAddr(info.getChannel()), info.getClientId());
            ConsumerGroupInfo members = (ConsumerGroupInfo) group;
            BrokerFile file = fileOf(members);
            if (file != null && (isNew || !isKnown(file, members.getGroupName()))) {
                note(file, members.getGroupName(), members);
            }
        } catch (Throwable error) {
            BrokerFile.trouble("ConsumerGroupInfo#updateChannel", error);
        }
    }

    /** A channel may have left a group. */
    public static void left(Object group) {
        try {
            ConsumerGroupInfo members = (ConsumerGroupInfo) group;
            BrokerFile file = fileOf(members);
            if (file != null) {
                note(file, members.getGroupName(), members);
            }
        } catch (Throwable error) {
            BrokerFile.trouble("ConsumerGroupInfo#unregisterChannel", error);
        }
    }

    /** Any channel may have left any group. */
    public static void scanned(Object manager) {
        try {
            Map<?, ?> table = tableOf(manager);
            for (BrokerFile file : BrokerFile.all()) {
                if (isOf(file, table)) {
                    for (String group : known(file)) {
                        note(file, group, (ConsumerGroupInfo) table.get(group));
                    }
                }
            }
        } catch (Throwable error) {
            BrokerFile.trouble("ConsumerManager#scanNotActiveChannel", error);
        }
    }

    private static Map<?, ?> tableOf(Object manager) throws ReflectiveOperationException {
        return (Map<?, ?>) Reflect.field(manager, "consumerTable");
    }

    /** Whether it is this broker's table of groups: the only broker's, or the one that its ConsumerManager has. */
    private static boolean isOf(BrokerFile file, Map<?, ?> table) throws ReflectiveOperationException {
        Object controller = file.controller();
        return file == BrokerFile.only()
                || controller != null && tableOf(Reflect.call(controller, "getConsumerManager")) == table;
    }

    /** The file of the broker in which this is a group, null if that is not known. */
    private static BrokerFile fileOf(ConsumerGroupInfo group) throws ReflectiveOperationException {
        BrokerFile only = BrokerFile.only();
        if (only != null) {
            return only;
        }
        for (BrokerFile file : BrokerFile.all()) {
            Object controller = file.controller();
            Map<?, ?> table = controller == null ? null : tableOf(Reflect.call(controller, "getConsumerManager"));
            if (table != null && table.get(group.getGroupName()) == group) {
                return file;
            }
        }
        return null;
    }

    private static List<String> known(BrokerFile file) {
        synchronized (KNOWN) {
            return new ArrayList<>(KNOWN.getOrDefault(file, Collections.emptyMap()).keySet());
        }
    }

    private static boolean isKnown(BrokerFile file, String group) {
        synchronized (KNOWN) {
            return KNOWN.getOrDefault(file, Collections.emptyMap()).containsKey(group);
        }
    }

    /** Members are read and recorded under one lock, so that the last event of a group has its last members. */
    private static void note(BrokerFile file, String group, ConsumerGroupInfo info) {
        if (BrokerFile.isInternalGroup(group)) {
            return;
        }
        synchronized (KNOWN) {
            List<String> members = info == null ? new ArrayList<>() : new ArrayList<>(info.getAllClientId());
            Collections.sort(members);
            List<String> before =
                    KNOWN.computeIfAbsent(file, absent -> new HashMap<>()).put(group, members);
            if (before == null ? !members.isEmpty() : !members.equals(before)) {
                file.record(file.event("members").text("group", group).texts("members", members));
            }
        }
    }
}
