package rocketproof.agent.client;

import net.bytebuddy.asm.Advice;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageConst;

/** Advice for messages that are sent back: see {@link SendBack}. */
final class SendBackAdvice {
    private SendBackAdvice() {
    }

    /** Around sendMessageBack of DefaultMQPushConsumerImpl, all forms of it. */
    static final class ByRequest {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static boolean enter(@Advice.This Object impl, @Advice.Argument(0) Object message)
                throws ReflectiveOperationException {
            return SendBack.begin(impl, message);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter boolean outermost, @Advice.Thrown Throwable error) {
            SendBack.end(outermost, error);
        }
    }

    /** Around sendMessageBack of DefaultMQPushConsumer, which applications may call. */
    static final class ByApplication {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static String enter() {
            return OnThread.because(SendBack.BY_APPLICATION);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter String before) {
            OnThread.back(before);
        }
    }

    /** Around sendMessageBack of ConsumeMessageOrderlyService. */
    static final class InOrder {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static boolean enter(
                @Advice.FieldValue("defaultMQPushConsumerImpl") Object impl, @Advice.Argument(0) Object message)
                throws ReflectiveOperationException {
            return SendBack.begin(impl, message);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter boolean outermost, @Advice.Thrown Throwable error) {
            SendBack.end(outermost, error);
        }
    }

    /** After consumerSendMessageBack of MQClientAPIImpl. */
    static final class Request {
        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.AllArguments Object[] given, @Advice.Thrown Throwable error) {
            SendBack.requested(given, error);
        }
    }

    /** Around send of DefaultMQProducer, the form with a message alone. */
    static final class Produce {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static String enter(@Advice.Argument(0) Message message) {
            // Producing takes the maximum out of the message (SB-8).
            return SendBack.underWay() ? message.getProperty(MessageConst.PROPERTY_MAX_RECONSUME_TIMES) : null;
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter String maximum, @Advice.Thrown Throwable error) {
            SendBack.produced(maximum, error);
        }
    }
}
