"""The agent in a broker: what it records of messages, retries, offsets, members and restarts is what happened."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rocketproof.lab.cluster import Cluster
from rocketproof.lab.maven import Toolchain
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.io import open_trace

from .programs import run_program

pytestmark = pytest.mark.lab

Event = dict[str, Any]
RETRIES, DEAD_LETTERS = "%RETRY%billing", "%DLQ%billing"
STORED = {0: 6, 1: 8, 2: 5, 3: 5}
"""Messages in each queue of the topic, what was delayed included."""

DELAYS = "1s 1s 1s 2s 3s"

TRAFFIC = """
import java.util.Arrays;
import java.util.List;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.store.OffsetStore;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.MessageQueueSelector;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

public final class Traffic {
    private static final List<String> ALWAYS = Arrays.asList("3", "7");

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
        String namesrv = arguments[0];
        String broker = arguments[1];
        String address = arguments[2];

        DefaultMQAdminExt admin = new DefaultMQAdminExt();
        admin.setNamesrvAddr(namesrv);
        admin.setInstanceName("admin");
        admin.start();
        admin.createAndUpdateTopicConfig(address, new TopicConfig("orders", 4, 4, 6));

        // 20 messages, one that waits a second first, and a batch of three.
        DefaultMQProducer producer = new DefaultMQProducer("senders");
        producer.setNamesrvAddr(namesrv);
        producer.start();
        MessageQueueSelector byNumber = (queues, message, number) -> new MessageQueue(
                "orders", broker, (Integer) number % 4);
        for (int number = 0; number < 20; number++) {
            producer.send(message(number), byNumber, number);
        }
        Message later = message(20);
        later.setDelayTimeLevel(1);
        producer.send(later, byNumber, 0);
        producer.send(Arrays.asList(message(21), message(22), message(23)), new MessageQueue("orders", broker, 1));

        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("billing");
        consumer.setNamesrvAddr(namesrv);
        consumer.setPollNameServerInterval(500);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setMaxReconsumeTimes(2);
        consumer.subscribe("orders", "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            MessageExt message = messages.get(0);
            boolean once = message.getKeys().equals("11") && message.getReconsumeTimes() == 0;
            return once || ALWAYS.contains(message.getKeys())
                    ? ConsumeConcurrentlyStatus.RECONSUME_LATER
                    : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        OffsetStore offsets = consumer.getDefaultMQPushConsumerImpl().getOffsetStore();
        int[] stored = {6, 8, 5, 5};
        for (int queue = 0; queue < 4; queue++) {
            await(offsets, new MessageQueue("orders", broker, queue), stored[queue]);
        }
        await(offsets, new MessageQueue("%RETRY%billing", broker, 0), 5);

        // 4.x resets only groups that have an offset in every queue.
        for (int queue : new int[] {0, 1, 2, 3, 3, 3, 3}) {
            admin.updateConsumeOffset(address, "billing", new MessageQueue("orders", broker, queue), stored[queue]);
        }
        admin.resetOffsetByTimestamp("orders", "billing", -1, true);
        String client = consumer.buildMQClientId();
        consumer.shutdown();
        admin.cloneGroupOffset("billing", "copied", "orders", true);
        admin.deleteSubscriptionGroup(address, "copied", true);
        admin.shutdown();
        producer.shutdown();
        System.out.println("{\\"client\\": \\"" + client + "\\"}");
    }

    private static Message message(int number) {
        return new Message("orders", "*", Integer.toString(number), "x".getBytes());
    }

    private static void await(OffsetStore offsets, MessageQueue queue, long offset) throws InterruptedException {
        while (offsets.readOffset(queue, ReadOffsetType.READ_FROM_MEMORY) < offset) {
            Thread.sleep(20);
        }
    }
}
"""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What the agent wrote about one broker process and the next.

    Attributes:
        release: of RocketMQ.
        files: the two files, in the order of time.
        header: first line of the first one.
        first: events of the process that had all the traffic.
        second: events of the process after it.
        client: id of the consumer.
    """

    release: str
    files: tuple[Path, Path]
    header: dict[str, Any]
    first: tuple[Event, ...]
    second: tuple[Event, ...]
    client: str

    def of(self, *kinds: Kind) -> list[Event]:
        """Events of the first process."""
        return [event for event in self.first if event["kind"] in kinds]


