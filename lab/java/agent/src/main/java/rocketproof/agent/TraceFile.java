package rocketproof.agent;

import java.util.concurrent.atomic.AtomicReference;

/**
 * One file of a trace: events go in from any thread, the recorder's own thread writes them down.
 *
 * <p>Made by {@link Recorder#open}.
 */
public final class TraceFile {
    /** What was lost and not yet told: how many events, and the time of the first, in microseconds since 1970 UTC. */
    static final class Lost {
        final long count;
        final long since;

        Lost(long count, long since) {
            this.count = count;
            this.since = since;
        }
    }

    private final Recorder recorder;
    private final String name;
    private final AtomicReference<Lost> lost = new AtomicReference<>();
    private volatile Header header;
    /** For the recorder's own thread alone; null before the first event is written. */
    Recorder.Sink sink;
    private volatile byte[] recordedBy = new byte[0];

    TraceFile(Recorder recorder, String name, Header header) {
        this.recorder = recorder;
        this.name = name;
        this.header = header;
    }

    /** Who is named by the gap events of this file: encoded members client, or broker. */
    public TraceFile recordedBy(byte[] members) {
        recordedBy = members;
        return this;
    }

    /**
     * Records an event: it is in the file within the flush interval, after all that were recorded before it.
     *
     * <p>Never waits and never fails. Where the buffer is full the event is lost, counted, and told by a gap.
     */
    public void record(Event event) {
        event.file = this;
        if (!recorder.offer(event)) {
            Lost before;
            Lost after;
            do {
                before = lost.get();
                after = before == null
                        ? new Lost(1, event.micros())
                        : new Lost(before.count + 1, Math.min(before.since, event.micros()));
            } while (!lost.compareAndSet(before, after));
        }
    }

    String name() {
        return name;
    }

    Header header() {
        return header;
    }

    byte[] recordedBy() {
        return recordedBy;
    }

    /** What was lost and not yet told, or null. */
    Lost lost() {
        return lost.get();
    }

    /** The same, which counts as told from now on. */
    Lost takeLost() {
        return lost.getAndSet(null);
    }
}
