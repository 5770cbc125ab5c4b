"""OpenTelemetry spans of RocketMQ clients, as written by the collector's file exporter: OTLP as JSON, one export per
line.

Attributes are those of the messaging conventions, in any of their versions: ``messaging.destination`` became
``messaging.destination.name``, ``messaging.operation`` became ``messaging.operation.type``, the group moved from
``messaging.rocketmq.client_group`` to ``messaging.consumer.group.name``, ``messaging.rocketmq.*`` to ``rocketmq.*``.
Queue and offset are not among them; the Java agent adds them if its experimental attributes are enabled.

A span that ends without an error shows that a listener succeeded only if the instrumentation would have reported a
failure: the conventions since 1.27 and the instrumentation of the 5.x client do, that of the 4.x client does not.
Otherwise it is not known how the call ended, and no result is made up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...format.kinds import Kind, Result
from ...format.problems import Problems
from ...format.schema import Group, Header, is_text
from ...format.whole_number import whole_field
from ..compressed import lines_of
from ..json_text import read_json, what_is_wrong
from .protocol import UNKNOWN_CLIENT, Event, Imported, Importer, with_losses

_CONSUMER, _PRODUCER = (5, "SPAN_KIND_CONSUMER"), (4, "SPAN_KIND_PRODUCER")
_UNSET, _OK, _ERROR = range(3)
_STATUS = {"STATUS_CODE_UNSET": _UNSET, "STATUS_CODE_OK": _OK, "STATUS_CODE_ERROR": _ERROR}

_TOLD = {
    "CONSUME_SUCCESS": Result.OK,
    "SUCCESS": Result.OK,
    "RECONSUME_LATER": Result.LATER,
    "FAILURE": Result.LATER,
    "SUSPEND_CURRENT_QUEUE_A_MOMENT": Result.SUSPEND,
    "COMMIT": Result.COMMIT,
    "ROLLBACK": Result.ROLLBACK,
}
"""What a listener returned, if an attribute says it."""

_MARK = '"resourceSpans"'


@dataclass(frozen=True, kw_only=True)
class OtelSpans(Importer):
    """Reads spans."""

    name: str = "otel-spans"

    def detects(self, head: str, name: str) -> bool:
        """Whether the first line that is not empty is an export of spans."""
        first = next((line for line in head.split("\n") if line.strip()), "").lstrip(" \ufeff")
        return first.startswith("{") and _MARK in first[:200]

    def read(self, path: Path, problems: Problems) -> Imported:
        """Read a file twice: for what is known about groups and results, and for the events."""
        known = _Known()
        for span in _spans(path, Problems(), Counter()):
            known.note(span)
        skipped: Counter[str] = Counter()
        return Imported(
            header=Header(
                source=f"OpenTelemetry spans ({path.name})", evidence=known.evidence, groups=dict(known.groups)
            ),
            events=with_losses(_events(path, problems, skipped), "spans may be sampled, or lost on their way"),
            skipped=skipped,
        )


@dataclass(frozen=True, kw_only=True)
class _Span:
    """One span."""

    line: int  # of the file
    told: Mapping[str, Any]  # the span itself
    attributes: Mapping[str, Any]  # its attributes, and those of its resource if it has none of the name
    scope: str  # name of the instrumentation

    def text(self, *names: str) -> str | None:
        """The first of these attributes that exists, as text."""
        found = next((self.attributes[name] for name in names if name in self.attributes), None)
        if isinstance(found, bool) or found is None or found == "":
            return None
        return str(found) if isinstance(found, str | int) else None

    def number(self, *names: str) -> int | None:
        """The first of these attributes that exists, as a whole number; some write it as text.

        Raises:
            ValueError: it is not a whole number.
        """
        found = self.text(*names)
        return None if found is None else whole_field(names[0], found)

    def of_rocketmq(self, name: str) -> str | None:
        """An attribute of RocketMQ, in the place where either version of the conventions has it."""
        return self.text(f"messaging.rocketmq.{name}", f"rocketmq.{name}")

    @property
    def operation(self) -> str:
        """What it is about: process, publish and so on; by its kind if no attribute says it."""
        told = self.text("messaging.operation.type", "messaging.operation", "messaging.operation.name")
        if told is None:
            kind = self.told.get("kind")
            return "process" if kind in _CONSUMER else "publish" if kind in _PRODUCER else ""
        return told.lower()

    @property
    def group(self) -> str | None:
        """The consumer group."""
        return self.text("messaging.consumer.group.name", "messaging.rocketmq.client_group", "messaging.consumer_group")

    @property
    def is_process(self) -> bool:
        """Whether it is a call of a listener."""
        return self.operation in ("process", "consume", "deliver")

    @property
    def result(self) -> Result | None:
        """How a call ended; None if this is not known."""
        for name in ("consume_concurrently_status", "consume_orderly_status", "consume_status"):
            told = _TOLD.get(self.of_rocketmq(name) or "")
            if told is not None:
                return told
        if self.status == _ERROR or self.text("error.type") is not None:
            return Result.EXCEPTION if _threw(self.told) else Result.LATER
        would_tell = "messaging.operation.type" in self.attributes or "rocketmq-client-5" in self.scope
        return Result.OK if self.status == _OK or would_tell else None

    @property
    def status(self) -> int:
        """Its status: unset, ok or error."""
        status = self.told.get("status")
        code = status.get("code") if isinstance(status, dict) else None
        return _STATUS.get(code, _UNSET) if isinstance(code, str) else code if code in (_OK, _ERROR) else _UNSET

    @property
    def client(self) -> str:
        """The client: its id, or that of the service, or host and process of the resource."""
        told = self.text("messaging.client.id", "messaging.client_id", "messaging.rocketmq.client_id")
        if told is None:
            # Up to 1.23 a consumer's id is its group and its client id: `mygroup - client-5`.
            together = self.text("messaging.consumer.id", "messaging.consumer_id")
            told = together.rpartition(" - ")[2] if together else self.text("service.instance.id")
        if told is None:
            host, process = self.text("host.name", "host.id", "k8s.pod.name"), self.text("process.pid")
            told = f"{host}@{process}" if host and process else host
        return told or UNKNOWN_CLIENT


class _Known:
    """What the whole file shows."""

    def __init__(self) -> None:
        self.groups: dict[str, Group] = {}
        self._kinds: set[Kind] = set()
        self._results_missing = False

    def note(self, span: _Span) -> None:
        """Take a span into account."""
        if span.is_process and span.text("messaging.message.id", "messaging.message_id") is not None:
            self._kinds |= {Kind.DELIVER, Kind.RESULT}
            self._results_missing |= span.result is None
            model = (span.of_rocketmq("consumption_model") or "").lower()
            if span.group is not None and model in ("clustering", "broadcasting"):
                self.groups[span.group] = Group(mode=model)
        elif span.operation in ("publish", "send"):
            self._kinds.add(_kind_of_store(span))

    @property
    def evidence(self) -> frozenset[Kind]:
        """The kinds that are recorded whenever they happen, provided that spans are neither sampled nor lost."""
        return frozenset(self._kinds - ({Kind.RESULT} if self._results_missing else set()))


def _events(path: Path, problems: Problems, skipped: Counter[str]) -> Iterator[Event]:
    for span in _spans(path, problems, skipped):
        try:
            yield from list(_of(span, skipped))
        except ValueError as error:
            problems.add(str(path), span.line, f"span {span.told.get('spanId')}: {error}")


def _of(span: _Span, skipped: Counter[str]) -> Iterator[Event]:
    """The events of a span.

    Raises:
        ValueError: it has no time, or an invalid number.
    """
    if (span.text("messaging.system") or "").lower() not in ("rocketmq", "apache_rocketmq"):
        skipped["span of something else"] += 1
    elif span.is_process:
        yield from _call(span, skipped)
    elif span.operation in ("publish", "send"):
        yield _sent(span)
    else:
        skipped[f"span of the operation {span.operation or 'that nobody names'}"] += 1


def _call(span: _Span, skipped: Counter[str]) -> Iterator[Event]:
    if span.text("messaging.message.id", "messaging.message_id") is None:
        skipped["call that names no message, as of a batch"] += 1
        return
    begin, end = _time(span, "startTimeUnixNano"), _time(span, "endTimeUnixNano")
    attempt = span.number("messaging.rocketmq.reconsume_times", "rocketmq.reconsume_times")
    about = _about(span) | {"group": span.group, "attempt": attempt}
    yield _told({"time": begin, "kind": Kind.DELIVER} | about)
    if span.result is None:
        skipped["end of a call that does not say how"] += 1
    else:
        yield _told({"time": end, "kind": Kind.RESULT, "result": span.result} | about)


def _sent(span: _Span) -> Event:
    status = span.of_rocketmq("send_result") or span.of_rocketmq("callback_result")
    failed = span.status == _ERROR or span.text("error.type") is not None or status not in (None, "SEND_OK")
    due = span.number("messaging.rocketmq.message.delivery_timestamp", "rocketmq.message.delivery_timestamp")
    level = span.number("messaging.rocketmq.message.delay_time_level", "rocketmq.message.delay_time_level")
    kind = _kind_of_store(span)
    about = _about(span) | {"attempt": 0}
    if kind is Kind.DELAY_STORE:
        about |= {"due": due, "level": level}
    result = Result.FAILED if failed else Result.OK
    return _told({"time": _time(span, "endTimeUnixNano"), "kind": kind, "result": result} | about)


def _kind_of_store(span: _Span) -> Kind:
    """A delayed message is stored in the schedule topic first."""
    delayed = (span.of_rocketmq("message.type") or "").lower() == "delay"
    names = ("message.delay_time_level", "message.delivery_timestamp")
    return Kind.DELAY_STORE if delayed or any(span.of_rocketmq(name) for name in names) else Kind.STORE


def _about(span: _Span) -> Event:
    """What a span says about its client and its message."""
    return {
        "client": span.client,
        "topic": span.text("messaging.destination.name", "messaging.destination"),
        # The agent reports the address of the broker that stored the message, others its name.
        "broker": span.of_rocketmq("broker_name") or span.of_rocketmq("broker_address"),
        "queue": span.number("messaging.rocketmq.queue_id", "rocketmq.queue_id", "messaging.destination.partition.id"),
        "offset": span.number("messaging.rocketmq.queue_offset", "rocketmq.queue_offset"),
        "key": span.text("messaging.message.id", "messaging.message_id"),
        "detail": f"span {span.told.get('traceId')}/{span.told.get('spanId')}",
    }


def _told(event: Event) -> Event:
    """An event without absent values; an offset without its queue says nothing, nor does a queue without its broker."""
    if event.get("queue") is None or event.get("broker") is None:
        event = {name: value for name, value in event.items() if name not in ("queue", "offset", "broker")}
    return {name: value for name, value in event.items() if value is not None}


def _threw(told: Mapping[str, Any]) -> bool:
    """Whether a span recorded an exception."""
    events = told.get("events")
    return isinstance(events, list) and any(isinstance(one, dict) and one.get("name") == "exception" for one in events)


def _time(span: _Span, name: str) -> int:
    """A time of a span, ms.

    Raises:
        ValueError: it has none.
    """
    told = span.told.get(name)
    nanos = whole_field(name, str(told)) if isinstance(told, str | int) and not isinstance(told, bool) else 0
    if nanos <= 0:
        raise ValueError(f"{name} is {told!r}, not a time")
    return nanos // 1_000_000


def _spans(path: Path, problems: Problems, skipped: Counter[str]) -> Iterator[_Span]:
    """All spans of a file; lines that are not an export of spans are problems."""
    for number, line in lines_of(path, problems):
        text = line.strip(" \t\r\n\ufeff")
        if not text:
            continue
        try:
            told = read_json(text)
        except ValueError as error:
            problems.add(str(path), number, f"no JSON: {what_is_wrong(error)}")
            continue
        if isinstance(told, dict) and "resourceSpans" not in told and {"resourceMetrics", "resourceLogs"} & {*told}:
            skipped["export of metrics or logs"] += 1
            continue
        if not isinstance(told, dict) or not isinstance(told.get("resourceSpans"), list):
            problems.add(str(path), number, "no export of spans: an object with resourceSpans is needed")
            continue
        for resource in _objects(told["resourceSpans"], path, number, problems):
            of_resource = resource.get("resource")
            usual = _attributes(of_resource) if isinstance(of_resource, dict) else {}
            # Before OTLP 0.19, the spans of a scope were those of an instrumentation library.
            scopes = resource.get("scopeSpans", resource.get("instrumentationLibrarySpans"))
            for scope in _objects(scopes, path, number, problems):
                named = scope.get("scope", scope.get("instrumentationLibrary"))
                name = named.get("name") if isinstance(named, dict) else None
                for span in _objects(scope.get("spans"), path, number, problems):
                    attributes = {**usual, **_attributes(span)}
                    yield _Span(line=number, told=span, attributes=attributes, scope=name if is_text(name) else "")


def _objects(found: object, path: Path, line: int, problems: Problems) -> Iterator[dict[str, Any]]:
    """The objects of a list; an item that is not an object is a problem. A list that is absent is empty."""
    if found is None:
        return
    if not isinstance(found, list):
        problems.add(str(path), line, "a list of objects is needed where something else is")
        return
    for one in found:
        if isinstance(one, dict):
            yield one
        else:
            problems.add(str(path), line, "an object is needed in a list where something else is")


def _attributes(told: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a span or a resource; only values that are texts, numbers and truth values."""
    found: dict[str, Any] = {}
    listed = told.get("attributes")
    for one in listed if isinstance(listed, list) else ():
        name, value = (one.get("key"), one.get("value")) if isinstance(one, dict) else (None, None)
        if not is_text(name) or not isinstance(value, dict):
            continue
        for kind in ("stringValue", "intValue", "boolValue"):
            if is_text(value.get(kind)) or isinstance(value.get(kind), int):
                found[name] = value[kind]
    return found