@pytest.fixture(scope="module", params=["5.3.3", "4.9.8"])
def recorded(
    request: pytest.FixtureRequest, toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory
) -> Recorded:
    folder, release = tmp_path_factory.mktemp("broker"), request.param
    capture, settings = folder / "capture", {"messageDelayLevel": DELAYS}
    with Cluster.up(toolchain, release=release, home=folder / "home", settings=settings, capture=capture) as cluster:
        said = run_program(toolchain, cluster, TRAFFIC, name="Traffic", says="client", folder=folder, heap_mb=128)
        cluster.brokers[0].restart(kill=False)
    first, second = sorted(capture.glob("broker-*.jsonl"), key=lambda file: _lines(file)[1]["time"])
    header, *events = _lines(first)
    return Recorded(
        release=release,
        files=(first, second),
        header=header,
        first=tuple(events),
        second=tuple(_lines(second)[1:]),
        client=said["client"],
    )


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_the_header_says_who_recorded_what(recorded: Recorded) -> None:
    header = recorded.header
    release = {"4.9.8": "4.9.7"}.get(recorded.release, recorded.release)  # the broker of 4.9.8 was never published
    assert header["source"] == f"rocketproof agent 1, broker broker-a of RocketMQ {release}"
    assert (header["release"], header["delays"]) == (release, DELAYS)
    assert header["timers"] == {"lock_life": 60_000}
    # Nobody is elected here.
    assert {event["kind"] for event in recorded.first} == set(header["evidence"]) - {"gap", "role_change"}
    assert {event["broker"] for event in recorded.first} == {"broker-a"}


def test_both_files_are_read_without_problems(recorded: Recorded) -> None:
    trace = open_trace(recorded.files)
    assert sum(len(batch) for batch in trace.batches()) == len(recorded.first) + len(recorded.second)
    assert (trace.problems.count, trace.header.delays) == (0, DELAYS)


def test_order_in_the_file_is_order_in_time(recorded: Recorded) -> None:
    for events in (recorded.first, recorded.second):
        assert [event["seq"] for event in events] == list(range(len(events)))
        times = [(event["time"], event["micros"]) for event in events]
        assert times == sorted(times)


def test_every_message_is_stored_once_at_its_offset(recorded: Recorded) -> None:
    stores = recorded.of(Kind.STORE)
    assert Counter((event["topic"], event["attempt"], "client" in event) for event in stores) == {
        ("orders", 0, False): 23
    }
    queues: dict[int, list[int]] = {queue: [] for queue in STORED}
    for event in recorded.of(Kind.STORE, Kind.DELAY_DELIVER):
        if event["topic"] == "orders":
            queues[event["queue"]].append(event["offset"])
    assert queues == {queue: list(range(count)) for queue, count in STORED.items()}
    assert len({event["msg_id"] for event in stores}) == 23


def test_messages_of_a_batch_share_a_unique_key_in_5_3_and_have_their_own_in_4_9(recorded: Recorded) -> None:
    batch = {event["key"] for event in recorded.of(Kind.STORE) if event["queue"] == 1 and event["offset"] >= 5}
    assert len(batch) == (3 if recorded.release == "4.9.8" else 1)


def test_what_waits_is_what_is_delivered(recorded: Recorded) -> None:
    waiting, delivered = recorded.of(Kind.DELAY_STORE), recorded.of(Kind.DELAY_DELIVER)
    assert Counter((event["topic"], event.get("group"), event["attempt"], event["level"]) for event in waiting) == {
        ("orders", None, 0, 1): 1,
        (RETRIES, "billing", 1, 3): 3,
        (RETRIES, "billing", 2, 4): 2,
    }
    fields = ("topic", "key", "attempt", "level", "due")
    assert sorted(tuple(event[field] for field in fields) for event in waiting) == sorted(
        tuple(event[field] for field in fields) for event in delivered
    )
    assert all(event["time"] >= event["due"] for event in delivered)
    assert [event["offset"] for event in delivered if event["topic"] == RETRIES] == [0, 1, 2, 3, 4]


