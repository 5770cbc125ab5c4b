package rocketproof.driver;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import rocketproof.common.Json;

/**
 * A RocketMQ client on command, one for each process: {@code Driver consumer|producer|admin {JSON}}.
 *
 * <p>The JSON object says what to start, see {@link Consumer}, {@link Producer} and {@link Admin}. Commands come on
 * standard input, a line each; answers go to standard output, a JSON object a line. The end of standard input ends the
 * process at once, so that nothing outlives whoever started it.
 */
public final class Driver {
    private Driver() {
    }

    /**
     * Starts one role.
     *
     * @param arguments its name, and a JSON object of its settings
     */
    public static void main(String[] arguments) {
        Answers answers = Answers.onStandardOutput();
        if (arguments.length != 2) {
            answers.error("usage: Driver consumer|producer|admin {JSON}");
            System.exit(2);
        }
        try {
            Settings settings = new Settings(Json.readObject(arguments[1]));
            switch (arguments[0]) {
                case "consumer":
                    serve(new Consumer(settings, answers));
                    break;
                case "admin":
                    serve(new Admin(settings, answers));
                    break;
                case "producer":
                    Producer.run(settings, answers);
                    System.exit(0);
                    break;
                default:
                    throw new IllegalArgumentException("no role " + arguments[0] + "; there are consumer, producer and admin");
            }
        } catch (Throwable failure) {
            failure.printStackTrace();
            answers.error(failure.toString());
            System.exit(1);
        }
    }

    private static void serve(Role role) throws Exception {
        role.start();
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line = nextLine(commands);
        while (line != null) {
            if (!line.isBlank() && !role.command(command(line.strip()))) {
                System.exit(0);
            }
            line = nextLine(commands);
        }
        Runtime.getRuntime().halt(3);
    }

    private static String nextLine(BufferedReader commands) {
        try {
            return commands.readLine();
        } catch (IOException broken) {
            return null;
        }
    }

    /** A command is an object, or for short the word that is its member {@code do}. */
    private static Settings command(String line) {
        return new Settings(line.startsWith("{") ? Json.readObject(line) : Map.of("do", line));
    }

    /** What a process can be. */
    interface Role {
        /** Starts and says {@code ready}. */
        void start() throws Exception;

        /**
         * Obeys a command.
         *
         * @return whether there may be another one
         */
        boolean command(Settings command) throws Exception;
    }
}
