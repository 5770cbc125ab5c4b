"""The agent in a consumer: what happens rarely, provoked in a real client, is recorded exactly as it happens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rocketproof.lab.cluster import Cluster
from rocketproof.lab.maven import DEFAULT_RELEASE, Toolchain
from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.conformance import conform
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.io import open_trace

from .programs import run_program

pytestmark = pytest.mark.lab

Event = dict[str, Any]

CONSUMERS = """
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.consumer.store.OffsetStore;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.impl.consumer.ProcessQueue;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.protocol.subscription.SubscriptionGroupConfig;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

public final class Consumers {
    private static String namesrv;
    private static String broker;
    private static String address;
    private static DefaultMQAdminExt admin;
    private static DefaultMQProducer producer;

    interface Story {
        void tell() throws Exception;
    }

    public static void main(String[] arguments) {
        try {
            run(arguments);
            System.exit(0);
        } catch (Exception failure) {
            failure.printStackTrace();
            System.exit(1);
        }
    }

    private static void run(String[] arguments) throws Exception {
        namesrv = arguments[0];
        broker = arguments[1];
        address = arguments[2];
        admin = new DefaultMQAdminExt();
        admin.setNamesrvAddr(namesrv);
        admin.setInstanceName("admin");
        admin.start();
        producer = new DefaultMQProducer("senders");
        producer.setNamesrvAddr(namesrv);
        producer.start();
        Story[] stories = {
            Consumers::tooSlow, Consumers::refused, Consumers::byHand, Consumers::astray, Consumers::reset,
            Consumers::rolledBack, () -> full("count"), () -> full("size"), () -> full("span"),
        };
        ExecutorService all = Executors.newFixedThreadPool(stories.length);
        List<Future<?>> told = new ArrayList<>();
        for (Story story : stories) {
            told.add(all.submit(() -> {
                story.tell();
                return null;
            }));
        }
        for (Future<?> each : told) {
            each.get(120, TimeUnit.SECONDS);
        }
        System.out.println("{\\"done\\": true}");
    }

