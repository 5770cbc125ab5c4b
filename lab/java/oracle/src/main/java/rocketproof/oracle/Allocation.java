package rocketproof.oracle;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMachineRoomNearby;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByConfig;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByMachineRoom;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueConsistentHash;
import org.apache.rocketmq.common.message.MessageQueue;
import rocketproof.common.Json;

/**
 * The six allocation strategies.
 *
 * <p>Given: {@code strategy}, {@code own}, {@code queues} (lists of topic, broker, id), {@code ids}; and, where the
 * strategy has them, {@code listed}, {@code rooms}, {@code nodes}, {@code codes} (1: hash by the low byte of the hash
 * code instead of MD5), {@code inner}, {@code broker_rooms}, {@code client_rooms}. Answered with the queues.
 */
final class Allocation implements Oracle.Subject {
    private static final int FEW_HASHES = 0xff;

    @Override
    public Object answer(Map<String, Object> given) {
        AllocateMessageQueueStrategy strategy = strategy((String) given.get("strategy"), given);
        List<MessageQueue> queues = queues(given.get("queues"));
        List<MessageQueue> answer =
            strategy.allocate("group", (String) given.get("own"), queues, Json.texts(given.get("ids")));
        if (answer == null) {
            return null;
        }
        List<Object> told = new ArrayList<>();
        for (MessageQueue queue : answer) {
            told.add(List.of(queue.getTopic(), queue.getBrokerName(), queue.getQueueId()));
        }
        return told;
    }

    private static AllocateMessageQueueStrategy strategy(String name, Map<String, Object> given) {
        switch (name) {
            case "AVG":
                return new AllocateMessageQueueAveragely();
            case "AVG_BY_CIRCLE":
                return new AllocateMessageQueueAveragelyByCircle();
            case "CONFIG":
                AllocateMessageQueueByConfig config = new AllocateMessageQueueByConfig();
                config.setMessageQueueList(queues(given.get("listed")));
                return config;
            case "MACHINE_ROOM":
                AllocateMessageQueueByMachineRoom room = new AllocateMessageQueueByMachineRoom();
                List<String> rooms = Json.texts(given.get("rooms"));
                room.setConsumeridcs(rooms == null ? null : new HashSet<>(rooms));
                return room;
            case "CONSISTENT_HASH":
                int nodes = Json.integer(given.get("nodes"));
                return Long.valueOf(1).equals(given.get("codes"))
                    ? new AllocateMessageQueueConsistentHash(nodes, key -> key.hashCode() & FEW_HASHES)
                    : new AllocateMessageQueueConsistentHash(nodes);
            case "MACHINE_ROOM_NEARBY":
                Map<String, Object> brokers = Json.object(given.get("broker_rooms"));
                Map<String, Object> clients = Json.object(given.get("client_rooms"));
                return new AllocateMachineRoomNearby(
                    strategy((String) given.get("inner"), given),
                    new AllocateMachineRoomNearby.MachineRoomResolver() {
                        @Override
                        public String brokerDeployIn(MessageQueue queue) {
                            return (String) brokers.get(queue.getBrokerName());
                        }

                        @Override
                        public String consumerDeployIn(String client) {
                            return (String) clients.get(client);
                        }
                    });
            default:
                throw new IllegalStateException("no strategy " + name);
        }
    }

    private static List<MessageQueue> queues(Object given) {
        if (given == null) {
            return null;
        }
        List<MessageQueue> queues = new ArrayList<>();
        for (Object item : Json.list(given)) {
            List<Object> parts = Json.list(item);
            queues.add(new MessageQueue((String) parts.get(0), (String) parts.get(1), Json.integer(parts.get(2))));
        }
        return queues;
    }
}
