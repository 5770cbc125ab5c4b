"""The agent in a consumer that runs already: from then on it records as one that came with the process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocketproof.lab.cluster import Cluster
from rocketproof.lab.maven import DEFAULT_RELEASE, Toolchain
from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.io import open_trace

from .programs import run_program

pytestmark = pytest.mark.lab

CONSUMERS = """
import java.nio.file.Paths;
import java.util.concurrent.CountDownLatch;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

public final class Consumers {
    public static void main(String[] arguments) throws Exception {
        DefaultMQAdminExt admin = new DefaultMQAdminExt();
        admin.setNamesrvAddr(arguments[0]);
        admin.setInstanceName("admin");
        admin.start();
        admin.createAndUpdateTopicConfig(arguments[2], new TopicConfig("orders", 2, 2, 6));
        CountDownLatch consumed = new CountDownLatch(80);
        DefaultMQPushConsumer billing = consumer("billing", arguments[0]);
        billing.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            consumed.countDown();
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        DefaultMQPushConsumer shipping = consumer("shipping", arguments[0]);
        shipping.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
            consumed.countDown();
            return ConsumeOrderlyStatus.SUCCESS;
        });
        for (DefaultMQPushConsumer each : new DefaultMQPushConsumer[] {billing, shipping}) {
            each.start();
            while (each.getDefaultMQPushConsumerImpl().getRebalanceImpl().getProcessQueueTable().isEmpty()) {
                Thread.sleep(100);
            }
        }
        // Nothing was consumed yet: classes that only a call of a listener needs are not loaded.
        int attached = new ProcessBuilder(
                Paths.get(System.getProperty("java.home"), "bin", "jcmd").toString(),
                String.valueOf(ProcessHandle.current().pid()),
                "JVMTI.agent_load", "@AGENT@", "\\"dir=@CAPTURE@\\"").start().waitFor();
        DefaultMQProducer producer = new DefaultMQProducer("senders");
        producer.setNamesrvAddr(arguments[0]);
        producer.start();
        for (int number = 0; number < 40; number++) {
            producer.send(new Message("orders", "", "" + number, new byte[100]),
                    new MessageQueue("orders", arguments[1], number % 2));
        }
        consumed.await();
        for (DefaultMQPushConsumer each : new DefaultMQPushConsumer[] {billing, shipping}) {
            each.shutdown();
        }
        producer.shutdown();
        admin.shutdown();
        System.out.println("{\\"attached\\": " + attached + "}");
        System.exit(0);
    }

    private static DefaultMQPushConsumer consumer(String group, String namesrv) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
        consumer.setNamesrvAddr(namesrv);
        consumer.setClientIP("127.0.0.1");
        consumer.setInstanceName("of-" + group);
        consumer.setPollNameServerInterval(500);
        consumer.setConsumeMessageBatchMaxSize(1);
        consumer.subscribe("orders", "*");
        return consumer;
    }
}
"""


def test_an_idle_consumer_that_is_attached_to_records_every_call_of_its_listener(
    toolchain: Toolchain, tmp_path: Path
) -> None:
    capture = tmp_path / "capture"
    capture.mkdir()
    program = CONSUMERS.replace("@AGENT@", str(toolchain.jar("agent"))).replace("@CAPTURE@", str(capture))
    with Cluster.up(toolchain, release=DEFAULT_RELEASE, home=tmp_path / "home") as cluster:
        said = run_program(toolchain, cluster, program, name="Consumers", says="attached", folder=tmp_path, heap_mb=192)
    assert said["attached"] == 0
    files = sorted(capture.glob("client-*.jsonl"))
    assert [path.name.split("-", 2)[2] for path in files] == ["billing.jsonl", "shipping.jsonl"]
    for path in files:
        header, *events = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        assert {"deliver", "result", "removed"} <= set(header["evidence"])
        # A window is known from its next pull on: what the poll that is held meanwhile brings is not recorded.
        pulled = [
            (event["queue"], offset)
            for event in events
            if event["kind"] == "pull_result" and event["topic"] == "orders" and event["result"] == "found"
            for offset in range(event["offset"], event["next"])
        ]
        assert {(0, 19), (1, 19)} <= set(pulled)
        for kind in ("deliver", "result", "removed"):
            seen = [
                (event["queue"], event["offset"])
                for event in events
                if event["kind"] == kind and event["topic"] == "orders"
            ]
            assert sorted(seen) == sorted(pulled)
    report = check_locally(open_trace([capture]), settings=Settings())
    assert [each for each in report.verdicts if each.verdict is Verdict.VIOLATED] == []
