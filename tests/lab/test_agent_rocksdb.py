"""The agent in brokers that keep offsets in RocksDB, and in topics whose queues hold batches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rocketproof.lab.cluster import Cluster
from rocketproof.lab.maven import Toolchain

from .programs import run_program

pytestmark = pytest.mark.lab

BATCH = """
import java.util.Arrays;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

public final class Batch {
    public static void main(String[] arguments) throws Exception {
        DefaultMQAdminExt admin = new DefaultMQAdminExt();
        admin.setNamesrvAddr(arguments[0]);
        admin.start();
        TopicConfig topic = new TopicConfig("orders", 1, 1, 6);
        topic.getAttributes().put("+queue.type", "QUEUE_TYPE");
        admin.createAndUpdateTopicConfig(arguments[2], topic);
        MessageQueue queue = new MessageQueue("orders", arguments[1], 0);
        DefaultMQProducer producer = new DefaultMQProducer("senders");
        producer.setNamesrvAddr(arguments[0]);
        producer.start();
        producer.send(Arrays.asList(message(), message(), message()), queue);
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("billing");
        consumer.setNamesrvAddr(arguments[0]);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe("orders", "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) ->
                ConsumeConcurrentlyStatus.CONSUME_SUCCESS);
        consumer.start();
        while (consumer.getDefaultMQPushConsumerImpl().getOffsetStore()
                .readOffset(queue, ReadOffsetType.READ_FROM_MEMORY) < 3) {
            Thread.sleep(20);
        }
        consumer.shutdown();
        producer.shutdown();
        admin.shutdown();
        System.out.println("{\\"done\\": true}");
    }

    private static Message message() {
        return new Message("orders", "x".getBytes());
    }
}
"""


@pytest.mark.parametrize(
    ("release", "settings", "queue_type"),
    [
        ("5.3.3", {"configManagerVersion": "v2"}, "BatchCQ"),
        ("5.5.0", {"storeType": "defaultRocksDB"}, "SimpleCQ"),
    ],
    ids=["ConsumerOffsetManagerV2", "RocksDBConsumerOffsetManager"],
)
def test_offsets_in_rocksdb_and_each_message_of_a_batch_are_recorded(
    release: str, settings: dict[str, str], queue_type: str, toolchain: Toolchain, tmp_path: Path
) -> None:
    capture, text = tmp_path / "capture", BATCH.replace("QUEUE_TYPE", queue_type)
    with Cluster.up(toolchain, release=release, home=tmp_path / "home", settings=settings, capture=capture) as cluster:
        run_program(toolchain, cluster, text, name="Batch", says="done", folder=tmp_path, heap_mb=128)
        cluster.brokers[0].restart(kill=False)
    first, second = sorted(map(_events, capture.glob("broker-*.jsonl")), key=lambda events: events[0]["time"])
    assert [event["offset"] for event in first if event["kind"] == "store"] == [0, 1, 2]
    sent = [event for event in first if event["kind"] == "commit" and event["topic"] == "orders"]
    assert sent[-1]["offset"] == 3  # a pull may have committed on the way what was finished by then
    assert all("client" in event for event in sent)
    found = [event for event in second if event["kind"] == "commit" and event["topic"] == "orders"]
    assert [(event["offset"], event["path"]) for event in found] == [(3, "file")]


def _events(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()[1:]]