    /** PQ-9: the listener takes longer than the limit, which is a matter of minutes, and is cut short here. */
    private static void tooSlow() throws Exception {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch returns = new CountDownLatch(1);
        DefaultMQPushConsumer consumer = consumer("slow", 1, 10);
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            if (messages.get(0).getReconsumeTimes() == 0) {
                called.countDown();
                await(returns);
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        await(called);
        consumer.setConsumeTimeout(0);
        Thread.sleep(5);
        for (ProcessQueue window : consumer.getDefaultMQPushConsumerImpl().getRebalanceImpl()
                .getProcessQueueTable().values()) {
            window.cleanExpiredMsg(consumer);
        }
        returns.countDown();
        reaches(consumer, "%RETRY%slow", 1);
        consumer.shutdown();
    }

    /** SB-4: the broker finds no message where the client says it is, so the client produces the copy itself. */
    private static void refused() throws Exception {
        DefaultMQPushConsumer consumer = consumer("refused", 1, 10);
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            MessageExt message = messages.get(0);
            if (message.getReconsumeTimes() > 0) {
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            }
            message.setCommitLogOffset(1L << 40);
            return ConsumeConcurrentlyStatus.RECONSUME_LATER;
        });
        consumer.start();
        reaches(consumer, "refused", 1);
        reaches(consumer, "%RETRY%refused", 1);
        consumer.shutdown();
    }

    /** The listener sends a message back itself, and has consumed it all the same. */
    private static void byHand() throws Exception {
        DefaultMQPushConsumer consumer = consumer("by-hand", 1, 10);
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            MessageExt message = messages.get(0);
            try {
                if (message.getReconsumeTimes() == 0) {
                    consumer.sendMessageBack(message, 2);
                }
            } catch (Exception failure) {
                throw new IllegalStateException(failure);
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        reaches(consumer, "by-hand", 1);
        reaches(consumer, "%RETRY%by-hand", 1);
        consumer.shutdown();
    }

    /** PL-23: the stored offset is behind the end of the queue. */
    private static void astray() throws Exception {
        SubscriptionGroupConfig group = new SubscriptionGroupConfig();
        group.setGroupName("astray");
        admin.createAndUpdateSubscriptionGroupConfig(address, group);
        DefaultMQPushConsumer consumer = consumer("astray", 3, 10);
        admin.updateConsumeOffset(address, "astray", queue("astray"), 100);
        consumer.registerMessageListener(
                (MessageListenerConcurrently) (messages, context) -> ConsumeConcurrentlyStatus.CONSUME_SUCCESS);
        consumer.start();
        OffsetStore offsets = consumer.getDefaultMQPushConsumerImpl().getOffsetStore();
        while (offsets.readOffset(queue("astray"), ReadOffsetType.READ_FROM_MEMORY) != 3) {
            Thread.sleep(20);
        }
        send("astray", 1, 10);
        reaches(consumer, "astray", 4);
        consumer.shutdown();
    }

    /** OF-31: the broker orders the client to go back. */
    private static void reset() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        DefaultMQPushConsumer consumer = consumer("reset", 3, 10);
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            calls.incrementAndGet();
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        reaches(consumer, "reset", 3);
        // Only groups that have an offset are reset.
        admin.updateConsumeOffset(address, "reset", queue("reset"), 3);
        admin.resetOffsetByTimestamp("reset", "reset", 0, true);
        while (calls.get() < 6) {
            Thread.sleep(20);
        }
        reaches(consumer, "reset", 3);
        consumer.shutdown();
    }

    /** OR-7: of three messages the first has succeeded, the second takes both back, and the rest commits. */
    private static void rolledBack() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        DefaultMQPushConsumer consumer = consumer("books", 3, 10);
        consumer.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
            context.setAutoCommit(false);
            switch (calls.incrementAndGet()) {
                case 2:
                    return ConsumeOrderlyStatus.ROLLBACK;
                case 5:
                    return ConsumeOrderlyStatus.COMMIT;
                default:
                    return ConsumeOrderlyStatus.SUCCESS;
            }
        });
        consumer.start();
        reaches(consumer, "books", 3);
        consumer.shutdown();
    }

    /** PL-7, PL-9: the window holds as much as it may, for half a second. */
    private static void full(String path) throws Exception {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch returns = new CountDownLatch(1);
        DefaultMQPushConsumer consumer = consumer("full-" + path, 6, 500_000);
        if (path.equals("count")) {
            consumer.setPullThresholdForQueue(2);
        } else if (path.equals("size")) {
            consumer.setPullThresholdSizeForQueue(1);
        } else {
            consumer.setConsumeConcurrentlyMaxSpan(2);
        }
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            called.countDown();
            await(returns);
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        await(called);
        Thread.sleep(500);
        returns.countDown();
        reaches(consumer, "full-" + path, 6);
        consumer.shutdown();
    }

    /** A consumer of a topic of its own, with one queue and so many messages. */
    private static DefaultMQPushConsumer consumer(String group, int count, int bytes) throws Exception {
        admin.createAndUpdateTopicConfig(address, new TopicConfig(group, 1, 1, 6));
        send(group, count, bytes);
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
        consumer.setNamesrvAddr(namesrv);
        consumer.setClientIP("127.0.0.1");
        consumer.setInstanceName(group);
        consumer.setPollNameServerInterval(500);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setSuspendCurrentQueueTimeMillis(50);
        consumer.subscribe(group, "*");
        return consumer;
    }

    private static void send(String topic, int count, int bytes) throws Exception {
        for (int number = 0; number < count; number++) {
            producer.send(new Message(topic, new byte[bytes]), queue(topic));
        }
    }

    private static MessageQueue queue(String topic) {
        return new MessageQueue(topic, broker, 0);
    }

    private static void reaches(DefaultMQPushConsumer consumer, String topic, long offset) throws Exception {
        OffsetStore offsets = consumer.getDefaultMQPushConsumerImpl().getOffsetStore();
        while (offsets.readOffset(queue(topic), ReadOffsetType.READ_FROM_MEMORY) < offset) {
            Thread.sleep(20);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException shutdown) {
            Thread.currentThread().interrupt();
        }
    }
}
"""
FULL = ("count", "size", "span")
GROUPS = ("slow", "refused", "by-hand", "astray", "reset", "books", *(f"full-{path}" for path in FULL))
MEMBERS = ("kind", "offset", "next", "result", "path", "level", "attempt", "max_attempts", "detail")


@pytest.fixture(scope="module")
def capture(toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The file of each group."""
    folder = tmp_path_factory.mktemp("rare")
    settings = {"messageDelayLevel": "1s 1s 1s 1s 1s", "useServerSideResetOffset": "false"}
    with Cluster.up(toolchain, release=DEFAULT_RELEASE, home=folder / "home", settings=settings) as cluster:
        run_program(
            toolchain,
            cluster,
            CONSUMERS,
            name="Consumers",
            says="done",
            folder=folder,
            heap_mb=256,
            capture=folder / "capture",
        )
    return {_group(path): path for path in (folder / "capture").iterdir()}


