package rocketproof.agent;

import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Which hooks are in place: in classes of RocketMQ that were instrumented, and in methods that their release has. */
public final class Hooks {
    private static final Set<String> CHANGED = ConcurrentHashMap.newKeySet();

    private Hooks() {
    }

    /** A class of that name is instrumented. */
    public static void changed(String type) {
        CHANGED.add(type);
    }

    /** A class of that name could not be instrumented: nothing of what it does is recorded. */
    public static void failed(String type) {
        CHANGED.remove(type);
    }

    /**
     * Whether what a method does is recorded. The class is loaded for that, as the answer is known only then.
     *
     * @param loader that of RocketMQ
     * @param type full name of the class
     * @param method its name; of several methods of that name one is enough
     */
    public static boolean inPlace(ClassLoader loader, String type, String method) {
        try {
            Class<?> found = Class.forName(type, false, loader);
            return CHANGED.contains(type)
                    && Arrays.stream(found.getDeclaredMethods()).anyMatch(one -> one.getName().equals(method));
        } catch (ClassNotFoundException | LinkageError absent) {
            return false;
        }
    }
}
