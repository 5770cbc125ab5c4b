"""History files of OpenMessaging Chaos, or OpenChaos: what its clients sent and received while it injected faults.

A line has fields separated by tabs. Requests: client, operation, ``REQUEST``, value, sharding key, time, info.
Responses: client, operation, ``RESPONSE``, result, value, sharding key, time, latency, info, end-to-end latency.
Faults: ``fault``, name, ``start`` or ``end``, time. Releases before 0.6 have neither info nor end-to-end latency. The
info of the RocketMQ driver has message id, queue and offset.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ...format.kinds import Kind, Result
from ...format.problems import Problems
from ...format.schema import Header
from ...format.whole_number import whole_number
from ..compressed import lines_of
from .message_text import fields_in, text_pattern
from .protocol import Event, Imported, Importer

GROUP = "ChaosTest_ConsumerGroup"
"""The consumer group of all clients of the tool, if the history does not name it."""

_REQUEST = re.compile(r"\d+\t(?:enqueue|dequeue)\tREQUEST\t")
_RESPONSE = re.compile(r"\d+\t(?:enqueue|dequeue)\tRESPONSE\t(?:SUCCESS|FAILURE|UNKNOWN)\t")
_FAULT = re.compile(r"fault\t[^\t]*\t(?:start|end)\t\d+")
_SENT = text_pattern(
    r"SendResult \[sendStatus=\w+, msgId=<key>, offsetMsgId=<msg_id>, messageQueue=<mq>, queueOffset=<offset>"
)
_RECEIVED = text_pattern("msgId = <key>, topic = <topic>, group = <group>, queueId = <queue>, queueOffset = <offset>")
# UNKNOWN: the producer got no answer, and the message may be stored or not.
_RESULTS = {"SUCCESS": Result.OK, "FAILURE": Result.FAILED, "UNKNOWN": Result.ERROR}


@dataclass(frozen=True, kw_only=True)
class ChaosHistory(Importer):
    """Reads history files."""

    name: str = "chaos-history"

    def detects(self, head: str, name: str) -> bool:
        """Whether one of the first lines is a request or a response."""
        return any(_REQUEST.match(line) or _RESPONSE.match(line) for line in head.split("\n"))

    def read(self, path: Path, problems: Problems) -> Imported:
        """Read a file twice: for the names of brokers, and for the events."""
        sent = _Sent()
        for _, line in lines_of(path, Problems()):
            sent.note(line.split("\t"))
        skipped: Counter[str] = Counter()
        return Imported(
            header=Header(
                source=f"chaos history ({path.name})",
                evidence=frozenset({Kind.STORE, Kind.DELIVER, Kind.RESULT}),
                complete=bool(sent.empty) and all(sent.empty.values()),
            ),
            events=_events(path, problems, sent, skipped),
            skipped=skipped,
        )


@dataclass
class _Sent:
    """What producers say about messages, by value, and whether all consumers found their queues empty at the end."""

    positions: dict[str, Event] = field(default_factory=dict)
    empty: dict[str, bool] = field(default_factory=dict)

    def note(self, fields: list[str]) -> None:
        if len(fields) < 8 or fields[2] != "RESPONSE":
            return
        if fields[1] == "dequeue":
            self.empty[fields[0]] = fields[3] == "FAILURE"
        elif len(fields) > 8 and (found := _SENT.search(fields[8])):
            self.positions[fields[4]] = fields_in(found)


def _events(path: Path, problems: Problems, sent: _Sent, skipped: Counter[str]) -> Iterator[Event]:
    for number, line in lines_of(path, problems):
        if not line:
            continue
        fields = line.split("\t")
        if _FAULT.fullmatch(line):
            skipped["fault"] += 1
        elif _REQUEST.match(line) and len(fields) in (6, 7) and fields[5].isdecimal():
            skipped["request"] += 1
        elif _RESPONSE.match(line) and len(fields) in (8, 10) and fields[6].isdecimal() and fields[7].isdecimal():
            if fields[1] == "enqueue":
                yield _stored(fields)
            elif fields[3] == "SUCCESS":
                yield from _consumed(fields, sent)
            else:
                skipped["nothing to dequeue"] += 1
        else:
            problems.add(str(path), number, f"no line of a history: {line[:80]!r}")


def _stored(fields: list[str]) -> Event:
    """A response to a producer. The message may be consumed before it, so the time is that of the request."""
    found = _SENT.search(fields[8]) if len(fields) > 8 else None
    return {
        "time": whole_number(fields[6]) - whole_number(fields[7]),
        "kind": Kind.STORE,
        "result": _RESULTS[fields[3]],
        "client": f"producer-{fields[0]}",
        "key": fields[4],
        "attempt": 0,
        "detail": f"value {fields[4]}",
    } | (fields_in(found) if found else {})


def _consumed(fields: list[str], sent: _Sent) -> Iterator[Event]:
    """A message that a consumer got: the tool takes it at once, and always with success."""
    found = _RECEIVED.search(fields[8]) if len(fields) > 8 else None
    told = fields_in(found) if found else {}
    place = sent.positions.get(fields[4], {})
    if place.get("queue") == told.get("queue") and place.get("offset") == told.get("offset"):
        told |= {name: place[name] for name in ("broker", "msg_id") if name in place}
    event: Event = {
        "time": whole_number(fields[6]),
        "client": f"consumer-{fields[0]}",
        "group": GROUP,
        "key": place.get("key", fields[4]),
        "detail": f"value {fields[4]}",
    } | told
    yield event | {"kind": Kind.DELIVER}
    yield event | {"kind": Kind.RESULT, "result": Result.OK}
