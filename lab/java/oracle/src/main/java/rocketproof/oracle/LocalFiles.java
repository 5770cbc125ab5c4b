package rocketproof.oracle;

import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.store.LocalFileOffsetStore;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.message.MessageQueue;
import rocketproof.common.Json;

/**
 * Runs of a broadcasting client's offset file, the real {@code LocalFileOffsetStore}.
 *
 * <p>Given: {@code steps}, lists of a word and its arguments: {@code start} (a new process: a new store that loads),
 * {@code update} with queue, offset and whether only to increase, {@code read} with a queue and where from,
 * {@code persist} with a queue, {@code persistAll} with queues, {@code remove} with a queue, {@code write} with what
 * is added to the file's name and its content (null removes it), {@code copy} of the file to the copy. Queues are numbers. Answered with a list for each step: what was
 * answered, the memory, and what the file and its copy contain (see {@code content}).
 */
final class LocalFiles implements Oracle.Subject {
    private final NamedClient client = new NamedClient();
    private int clients;

    @Override
    public Object answer(Map<String, Object> given) throws Exception {
        client.name = "client-" + clients++;
        File file = new File(String.join(File.separator,
            LocalFileOffsetStore.LOCAL_OFFSET_STORE_DIR, client.getClientId(), "group", "offsets.json"));
        Files.createDirectories(file.getParentFile().toPath());
        LocalFileOffsetStore store = new LocalFileOffsetStore(client, "group");
        List<Object> told = new ArrayList<>();
        for (Object step : Json.list(given.get("steps"))) {
            List<Object> parts = Json.list(step);
            Object answer = null;
            if (parts.get(0).equals("start")) {
                store = new LocalFileOffsetStore(client, "group");
                answer = loads(store);
            } else if (parts.get(0).equals("copy")) {
                Files.copy(file.toPath(), new File(file.getPath() + ".bak").toPath(), REPLACE_EXISTING);
            } else if (parts.get(0).equals("write")) {
                write(new File(file.getPath() + parts.get(1)), (String) parts.get(2));
            } else {
                answer = step(store, parts);
            }
            told.add(Arrays.asList(answer, memory(store), content(file), content(new File(file.getPath() + ".bak"))));
        }
        return told;
    }

    private static boolean loads(LocalFileOffsetStore store) {
        try {
            store.load();
            return true;
        } catch (MQClientException unreadable) {
            return false;
        }
    }

    private static Object step(LocalFileOffsetStore store, List<Object> parts) {
        switch ((String) parts.get(0)) {
            case "update":
                store.updateOffset(queue(parts.get(1)), (Long) parts.get(2), (Boolean) parts.get(3));
                return null;
            case "read":
                return store.readOffset(queue(parts.get(1)), ReadOffsetType.valueOf((String) parts.get(2)));
            case "persist":
                store.persist(queue(parts.get(1)));
                return null;
            case "persistAll":
                Set<MessageQueue> queues = new HashSet<>();
                for (Object number : Json.list(parts.get(1))) {
                    queues.add(queue(number));
                }
                store.persistAll(queues);
                return null;
            case "remove":
                store.removeOffset(queue(parts.get(1)));
                return null;
            default:
                throw new IllegalStateException("no step " + parts.get(0));
        }
    }

    private static MessageQueue queue(Object number) {
        return new MessageQueue("topic", "broker", Json.integer(number));
    }

    private static Map<Integer, Long> memory(LocalFileOffsetStore store) {
        Map<Integer, Long> told = new TreeMap<>();
        store.cloneOffsetTable("topic").forEach((queue, offset) -> told.put(queue.getQueueId(), offset));
        return told;
    }

    private static void write(File file, String content) throws Exception {
        if (content == null) {
            Files.deleteIfExists(file.toPath());
        } else {
            Files.write(file.toPath(), content.getBytes(StandardCharsets.UTF_8));
        }
    }

    /** The content of a file; null if there is none. */
    private static String content(File file) throws Exception {
        return file.exists() ? new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8) : null;
    }

    /** One client under one name after the other: each has threads of its own, of which a few are enough. */
    private static final class NamedClient extends MQClientInstance {
        private String name = "";

        private NamedClient() {
            super(new ClientConfig(), 0, "");
        }

        @Override
        public String getClientId() {
            return name;
        }
    }
}
