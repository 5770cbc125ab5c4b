"""The attempts of messages, read from a trace."""

from __future__ import annotations

from pathlib import Path

from rocketproof.traces.encoding.names import Names, Slot
from rocketproof.traces.engine.findings import Note
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.explain.report.chain import chains
from rocketproof.traces.format.message_status import MessageStatus
from rocketproof.traces.format.schema import origin_of
from rocketproof.traces.io import Trace, open_trace

from .examples import BEGIN, Rows, result

QUEUE = Slot("g", "T", "b", 0)
WAITS = (0, 10_300, 40_600)


def event(key: str, attempt: int, time: int, rest: str, group: str = "g") -> str:
    place = f'"client": "c1", "group": "{group}", "topic": "T", "broker": "b", "queue": 0, "offset": {attempt}'
    return f'{{"time": {time}, {rest}, {place}, "key": "{key}", "attempt": {attempt}}}'


def write(folder: Path, *keys: str, group: str = "g") -> Trace:
    """A trace of messages that each fail three times."""
    lines = ['{"rocketproof_trace": 1, "source": "test"}']
    for wait in WAITS:
        for key in keys:
            attempt, time = WAITS.index(wait), BEGIN + wait
            lines.append(event(key, attempt, time, '"kind": "deliver"', group))
            lines.append(event(key, attempt, time + 300, '"kind": "result", "result": "exception"', group))
    path = folder / "run.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return open_trace([path])


def tried(rows: Rows, key: str, attempts: int) -> None:
    rows.add(note=Note.CHAIN, slot=QUEUE, origin=origin_of(key), value=MessageStatus.PENDING_RETRY, expected=attempts)


def titles(check: CheckResult, trace: Trace, most: int = 8) -> list[str]:
    return [chain.title for chain in chains(check, trace, most=most)]


def test_a_chain_has_every_delivery_with_its_wait(tmp_path: Path) -> None:
    rows = Rows(Names())
    tried(rows, "K1", 2)
    (chain,) = chains(result(rows), write(tmp_path, "K1", "K2"))
    assert chain.title == "message K1 of g, 3 deliveries, pending retry"
    assert [(item.number, item.time - BEGIN, item.result, item.expected_wait) for item in chain.attempts] == [
        (0, 0, "exception", 10_000),
        (1, 10_300, "exception", 30_000),
        (2, 40_600, "exception", 60_000),
    ]


def test_messages_of_violations_come_first_then_those_tried_most(tmp_path: Path) -> None:
    rows = Rows(Names())
    for attempts, key in enumerate(("K1", "K2", "K3"), start=1):
        tried(rows, key, attempts)
    # The claims take turns: the first of each before the second of any.
    for claim, keys in (("attempts-follow-each-other", ("K4", "K5")), ("delivered-when-due", ("K6",))):
        for time, key in enumerate(keys):
            rows.add(claim=claim, slot=QUEUE, origin=origin_of(key), offset=time, time=BEGIN)
    trace = write(tmp_path, "K1", "K2", "K3", "K4", "K5", "K6")
    first = {title.split()[1] for title in titles(result(rows), trace, most=2)}
    assert first in ({"K4", "K6"}, {"K5", "K6"})
    assert [title.split()[1] for title in titles(result(rows), trace)][3:] == ["K3", "K2", "K1"]


def test_a_violation_by_queue_is_not_about_attempts(tmp_path: Path) -> None:
    rows = Rows(Names())
    rows.add(claim="nothing-skipped", slot=QUEUE, origin=origin_of("K1"))
    assert titles(result(rows), write(tmp_path, "K1")) == []


def test_without_messages_the_trace_is_not_read(tmp_path: Path) -> None:
    trace = write(tmp_path, "K1")
    (tmp_path / "run.jsonl").unlink()
    assert titles(result(Rows(Names())), trace) == []


def test_a_message_that_the_trace_does_not_have_has_no_chain(tmp_path: Path) -> None:
    rows = Rows(Names())
    tried(rows, "K9", 2)
    assert titles(result(rows), write(tmp_path, "K1")) == []