def _group(path: Path) -> str:
    header = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    (group,) = header["groups"]
    return str(group)


def events(path: Path, *, topic: str) -> list[Event]:
    """The events of the only queue of a topic, in their order."""
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    return [event for event in found if event.get("topic") == topic and "queue" in event]


def told(path: Path, topic: str, *kinds: str) -> list[str]:
    """The events of these kinds in words."""
    return [
        " ".join(f"{event[name]}" if name == "kind" else f"{name}={event[name]}" for name in MEMBERS if name in event)
        for event in events(path, topic=topic)
        if event["kind"] in kinds
    ]


def test_a_message_whose_listener_runs_too_long_is_sent_back(capture: dict[str, Path]) -> None:
    kinds = ("deliver", "result", "expire", "send_back", "removed", "discarded")
    assert told(capture["slow"], "slow", *kinds) == [
        "deliver offset=0 next=1 attempt=0",
        "expire offset=0 attempt=0",
        "send_back offset=0 result=ok path=expired level=3 attempt=0 max_attempts=16",
        "removed offset=0 next=1",
        "result offset=0 result=ok attempt=0",
    ]
    assert told(capture["slow"], "%RETRY%slow", *kinds) == [
        "deliver offset=0 next=1 attempt=1",
        "result offset=0 result=ok attempt=1",
        "removed offset=0 next=1",
    ]


def test_a_refused_send_back_is_followed_by_a_copy_of_the_client_s_own(capture: dict[str, Path]) -> None:
    kinds = ("deliver", "result", "send_back", "removed")
    deliver, result, request, *others = told(capture["refused"], "refused", *kinds)
    assert (deliver, result) == ("deliver offset=0 next=1 attempt=0", "result offset=0 result=later level=0 attempt=0")
    assert request.startswith("send_back offset=0 result=failed path=request level=0 attempt=0 max_attempts=16 detail=")
    assert others == [
        "send_back offset=0 result=ok path=fallback attempt=0 max_attempts=16",
        "removed offset=0 next=1",
    ]
    assert told(capture["refused"], "%RETRY%refused", *kinds) == [
        "deliver offset=0 next=1 attempt=1",
        "result offset=0 result=ok attempt=1",
        "removed offset=0 next=1",
    ]


def test_an_application_sends_a_message_back_that_it_consumes(capture: dict[str, Path]) -> None:
    kinds = ("deliver", "result", "send_back", "removed")
    assert told(capture["by-hand"], "by-hand", *kinds) == [
        "deliver offset=0 next=1 attempt=0",
        "send_back offset=0 result=ok path=application level=2 attempt=0 max_attempts=16",
        "result offset=0 result=ok attempt=0",
        "removed offset=0 next=1",
    ]
    assert told(capture["by-hand"], "%RETRY%by-hand", *kinds)[0] == "deliver offset=0 next=1 attempt=1"
    result = check_locally(open_trace([capture["by-hand"]]), settings=Settings())
    assert [verdict.claim.id for verdict in result.verdicts if verdict.verdict is Verdict.VIOLATED] == []


