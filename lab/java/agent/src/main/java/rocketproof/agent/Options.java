package rocketproof.agent;

import java.nio.file.Path;
import java.nio.file.Paths;

/** What is told to the agent after <code>-javaagent:rocketproof-agent.jar=</code>: <code>name=value,name=value</code>. */
final class Options {
    /** Where files are written; default the working folder. */
    final Path dir;
    /** How many events wait at most to be written; default 65536. */
    final int buffer;
    /** How far stamps are off this machine's clock, in ms, to try what comes of clocks that differ; default 0. */
    final long clock;

    private Options(Path dir, int buffer, long clock) {
        this.dir = dir;
        this.buffer = buffer;
        this.clock = clock;
    }

    /**
     * Reads the text; null and the empty text mean defaults.
     *
     * @throws IllegalArgumentException with what was given and what is possible
     */
    static Options parse(String text) {
        Path dir = Paths.get("").toAbsolutePath();
        int buffer = 65536;
        long clock = 0;
        for (String option : text == null ? new String[0] : text.split(",")) {
            if (option.trim().isEmpty()) {
                continue;
            }
            int equals = option.indexOf('=');
            String name = equals < 0 ? option.trim() : option.substring(0, equals).trim();
            String value = equals < 0 ? "" : option.substring(equals + 1).trim();
            if (name.equals("dir") && !value.isEmpty()) {
                dir = Paths.get(value).toAbsolutePath();
            } else if (name.equals("buffer") && value.matches("[1-9][0-9]{0,6}")) {
                buffer = Integer.parseInt(value);
            } else if (name.equals("clock") && value.matches("-?[0-9]{1,12}")) {
                clock = Long.parseLong(value);
            } else {
                throw new IllegalArgumentException("option " + option.trim() + " is not understood; possible are"
                        + " dir=FOLDER, buffer=EVENTS (1 to 9999999) and clock=MS, separated by commas");
            }
        }
        return new Options(dir, buffer, clock);
    }
}
