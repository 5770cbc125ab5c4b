package rocketproof.agent.client;

import java.util.Set;
import net.bytebuddy.asm.Advice;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.message.MessageQueue;

/** Advice for client instances and consumers: see {@link Lives}. */
final class LifeAdvice {
    private LifeAdvice() {
    }

    /** After registerConsumer of MQClientInstance. */
    static final class Register {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.Argument(1) Object consumer, @Advice.Return boolean registered)
                throws ReflectiveOperationException {
            if (registered) {
                Lives.started(consumer);
            }
        }
    }

    /** After sendHeartbeat and sendHeartbeatV2 of MQClientAPIImpl. */
    static final class Beat {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.Argument(0) String address, @Advice.Argument(1) Object data)
                throws ReflectiveOperationException {
            Lives.beat(address, data);
        }
    }

    /** After updateTopicSubscribeInfo of DefaultMQPushConsumerImpl. */
    static final class Route {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(
                @Advice.This Object impl,
                @Advice.Argument(0) String topic,
                @Advice.Argument(1) Set<MessageQueue> queues)
                throws ReflectiveOperationException {
            Lives.routed(impl, topic, queues);
        }
    }

    /** Before unregisterConsumer of MQClientInstance. */
    static final class Unregister {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This MQClientInstance instance, @Advice.Argument(0) String group) {
            Lives.unregisters(instance.getClientId(), group);
        }
    }

    /** Around shutdown of DefaultMQPushConsumerImpl, the form that does it. */
    static final class Shutdown {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static boolean enter(@Advice.This Object impl) throws ReflectiveOperationException {
            boolean runs = Lives.stops(impl);
            OnThread.because("shutdown");
            return runs;
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.This Object impl, @Advice.Enter boolean runs) {
            OnThread.back(null);
            if (runs) {
                Lives.stopped(impl);
            }
        }
    }
}
