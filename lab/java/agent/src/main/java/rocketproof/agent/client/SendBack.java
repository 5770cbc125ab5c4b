package rocketproof.agent.client;

import rocketproof.agent.Event;
import rocketproof.agent.Reflect;

/** A message on its way back to the broker, by a request and perhaps by its fallback (SB-1 to SB-5, OR-8, PQ-9). */
public final class SendBack {
    /** DefaultMQPushConsumer#sendMessageBack: a listener, or any thread, sends a message back by itself. */
    static final String BY_APPLICATION = "application";

    private final Consumer consumer;
    private final byte[] members;
    /** The members that all events of a message have. */
    private final byte[] message;
    /** Who has it sent back: RocketMQ itself, by request, or as its time has expired, or the application. */
    private final String path;
    /** Whether anything was told of it. */
    private boolean told;

    private SendBack(Consumer consumer, byte[] members, byte[] message, String path) {
        this.consumer = consumer;
        this.members = members;
        this.message = message;
        this.path = path;
    }

    /**
     * A message is to be sent back; where its window is being cleaned, because its listener runs too long (PQ-9).
     *
     * <p>The topic of the message is not the retry topic any more (CC-4); it counts where the message is not one of the
     * current call.
     *
     * @param impl DefaultMQPushConsumerImpl
     * @param message MessageExt
     * @return whether this is the outermost call, which ends with {@link #end}
     */
    public static boolean begin(Object impl, Object message) throws ReflectiveOperationException {
        OnThread now = OnThread.get();
        Consumer consumer = Consumers.of(impl);
        if (now.sendBack != null || consumer == null) {
            return false;
        }
        long offset = Reflect.number(message, "getQueueOffset");
        boolean expired = now.cleaned != null;
        Window window = expired ? now.cleaned : now.call != null && now.call.has(offset) ? now.call.window : null;
        byte[] members = window != null
                ? consumer.place(window.queue).members
                : consumer.members(
                        Reflect.text(message, "getTopic"),
                        Reflect.text(message, "getBrokerName"),
                        Reflect.number(message, "getQueueId"));
        byte[] own = Call.members(
                offset, (int) Reflect.number(message, "getReconsumeTimes"), Reflect.text(message, "getMsgId"));
        String path = expired ? "expired" : BY_APPLICATION.equals(now.why) ? BY_APPLICATION : "request";
        now.sendBack = new SendBack(consumer, members, own, path);
        if (expired) {
            consumer.record(now.sendBack.event("expire"));
        }
        return true;
    }

    /** It has been sent back, or not; with an error before anything was sent it was not. */
    public static void end(boolean outermost, Throwable error) {
        SendBack back = OnThread.get().sendBack;
        if (outermost) {
            if (back != null && error != null && !back.told) {
                back.tell(back.path, null, error, null);
            }
            OnThread.get().sendBack = null;
        }
    }

    /**
     * SB-2: request 36 was answered.
     *
     * @param given all arguments of MQClientAPIImpl#consumerSendMessageBack, which end with group, level, time limit and
     *     maximum
     */
    public static void requested(Object[] given, Throwable error) {
        SendBack back = OnThread.get().sendBack;
        if (back != null) {
            back.tell(back.path, ((Integer) given[given.length - 1]).longValue(), error,
                    (Integer) given[given.length - 3]);
        }
    }

    /** Whether a message that is produced in this thread is a retry copy of a client. */
    public static boolean underWay() {
        return OnThread.get().sendBack != null;
    }

    /** SB-4, OR-8: the client has produced the retry copy itself. */
    public static void produced(String maximum, Throwable error) {
        SendBack back = OnThread.get().sendBack;
        if (back != null) {
            String path = back.path.equals(BY_APPLICATION) ? BY_APPLICATION : "fallback";
            back.tell(path, maximum == null ? -1 : Long.parseLong(maximum), error, null);
        }
    }

    /** PQ-9: the window is being cleaned from now on, or no more. */
    public static void cleaning(Object processQueue) {
        OnThread.get().cleaned = processQueue == null ? null : Windows.of(processQueue);
    }

    private void tell(String path, Long maximum, Throwable error, Integer level) {
        told = true;
        Event event = event("send_back").text("path", path).text("result", error == null ? "ok" : "failed");
        if (level != null) {
            event.number("level", level);
        }
        if (maximum != null) {
            event.number("max_attempts", maximum);
        }
        if (error != null) {
            event.text("detail", String.valueOf(error));
        }
        consumer.record(event);
    }

    private Event event(String kind) {
        return Event.of(kind, members).members(message);
    }
}
