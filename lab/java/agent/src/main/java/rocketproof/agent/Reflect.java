package rocketproof.agent;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Reads what differs between releases by name: public methods without parameters, and fields of any visibility. */
public final class Reflect {
    private static final ClassValue<Map<String, Method>> METHODS = new ClassValue<Map<String, Method>>() {
        @Override
        protected Map<String, Method> computeValue(Class<?> type) {
            return new ConcurrentHashMap<>();
        }
    };
    private static final ClassValue<Map<String, Field>> FIELDS = new ClassValue<Map<String, Field>>() {
        @Override
        protected Map<String, Field> computeValue(Class<?> type) {
            return new ConcurrentHashMap<>();
        }
    };

    private Reflect() {
    }

    /**
     * Calls a public method without parameters.
     *
     * @throws ReflectiveOperationException where there is none of that name, or it throws
     */
    public static Object call(Object target, String method) throws ReflectiveOperationException {
        Map<String, Method> known = METHODS.get(target.getClass());
        Method found = known.get(method);
        if (found == null) {
            found = target.getClass().getMethod(method);
            found.setAccessible(true);
            known.put(method, found);
        }
        return found.invoke(target);
    }

    /** As {@link #call}, of a method that answers with a text. */
    public static String text(Object target, String method) throws ReflectiveOperationException {
        return (String) call(target, method);
    }

    /** As {@link #call}, of a method that answers with a number. */
    public static long number(Object target, String method) throws ReflectiveOperationException {
        return ((Number) call(target, method)).longValue();
    }

    /**
     * Reads a field of the class or of one above it, whatever its visibility.
     *
     * @throws ReflectiveOperationException where there is none of that name
     */
    public static Object field(Object target, String field) throws ReflectiveOperationException {
        Map<String, Field> known = FIELDS.get(target.getClass());
        Field found = known.get(field);
        if (found == null) {
            found = declared(target.getClass(), field);
            found.setAccessible(true);
            known.put(field, found);
        }
        return found.get(target);
    }

    private static Field declared(Class<?> type, String field) throws NoSuchFieldException {
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            try {
                return at.getDeclaredField(field);
            } catch (NoSuchFieldException above) {
                // It may be further up.
            }
        }
        throw new NoSuchFieldException(type.getName() + "#" + field);
    }
}
