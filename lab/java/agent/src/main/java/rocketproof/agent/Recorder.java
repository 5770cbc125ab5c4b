package rocketproof.agent;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Takes events from all threads of the JVM into one bounded buffer, and writes them to files in a thread of its own.
 *
 * <p>Who records never waits: with the buffer full the event is lost and counted, and a <code>gap</code> event tells how
 * many there were and since when. What is in the buffer is in the file 20 ms later, so that a killed JVM loses no more
 * than that. A file that cannot be written is told once on standard error and given up; the application goes on.
 */
public final class Recorder {
    /** How long the writer rests when there is nothing to write, in ms. */
    private static final long REST = 20;

    /** So many bytes are written at once, or fewer before a rest. */
    private static final int WAITING = 1 << 16;

    /** The state of a file on disk; known to the writer's thread alone. */
    static final class Sink {
        OutputStream out;
        /** Lines that are not in the file yet. */
        final Json lines = new Json(WAITING + 4096);
        long seq;
        long micros;
        /** The millisecond of the last line, and what a line of it begins with. */
        long millis = -1;
        byte[] begin;
        boolean failed;

        /** A line begins, with what all have. */
        void begin(long happened) {
            // Times of one file never go backward, or an order by time would not be the order of the file.
            micros = Math.max(happened, micros);
            long now = micros / 1000;
            if (now != millis) {
                millis = now;
                begin = new Json(64).number("time", now).encoded();
                begin[0] = '{';
            }
            lines.members(begin).number("micros", micros - now * 1000).number("seq", seq++);
        }

        void end() {
            lines.one('}');
            lines.one('\n');
        }
    }

    private final Path folder;
    private final Ring<Event> ring;
    private final Map<String, TraceFile> files = new ConcurrentHashMap<>();
    private final Map<TraceFile, Sink> sinks = new HashMap<>();
    private final AtomicLong flushed = new AtomicLong();
    private final AtomicLong lostInAll = new AtomicLong();
    private final Thread writer;
    private volatile boolean closed;

    /**
     * A recorder that runs, until {@link #close}.
     *
     * @param folder where files are made; it is made itself where it does not exist
     * @param capacity how many events the buffer holds: the next power of two
     */
    public Recorder(Path folder, int capacity) {
        this.folder = folder;
        ring = new Ring<>(capacity);
        writer = new Thread(this::run, "rocketproof-recorder");
        writer.setDaemon(true);
    }

    /** Starts to write. What is recorded before waits in the buffer. */
    public Recorder start() {
        writer.start();
        return this;
    }

    /**
     * The file of that name in the folder of this recorder, made with the header when its first event is written.
     *
     * @param name of the file; what file systems do not take is replaced by <code>_</code>
     * @param header of the file; of a file that is open already it is ignored
     */
    public TraceFile open(String name, Header header) {
        String safe = name.replaceAll("[^A-Za-z0-9._%@#+-]", "_");
        return files.computeIfAbsent(safe, absent -> new TraceFile(this, absent, header));
    }

    /**
     * Waits until what was recorded so far is in the files, no longer than that many ms.
     *
     * <p>For moments after which the JVM may end: the orderly shutdown of a client or broker.
     */
    public boolean flush(long timeout) {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeout);
        long target = ring.taken();
        while (flushed.get() < target) {
            if (System.nanoTime() - until > 0 || !writer.isAlive()) {
                return false;
            }
            LockSupport.unpark(writer);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
        return true;
    }

    /** Writes what is in the buffer and ends; what is recorded later is lost. Waits no longer than 2 s. */
    public void close() {
        closed = true;
        LockSupport.unpark(writer);
        try {
            writer.join(2000);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    /** How many events were lost so far, over all files, because the buffer was full. */
    public long lost() {
        return lostInAll.get();
    }

    boolean offer(Event event) {
        boolean taken = ring.offer(event);
        if (!taken) {
            lostInAll.incrementAndGet();
        }
        return taken;
    }

    private void run() {
        boolean last = false;
        while (true) {
            try {
                drain();
            } catch (Throwable unexpected) {
                complain("cannot write: " + unexpected);
            }
            if (last) {
                break;
            }
            last = closed;
            if (!last) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(REST));
            }
        }
        for (Sink sink : sinks.values()) {
            try {
                if (sink.out != null) {
                    sink.out.close();
                }
            } catch (IOException ignored) {
                // Everything has been written before.
            }
        }
    }

    private void drain() {
        long seen = ring.read();
        for (Event event = ring.poll(); event != null; event = ring.poll()) {
            TraceFile file = event.file;
            TraceFile.Lost lost = file.lost();
            if (lost != null && lost.since <= event.micros()) {
                tellLost(file, event.micros());
            }
            write(file, event);
            seen++;
        }
        for (TraceFile file : files.values()) {
            if (file.lost() != null) {
                tellLost(file, Event.now());
            }
        }
        for (Map.Entry<TraceFile, Sink> each : sinks.entrySet()) {
            flush(each.getKey(), each.getValue());
        }
        flushed.set(seen);
    }

    /** What is told as lost happened before the events that are written after this. */
    private void tellLost(TraceFile file, long micros) {
        TraceFile.Lost lost = file.takeLost();
        if (lost != null) {
            write(file, Event.of("gap", file.recordedBy(), micros)
                    .number("count", lost.count)
                    .number("due", lost.since / 1000));
        }
    }

    private void write(TraceFile file, Event event) {
        Sink sink = file.sink != null ? file.sink : create(file);
        if (sink.failed) {
            return;
        }
        sink.begin(event.micros());
        event.write(sink.lines);
        sink.end();
        if (sink.lines.length() >= WAITING) {
            flush(file, sink);
        }
    }

    private Sink create(TraceFile file) {
        Sink sink = new Sink();
        file.sink = sink;
        sinks.put(file, sink);
        try {
            Files.createDirectories(folder);
            sink.out = Files.newOutputStream(
                    folder.resolve(file.name()), StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING);
            sink.lines.append(file.header().json());
            sink.lines.bytes()[0] = '{';
            sink.end();
        } catch (IOException error) {
            giveUp(file, sink, error);
        }
        return sink;
    }

    private void flush(TraceFile file, Sink sink) {
        if (sink.lines.length() > 0 && !sink.failed) {
            try {
                sink.out.write(sink.lines.bytes(), 0, sink.lines.length());
                sink.lines.clear();
            } catch (IOException error) {
                giveUp(file, sink, error);
            }
        }
    }

    private void giveUp(TraceFile file, Sink sink, IOException error) {
        sink.failed = true;
        complain("cannot write " + folder.resolve(file.name()) + ": " + error
                + "; nothing more is recorded there, the application goes on");
    }

    static void complain(String what) {
        System.err.println("rocketproof agent: " + what);
    }
}