def test_an_offset_outside_the_queue_is_corrected(capture: dict[str, Path]) -> None:
    kinds = ("offset_query", "assign", "pull", "pull_result", "revoke", "correct", "commit_memory", "commit", "deliver")
    corrected = [
        "offset_query offset=100 result=ok",
        "commit_memory offset=100",
        "assign offset=100",
        "pull offset=100",
        "commit offset=100 path=piggyback",
        "pull_result offset=100 next=3 result=offset_illegal",
        "revoke path=correction",
        "correct offset=3",
        "commit_memory offset=3",
        "commit offset=3 path=correction",
        "commit offset=3 path=correction",
        "offset_query offset=3 result=ok",
        "commit_memory offset=3",
        "assign offset=3",
        "pull offset=3",
    ]
    assert told(capture["astray"], "astray", *kinds)[: len(corrected)] == corrected
    assert told(capture["astray"], "astray", "deliver") == ["deliver offset=3 next=4 attempt=0"]
    found = events(capture["astray"], topic="astray")
    assert [(event["min"], event["max"]) for event in found if event.get("result") == "offset_illegal"] == [(0, 3)]
    assert [event["epoch"] for event in found if event["kind"] == "assign"] == [0, 1]


def test_a_reset_that_the_client_is_told(capture: dict[str, Path]) -> None:
    found = told(capture["reset"], "reset", "reset", "revoke", "assign", "deliver")
    start = found.index("reset offset=0 detail=as 127.0.0.1@reset was told")
    assert [line.split()[0] for line in found[:start]] == ["assign", *["deliver"] * 3]
    assert found[start + 1 : start + 3] == ["revoke path=reset", "assign offset=0"]
    assert sorted(found[start + 3 :]) == [
        *(f"deliver offset={offset} next={offset + 1} attempt=0" for offset in range(3)),
        "revoke path=shutdown",
    ]
    assert "commit offset=0 path=reset" in told(capture["reset"], "reset", "commit")


def test_a_rollback_takes_back_what_had_succeeded_before_it(capture: dict[str, Path]) -> None:
    lines = told(capture["books"], "books", "deliver", "result", "removed", "commit_memory")
    assert [line for line in lines if not line.startswith("commit_memory offset=0")] == [
        "deliver offset=0 next=1 attempt=0",
        "result offset=0 result=ok attempt=0",
        "deliver offset=1 next=2 attempt=0",
        "result offset=1 result=rollback attempt=0",
        "result offset=0 result=rollback attempt=0",
        "deliver offset=0 next=1 attempt=0",
        "result offset=0 result=ok attempt=0",
        "deliver offset=1 next=2 attempt=0",
        "result offset=1 result=ok attempt=0",
        "deliver offset=2 next=3 attempt=0",
        "result offset=2 result=commit attempt=0",
        "removed offset=0 next=3",
        "removed offset=1 next=3",
        "removed offset=2 next=3",
        "commit_memory offset=3",
    ]


@pytest.mark.parametrize("path", FULL)
def test_a_full_window_does_not_pull(path: str, capture: dict[str, Path]) -> None:
    held: set[int] = set()
    refused = 0
    for event in events(capture[f"full-{path}"], topic=f"full-{path}"):
        if event["kind"] == "pull_result":
            held.update(range(event["offset"], event["offset"] + event.get("count", 0)))
        elif event["kind"] == "removed":
            held.discard(event["offset"])
        elif event["kind"] == "flow_control":
            assert event["path"] == path
            refused += 1
        elif event["kind"] == "pull":
            assert not _full(path, held)
    assert refused >= 2
    assert held == set()


def _full(path: str, held: set[int]) -> bool:
    """PL-7: more than two messages, more than a MiB, or more than two offsets between the first and the last."""
    if path == "count":
        return len(held) > 2
    if path == "size":
        return len(held) * 500_000 // 2**20 > 1
    return bool(held) and max(held) - min(held) > 2


@pytest.mark.parametrize("group", GROUPS)
def test_the_model_can_do_all_of_it(group: str, capture: dict[str, Path]) -> None:
    answer = conform(open_trace([capture[group]]))
    assert (answer.verdict, answer.mismatches, answer.why) == (Verdict.HOLDS, (), "")
