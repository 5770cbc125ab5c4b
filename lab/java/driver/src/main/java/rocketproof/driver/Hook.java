package rocketproof.driver;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.rocketmq.client.hook.ConsumeMessageContext;
import org.apache.rocketmq.client.hook.ConsumeMessageHook;
import org.apache.rocketmq.common.message.MessageExt;
import rocketproof.common.Json;

/**
 * What RocketMQ's own hook sees of consumption, written as a trace by those who have no agent: calls of the listener and
 * how they end, and nothing else.
 */
final class Hook implements ConsumeMessageHook {
    /** RocketMQ's words for how a call ended (ConsumeReturnType), and the trace format's. */
    private static final Map<String, String> RESULTS = Map.of(
        "SUCCESS", "ok", "TIME_OUT", "timeout", "FAILED", "later", "EXCEPTION", "exception", "RETURNNULL", "null");

    private final String client;
    private final PrintWriter out;
    private long seq;

    private Hook(String client, PrintWriter out) {
        this.client = client;
        this.out = out;
        out.println("{\"rocketproof_trace\":1,\"source\":\"a consume-message hook\",\"evidence\":[\"deliver\",\"result\"]}");
    }

    /** A hook of the client with this id, that writes to a file, each line at once. */
    static Hook to(String file, String client) throws IOException {
        Path path = Paths.get(file);
        return new Hook(client, new PrintWriter(Files.newBufferedWriter(path, StandardCharsets.UTF_8), true));
    }

    @Override
    public String hookName() {
        return "rocketproof";
    }

    @Override
    public void consumeMessageBefore(ConsumeMessageContext context) {
        context.getMsgList().forEach(message -> write(context, message, "deliver", null));
    }

    @Override
    public void consumeMessageAfter(ConsumeMessageContext context) {
        String how = context.getProps() == null ? null : context.getProps().get("ConsumeContextType");
        String result = RESULTS.getOrDefault(how == null ? "" : how, context.isSuccess() ? "ok" : "failed");
        context.getMsgList().forEach(message -> write(context, message, "result", result));
    }

    private synchronized void write(ConsumeMessageContext context, MessageExt message, String kind, String result) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("time", System.currentTimeMillis());
        line.put("seq", seq++);
        line.put("kind", kind);
        line.put("client", client);
        line.put("group", context.getConsumerGroup());
        line.put("topic", context.getMq().getTopic());
        line.put("broker", context.getMq().getBrokerName());
        line.put("queue", context.getMq().getQueueId());
        line.put("offset", message.getQueueOffset());
        line.put("key", message.getMsgId());
        line.put("attempt", message.getReconsumeTimes());
        if (result != null) {
            line.put("result", result);
        }
        out.println(Json.write(line));
    }
}
