package rocketproof.agent.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import rocketproof.agent.Hooks;

/** What a file claims to record, with the client that is compiled against. */
final class EvidenceTest {
    private static final String WINDOW = "org.apache.rocketmq.client.impl.consumer.ProcessQueue";
    private final ClassLoader loader = EvidenceTest.class.getClassLoader();

    @Test
    void isEverythingWhereAllHooksAreInPlaceAndLessWithoutTheirClass() {
        for (boolean orderly : new boolean[] {false, true}) {
            assertEquals(26, Evidence.of(loader, orderly, false).size());
            assertEquals(26, Evidence.of(loader, orderly, true).size());
        }
        List<List<String>> lost = new ArrayList<>();
        for (boolean orderly : new boolean[] {false, true}) {
            lost.add(new ArrayList<>(Evidence.of(loader, orderly, false)));
        }
        Hooks.failed(WINDOW);
        lost.get(0).removeAll(Evidence.of(loader, false, false));
        lost.get(1).removeAll(Evidence.of(loader, true, false));
        assertEquals(Arrays.asList("revoke", "lock_lost", "removed", "expire"), lost.get(0));
        assertEquals(Arrays.asList("revoke", "lock_lost", "deliver", "result", "removed", "expire"), lost.get(1));
    }

    @Test
    void isNotWhatThisReleaseDoesNotHave() {
        assertTrue(Hooks.inPlace(loader, "java.util.ArrayList", "add"));
        assertFalse(Hooks.inPlace(loader, "java.util.ArrayList", "lend"));
        assertFalse(Hooks.inPlace(loader, "java.util.Nothing", "add"));
    }
}
