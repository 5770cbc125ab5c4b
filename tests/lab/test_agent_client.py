"""The agent in a consumer: what it records of pulls, calls, offsets, retries, locks and files is what happened."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rocketproof.lab.cluster import Cluster
from rocketproof.lab.maven import JAVA_SOURCES, Toolchain
from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.io import open_trace

from .programs import run_program

pytestmark = pytest.mark.lab

Event = dict[str, Any]
DELAYS = "1s 1s 1s 1s 1s"
BILLING, PARTIAL, SHIPPING, AUDIT = "billing", "partial", "shipping", "audit"

CONSUMERS = """
import java.util.List;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListener;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.consumer.store.OffsetStore;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

public final class Consumers {
    private static String namesrv;
    private static String broker;

    public static void main(String[] arguments) throws Exception {
        namesrv = arguments[0];
        broker = arguments[1];
        DefaultMQAdminExt admin = new DefaultMQAdminExt();
        admin.setNamesrvAddr(namesrv);
        admin.setInstanceName("admin");
        admin.start();
        admin.createAndUpdateTopicConfig(arguments[2], new TopicConfig("orders", 4, 4, 6));
        DefaultMQProducer producer = new DefaultMQProducer("senders");
        producer.setNamesrvAddr(namesrv);
        producer.start();
        for (int number = 0; number < 40; number++) {
            Message message = new Message("orders", number % 2 == 0 ? "even" : "odd", "" + number, new byte[100]);
            producer.send(message, (queues, each, n) -> new MessageQueue("orders", broker, (Integer) n % 4), number);
        }
        producer.shutdown();

        // Of 40 messages one call throws, one returns null, and eight ask for a retry.
        consume("billing", "*", 1, (MessageListenerConcurrently) (messages, context) -> {
            int number = Integer.parseInt(messages.get(0).getKeys());
            if (messages.get(0).getReconsumeTimes() > 0) {
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            }
            if (number == 1) {
                throw new IllegalStateException("as scripted");
            }
            return number == 2 ? null
                    : number % 5 == 0 ? ConsumeConcurrentlyStatus.RECONSUME_LATER
                    : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        }, new int[] {10, 10, 10, 10}, 10);

        // Of each batch the second half has failed.
        consume("partial", "*", 10, (MessageListenerConcurrently) (messages, context) -> {
            if (messages.get(0).getReconsumeTimes() == 0) {
                context.setAckIndex(4);
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        }, new int[] {10, 10, 10, 10}, 20);

        // Only odd numbers; every tenth from 5 on is put off once.
        consume("shipping", "odd", 1, (MessageListenerOrderly) (messages, context) -> {
            MessageExt message = messages.get(0);
            return Integer.parseInt(message.getKeys()) % 10 == 5 && message.getReconsumeTimes() == 0
                    ? ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT : ConsumeOrderlyStatus.SUCCESS;
        }, new int[] {0, 10, 0, 10}, 0);

        // A failure counts for nothing.
        consume("audit", "*", 1, (MessageListenerConcurrently) (messages, context) ->
                messages.get(0).getKeys().equals("7") ? ConsumeConcurrentlyStatus.RECONSUME_LATER
                        : ConsumeConcurrentlyStatus.CONSUME_SUCCESS, new int[] {10, 10, 10, 10}, -1);
        admin.shutdown();
        System.out.println("{\\"done\\": true}");
        System.exit(0);
    }

    private static void consume(
            String group, String expression, int batch, MessageListener listener, int[] ends, int retries)
            throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
        consumer.setNamesrvAddr(namesrv);
        consumer.setClientIP("127.0.0.1");
        consumer.setInstanceName("of-" + group);
        consumer.setPollNameServerInterval(500);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setConsumeMessageBatchMaxSize(batch);
        consumer.setSuspendCurrentQueueTimeMillis(50);
        if (retries < 0) {
            // The type has another package in other releases.
            Class<?> model = consumer.getMessageModel().getClass();
            DefaultMQPushConsumer.class.getMethod("setMessageModel", model)
                    .invoke(consumer, model.getField("BROADCASTING").get(null));
        }
        consumer.subscribe("orders", expression);
        if (listener instanceof MessageListenerOrderly) {
            consumer.registerMessageListener((MessageListenerOrderly) listener);
        } else {
            consumer.registerMessageListener((MessageListenerConcurrently) listener);
        }
        consumer.start();
        OffsetStore offsets = consumer.getDefaultMQPushConsumerImpl().getOffsetStore();
        for (int queue = 0; queue < 4; queue++) {
            await(offsets, new MessageQueue("orders", broker, queue), ends[queue]);
        }
        MessageQueue retry = new MessageQueue("%RETRY%" + group, broker, 0);
        if (retries > 0) {
            await(offsets, retry, retries);
        }
        // A queue of retries that nothing goes through may come late, by the next look for routes.
        while (retries == 0 && !consumer.getDefaultMQPushConsumerImpl().getRebalanceImpl()
                .getProcessQueueTable().containsKey(retry)) {
            Thread.sleep(20);
        }
        consumer.shutdown();
    }

