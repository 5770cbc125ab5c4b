package rocketproof.agent.client;

import java.util.List;
import net.bytebuddy.asm.Advice;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.impl.consumer.ProcessQueue;
import org.apache.rocketmq.common.message.MessageExt;

/** Advice for ConsumeMessageConcurrentlyService, ConsumeMessageOrderlyService and their tasks: see {@link Calls}. */
final class CallAdvice {
    private CallAdvice() {
    }

    /** After the constructor of ConsumeMessageConcurrentlyService. */
    static final class Concurrently {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(
                @Advice.FieldValue(value = "messageListener", readOnly = false) MessageListenerConcurrently listener)
                throws ReflectiveOperationException {
            listener = (MessageListenerConcurrently) Calls.recorded(listener, MessageListenerConcurrently.class);
        }
    }

    /** After the constructor of ConsumeMessageOrderlyService. */
    static final class Orderly {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(
                @Advice.FieldValue(value = "messageListener", readOnly = false) MessageListenerOrderly listener)
                throws ReflectiveOperationException {
            listener = (MessageListenerOrderly) Calls.recorded(listener, MessageListenerOrderly.class);
        }
    }

    /** Around run of a concurrent task. */
    static final class Run {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static Call enter(
                @Advice.FieldValue("processQueue") Object queue,
                @Advice.FieldValue("msgs") List<MessageExt> messages) {
            Call call = Calls.begin(queue, messages.size());
            if (call != null) {
                for (int at = 0; at < messages.size(); at++) {
                    MessageExt message = messages.get(at);
                    call.add(message.getQueueOffset(), message.getReconsumeTimes(), message.getMsgId());
                }
            }
            return call;
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter Call call) {
            Calls.end(call);
        }
    }

    /** Around run of an orderly worker, which takes its batches itself. */
    static final class Work {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static Call enter(@Advice.FieldValue("processQueue") Object queue) {
            return Calls.begin(queue, 4);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter Call call) {
            Calls.end(call);
        }
    }

    /** Before processConsumeResult of either. */
    static final class Process {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter() {
            Calls.processing();
        }
    }

    /** After processConsumeResult of an orderly worker. */
    static final class Processed {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit() throws ReflectiveOperationException {
            Calls.processed();
        }
    }

    /** Before tryLockLaterAndReconsume. */
    static final class LockLater {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(1) ProcessQueue queue) {
            if (queue.isLocked() && queue.isLockExpired()) {
                Windows.lockLost(queue);
            }
        }
    }
}
