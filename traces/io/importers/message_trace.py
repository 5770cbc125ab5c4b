r"""RocketMQ's own message trace: what producers and consumers send to ``RMQ_SYS_TRACE_TOPIC`` (TR-1 … TR-9).

A body holds records that end with ``\x02``, with fields separated by ``\x01``. A file holds one or more bodies, one per
line, each raw, in hexadecimal or base64, or in a JSON object ``{"bornHost": …, "body": …}`` in any of these forms.

Queue, offset and client are not in the records. The client can be found nevertheless: the request id of a delivery is
made like a unique key, from address and process id of the consumer, and ``bornHost`` says where the trace came from.
The topic of a delivery is that of the ``Pub`` record with the same message id, if it is in the file.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from ipaddress import ip_address
from pathlib import Path

from ...format.kinds import Kind, Result
from ...format.problems import Problems
from ...format.schema import Header, is_text
from ...format.whole_number import whole_field
from ..compressed import lines_of
from ..json_text import read_json
from .protocol import UNKNOWN_CLIENT, Event, Imported, Importer, with_losses

FIELD, RECORD = "\x01", "\x02"
_TYPES = ("Pub", "SubBefore", "SubAfter", "EndTransaction", "Recall")
_BEGINS = re.compile(rf"(?:{'|'.join(_TYPES)})\x01")
_SHORTEST = {"Pub": 13, "SubBefore": 8, "SubAfter": 6, "EndTransaction": 13, "Recall": 7}
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){8,}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")

# TR-3: positions in the enumeration MessageType.
_HALF, _DELAYED = 1, 3
# TR-4: positions in the enumeration ConsumeReturnType.
_TIMED_OUT, _THREW, _RETURNED_NULL = 1, 2, 3


@dataclass(frozen=True, kw_only=True)
class MessageTrace(Importer):
    """Reads message-trace data."""

    name: str = "message-trace"

    def detects(self, head: str, name: str) -> bool:
        """Whether one of the first lines contains a body."""
        return any(_body_of(line) is not None for line in head.split("\n")[:20])

    def read(self, path: Path, problems: Problems) -> Imported:
        """Read a file twice: for what records need from each other, and for the events."""
        known = _Known()
        for record in _records(path, Problems()):
            known.note(record)
        skipped: Counter[str] = Counter()
        return Imported(
            header=Header(source=f"RocketMQ message trace ({path.name})", evidence=frozenset(known.evidence)),
            events=with_losses(_events(path, problems, known, skipped), "message traces may lose records (TR-2)"),
            skipped=skipped,
        )


@dataclass(frozen=True, kw_only=True)
class _Record:
    """One record: its fields, and where it was found."""

    line: int
    number: int
    fields: list[str]
    born: str

    @property
    def type(self) -> str:
        return self.fields[0]

    @property
    def place(self) -> str:
        return f"record {self.number} ({self.type})"


@dataclass(frozen=True)
class _Call:
    """The beginning of a listener call, from ``SubBefore`` records."""

    time: int
    group: str | None
    attempts: dict[str, int]


@dataclass
class _Known:
    """What the whole file shows."""

    topics: dict[str, str] = field(default_factory=dict)  # topic of a message, by its id
    calls: dict[str, _Call] = field(default_factory=dict)  # listener calls, by request id
    evidence: set[Kind] = field(default_factory=set)  # kinds of events that the types of records show

    def begins_in(self, time: int, call: tuple[str, str]) -> bool:
        """Whether a listener call, by request and message, is known to begin at a time or later, ms."""
        found = self.calls.get(call[0])
        return found is not None and call[1] in found.attempts and found.time >= time

    def note(self, record: _Record) -> None:
        fields = record.fields
        if record.type in ("Pub", "EndTransaction"):
            self.evidence.add(Kind.STORE)
            if fields[5] != "null":
                self.topics.setdefault(fields[5], fields[4])
        elif record.type in ("SubBefore", "SubAfter"):
            self.evidence |= {Kind.DELIVER, Kind.RESULT}
        if record.type == "SubBefore":
            try:
                time, attempt = whole_field("time", fields[1]), whole_field("retry times", fields[6])
            except ValueError:
                return
            call = self.calls.setdefault(fields[4], _Call(time, _text(fields[3]), {}))
            call.attempts[fields[5]] = attempt


def _events(path: Path, problems: Problems, known: _Known, skipped: Counter[str]) -> Iterator[Event]:
    seen: set[bytes] = set()
    begun: set[tuple[str, str]] = set()
    early: dict[tuple[str, str], list[Event]] = {}
    for record in _records(path, problems):
        # Two clients in one process may both report (TR-2); a request id identifies one call, so this is no second
        # delivery.
        digest = blake2b(FIELD.join(record.fields).encode(), digest_size=16).digest()
        if digest in seen:
            skipped["repeated record"] += 1
            continue
        seen.add(digest)
        try:
            event = _READERS[record.type](record, known)
        except ValueError as error:
            problems.add(str(path), record.line, f"{record.place}: {error}")
            continue
        if isinstance(event, str):
            skipped[event] += 1
            continue
        # Batches of a client may arrive in another order than it sent them: within one ms, a call begins before it
        # ends.
        if record.type == "SubAfter":
            call = record.fields[1], record.fields[2]
            if call not in begun and known.begins_in(event["time"], call):
                early.setdefault(call, []).append(event)
                continue
        yield event
        if record.type == "SubBefore":
            begun.add((record.fields[4], record.fields[5]))
            yield from early.pop((record.fields[4], record.fields[5]), ())
    for left in early.values():
        yield from left


def _pub(record: _Record, known: _Known) -> Event | str:
    fields = record.fields
    number, cost = whole_field("message type", fields[11]), whole_field("cost", fields[10])
    if number == _HALF:
        return "half message: stored for consumers only when its transaction is committed"
    offset_id, success = ("null", fields[12]) if len(fields) == 13 else (fields[12], fields[13])
    return {
        "time": whole_field("time", fields[1]),
        # A delayed message is stored in the schedule topic; its due time is not in the record.
        "kind": Kind.DELAY_STORE if number == _DELAYED else Kind.STORE,
        "result": Result.OK if success == "true" else Result.FAILED,
        "client": _process(fields[5]) or _host(fields[14] if len(fields) > 14 else record.born) or UNKNOWN_CLIENT,
        "topic": _text(fields[4]),
        "key": _text(fields[5]),
        "msg_id": _text(offset_id),
        "attempt": 0,
        "detail": f"producer group {fields[3]}, to {fields[8]}, {cost} ms",
    }


def _sub_before(record: _Record, known: _Known) -> Event | str:
    fields = record.fields
    return {
        "time": whole_field("time", fields[1]),
        "kind": Kind.DELIVER,
        "client": _consumer(record, fields[4]),
        "group": _text(fields[3]),
        "topic": known.topics.get(fields[5]),
        "key": _text(fields[5]),
        "attempt": whole_field("retry times", fields[6]),
        "detail": f"call {fields[4]}",
    }


def _sub_after(record: _Record, known: _Known) -> Event | str:
    fields = record.fields
    call = known.calls.get(fields[1])
    # Up to 4.7, and for a cloud channel, neither time nor group are written: they come from the beginning of the call.
    if len(fields) >= 9:
        time, group = whole_field("time", fields[7]), _text(fields[8])
    elif call is not None:
        # TR-5: the cost is that of the batch, divided by its size.
        time, group = call.time + whole_field("cost", fields[3]) * len(call.attempts), call.group
    else:
        raise ValueError("without time, and its SubBefore is not in the file")
    return {
        "time": time,
        "kind": Kind.RESULT,
        "result": _result(fields[4] == "true", whole_field("context code", fields[6]) if len(fields) > 6 else 0),
        "client": _consumer(record, fields[1]),
        "group": group,
        "topic": known.topics.get(fields[2]),
        "key": _text(fields[2]),
        "attempt": call.attempts.get(fields[2]) if call is not None else None,
        "detail": f"call {fields[1]}",
    }


def _end_transaction(record: _Record, known: _Known) -> Event | str:
    fields = record.fields
    if fields[11] != "COMMIT_MESSAGE":
        return f"transaction ended with {fields[11]}"
    return {
        "time": whole_field("time", fields[1]),
        "kind": Kind.STORE,
        "result": Result.OK,
        "client": _process(fields[5]) or _host(record.born) or UNKNOWN_CLIENT,
        "topic": _text(fields[4]),
        "key": _text(fields[5]),
        "attempt": 0,
        "detail": f"producer group {fields[3]}, transaction {fields[10]}",
    }


def _recall(record: _Record, known: _Known) -> Event | str:
    whole_field("time", record.fields[1])
    return "recall of a delayed message"


_READERS = {
    "Pub": _pub,
    "SubBefore": _sub_before,
    "SubAfter": _sub_after,
    "EndTransaction": _end_transaction,
    "Recall": _recall,
}


def _result(success: bool, code: int) -> Result:
    """TR-4: the code says how the call ended, ``success`` what the listener returned; a late success is a success."""
    if code == _THREW:
        return Result.EXCEPTION
    if code == _RETURNED_NULL:
        return Result.NULL
    if not success:
        return Result.LATER
    return Result.TIMEOUT if code == _TIMED_OUT else Result.OK


def _records(path: Path, problems: Problems) -> Iterator[_Record]:
    """All records of a file; those that are cut off or of unknown type are problems."""
    number = 0
    for line, text in lines_of(path, problems):
        if not text.strip():
            continue
        found = _body_of(text)
        if found is None:
            problems.add(str(path), line, "no message-trace body")
            continue
        body, born = found
        for fields in _split(body):
            number += 1
            record = _Record(line=line, number=number, fields=fields, born=born)
            if fields[0] not in _SHORTEST:
                problems.add(str(path), line, f"record {number}: unknown type {fields[0]!r}")
            elif len(fields) < _SHORTEST[fields[0]]:
                needed = _SHORTEST[fields[0]]
                problems.add(str(path), line, f"{record.place}: {len(fields)} fields, at least {needed} are needed")
            else:
                yield record


def _split(body: str) -> Iterator[list[str]]:
    """The records of a body as lists of fields, empty ones kept (TR-6)."""
    for record in body.split(RECORD):
        fields, first = record.split(FIELD), 0
        # 4.9 does not terminate a SubAfter record for a cloud channel: the next type is its eighth field.
        while fields[first] == "SubAfter" and len(fields) - first > 8 and fields[first + 7] in _TYPES:
            yield fields[first : first + 7]
            first += 7
        if fields[first:] != [""]:
            yield fields[first:]


def _body_of(line: str) -> tuple[str, str] | None:
    """The body in a line, and where it was born (empty if not stated); None if there is no body."""
    line = line.strip(" \t\r\n\ufeff")
    if _BEGINS.match(line):
        return line, ""
    if line.startswith("{"):
        try:
            told = read_json(line)
        except ValueError:
            return None
        body, born = told.get("body"), told.get("bornHost")
        found = _body_of(body) if is_text(body) else None
        return (found[0], born if is_text(born) else "") if found else None
    for pattern, unpack in ((_HEX, bytes.fromhex), (_BASE64, base64.b64decode)):
        if pattern.fullmatch(line):
            try:
                body = unpack(line).decode()
            except (ValueError, binascii.Error):
                continue
            if _BEGINS.match(body):
                return body, ""
    return None


def _text(value: str) -> str | None:
    """A text field; Java writes nulls as the word."""
    return None if value in ("", "null") else value


def _consumer(record: _Record, request_id: str) -> str:
    """The consumer of a call: the process in its request id, at the address from which the trace came, if stated."""
    process, host = _process(request_id), _host(record.born)
    if process and host:
        return f"{host}@{process.rpartition('@')[2]}"
    return process or host or UNKNOWN_CLIENT


def _process(unique: str) -> str | None:
    """Address and process id in a unique id (``MessageClientIDSetter``), as ``10.0.0.5@4242``; None for another id."""
    if len(unique) not in (32, 56):
        return None
    try:
        raw = bytes.fromhex(unique)
    except ValueError:
        return None
    size = 4 if len(raw) == 16 else 16
    return f"{ip_address(raw[:size])}@{int.from_bytes(raw[size : size + 2])}"


def _host(address: str) -> str:
    """The host of an address such as ``/10.0.0.5:43210``: ports differ between brokers, and identify no client."""
    host = address.lstrip("/")
    return host.rpartition(":")[0] if re.search(r":\d+$", host) else host
