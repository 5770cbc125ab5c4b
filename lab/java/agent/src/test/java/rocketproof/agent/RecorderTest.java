package rocketproof.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Events in, lines out: nothing out of order, and nothing lost without a word. */
final class RecorderTest {
    @TempDir
    Path folder;

    private List<String> lines(String name) throws IOException {
        return Files.readAllLines(folder.resolve(name));
    }

    private static String without(String member, String line) {
        return line.replaceAll("\"" + member + "\":[0-9]+,", "");
    }

    @Test
    void writesHeaderAndEventsInTheirOrder() throws IOException {
        Recorder recorder = new Recorder(folder, 8).start();
        Header header = new Header().source("a test").evidence(Arrays.asList("deliver", "result")).release("5.3.3");
        header.timer("lock_life", 60_000).timer("consume_timeout", Long.MAX_VALUE);
        header.group("orders", new Json(16).text("listener", "orderly").number("max_attempts", -1));
        TraceFile file = recorder.open("client-1-orders.jsonl", header);
        file.record(Event.of("deliver").text("key", "\"ü\\\n").number("offset", 7).text("client", null));
        file.record(Event.of("rebalance").texts("members", Arrays.asList("a", "b")).known("next", -1));
        recorder.close();

        List<String> lines = lines("client-1-orders.jsonl");
        assertEquals(
                "{\"rocketproof_trace\":1,\"source\":\"a test\",\"evidence\":[\"deliver\",\"result\"],"
                        + "\"release\":\"5.3.3\","
                        + "\"timers\":{\"lock_life\":60000,\"consume_timeout\":2147483647},"
                        + "\"groups\":{\"orders\":{\"listener\":\"orderly\",\"max_attempts\":-1}}}",
                lines.get(0));
        assertEquals(
                "{\"seq\":0,\"kind\":\"deliver\",\"key\":\"\\\"\\u00fc\\\\\\u000a\",\"offset\":7}",
                without("micros", without("time", lines.get(1))));
        assertEquals(
                "{\"seq\":1,\"kind\":\"rebalance\",\"members\":[\"a\",\"b\"]}",
                without("micros", without("time", lines.get(2))));
        assertEquals(3, lines.size());
    }

    @Test
    void tellsHowManyEventsAFullBufferHasLostWhereTheyAreMissing() throws Exception {
        Recorder recorder = new Recorder(folder, 4);
        TraceFile file = recorder.open("x.jsonl", new Header()).recordedBy(new Json(16).text("client", "c1").encoded());
        for (int number = 0; number < 4; number++) {
            file.record(Event.of("pull").number("offset", number));
        }
        Thread.sleep(2); // What is lost has a later time than what was not.
        for (int number = 4; number < 11; number++) {
            file.record(Event.of("pull").number("offset", number));
        }
        assertEquals(7, recorder.lost());
        recorder.start();
        assertTrue(recorder.flush(5000));
        file.record(Event.of("pull").number("offset", 11));
        recorder.close();

        List<String> lines = lines("x.jsonl");
        assertEquals(7, lines.size());
        assertTrue(lines.get(5).contains("\"kind\":\"gap\",\"client\":\"c1\",\"count\":7,\"due\":"), lines.get(5));
        assertTrue(lines.get(6).endsWith("\"offset\":11}"), lines.get(6));
        for (int number = 0; number < 4; number++) {
            assertTrue(lines.get(number + 1).endsWith("\"offset\":" + number + "}"));
        }
    }

    @Test
    void everyEventOfManyThreadsIsWrittenOrCounted() throws Exception {
        Recorder recorder = new Recorder(folder, 64).start();
        TraceFile file = recorder.open("x.jsonl", new Header());
        int threads = 8;
        int each = 5000;
        List<Thread> running = new ArrayList<>();
        for (int number = 0; number < threads; number++) {
            int writer = number;
            Thread thread = new Thread(() -> {
                for (int offset = 0; offset < each; offset++) {
                    file.record(Event.of("pull").number("queue", writer).number("offset", offset));
                }
            });
            thread.start();
            running.add(thread);
        }
        for (Thread thread : running) {
            thread.join();
        }
        recorder.close();

        long written = 0;
        long lost = 0;
        long seq = 0;
        long time = 0;
        long[] next = new long[threads];
        List<String> lines = lines("x.jsonl");
        for (String line : lines.subList(1, lines.size())) {
            assertEquals(seq++, number(line, "seq"));
            long happened = number(line, "time") * 1000 + number(line, "micros");
            assertTrue(happened >= time);
            time = happened;
            if (line.contains("\"gap\"")) {
                lost += number(line, "count");
            } else {
                int writer = (int) number(line, "queue");
                assertTrue(number(line, "offset") >= next[writer]);
                next[writer] = number(line, "offset") + 1;
                written++;
            }
        }
        assertEquals(threads * each, written + lost);
        assertEquals(lost, recorder.lost());
    }

    @Test
    void goesOnWhereItCannotWrite() throws Exception {
        Path occupied = Files.write(folder.resolve("file"), new byte[0]);
        Recorder recorder = new Recorder(occupied, 8).start();
        TraceFile file = recorder.open("x.jsonl", new Header());
        file.record(Event.of("pull"));
        assertTrue(recorder.flush(5000));
        file.record(Event.of("pull"));
        recorder.close();
        assertEquals(0, recorder.lost());
    }

    @Test
    void replacesWhatFileSystemsDoNotTake() throws IOException {
        Recorder recorder = new Recorder(folder, 8).start();
        TraceFile file = recorder.open("client-1-a/b:c%d.jsonl", new Header());
        file.record(Event.of("pull"));
        recorder.close();
        assertEquals(2, lines("client-1-a_b_c%d.jsonl").size());
    }

    @Test
    void aRingIsFullWhenItIsFull() {
        Ring<Integer> ring = new Ring<>(3);
        assertEquals(4, ring.capacity());
        for (int number = 0; number < 4; number++) {
            assertTrue(ring.offer(number));
        }
        assertFalse(ring.offer(4));
        assertEquals(0, ring.poll());
        assertTrue(ring.offer(5));
        assertEquals(1, ring.poll());
        assertEquals(2, ring.poll());
        assertEquals(3, ring.poll());
        assertEquals(5, ring.poll());
        assertEquals(null, ring.poll());
    }

    private static long number(String line, String member) {
        int from = line.indexOf("\"" + member + "\":") + member.length() + 3;
        int to = from;
        while (Character.isDigit(line.charAt(to))) {
            to++;
        }
        return Long.parseLong(line.substring(from, to));
    }
}