    private static void await(OffsetStore offsets, MessageQueue queue, long offset) throws InterruptedException {
        while (offsets.readOffset(queue, ReadOffsetType.READ_FROM_MEMORY) < offset) {
            Thread.sleep(20);
        }
    }
}
"""


@dataclass(frozen=True, kw_only=True)
class File:
    """What was recorded of one group.

    Attributes:
        path: the file.
        header: its first line.
        events: all others.
    """

    path: Path
    header: dict[str, Any]
    events: tuple[Event, ...]

    def count(self, *members: str) -> Counter[tuple[Any, ...]]:
        """How often which values of these members occur together in events that have the first one."""
        return Counter(tuple(e.get(name) for name in members) for e in self.events if members[0] in e)

    def kinds(self, *kinds: str) -> list[Event]:
        """Events of these kinds."""
        return [event for event in self.events if event["kind"] in kinds]


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """The files of one JVM, by group, and the release of RocketMQ in it."""

    release: str
    of: dict[str, File]


@pytest.fixture(scope="module", params=["5.3.3", "4.9.8"])
def recorded(
    request: pytest.FixtureRequest, toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory
) -> Recorded:
    folder, release = tmp_path_factory.mktemp("client"), request.param
    settings = {"messageDelayLevel": DELAYS}
    with Cluster.up(toolchain, release=release, home=folder / "home", settings=settings) as cluster:
        run_program(
            toolchain,
            cluster,
            CONSUMERS,
            name="Consumers",
            says="done",
            folder=folder,
            heap_mb=192,
            capture=folder / "capture",
        )
    files = {}
    for path in (folder / "capture").iterdir():
        header, *events = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
        files[path.stem.split("-")[2]] = File(path=path, header=header, events=tuple(events))
    return Recorded(release=release, of=files)


def test_each_group_has_a_file_with_its_terms(recorded: Recorded) -> None:
    assert sorted(recorded.of) == sorted([BILLING, PARTIAL, SHIPPING, AUDIT])
    for group, file in recorded.of.items():
        assert file.header["source"] == f"rocketproof agent 1, client of RocketMQ {recorded.release}"
        assert file.header["release"] == recorded.release
        assert file.header["groups"] == {
            group: {
                "mode": "broadcasting" if group == AUDIT else "clustering",
                "listener": "orderly" if group == SHIPPING else "concurrently",
                "max_attempts": -1,
                "strategy": "AVG",
            }
        }
        assert file.header["timers"] == ({} if group == SHIPPING else {"consume_timeout": 900_000})
        assert {event["kind"] for event in file.events} <= set(file.header["evidence"])
        assert {(event["client"], event["incarnation"]) for event in file.events} == {(f"127.0.0.1@of-{group}", 0)}


def test_order_in_the_file_is_order_in_time(recorded: Recorded) -> None:
    for file in recorded.of.values():
        assert [event["seq"] for event in file.events] == list(range(len(file.events)))
        times = [(event["time"], event["micros"]) for event in file.events]
        assert times == sorted(times)


def test_a_life_begins_with_the_start_and_ends_with_the_stop(recorded: Recorded) -> None:
    for group, file in recorded.of.items():
        kinds = [event["kind"] for event in file.events]
        assert kinds[0] == "client_start"
        assert (kinds.count("client_start"), kinds.count("client_stop"), kinds.count("unregister")) == (1, 1, 1)
        assert kinds.count("assign") == kinds.count("revoke") == (4 if group == AUDIT else 5)
        assert {event["path"] for event in file.kinds("revoke")} == {"shutdown"}
        assert kinds.index("unregister") < kinds.index("revoke") < kinds.index("client_stop")
        assert {event["epoch"] for event in file.kinds("assign")} == {0}
        assert {event["broker"] for event in file.kinds("heartbeat")} == {"broker-a"}
        assert file.kinds("heartbeat")[0]["subscriptions"][-1].startswith(
            "orders=odd@" if group == SHIPPING else "orders=*@"
        )


def test_a_pass_of_rebalance_tells_what_it_saw_and_answered(recorded: Recorded) -> None:
    for group, file in recorded.of.items():
        first = next(event for event in file.kinds("rebalance") if event["topic"] == "orders")
        four = [f"broker-a:{queue}" for queue in range(4)]
        assert (first["queues"], first["assigned"], first["detail"]) == (four, four, "AVG")
        assert first.get("members") == (None if group == AUDIT else [f"127.0.0.1@of-{group}"])
        assert [event["queues"] for event in file.kinds("route") if event["topic"] == "orders"] == [four]


def test_concurrent_calls_and_their_results(recorded: Recorded) -> None:
    file = recorded.of[BILLING]
    told = Counter((event["kind"], event.get("result")) for event in file.kinds("deliver", "result", "removed"))
    assert told == {
        ("deliver", None): 50,
        ("removed", None): 50,
        ("result", "ok"): 40,
        ("result", "later"): 8,
        ("result", "exception"): 1,
        ("result", "null"): 1,
    }
    assert Counter((e["topic"], e["attempt"]) for e in file.kinds("deliver")) == {
        ("orders", 0): 40,
        ("%RETRY%billing", 1): 10,
    }
    keys = Counter(event["key"] for event in file.kinds("deliver"))
    assert Counter(keys.values()) == {1: 30, 2: 10}
    sent = file.kinds("send_back")
    assert Counter((e["path"], e["result"], e["level"], e["max_attempts"], e["attempt"], e["topic"]) for e in sent) == {
        ("request", "ok", 0, 16, 0, "orders"): 10
    }
    assert {(e["result"], e.get("level")) for e in file.kinds("result")} == {
        *(("ok", None), ("later", 0), ("exception", 0), ("null", 0)),
    }
    failed = {(e["queue"], e["offset"]) for e in file.kinds("result") if e["result"] != "ok"}
    assert {(e["queue"], e["offset"]) for e in sent} == failed


def test_of_a_batch_only_what_the_ack_index_takes_in_has_succeeded(recorded: Recorded) -> None:
    file = recorded.of[PARTIAL]
    first = [event for event in file.kinds("deliver", "result") if event["attempt"] == 0]
    assert Counter((e["kind"], e.get("result"), e["offset"] > 4) for e in first) == {
        ("deliver", None, False): 20,
        ("deliver", None, True): 20,
        ("result", "ok", False): 20,
        ("result", "later", True): 20,
    }
    assert {(e["count"], e["next"]) for e in first if e["kind"] == "deliver"} == {(10, 10)}
    assert sum(e["result"] == "ok" for e in file.kinds("result") if e["attempt"] == 1) == 20
    assert {e["next"] for e in file.kinds("removed") if e["topic"] == "orders"} == {10}


def test_orderly_calls_under_the_lock(recorded: Recorded) -> None:
    file = recorded.of[SHIPPING]
    told = Counter((e["kind"], e.get("result")) for e in file.kinds("deliver", "result", "removed", "unlock"))
    assert told == {
        ("deliver", None): 24,
        ("removed", None): 20,
        ("result", "ok"): 20,
        ("result", "suspend"): 4,
        ("unlock", None): 5,
    }
    assert {event["result"] for event in file.kinds("lock")} == {"ok"}
    for queue in (1, 3):
        calls = [e for e in file.kinds("deliver", "result") if e["queue"] == queue]
        assert [e["kind"] for e in calls] == ["deliver", "result"] * 12
        done = [e["offset"] for e in calls if e.get("result") == "ok"]
        assert done == list(range(10))
        assert [e["next"] for e in file.kinds("removed") if e["queue"] == queue] == list(range(1, 11))
    assert Counter(e["attempt"] for e in file.kinds("deliver")) == {0: 20, 1: 4}


def test_a_pull_is_told_with_what_entered_the_window(recorded: Recorded) -> None:
    for group, retries in ((BILLING, 10), (PARTIAL, 20), (SHIPPING, 0), (AUDIT, 0)):
        file = recorded.of[group]
        found = file.kinds("pull_result")
        came = sum(e.get("count", 0) for e in found if e["topic"] == "orders")
        assert came == (20 if group == SHIPPING else 40)
        assert sum(e.get("count", 0) for e in found if e["topic"] != "orders") == retries
        for e in found:
            if e["result"] == "found":
                assert e["next"] >= e["offset"] + e["count"]
        asked = {(e["topic"], e["queue"], e["offset"]) for e in file.kinds("pull")}
        assert {(e["topic"], e["queue"], e["offset"]) for e in found} <= asked
        windows = [e for e in file.events if e["kind"] in {"pull_result", "deliver"} and e.get("count")]
        known: set[tuple[str, int]] = set()
        for e in windows:
            if e["kind"] == "pull_result":
                known.add((e["topic"], e["queue"]))
            else:
                assert (e["topic"], e["queue"]) in known


def test_low_water_marks_and_offsets_in_memory_never_go_back(recorded: Recorded) -> None:
    for file in recorded.of.values():
        for kind, member in (("removed", "next"), ("commit_memory", "offset")):
            marks: dict[tuple[str, int], int] = {}
            for event in file.kinds(kind):
                place = (event["topic"], event["queue"])
                assert event[member] >= marks.get(place, 0)
                marks[place] = event[member]
            of_orders = {queue: mark for (topic, queue), mark in marks.items() if topic == "orders" and mark}
            if file is recorded.of[SHIPPING]:
                assert {queue: of_orders[queue] for queue in (1, 3)} == {1: 10, 3: 10}
            else:
                assert of_orders == dict.fromkeys(range(4), 10)


def test_offsets_are_asked_for_and_sent_at_the_end(recorded: Recorded) -> None:
    for group in (BILLING, PARTIAL, SHIPPING):
        file = recorded.of[group]
        # An orderly window asks once more before its first pull (PL-11).
        assert Counter(e["topic"] for e in file.kinds("offset_query"))["orders"] == (8 if group == SHIPPING else 4)
        last = {(e["topic"], e["queue"]): e["offset"] for e in file.kinds("commit") if e["path"] == "shutdown"}
        assert [last["orders", queue] for queue in (1, 3)] == [10, 10]


def test_a_broadcasting_client_has_a_file_and_no_retries(recorded: Recorded) -> None:
    file = recorded.of[AUDIT]
    assert file.count("kind")[("file_load",)] == 1
    assert file.count("kind")[("file_persist",)] >= 1
    assert Counter(event["result"] for event in file.kinds("result")) == {"ok": 39, "later": 1}
    written = {event["queue"]: event["offset"] for event in file.kinds("commit")}
    assert written == dict.fromkeys(range(4), 10)
    assert {event["path"] for event in file.kinds("commit")} == {"file"}
    assert not file.kinds("send_back", "offset_query", "lock")


def test_the_files_hold_what_rocketmq_promises(recorded: Recorded) -> None:
    for file in recorded.of.values():
        trace = open_trace([file.path])
        # The delays are the broker's to know.
        result = check_locally(trace, settings=Settings().with_delays(DELAYS))
        assert trace.problems.count == 0
        assert [claim.claim for claim in result.verdicts if claim.verdict is Verdict.VIOLATED] == []
        assert any(claim.verdict is Verdict.HOLDS for claim in result.verdicts)


def test_the_agent_passes_its_own_tests(toolchain: Toolchain, tmp_path: Path) -> None:
    java = tmp_path / "java"
    shutil.copytree(JAVA_SOURCES, java, ignore=shutil.ignore_patterns("target"))
    toolchain.run_maven(java / "agent", "test")
    reports = sorted(path.stem for path in (java / "agent" / "target" / "surefire-reports").glob("TEST-*.xml"))
    assert reports == [
        "TEST-rocketproof.agent.AgentTest",
        "TEST-rocketproof.agent.OptionsTest",
        "TEST-rocketproof.agent.RecorderTest",
        "TEST-rocketproof.agent.broker.OffsetsTest",
        "TEST-rocketproof.agent.client.EvidenceTest",
    ]
