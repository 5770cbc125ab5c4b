package rocketproof.agent.broker;

import java.util.Map;
import java.util.TreeMap;
import net.bytebuddy.asm.Advice;
import rocketproof.agent.Event;
import rocketproof.agent.Reflect;

/** The life of a broker, and the files it keeps offsets in: OF-23, DL-4. */
public final class Life {
    private Life() {
    }

    /** BrokerController#initialize: the settings are there, nothing is loaded yet. */
    public static final class Initializing {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object controller) {
            Life.initializes(controller);
        }
    }

    /** BrokerController#start, before the first request can come in. */
    public static final class Starting {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object controller) {
            Life.starts(controller);
        }
    }

    /** BrokerController#shutdown. */
    public static final class Stopping {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This Object controller) {
            Life.stopped(controller);
        }
    }

    /** changeToMaster of whoever elects, before the broker acts as one. */
    public static final class ToMaster {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object elected) {
            Life.becomes(elected, "master");
        }
    }

    /** changeToSlave of whoever elects. */
    public static final class ToSlave {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object elected) {
            Life.becomes(elected, "slave");
        }
    }

    /** ConfigManager#load. */
    public static final class Loading {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This Object manager, @Advice.Return boolean loaded) {
            Life.file("file_load", manager, loaded ? "ok" : "error");
        }
    }

    /** ConfigManager#persist. */
    public static final class Persisting {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This Object manager) {
            Life.file("file_persist", manager, null);
        }
    }

    /** The broker has a name now. */
    public static void initializes(Object controller) {
        try {
            BrokerFile.of(controller);
        } catch (Throwable error) {
            BrokerFile.trouble("BrokerController#initialize", error);
        }
    }

    /** The broker starts, with the offsets that it found in its file. */
    public static void starts(Object started) {
        try {
            BrokerFile file = BrokerFile.of(started);
            file.record(file.event("broker_start"));
            tellOffsets(file, "file");
        } catch (Throwable error) {
            BrokerFile.trouble("BrokerController#start", error);
        }
    }

    private static void tellOffsets(BrokerFile file, String path) throws ReflectiveOperationException {
        Object offsets = Reflect.call(Reflect.call(file.controller(), "getConsumerOffsetManager"), "getOffsetTable");
        for (Map.Entry<?, ?> each : new TreeMap<>((Map<?, ?>) offsets).entrySet()) {
            String[] names = ((String) each.getKey()).split("@");
            if (names.length == 2 && Offsets.isTold(names[1], names[0])) {
                for (Map.Entry<?, ?> queue : new TreeMap<>((Map<?, ?>) each.getValue()).entrySet()) {
                    Event event = file.event("commit")
                            .text("group", names[1])
                            .text("topic", names[0])
                            .number("queue", (Integer) queue.getKey())
                            .known("offset", (Long) queue.getValue())
                            .text("path", path);
                    file.record(event);
                }
            }
        }
    }

    /** The broker has stopped, and the JVM may end any moment. */
    public static void stopped(Object controller) {
        try {
            BrokerFile file = BrokerFile.of(controller);
            file.record(file.event("broker_stop"));
            BrokerFile.flush();
        } catch (Throwable error) {
            BrokerFile.trouble("BrokerController#shutdown", error);
        }
    }

    /** The broker is elected master, with the offsets that it took over as a slave, or another one is. */
    public static synchronized void becomes(Object part, String elected) {
        try {
            BrokerFile file = BrokerFile.ofPart(part);
            if (file.changes(elected)) {
                file.record(file.event("role_change").text("result", elected));
                if (elected.equals("master")) {
                    tellOffsets(file, "replica");
                }
            }
        } catch (Throwable error) {
            BrokerFile.trouble("changes of role", error);
        }
    }

    /** A file of offsets was read or written; of other files nothing is told. */
    public static void file(String kind, Object manager, String result) {
        try {
            String what = contentOf(manager.getClass());
            BrokerFile file = what == null ? null : BrokerFile.ofPart(manager);
            if (file != null) {
                file.record(file.event(kind).text("detail", what).text("result", result));
            }
        } catch (Throwable error) {
            BrokerFile.trouble("ConfigManager", error);
        }
    }

    private static String contentOf(Class<?> manager) {
        for (Class<?> type = manager; type != null; type = type.getSuperclass()) {
            if (type.getSimpleName().equals("ConsumerOffsetManager")) {
                return "consumerOffset";
            }
            if (type.getSimpleName().equals("ScheduleMessageService")) {
                return "delayOffset";
            }
        }
        return null;
    }
}
