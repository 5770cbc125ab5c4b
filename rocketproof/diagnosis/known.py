"""Known bugs from an operator's point of view: whose software has them, which release fixes them, and what helps
now.

How a bug works is described beside the text of the model that it breaks; sources are the trackers and histories named
there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..checkers.known_bugs import known_id
from ..checkers.mutants import MachineMutant


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What an operator needs to know about a known bug.

    Attributes:
        where: whose software has it, or ``configuration``.
        mended: the release that fixes it; empty if none does, or none is needed.
        remedy: what helps, now and permanently.
    """

    where: str
    mended: str = ""
    remedy: str


_JAVA, _GO, _CPP, _BROKER, _CONFIG = "Java client", "Go client", "C++ client", "broker", "configuration"

ADVICE: Mapping[str, Advice] = {
    "A1": Advice(where=_CONFIG, remedy="Give each process an instance name of its own, and restart one of the two."),
    "A2": Advice(where=_CONFIG, remedy="Give consumers that subscribe to different topics different groups."),
    "A3": Advice(
        where=_CONFIG,
        remedy="Give consumers with different expressions different groups; what was passed over has to be read again "
        "with a reset of the offset.",
    ),
    "A4": Advice(
        where="Java and Go client",
        mended="Java client 4.2.0, Go client 2.1.1",
        remedy="Upgrade; after a change of the expression let all members restart, and reset the offset to before it.",
    ),
    "A7": Advice(
        where="Java and Go client",
        remedy="Unsubscribe in all members at once, or stop the member that should not consume the topic.",
    ),
    "A8": Advice(
        where=_JAVA,
        mended="Java client with commit 0e2d057457 (2016)",
        remedy="Upgrade; until then remove the subscription of the topic that fails.",
    ),
    "A9": Advice(where=_GO, mended="Go client 2.1.2", remedy="Upgrade; a restart of the client frees the queue."),
    "A10": Advice(
        where=_CONFIG,
        remedy="Set pullInterval below the idle limit of 120 s, or raise rocketmq.client.pull.pullMaxIdleTime.",
    ),
    "A11": Advice(where="Rust client", mended="Rust client 0.3.0", remedy="Upgrade."),
    "A12": Advice(
        where=f"{_GO}; open in the Java client",
        mended="Go client 2.1.2",
        remedy="Restart the clients after a change of queues, and compare what each knows of the route.",
    ),
    "A13": Advice(
        where=_CONFIG,
        remedy="Raise readQueueNums to writeQueueNums; to shrink a topic lower the write count first, let the "
        "queues be "
        "emptied, then lower the read count.",
    ),
    "B1": Advice(
        where="Java and Go client",
        mended="Java client 4.9.1, Go client 2.1.1",
        remedy="Upgrade; if a group went back and the repetition does harm, reset its offset to where it was.",
    ),
    "B2": Advice(
        where=_BROKER,
        mended="RocketMQ 4.9.4",
        remedy="Upgrade brokers; after a truncated log compare each group's offset with the end of its queues.",
    ),
    "B3": Advice(
        where="clients and broker",
        mended="Go client 2.1.1; for Java the reset by the broker of 5.x",
        remedy="Stop the group before a reset, or reset again and check whether the offset stayed.",
    ),
    "B4": Advice(
        where=_JAVA, mended="Java client 4.9.3", remedy="Upgrade; until then do not read offsets from slaves."
    ),
    "B6": Advice(
        where="broker and C++ client",
        remedy=(
            "Delete the offsets of all groups together with the topic, or reset them after the topic was created again."
        ),
    ),
    "B7": Advice(
        where=_CPP,
        mended="C++ client with commit ecfd7d3 (#322)",
        remedy="Upgrade; what a client was working on when it died has to be read again with a reset of the offset.",
    ),
    "B8": Advice(
        where=_GO,
        mended="Go client 2.1.1",
        remedy=("Upgrade; a lag that consists of messages that the filter drops is not a lag."),
    ),
    "B9": Advice(
        where="Java lite pull consumer",
        mended="Java client 4.9.0",
        remedy="Upgrade; what was skipped has to be read again with a reset of the offset.",
    ),
    "B10": Advice(
        where="Java lite pull consumer",
        mended="Java client 5.1.0",
        remedy="Upgrade, or commit with persist; a restart repeats everything until then.",
    ),
    "C2": Advice(where=_GO, mended="Go client 2.1.0", remedy="Upgrade, or consume one message at a time."),
    "C3": Advice(
        where=_JAVA,
        remedy="Make the listener idempotent, and let consumers shut down in order, one after the other (#7182 "
        "is open).",
    ),
    "C5": Advice(where=_CPP, mended="C++ client 1.2.1", remedy="Upgrade."),
    "D1": Advice(
        where="C++ and Go client",
        mended="C++ client 1.2.5, Go client 2.1.1",
        remedy=(
            "Upgrade; messages that failed while the broker refused the send-back are lost: find them in the "
            "application's log."
        ),
    ),
    "D2": Advice(where=_BROKER, mended="RocketMQ 4.9.2", remedy="Upgrade; dead letters wait in the schedule topic."),
    "D3": Advice(
        where=_JAVA,
        mended="Java client 5.1.1",
        remedy="Upgrade clients and brokers; until then send a message that failed often enough to a topic of "
        "your own.",
    ),
    "D5": Advice(
        where=_BROKER, mended="RocketMQ 5.0.0", remedy="Upgrade; until then identify dead letters by their key."
    ),
    "D6": Advice(
        where=_JAVA,
        remedy="Do not rely on delayLevelWhenNextConsume where the broker may refuse a request (#9342 is open).",
    ),
    "D7": Advice(
        where=_GO,
        mended="Go client 2.1.2",
        remedy=(
            "Upgrade; messages that became dead letters without the listener having seen them have to be sent again."
        ),
    ),
    "D8": Advice(
        where=_GO, mended="Go client 2.1.0", remedy="Upgrade; what waits in the retry queue is delivered from then on."
    ),
    "D9": Advice(
        where=_BROKER, mended="RocketMQ 4.9.2", remedy="Upgrade, and give the dead-letter topic permission 6."
    ),
    "D11": Advice(where=_JAVA, mended="Java client 5.3.2", remedy="Upgrade."),
    "E1": Advice(
        where=_JAVA,
        remedy="Handle the message that keeps failing, and set maxReconsumeTimes; otherwise the queue is blocked.",
    ),
    "E3": Advice(
        where=_JAVA,
        mended="Java client with commit 45dae1fa82 (2014)",
        remedy="Upgrade; keep listener calls below 20 s.",
    ),
    "E6": Advice(where=_GO, mended="Go client 2.1.1", remedy="Upgrade; read the skipped messages again with a reset."),
    "E7": Advice(
        where=_GO, remedy="Return a status of orderly listeners: SuspendCurrentQueueAMoment, not ConsumeRetryLater."
    ),
    "F1": Advice(where=_JAVA, mended="Java client 4.2.0", remedy="Upgrade; a restart of the client frees the queue."),
    "F2": Advice(where=_GO, mended="Go client 2.1.2", remedy="Upgrade."),
    "F3": Advice(
        where=_JAVA,
        mended="Java client 5.1.0",
        remedy="Upgrade, keep listener calls below consumeTimeout, and make the listener idempotent.",
    ),
    "F4": Advice(
        where="application",
        remedy="Give remote calls in the listener a timeout; take a thread dump, then restart the client that hangs.",
    ),
    "F7": Advice(
        where=_CPP,
        mended="C++ client with commit 5629226 (#293)",
        remedy="Upgrade; a restart of the client frees the queue.",
    ),
    "G1": Advice(
        where=_CONFIG,
        remedy="Start groups of topics that may grow with CONSUME_FROM_FIRST_OFFSET, or reset new queues to "
        "their beginning.",
    ),
    "G3": Advice(
        where=_JAVA, mended="Java client with commit 33fef52706", remedy="Upgrade; delete the damaged file of offsets."
    ),
    "G4": Advice(
        where=_JAVA, mended="Java client 5.2.0", remedy="Upgrade; until then delete the local file of offsets."
    ),
    "G5": Advice(where="Java and Go client", remedy="Do not rely on retries in broadcasting; repeat in the listener."),
    "H1": Advice(
        where=_BROKER, mended="RocketMQ 4.9.3", remedy="Upgrade; correct delayOffset.json while the broker is down."
    ),
    "H2": Advice(
        where=_BROKER, mended="a broker with PR #3478 (2022)", remedy="Upgrade; make the listener idempotent."
    ),
    "H3": Advice(where=_BROKER, mended="RocketMQ 5.1.2", remedy="Upgrade; make the listener idempotent."),
    "H4": Advice(
        where=_BROKER, mended="RocketMQ 4.9.0 (with DLedger)", remedy="Upgrade; make the listener idempotent."
    ),
    "H5": Advice(where=_BROKER, mended="RocketMQ 4.9.4", remedy="Upgrade; make the listener idempotent."),
}
"""Known bug → what to do about it."""


def how(entry: MachineMutant) -> str:
    """How the bug works, with its source, as one line."""
    return " ".join(entry.mutant.doc.replace("``", "").split())


def sources(entry: MachineMutant) -> tuple[str, ...]:
    """Where it was seen: issues and commits that its text names."""
    found = re.findall(
        r"(?:[\w/.-]*(?:rocketmq|client|Go|flink|RocketMQ)[\w/-]*,?\s?(?:PR )?)?#\d+|commit [0-9a-f]{8,}|ROCKETMQ-\d+",
        how(entry),
    )
    return tuple(dict.fromkeys(found))


def advice(mutant: str) -> Advice:
    """What to do about a mutant."""
    return ADVICE[known_id(mutant)]
