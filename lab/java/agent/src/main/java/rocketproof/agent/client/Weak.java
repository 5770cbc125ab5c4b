package rocketproof.agent.client;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** What is known of objects of RocketMQ, by identity, for as long as RocketMQ holds them. For any number of threads. */
final class Weak<V> {
    private interface Key {
        Object object();
    }

    private static final class Kept extends WeakReference<Object> implements Key {
        private final int hash;

        Kept(Object object, ReferenceQueue<Object> gone) {
            super(object, gone);
            hash = System.identityHashCode(object);
        }

        @Override
        public Object object() {
            return get();
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(Object other) {
            // One that is gone is equal to itself alone, so that it can still be removed.
            return this == other || other instanceof Key && get() != null && get() == ((Key) other).object();
        }
    }

    private static final class Asked implements Key {
        private final Object object;

        Asked(Object object) {
            this.object = object;
        }

        @Override
        public Object object() {
            return object;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(object);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Key && object == ((Key) other).object();
        }
    }

    private final Map<Key, V> known = new ConcurrentHashMap<>();
    private final ReferenceQueue<Object> gone = new ReferenceQueue<>();

    V get(Object object) {
        return object == null ? null : known.get(new Asked(object));
    }

    /** What is known of it from now on; the answer is what was known before, which then stays. */
    V putIfAbsent(Object object, V value) {
        for (Reference<?> reference = gone.poll(); reference != null; reference = gone.poll()) {
            known.remove(reference);
        }
        return known.putIfAbsent(new Kept(object, gone), value);
    }
}
