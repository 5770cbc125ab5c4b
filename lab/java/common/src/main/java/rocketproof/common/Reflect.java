package rocketproof.common;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.ExecutionException;

/** Reaches by name what is private, or has another type in another release. */
public final class Reflect {
    private Reflect() {
    }

    /** Calls a method by name and arguments, private or not, of the class or one it extends. */
    public static Object call(Object target, String name, Object... arguments) throws ReflectiveOperationException {
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
    public static boolean has(Object target, String name) {
        for (Method method : target.getClass().getDeclaredMethods()) {
            if (method.getName().equals(name)) {
                return true;
            }
        }
        return false;
    }

    /** The value of a field, of the class or one it extends. */
    public static Object get(Object target, String name) throws ReflectiveOperationException {
        return field(target.getClass(), name).get(target);
    }

    /** Sets a field, of the class or one it extends. */
    public static void set(Object target, String name, Object value) throws ReflectiveOperationException {
        field(target.getClass(), name).set(target, value);
    }

    /** What was thrown, without the wrapping of reflection and of other threads. */
    public static Throwable unwrapped(Throwable error) {
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
