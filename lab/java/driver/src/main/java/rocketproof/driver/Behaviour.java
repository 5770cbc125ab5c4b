package rocketproof.driver;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * What a listener does with each message: how long it takes, and which ones fail how often.
 *
 * <p>Messages carry their number as text; the n-th ones are those whose number n divides, so that the same messages fail
 * wherever they are consumed. An interruption does not shorten a call, as with listeners that wait for something else.
 */
final class Behaviour {
    /** How a call ends that is to fail. */
    enum Ending { OK, LATER, SUSPEND, EXCEPTION, NULL }

    private final long sleepMillis;
    private final List<Some> fail = new ArrayList<>();
    private final List<Some> slow = new ArrayList<>();

    private final AtomicLong deliveries = new AtomicLong();
    private final AtomicLong succeeded = new AtomicLong();
    private final AtomicLong running = new AtomicLong();
    private final Set<String> messages = ConcurrentHashMap.newKeySet();

    /**
     * Reads a behaviour.
     *
     * @param settings {@code sleep_ms}; lists {@code fail} and {@code slow} of objects with {@code every} and
     *     {@code attempts} (to how many of the first attempts of a message it happens, -1 for all), and with {@code as}
     *     (later, suspend, exception, null) or {@code sleep_ms}; the first that is about a message counts
     */
    Behaviour(Settings settings) {
        sleepMillis = settings.number("sleep_ms", 0);
        settings.objects("fail").forEach(each -> fail.add(new Some(each)));
        settings.objects("slow").forEach(each -> slow.add(new Some(each)));
    }

    /** Handles one message as scripted, and says how the call should end. */
    Ending handle(MessageExt message) {
        long number = Long.parseLong(new String(message.getBody(), StandardCharsets.UTF_8));
        int attempt = message.getReconsumeTimes();
        deliveries.incrementAndGet();
        running.incrementAndGet();
        try {
            messages.add(message.getMsgId());
            Some slower = Some.first(slow, number, attempt);
            sleep(slower == null ? sleepMillis : slower.sleepMillis);
            Some failure = Some.first(fail, number, attempt);
            if (failure != null) {
                return failure.ending;
            }
            succeeded.incrementAndGet();
            return Ending.OK;
        } finally {
            running.decrementAndGet();
        }
    }

    /** How many calls are running. */
    long running() {
        return running.get();
    }

    /** What happened so far, as names and values, and one more of these. */
    Object[] status(String name, Object value) {
        return new Object[] {
            "deliveries", deliveries.get(),
            "messages", messages.size(),
            "succeeded", succeeded.get(),
            "running", running.get(),
            name, value,
        };
    }

    private static void sleep(long millis) {
        long end = System.nanoTime() + millis * 1_000_000;
        boolean interrupted = false;
        for (long left = millis; left > 0; left = (end - System.nanoTime() + 999_999) / 1_000_000) {
            try {
                Thread.sleep(left);
            } catch (InterruptedException interruption) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Which messages something happens to. */
    private static final class Some {
        private final long every;
        private final long attempts;
        private final long sleepMillis;
        private final Ending ending;

        private Some(Settings settings) {
            every = settings.number("every", 1);
            attempts = settings.number("attempts", -1);
            sleepMillis = settings.number("sleep_ms", 0);
            ending = Ending.valueOf(settings.text("as", "later").toUpperCase(Locale.ROOT));
        }

        private static Some first(List<Some> all, long number, int attempt) {
            for (Some each : all) {
                if (number % each.every == 0 && (each.attempts < 0 || attempt < each.attempts)) {
                    return each;
                }
            }
            return null;
        }
    }
}
