package rocketproof.oracle;

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import rocketproof.common.Json;
import rocketproof.common.Moved;
import rocketproof.common.Reflect;

/**
 * Answers what RocketMQ's own classes compute: one JSON object a line on standard input, and one on standard output.
 *
 * <p>A line {@code {"ask": NAME, "cases": [...]}} is answered with {@code {"answers": [...]}}, one for each case:
 * {@code {"is": VALUE}}, or {@code {"raises": CLASS, "message": TEXT, "at": PLACES}} where
 * the real class throws. A line that cannot be understood is
 * answered with {@code {"error": TEXT}}.
 */
public final class Oracle {
    private static final int PLACES = 6;

    /** A kind of question. */
    interface Subject {
        /** What the real classes make of one case. */
        Object answer(Map<String, Object> given) throws Exception;
    }

    private final Map<String, Subject> subjects = new TreeMap<>();

    private Oracle(File folder) {
        subjects.put("release", given -> Moved.release());
        subjects.put("allocate", new Allocation());
        subjects.put("window", new Windows());
        subjects.put("tags", new Tags());
        subjects.put("local file", new LocalFiles());
        Brokers brokers = new Brokers(folder);
        subjects.put("delay table", new DelayTables(brokers));
        subjects.put("send back", new SendBacks(brokers));
        subjects.put("offsets", new Offsets(brokers));
    }

    /** Answers until standard input ends; the only argument is a folder for the files of brokers. */
    public static void main(String[] arguments) throws Exception {
        // Standard output is for answers alone, so whatever else prints goes to standard error.
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
        System.setOut(System.err);
        Oracle oracle = new Oracle(new File(arguments[0]));
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            answers.println(Json.write(oracle.reply(line)));
            answers.flush();
        }
        // Threads of brokers and clients that were never started would keep the process alive.
        Runtime.getRuntime().halt(0);
    }

    private Map<String, Object> reply(String line) {
        try {
            Map<String, Object> question = Json.object(Json.read(line));
            Subject subject = subjects.get(question.get("ask"));
            if (subject == null) {
                return Map.of("error", "there is no " + question.get("ask") + "; there are " + subjects.keySet());
            }
            List<Object> answers = new ArrayList<>();
            for (Object given : Json.list(question.get("cases"))) {
                answers.add(answer(subject, Json.object(given)));
            }
            return Map.of("answers", answers);
        } catch (RuntimeException error) {
            return Map.of("error", error.toString());
        }
    }

    private static Map<String, Object> answer(Subject subject, Map<String, Object> given) {
        Map<String, Object> answer = new LinkedHashMap<>();
        try {
            answer.put("is", subject.answer(given));
        } catch (Exception | LinkageError error) {
            Throwable cause = Reflect.unwrapped(error);
            answer.put("raises", cause.getClass().getName());
            answer.put("message", String.valueOf(cause.getMessage()));
            answer.put("at", Arrays.stream(cause.getStackTrace()).limit(PLACES).map(String::valueOf)
                .collect(Collectors.joining(" < ")));
        }
        return answer;
    }
}
