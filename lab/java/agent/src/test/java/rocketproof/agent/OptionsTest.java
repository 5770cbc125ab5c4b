package rocketproof.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Paths;
import org.junit.jupiter.api.Test;

/** The text behind -javaagent:rocketproof-agent.jar=. */
final class OptionsTest {
    @Test
    void hasDefaults() {
        assertEquals(65536, Options.parse(null).buffer);
        assertEquals(Paths.get("").toAbsolutePath(), Options.parse("").dir);
    }

    @Test
    void readsWhatIsGiven() {
        Options options = Options.parse("dir=/tmp/traces, buffer=128, clock=-30");
        assertEquals(Paths.get("/tmp/traces"), options.dir);
        assertEquals(128, options.buffer);
        assertEquals(-30, options.clock);
    }

    @Test
    void saysWhatIsPossible() {
        for (String wrong : new String[] {"buffer=0", "buffer=x", "dir=", "clock=x", "folder=/tmp", "verbose"}) {
            String message = assertThrows(IllegalArgumentException.class, () -> Options.parse(wrong)).getMessage();
            assertEquals(
                    "option " + wrong + " is not understood; possible are dir=FOLDER, buffer=EVENTS (1 to 9999999) and"
                            + " clock=MS, separated by commas",
                    message);
        }
    }
}
