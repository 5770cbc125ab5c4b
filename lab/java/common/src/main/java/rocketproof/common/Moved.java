package rocketproof.common;

import java.util.Map;
import org.apache.rocketmq.common.MQVersion;

/** Classes that are in another package in another release, so that one build runs with all. */
public final class Moved {
    private Moved() {
    }

    /** The release whose classes are loaded, as in {@code 5.3.3}. */
    public static String release() {
        return MQVersion.getVersionDesc(MQVersion.CURRENT_VERSION).substring(1).replace('_', '.');
    }

    /** Whether the loaded release is a 4.x. */
    public static boolean isFour() {
        return release().startsWith("4.");
    }

    /** The first class there is, of names relative to {@code org.apache.rocketmq}: that of 5.x, then that of 4.x. */
    public static Class<?> type(String... names) throws ClassNotFoundException {
        for (String name : names) {
            try {
                return Class.forName("org.apache.rocketmq." + name);
            } catch (ClassNotFoundException absent) {
                continue;
            }
        }
        throw new ClassNotFoundException(String.join(" or ", names));
    }

    /** The class of messages that a broker is about to store. */
    public static Class<?> innerMessage() throws ClassNotFoundException {
        return type("common.message.MessageExtBrokerInner", "store.MessageExtBrokerInner");
    }

    /** A constant of {@code MessageModel}, CLUSTERING or BROADCASTING. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    public static Object messageModel(String name) throws ClassNotFoundException {
        return Enum.valueOf(
            (Class) type("remoting.protocol.heartbeat.MessageModel", "common.protocol.heartbeat.MessageModel"), name);
    }

    /**
     * A {@code SubscriptionGroupConfig} with the defaults of the release.
     *
     * @param name of the group
     * @param settings what differs from the defaults: setter to value
     */
    public static Object group(String name, Map<String, Object> settings) throws ReflectiveOperationException {
        Object config = type(
            "remoting.protocol.subscription.SubscriptionGroupConfig",
            "common.subscription.SubscriptionGroupConfig").getDeclaredConstructor().newInstance();
        Reflect.call(config, "setGroupName", name);
        for (Map.Entry<String, Object> setting : settings.entrySet()) {
            Reflect.call(config, setting.getKey(), setting.getValue());
        }
        return config;
    }
}
