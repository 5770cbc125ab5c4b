"""Events of the context in columns: they say what the dictionaries said, and take a fraction of the memory."""

import pickle
from typing import Any

import pyarrow as pa
import pytest

from rocketproof.traces.encoding.context_events import CONTEXT_COLUMNS, ContextEvents
from rocketproof.traces.encoding.names import Actor
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import ARROW

EVENTS: list[dict[str, Any]] = [
    {"time": 5, "kind": "heartbeat", "client": "c", "incarnation": 1, "group": "g", "subscriptions": ["T=*"]},
    {"time": 3, "kind": "rebalance", "client": "c", "group": "g", "members": ["c", "d"], "queues": [], "count": 2},
    {"time": 9, "kind": "rebalance", "client": "d", "group": "g", "members": ["c", "d"], "queues": None},
    {"time": 4, "kind": "broker_start", "broker": "b"},
    {"time": 8, "kind": "heartbeat", "client": "c", "group": "g", "subscriptions": ["T=*"]},
]


def whole(event: dict[str, Any]) -> dict[str, Any]:
    """An event with all columns, and with its lists as they are kept."""
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in event.items()}
    return dict.fromkeys(CONTEXT_COLUMNS) | given


def batch(events: list[dict[str, Any]], *more: str) -> pa.RecordBatch:
    schema = pa.schema([ARROW.field(name) for name in (*CONTEXT_COLUMNS, *more)])
    return pa.RecordBatch.from_pylist(events, schema=schema)


def test_they_are_what_was_given() -> None:
    assert list(ContextEvents.of(EVENTS)) == [whole(event) for event in EVENTS]
    assert list(ContextEvents.of_batch(batch(EVENTS))) == [whole(event) for event in EVENTS]
    assert (
        ContextEvents.of_batch(batch(EVENTS))
        == ContextEvents.of(EVENTS)
        == pickle.loads(pickle.dumps(ContextEvents.of(EVENTS)))
    )
    assert ContextEvents.of(EVENTS)[-1] == whole(EVENTS[-1])


@pytest.mark.parametrize("at", range(len(EVENTS) + 1))
def test_parts_are_joined(at: int) -> None:
    parts = [ContextEvents.of_batch(batch(EVENTS).slice(0, at)), ContextEvents.of_batch(batch(EVENTS).slice(at))]
    joined = ContextEvents.joined(parts)
    assert list(joined) == [whole(event) for event in EVENTS]
    # Equal values are kept once: of None, and what the two parts have.
    assert [len(values) for values in joined.values] == [3, 1, 1, 3, 2, 2, 1, 2, 1, 2, 1, 2, 2, 1, 2, 1]
    assert len(ContextEvents.joined([])) == 0


def test_by_time_repeated_events_count_once() -> None:
    events = ContextEvents.of([*EVENTS, EVENTS[0], {**EVENTS[0], "client": "e"}])
    assert [event["time"] for event in events.by_time()] == [3, 4, 5, 5, 8, 9]
    assert [event["client"] for event in events.by_time()] == ["c", None, "c", "e", "c", "d"]


def test_numbers_of_their_recorder_decide_the_order_of_one_time() -> None:
    rows = [{"time": 1, "seq": seq, "kind": kind} for seq, kind in [(2, "unregister"), (0, "client_start")]]
    for events in (ContextEvents.of_batch(batch(rows, "seq")), ContextEvents.of(rows)):
        assert [event["kind"] for event in events] == ["unregister", "client_start"]
        assert [event["kind"] for event in events.by_time()] == ["client_start", "unregister"]
        assert "seq" not in events.by_time()[0]


def test_what_is_asked_of_them() -> None:
    events = ContextEvents.of(EVENTS)
    assert [event["time"] for event in events.of_kinds(Kind.REBALANCE, Kind.BROKER_START)] == [3, 9, 4]
    assert list(events.rows("time", "client", kinds=(Kind.HEARTBEAT,))) == [(5, "c"), (8, "c")]
    assert list(events.rows("time", kinds=(Kind.HEARTBEAT, Kind.REBALANCE), of=Actor("c", 0))) == [(3,), (8,)]
    assert list(events.rows("kind", kinds=list(Kind), of=Actor("b", -1))) == [("broker_start",)]
    assert set(events.different("group", "members")) == {("g", None), ("g", ("c", "d")), (None, None)}
    assert events.spans("client", kinds=(Kind.HEARTBEAT, Kind.REBALANCE)) == {("c",): (3, 8), ("d",): (9, 9)}
    assert events.kinds() == {"heartbeat", "rebalance", "broker_start"}


def test_what_is_learnt_of_them_is_worked_out_once() -> None:
    asked = []

    def count(events: ContextEvents, more: int) -> int:
        asked.append(more)
        return len(events) + more

    events = ContextEvents.of(EVENTS)
    assert [events.once(count, 1), events.once(count, 1), events.once(count, 2)] == [6, 6, 7]
    assert asked == [1, 2]


def test_events_of_a_process_and_when_they_were_are_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The partitions of a trace ask the same for each of their processes."""
    events = ContextEvents.of(
        {"time": time, "kind": Kind.HEARTBEAT, "client": client, "incarnation": run}
        for time, client, run in ((1, "c", 0), (2, "d", 0), (3, "c", 1), (4, "c", None))
    )
    asked: list[object] = []
    places = ContextEvents.places
    monkeypatch.setattr(ContextEvents, "places", lambda *given, **kinds: asked.append(given) or places(*given, **kinds))
    for _ in range(2):
        for who, times in ((Actor("c", 0), [1, 4]), (Actor("c", 1), [3]), (Actor("d", 0), [2]), (Actor("e", 0), [])):
            assert [time for (time,) in events.rows("time", kinds=(Kind.HEARTBEAT,), of=who)] == times
        assert list(events.rows("time", kinds=(Kind.HEARTBEAT,), of=Actor("c", 0), span=(1, 4))) == [(4,)]
        assert events.spans("client", kinds=(Kind.HEARTBEAT,)) == {("c",): (1, 4), ("d",): (2, 2)}
    assert len(asked) == 2


def test_a_pass_takes_a_fraction_of_its_memory() -> None:
    """A thousand passes of ten clients with the same lists: one takes 8 bytes for its time, and a byte a column."""
    queues = [f"broker-a:{queue}" for queue in range(64)]
    passes = [
        {"time": at, "kind": "rebalance", "client": f"c{at % 10}", "group": "g", "members": queues, "queues": queues}
        for at in range(1_000)
    ]
    events = ContextEvents.of_batch(batch(passes))
    assert sum(codes.nbytes for codes in (events.times, *events.codes)) == 1_000 * (8 + 16)
    assert len(pickle.dumps(events)) < 30_000
