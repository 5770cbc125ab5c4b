package rocketproof.driver;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import rocketproof.common.Json;

/** Standard output as a place for answers alone: a JSON object a line. */
final class Answers {
    private final PrintStream out;

    private Answers(PrintStream out) {
        this.out = out;
    }

    /** Takes standard output; what libraries print there goes to standard error from now on. */
    static Answers onStandardOutput() {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        return new Answers(out);
    }

    /** Writes an answer of the given names and values, in turn. */
    void say(Object... members) {
        say(null, members);
    }

    /** Writes an answer to the command with this id, or to one without. */
    synchronized void say(Object id, Object[] members) {
        Map<String, Object> answer = new LinkedHashMap<>();
        if (id != null) {
            answer.put("id", id);
        }
        for (int at = 0; at < members.length; at += 2) {
            answer.put((String) members[at], members[at + 1]);
        }
        out.println(Json.write(answer));
    }

    /** Says what went wrong. */
    void error(String what) {
        say("error", what);
    }
}
