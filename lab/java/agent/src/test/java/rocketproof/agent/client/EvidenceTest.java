package rocketproof.agent.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import rocketproof.agent.Hooks;

/** What a file claims to record, with the client that is compiled against. */
final class EvidenceTest {
    private static final String CLIENT = "org.apache.rocketmq.client.";
    private static final String CONSUMER = CLIENT + "impl.consumer.";
    private static final String WINDOW = CONSUMER + "ProcessQueue";
    private static final String CALL = CONSUMER + "ConsumeMessageConcurrentlyService$ConsumeRequest";
    private static final String[] INSTRUMENTED = {
        CONSUMER + "DefaultMQPushConsumerImpl", CLIENT + "impl.factory.MQClientInstance",
        CLIENT + "impl.MQClientAPIImpl", CONSUMER + "RebalanceImpl", CONSUMER + "RebalancePushImpl",
        CONSUMER + "PullAPIWrapper", CONSUMER + "ConsumeMessageConcurrentlyService",
        CONSUMER + "ConsumeMessageOrderlyService", CONSUMER + "ConsumeMessageOrderlyService$ConsumeRequest",
        CLIENT + "consumer.store.RemoteBrokerOffsetStore", CLIENT + "consumer.store.LocalFileOffsetStore",
        CALL, WINDOW,
    };
    private final ClassLoader loader = EvidenceTest.class.getClassLoader();

    @BeforeEach
    void instrument() {
        for (String type : INSTRUMENTED) {
            Hooks.changed(type);
        }
    }

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
    void isNotWhatAClassDoesThatWasLoadedWithoutItsHooks() {
        Hooks.failed(CALL);
        List<String> kinds = Evidence.of(loader, false, false);
        assertEquals(24, kinds.size());
        assertFalse(kinds.contains("deliver") || kinds.contains("result"));
    }

    @Test
    void isNotWhatThisReleaseDoesNotHave() {
        Hooks.changed("java.util.ArrayList");
        Hooks.changed("java.util.Nothing");
        assertTrue(Hooks.inPlace(loader, "java.util.ArrayList", "add"));
        assertFalse(Hooks.inPlace(loader, "java.util.ArrayList", "lend"));
        assertFalse(Hooks.inPlace(loader, "java.util.Nothing", "add"));
    }
}