def test_dead_letters_have_the_keys_of_their_messages(recorded: Recorded) -> None:
    keys = {(event["queue"], event["offset"]): event["key"] for event in recorded.of(Kind.STORE)}
    letters = recorded.of(Kind.DEAD_LETTER)
    assert {event["key"] for event in letters} == {keys[3, 0], keys[3, 1]}
    assert [(event["topic"], event["group"], event["offset"], event["attempt"]) for event in letters] == [
        (DEAD_LETTERS, "billing", 0, 3),
        (DEAD_LETTERS, "billing", 1, 3),
    ]


def test_commits_tell_who_and_on_which_way(recorded: Recorded) -> None:
    commits = [event for event in recorded.of(Kind.COMMIT) if event.get("path") != "reset"]
    nobody = [event for event in commits if "client" not in event]
    assert Counter((event["topic"], event["queue"], event["offset"], event.get("path")) for event in nobody) == {
        ("orders", 0, 6, None): 1,
        ("orders", 1, 8, None): 1,
        ("orders", 2, 5, None): 1,
        ("orders", 3, 5, None): 4,
    }
    of_client = [event for event in commits if "client" in event]
    assert {(event["group"], event["client"]) for event in of_client} == {("billing", recorded.client)}
    assert {event.get("path") for event in of_client} == {None, "piggyback"}
    # In 5.x the reset counts from then on, and what the client commits when it stops is ignored (OF-30).
    told = [*commits, *recorded.of(Kind.RESET)]
    last = {(event["topic"], event["queue"]): event["offset"] for event in sorted(told, key=lambda one: one["seq"])}
    assert last == {**{("orders", queue): count for queue, count in STORED.items()}, (RETRIES, 0): 5}


def test_a_reset_is_told_for_each_queue(recorded: Recorded) -> None:
    resets = recorded.of(Kind.RESET)
    assert sorted((event["group"], event["topic"], event["queue"], event["offset"]) for event in resets) == [
        ("billing", "orders", queue, count) for queue, count in STORED.items()
    ]


def test_offsets_that_an_operator_copies_or_removes_are_told_for_each_queue(recorded: Recorded) -> None:
    told = [event for event in recorded.of(Kind.COMMIT) if event.get("path") == "reset"]
    assert {(event["group"], event["topic"]) for event in told} == {("copied", "orders")}
    found = [(event["queue"], event.get("offset"), event.get("result")) for event in told]
    assert sorted(found[:4]) == [(queue, count, None) for queue, count in STORED.items()]
    assert sorted(found[4:]) == [(queue, None, "none") for queue in STORED]


def test_members_come_and_go(recorded: Recorded) -> None:
    assert [(event["group"], event["members"]) for event in recorded.of(Kind.MEMBERS)] == [
        ("billing", [recorded.client]),
        ("billing", []),
    ]


def test_a_restart_takes_up_what_was_written(recorded: Recorded) -> None:
    assert [event["kind"] for event in recorded.first[:2]] == [Kind.FILE_LOAD] * 2
    last = recorded.of(Kind.FILE_PERSIST, Kind.BROKER_STOP)[-3:]
    assert [event.get("detail") for event in last] == ["delayOffset", "consumerOffset", None]
    assert recorded.first[-1]["kind"] == Kind.BROKER_STOP
    kinds = [event["kind"] for event in recorded.second if event["kind"] in (Kind.BROKER_START, Kind.COMMIT)]
    assert kinds == [Kind.BROKER_START, *[Kind.COMMIT] * 5]
    restored = [event for event in recorded.second if event["kind"] == Kind.COMMIT]
    assert [(event["topic"], event["queue"], event["offset"], event["path"]) for event in restored] == [
        (RETRIES, 0, 5, "file"),
        *(("orders", queue, count, "file") for queue, count in STORED.items()),
    ]
