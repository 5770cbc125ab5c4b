package rocketproof.oracle;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.ExecutionException;
import org.apache.rocketmq.common.MQVersion;

/** Reaches what is private, and what is in another package in another release. */
final class Moved {
    private Moved() {
    }

    /** The release whose classes are loaded, as in {@code 5.3.3}. */
    static String release() {
        return MQVersion.getVersionDesc(MQVersion.CURRENT_VERSION).substring(1).replace('_', '.');
    }

    /** Whether the loaded release is a 4.x. */
    static boolean isFour() {
        return release().startsWith("4.");
    }

    /** The first class there is, of names relative to {@code org.apache.rocketmq}: that of 5.x, then that of 4.x. */
    static Class<?> type(String... names) throws ClassNotFoundException {
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
    static Class<?> innerMessage() throws ClassNotFoundException {
        return type("common.message.MessageExtBrokerInner", "store.MessageExtBrokerInner");
    }

    /** Calls a method by name and number of arguments, private or not, of the class or one it extends. */
    static Object call(Object target, String name, Object... arguments) throws ReflectiveOperationException {
        Class<?> type = target instanceof Class ? (Class<?>) target : target.getClass();
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            for (Method method : each.getDeclaredMethods()) {
                if (method.getName().equals(name) && fits(method, arguments)) {
                    method.setAccessible(true);
                    return method.invoke(target instanceof Class ? null : target, arguments);
                }
            }
        }
        throw new NoSuchMethodException(type.getName() + "#" + name);
    }

    /** Whether the class of {@code target} itself has a method of this name. */
    static boolean has(Object target, String name) {
        for (Method method : target.getClass().getDeclaredMethods()) {
            if (method.getName().equals(name)) {
                return true;
            }
        }
        return false;
    }

    static Object get(Object target, String name) throws ReflectiveOperationException {
        return field(target.getClass(), name).get(target);
    }

    static void set(Object target, String name, Object value) throws ReflectiveOperationException {
        field(target.getClass(), name).set(target, value);
    }

    /** What was thrown, without the wrapping of reflection and of other threads. */
    static Throwable unwrapped(Throwable error) {
        Throwable cause = error;
        while ((cause instanceof InvocationTargetException || cause instanceof ExecutionException)
            && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    private static boolean fits(Method method, Object[] arguments) {
        Class<?>[] types = method.getParameterTypes();
        if (types.length != arguments.length || method.isBridge()) {
            return false;
        }
        for (int i = 0; i < types.length; i++) {
            if (arguments[i] != null && !boxed(types[i]).isInstance(arguments[i])) {
                return false;
            }
        }
        return true;
    }

    private static Class<?> boxed(Class<?> type) {
        if (type == int.class) {
            return Integer.class;
        }
        if (type == long.class) {
            return Long.class;
        }
        return type == boolean.class ? Boolean.class : type;
    }

    private static Field field(Class<?> type, String name) throws NoSuchFieldException {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            try {
                Field field = each.getDeclaredField(name);
                field.setAccessible(true);
                return field;
            } catch (NoSuchFieldException absent) {
                continue;
            }
        }
        throw new NoSuchFieldException(type.getName() + "#" + name);
    }
}
