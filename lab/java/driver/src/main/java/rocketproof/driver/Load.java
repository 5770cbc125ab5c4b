package rocketproof.driver;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Messages to send: numbers as bodies, dealt out to the writable queues in turn, so that it is known which message is
 * where.
 */
final class Load {
    private final String topic;
    private final long count;
    private final long first;
    private final long rate;
    private final List<String> tags;
    private final List<String> queues;
    private final int batch;
    private final long patience;

    /**
     * Reads a load.
     *
     * @param settings {@code topic}, {@code count}, {@code first} (number of the first message), {@code rate} (a second, 0
     *     for no limit), {@code tags} (in turn), {@code queues} (only these, as broker:id), {@code batch} (so many
     *     are one request, {@code send(List)}), {@code timeout} (ms for which one request is tried again)
     */
    Load(Settings settings) {
        topic = settings.text("topic");
        count = settings.number("count", 1);
        first = settings.number("first", 0);
        rate = settings.number("rate", 0);
        tags = settings.texts("tags");
        queues = settings.texts("queues");
        batch = settings.small("batch", 1);
        patience = settings.number("timeout", 20_000);
    }

    /**
     * Sends everything.
     *
     * @return how many messages were sent
     */
    long send(DefaultMQProducer producer) throws Exception {
        List<MessageQueue> writable = producer.fetchPublishMessageQueues(topic).stream()
            .filter(queue -> queues.isEmpty() || queues.contains(queue.getBrokerName() + ":" + queue.getQueueId()))
            .sorted()
            .collect(Collectors.toList());
        if (writable.isEmpty()) {
            throw new IllegalArgumentException("topic " + topic + " has none of the queues " + queues);
        }
        long begin = System.nanoTime();
        long sent = 0;
        for (long index = 0; index < count; index += batch) {
            if (rate > 0) {
                long due = begin + index * 1_000_000_000L / rate;
                Thread.sleep(Math.max(0, (due - System.nanoTime()) / 1_000_000));
            }
            List<Message> messages = new ArrayList<>();
            for (long at = index; at < Math.min(count, index + batch); at++) {
                messages.add(message(at));
            }
            MessageQueue queue = writable.get((int) (index / batch % writable.size()));
            sent += send(producer, messages, queue) ? messages.size() : 0;
        }
        return sent;
    }

    long count() {
        return count;
    }

    private Message message(long index) {
        byte[] body = Long.toString(first + index).getBytes(StandardCharsets.UTF_8);
        String tag = tags.isEmpty() ? "" : tags.get((int) (index % tags.size()));
        return new Message(topic, tag, body);
    }

    /** Sends messages until a broker takes them: an answer that was lost is followed by a second copy. */
    private boolean send(DefaultMQProducer producer, List<Message> messages, MessageQueue queue)
            throws InterruptedException {
        long until = System.nanoTime() + patience * 1_000_000;
        do {
            try {
                SendResult answer = batch > 1 ? producer.send(messages, queue) : producer.send(messages.get(0), queue);
                if (answer.getSendStatus() == SendStatus.SEND_OK) {
                    return true;
                }
            } catch (InterruptedException interruption) {
                throw interruption;
            } catch (Exception refused) {
                System.err.println("again: " + new String(messages.get(0).getBody(), StandardCharsets.UTF_8) + ": " + refused);
            }
            Thread.sleep(100);
        } while (System.nanoTime() < until);
        return false;
    }
}
