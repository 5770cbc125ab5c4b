package rocketproof.agent.client;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Objects;
import rocketproof.agent.Event;
import rocketproof.agent.Reflect;

/** Calls of listeners and their results (CC-6 to CC-10, OR-3 to OR-7). */
public final class Calls {
    private static final String CONSUME = "consumeMessage";
    private static final MethodType CALL = MethodType.methodType(Object.class, Object.class, Object.class);
    private static final Weak<Boolean> OURS = new Weak<>();

    private Calls() {
    }

    /** A task for a listener begins, with room for so many messages; null where its window is not recorded. */
    public static Call begin(Object processQueue, int room) {
        Window window = Windows.of(processQueue);
        Call call = window == null ? null : new Call(processQueue, window, room);
        OnThread.get().call = call;
        return call;
    }

    /** The orderly worker of a window takes its next batch, to be told by {@link Call#add}; null in other threads. */
    public static Call taken(Object processQueue) {
        Call call = OnThread.get().call;
        if (call == null || call.processQueue != processQueue) {
            return null;
        }
        call.restart();
        return call;
    }

    /** CC-9: the task has ended; what was called and not evaluated is discarded. */
    public static void end(Call call) {
        OnThread.get().call = null;
        if (call != null && call.called && !call.processed) {
            call.discarded();
        }
    }

    /** The result of the call is evaluated from now on. */
    public static void processing() {
        Call call = OnThread.get().call;
        if (call != null) {
            call.processed = true;
        }
    }

    /** OR-7: the result of an orderly call was evaluated, which counts for nothing where the window is dropped. */
    public static void processed() throws ReflectiveOperationException {
        Call call = OnThread.get().call;
        if (call != null && !call.updated && (Boolean) Reflect.call(call.processQueue, "isDropped")) {
            call.discarded();
        }
    }

    /** OR-7: messages that were taken before the batch that is rolled back are rolled back with it. */
    public static Call rolledBack(Object processQueue, int room) {
        Window window = Windows.of(processQueue);
        return window == null ? null : new Call(processQueue, window, room);
    }

    /** What is rolled back without having been in the current call. */
    public static boolean isEarlier(long offset) {
        Call call = OnThread.get().call;
        return call == null || !call.has(offset);
    }

    /** OR-7: what was taken before the batch has its result. */
    public static void rolledBack(Call earlier) {
        earlier.result("rollback");
    }

    /**
     * A listener that is recorded, and otherwise does what the given one does.
     *
     * @param listener of the application
     * @param type MessageListenerConcurrently or MessageListenerOrderly, as the consumer's own class loader has it
     * @throws IllegalAccessException where the interface is not visible
     */
    public static Object recorded(Object listener, Class<?> type) throws IllegalAccessException {
        MethodHandle consume = null;
        for (Method method : type.getMethods()) {
            if (method.getName().equals(CONSUME)) {
                consume = MethodHandles.publicLookup().unreflect(method).bindTo(listener).asType(CALL);
            }
        }
        MethodHandle known = Objects.requireNonNull(consume);
        Object ours = Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, given) ->
                        method.getName().equals(CONSUME) ? invoke(known, given) : method.invoke(listener, given));
        OURS.putIfAbsent(ours, true);
        return ours;
    }

    /** The service of a consumer that started before the agent came calls a recorded listener from now on. */
    static void recordFromNowOn(Object service) throws ReflectiveOperationException {
        Field field = service.getClass().getDeclaredField("messageListener");
        field.setAccessible(true);
        Object listener = field.get(service);
        if (OURS.get(listener) == null) {
            field.set(service, recorded(listener, field.getType()));
        }
    }

    private static Object invoke(MethodHandle consume, Object[] given) throws Throwable {
        Call call = OnThread.get().call;
        if (call != null) {
            begins(call);
        }
        Object status;
        try {
            status = consume.invokeExact(given[0], given[1]);
        } catch (Throwable thrown) {
            if (call != null) {
                fails(call, "exception", given[1]);
            }
            throw thrown;
        }
        if (call != null) {
            returns(call, status, given[1]);
        }
        return status;
    }

    private static void begins(Call call) {
        try {
            call.delivered();
        } catch (Throwable ignored) {
            // The application does not notice.
        }
    }

    private static void returns(Call call, Object status, Object context) {
        try {
            if (status == null) {
                fails(call, "null", context);
            } else if (call.window.consumer.orderly) {
                call.result(inOrder(call, ((Enum<?>) status).name(), context));
            } else {
                concurrently(call, ((Enum<?>) status).name(), context);
            }
        } catch (Throwable ignored) {
            // The application does not notice.
        }
    }

    /** CC-14: what failed goes back with the level that the context has; orderly listeners ask for none. */
    private static void fails(Call call, String result, Object context) {
        try {
            if (call.window.consumer.orderly) {
                call.result(result);
            } else {
                call.failed(result, level(context));
            }
        } catch (Throwable ignored) {
            // The application does not notice.
        }
    }

    private static long level(Object context) throws ReflectiveOperationException {
        return Reflect.number(context, "getDelayLevelWhenNextConsume");
    }

    /** CC-10: of a success, what is behind the ackIndex has failed. */
    private static void concurrently(Call call, String status, Object context) throws ReflectiveOperationException {
        long last = status.equals("CONSUME_SUCCESS") ? Reflect.number(context, "getAckIndex") : -1;
        long now = Event.now();
        String success = success(call, now);
        long level = level(context);
        for (int at = 0; at < call.size(); at++) {
            if (at <= last) {
                call.result(at, success, now);
            } else {
                call.failed(at, "later", now, level);
            }
        }
    }

    private static String inOrder(Call call, String status, Object context) throws ReflectiveOperationException {
        switch (status) {
            case "SUSPEND_CURRENT_QUEUE_A_MOMENT":
                return "suspend";
            case "COMMIT":
            case "ROLLBACK":
                // OR-6: with automatic commit both count as success.
                return (Boolean) Reflect.call(context, "isAutoCommit") ? success(call, Event.now()) : status.toLowerCase();
            default:
                return success(call, Event.now());
        }
    }

    private static String success(Call call, long now) {
        return now - call.began >= call.window.consumer.timeout * 1000 ? "timeout" : "ok";
    }
}
