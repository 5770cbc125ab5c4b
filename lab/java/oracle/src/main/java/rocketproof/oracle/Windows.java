package rocketproof.oracle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.TreeMap;
import org.apache.rocketmq.client.impl.consumer.ProcessQueue;
import org.apache.rocketmq.common.message.MessageExt;
import rocketproof.common.Json;
import rocketproof.common.Moved;
import rocketproof.common.Reflect;

/**
 * Runs of a window, the real {@code ProcessQueue}.
 *
 * <p>Given: {@code steps}, lists of a word and its arguments: {@code put} and {@code remove} and {@code again} with
 * offsets, {@code take} with a number, {@code commit}, {@code rollback}, {@code clear}. Answered with a list for each
 * step: what the method returned (null for none, "raises" where it throws), the offsets in the tree, those taken, the
 * counter, the bytes, the span, and what {@code fillProcessQueueInfo} tells: how many in the tree, and how many taken.
 */
final class Windows implements Oracle.Subject {
    static final int BODY = 3;

    @Override
    public Object answer(Map<String, Object> given) throws Exception {
        ProcessQueue window = new ProcessQueue();
        List<Object> told = new ArrayList<>();
        for (Object step : Json.list(given.get("steps"))) {
            List<Object> parts = Json.list(step);
            told.add(state(window, step(window, (String) parts.get(0), parts.subList(1, parts.size()))));
        }
        return told;
    }

    static List<MessageExt> messages(List<Object> offsets) {
        List<MessageExt> messages = new ArrayList<>();
        for (Object offset : offsets) {
            MessageExt message = new MessageExt();
            message.setTopic("topic");
            message.setQueueOffset((Long) offset);
            message.setBody(new byte[BODY]);
            messages.add(message);
        }
        return messages;
    }

    private static Object step(ProcessQueue window, String word, List<Object> arguments) {
        switch (word) {
            case "put":
                return window.putMessage(messages(arguments));
            case "remove":
                return window.removeMessage(messages(arguments));
            case "again":
                window.makeMessageToConsumeAgain(messages(arguments));
                return null;
            case "take":
                List<Object> taken = new ArrayList<>();
                for (MessageExt message : window.takeMessages(Json.integer(arguments.get(0)))) {
                    taken.add(message.getQueueOffset());
                }
                return taken;
            case "commit":
                try {
                    return window.commit();
                } catch (NoSuchElementException nothingTaken) {
                    return "raises";
                }
            case "rollback":
                window.rollback();
                return null;
            case "clear":
                window.clear();
                return null;
            default:
                throw new IllegalStateException("no step " + word);
        }
    }

    private static List<Object> state(ProcessQueue window, Object answer) throws ReflectiveOperationException {
        Object info = Moved.type("remoting.protocol.body.ProcessQueueInfo", "common.protocol.body.ProcessQueueInfo")
            .getDeclaredConstructor().newInstance();
        Reflect.call(window, "fillProcessQueueInfo", info);
        TreeMap<?, ?> taken = (TreeMap<?, ?>) Reflect.get(window, "consumingMsgOrderlyTreeMap");
        return Arrays.asList(
            answer,
            new ArrayList<>(window.getMsgTreeMap().keySet()),
            new ArrayList<>(taken.keySet()),
            window.getMsgCount().get(),
            window.getMsgSize().get(),
            window.getMaxSpan(),
            Reflect.call(info, "getCachedMsgCount"),
            Reflect.call(info, "getTransactionMsgCount"),
            window.hasTempMessage());
    }
}
