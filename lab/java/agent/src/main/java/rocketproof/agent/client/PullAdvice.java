package rocketproof.agent.client;

import net.bytebuddy.asm.Advice;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.impl.consumer.DefaultMQPushConsumerImpl;
import org.apache.rocketmq.client.impl.consumer.ProcessQueue;
import org.apache.rocketmq.client.impl.consumer.PullRequest;
import org.apache.rocketmq.client.impl.consumer.PullResultExt;

/** Advice for pulls: see {@link Pulls}. */
final class PullAdvice {
    private PullAdvice() {
    }

    /** Around pullMessage of DefaultMQPushConsumerImpl. */
    static final class Pull {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object impl, @Advice.Argument(0) PullRequest request)
                throws ReflectiveOperationException {
            Pulls.begin(impl, request.getMessageQueue(), request.getProcessQueue());
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit() {
            Pulls.end();
        }
    }

    /** Before executePullRequestLater of DefaultMQPushConsumerImpl. */
    static final class Later {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(
                @Advice.This DefaultMQPushConsumerImpl impl,
                @Advice.Argument(0) PullRequest request,
                @Advice.Argument(1) long delay) {
            ProcessQueue queue = request.getProcessQueue();
            Pulls.putOff(
                    delay,
                    queue.getMsgCount().get() > impl.getDefaultMQPushConsumer().getPullThresholdForQueue(),
                    queue.getMsgSize().get() / (1024 * 1024)
                            > impl.getDefaultMQPushConsumer().getPullThresholdSizeForQueue(),
                    queue.isLocked(),
                    impl.isPause());
        }
    }

    /** Before pullMessage of MQClientAPIImpl. */
    static final class Send {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(1) Object header) throws ReflectiveOperationException {
            Pulls.request(header);
        }
    }

    /** Around onSuccess of the callback of a pull. */
    static final class Success {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.FieldValue("val$pullRequest") PullRequest request) {
            Pulls.answered(request.getProcessQueue(), request.getNextOffset());
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit() {
            Pulls.evaluated();
        }
    }

    /** Before onException of the callback of a pull. */
    static final class Failure {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(
                @Advice.FieldValue("val$pullRequest") PullRequest request, @Advice.Argument(0) Throwable error) {
            Pulls.failed(request.getProcessQueue(), request.getNextOffset(), error);
        }
    }

    /** Around processPullResult of PullAPIWrapper. */
    static final class Decode {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter(@Advice.Argument(1) PullResult result) {
            return Pulls.count(((PullResultExt) result).getMessageBinary());
        }

        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.Return PullResult result, @Advice.Enter int sent) {
            int count = result.getMsgFoundList() == null ? 0 : result.getMsgFoundList().size();
            Pulls.decoded(
                    result.getPullStatus().name(),
                    result.getNextBeginOffset(),
                    result.getMinOffset(),
                    result.getMaxOffset(),
                    count,
                    sent);
        }
    }
}
