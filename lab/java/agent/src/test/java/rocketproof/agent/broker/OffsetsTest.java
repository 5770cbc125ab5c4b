package rocketproof.agent.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.Collections;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is recorded of a commit is what the broker has afterwards. */
final class OffsetsTest {
    /** A broker that keeps 100 in queue 0, whatever is committed. */
    public static final class Ignoring {
        public Map<String, Map<Integer, Long>> getOffsetTable() {
            return Collections.singletonMap("orders@billing", Collections.singletonMap(0, 100L));
        }
    }

    @Test
    void storedIsWhatTheTableHasAndNotWhatWasAskedFor() {
        assertEquals(100, Offsets.stored(new Ignoring(), "billing", "orders", 0, 150));
        assertNull(Offsets.stored(new Ignoring(), "billing", "orders", 1, 150));
        assertNull(Offsets.stored(new Ignoring(), "audit", "orders", 0, 150));
    }

    @Test
    void storedInQueuesOfLmqIsWhatWasAskedFor() {
        assertEquals(150, Offsets.stored(new Ignoring(), "billing", "%LMQ%orders", 0, 150));
        assertEquals(150, Offsets.stored(new Ignoring(), "%LMQ%billing", "orders", 0, 150));
    }
}
