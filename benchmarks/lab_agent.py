"""What the capture agent costs a consumer: throughput and processor time with and without it, in turns.

It starts a RocketMQ of its own, so it needs a JDK and Maven, see docs/lab.md.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from rocketproof.lab.cluster import Cluster
from rocketproof.lab.errors import LabError
from rocketproof.lab.maven import DEFAULT_RELEASE, Toolchain
from rocketproof.lab.process import Process, java_command

_MESSAGES = 400_000
_ROUNDS = 3
_LISTENERS = {"waits 1 ms": 1, "does nothing": 0}
"""What the listener does, and how many ms that takes: some work that is quick, and the worst case for what is added."""
_KINDS = ("without", "with")

_CONSUME = """
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

public final class Consume {
    private static final int BATCH = 500;

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[1]);
        try {
            if (arguments.length > 3) {
                fill(arguments[0], count, arguments[2], arguments[3]);
            } else {
                consume(arguments[0], count, arguments[2], Long.parseLong(arguments[2].split("-")[1]));
            }
        } catch (Exception error) {
            error.printStackTrace();
            System.exit(1);
        }
        System.exit(0);
    }

    private static void fill(String namesrv, int count, String broker, String address) throws Exception {
        DefaultMQAdminExt admin = new DefaultMQAdminExt(60_000);
        admin.setNamesrvAddr(namesrv);
        admin.start();
        admin.createAndUpdateTopicConfig(address, new TopicConfig("orders", 4, 4, 6));
        DefaultMQProducer producer = new DefaultMQProducer("senders");
        producer.setNamesrvAddr(namesrv);
        producer.setSendMsgTimeout(30_000);
        producer.start();
        for (int sent = 0; sent < count; sent += BATCH) {
            List<Message> batch = new ArrayList<>();
            for (int number = 0; number < BATCH; number++) {
                batch.add(new Message("orders", new byte[100]));
            }
            producer.send(batch, new MessageQueue("orders", broker, sent / BATCH % 4));
        }
        System.out.println("{\\"filled\\": " + count + "}");
    }

    private static void consume(String namesrv, int count, String group, long pause) throws Exception {
        OperatingSystemMXBean system =
                (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        AtomicInteger seen = new AtomicInteger();
        AtomicLong begun = new AtomicLong();
        AtomicLong used = new AtomicLong();
        CountDownLatch done = new CountDownLatch(1);
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
        consumer.setNamesrvAddr(namesrv);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe("orders", "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            if (pause > 0) {
                LockSupport.parkNanos(pause * 1_000_000);
            }
            int number = seen.addAndGet(messages.size());
            // The first half is for compilers to warm up.
            if (number == count / 2) {
                begun.set(System.nanoTime());
                used.set(system.getProcessCpuTime());
            }
            if (number == count) {
                done.countDown();
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        done.await();
        long wall = System.nanoTime() - begun.get();
        long cpu = system.getProcessCpuTime() - used.get();
        consumer.shutdown();
        System.out.println("{\\"wall\\": " + wall + ", \\"cpu\\": " + cpu + "}");
    }
}
"""


def measure() -> Iterator[dict[str, Any]]:
    """Consume what was stored before, with 20 threads and each listener in turn."""
    try:
        toolchain = Toolchain.find()
    except LabError as error:
        yield {"figure": "cost of the capture agent", "skipped": str(error)}
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "Consume.java"
        source.write_text(_CONSUME, encoding="utf-8")
        with Cluster.up(toolchain, release=DEFAULT_RELEASE, home=folder / "home") as cluster:
            broker = cluster.brokers[0]
            _run(toolchain, folder, source, "filled", [cluster.namesrv, str(_MESSAGES), broker.name, broker.address])
            for listener, pause in _LISTENERS.items():
                rounds: dict[str, list[dict[str, Any]]] = {kind: [] for kind in _KINDS}
                capture = folder / f"capture-{pause}"
                for number in range(_ROUNDS):
                    for kind in _KINDS:
                        arguments = [cluster.namesrv, str(_MESSAGES), f"{kind}-{pause}-{number}"]
                        captured = capture if kind == "with" else None
                        rounds[kind].append(_run(toolchain, folder, source, "wall", arguments, captured))
                yield from _figures(listener, rounds, capture)


def _figures(listener: str, rounds: Mapping[str, Sequence[dict[str, Any]]], capture: Path) -> Iterator[dict[str, Any]]:
    files = sorted(capture.iterdir())
    lines = [sum(1 for _ in file.open("rb")) - 1 for file in files]
    lost = sum(line.count(b'"kind":"gap"') for file in files for line in file.open("rb"))
    counted = _MESSAGES // 2
    for figure, member in (("wall time", "wall"), ("processor time", "cpu")):
        each = {kind: [entry[member] / 1000 / counted for entry in rounds[kind]] for kind in _KINDS}
        without, having = (median(each[kind]) for kind in _KINDS)
        yield {
            "figure": f"cost of the capture agent: {figure} for a message, listener that {listener}",
            "without_agent": round(without, 2),
            "with_agent": round(having, 2),
            "unit": "µs",
            "more_percent": round((having / without - 1) * 100, 1),
            "all_rounds": {kind: [round(value, 2) for value in each[kind]] for kind in _KINDS},
            "messages": _MESSAGES,
            "events": lines,
            "bytes": [file.stat().st_size for file in files],
            "gaps": lost,
            **({"target": "< 10 %"} if figure == "wall time" else {}),
        }


def _run(
    toolchain: Toolchain,
    folder: Path,
    source: Path,
    answer: str,
    arguments: list[str],
    capture: Path | None = None,
) -> dict[str, Any]:
    """Run the Java program until it says ``answer``."""
    command = java_command(
        toolchain,
        DEFAULT_RELEASE,
        str(source),
        artifacts=["rocketmq-client", "rocketmq-tools"],
        heap_mb=384,
        properties={"user.home": str(folder)},
        agent=toolchain.jar("agent") if capture else None,
        agent_options=f"dir={capture}",
        arguments=arguments,
    )
    # The lab saves on compilers; users do not, and it is their cost that is asked for.
    command = [word for word in command if "TieredStopAtLevel" not in word]
    process = Process.start("consume", command, folder=folder, stdin=True)
    try:
        return process.said(answer, 300)
    finally:
        process.kill()
