package rocketproof.agent;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A bounded queue of many writers and one reader, without locks: nobody who writes ever waits for anybody.
 *
 * <p>A writer takes the next place and then fills it. The reader stops at a place that is taken and not yet filled, so
 * what is read is in the order in which places were taken.
 */
final class Ring<T> {
    private final AtomicReferenceArray<T> places;
    private final int mask;
    private final AtomicLong taken = new AtomicLong();
    private final AtomicLong read = new AtomicLong();

    /** Room for at least <code>capacity</code> things: the next power of two. */
    Ring(int capacity) {
        int size = Integer.highestOneBit(Math.max(2, capacity - 1) * 2 - 1);
        while (size < capacity) {
            size *= 2;
        }
        places = new AtomicReferenceArray<>(size);
        mask = size - 1;
    }

    int capacity() {
        return mask + 1;
    }

    /** False where there is no room. */
    boolean offer(T thing) {
        long place;
        do {
            place = taken.get();
            if (place - read.get() > mask) {
                return false;
            }
        } while (!taken.compareAndSet(place, place + 1));
        places.lazySet((int) place & mask, thing);
        return true;
    }

    /** The next thing, or null. Only for the one reader. */
    T poll() {
        long place = read.get();
        int index = (int) place & mask;
        T thing = places.get(index);
        if (thing == null) {
            return null;
        }
        places.lazySet(index, null);
        read.lazySet(place + 1);
        return thing;
    }

    /** How many places have ever been taken. */
    long taken() {
        return taken.get();
    }

    /** How many things have ever been read. */
    long read() {
        return read.get();
    }
}
