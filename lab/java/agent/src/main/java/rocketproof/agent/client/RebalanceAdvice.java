package rocketproof.agent.client;

import java.util.List;
import java.util.Map;
import java.util.Set;
import net.bytebuddy.asm.Advice;
import org.apache.rocketmq.client.impl.consumer.PullRequest;
import org.apache.rocketmq.common.message.MessageQueue;

/** Advice for RebalanceImpl, RebalancePushImpl and the requests for locks: see {@link Rebalances}. */
final class RebalanceAdvice {
    private RebalanceAdvice() {
    }

    /** Before rebalanceByTopic. */
    static final class Topic {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(
                @Advice.Argument(0) String topic,
                @Advice.FieldValue("topicSubscribeInfoTable") Map<String, Set<MessageQueue>> queues) {
            Rebalances.begin(queues.get(topic));
        }
    }

    /** After findConsumerIdList of MQClientInstance. */
    static final class Members {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.Return List<String> members) {
            Rebalances.asked(members);
        }
    }

    /** Around updateProcessQueueTableInRebalance. */
    static final class Update {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static String enter(
                @Advice.This Object rebalance,
                @Advice.Argument(0) String topic,
                @Advice.Argument(1) Set<MessageQueue> assigned,
                @Advice.FieldValue("topicSubscribeInfoTable") Map<String, Set<MessageQueue>> queues)
                throws ReflectiveOperationException {
            String before = OnThread.because("removal");
            Rebalances.divided(rebalance, topic, queues.get(topic), assigned);
            return before;
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter String before) {
            OnThread.back(before);
            Rebalances.acted();
        }
    }

    /** Around truncateMessageQueueNotMyTopic. */
    static final class Truncate {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static String enter() {
            return OnThread.because("unsubscribe");
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter String before) {
            OnThread.back(before);
        }
    }

    /** Around what mends an illegal offset: removeProcessQueue, and the task that calls it. */
    static final class Correct {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static String enter() {
            return OnThread.unlessBecause("correction");
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter String before) {
            OnThread.back(before);
        }
    }

    /** Before dispatchPullRequest of RebalancePushImpl. */
    static final class Taken {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object rebalance, @Advice.Argument(0) List<PullRequest> requests) {
            for (PullRequest request : requests) {
                Rebalances.taken(
                        rebalance, request.getMessageQueue(), request.getProcessQueue(), request.getNextOffset());
            }
        }
    }

    /** Around lockAll. */
    static final class LockAll {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter() {
            OnThread.renewing(true);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit() {
            OnThread.renewing(false);
        }
    }

    /** After lockBatchMQ of MQClientAPIImpl. */
    static final class Lock {
        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Argument(1) Object body, @Advice.Return Set<MessageQueue> granted)
                throws ReflectiveOperationException {
            Rebalances.locked(body, granted);
        }
    }

    /** Before unlockBatchMQ of MQClientAPIImpl. */
    static final class Unlock {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(1) Object body) throws ReflectiveOperationException {
            Rebalances.unlocked(body);
        }
    }
}
