"""Processes that nobody recorded beside one of their client id: by the offsets that brokers took and nobody sent."""

from __future__ import annotations

from rocketproof.traces.recorders.joining import SHARED_UNSEEN, join
from rocketproof.traces.recorders.recording import Recording
from rocketproof.traces.recorders.sharing import MANY, sharing

from ...agents import QUEUE, Line, at

SECOND = 1_000_000


def commits(begin: int, count: int, **fields: str) -> list[Line]:
    """Offsets from ``begin`` on, one each second."""
    return [at((10 + n) * SECOND, "commit", **QUEUE, client="c", offset=begin + n, **fields) for n in range(count)]


def lives(*events: Line) -> list[Line]:
    ends = (at(time * SECOND, "heartbeat", client="c", group="orders") for time in (0, 500))
    return sorted([*ends, *events], key=lambda event: (event["time"], event["micros"]))


def recordings(**files: list[Line]) -> list[Recording]:
    return [Recording.of_events(f"{name.replace('_', '-')}.jsonl", events) for name, events in files.items()]


def shared(client: list[Line], broker: list[Line]) -> list[tuple[str, str]]:
    return list(sharing(recordings(client_8_orders=client, broker_7_broker_a=broker)))


def test_a_broker_takes_what_no_recorded_process_has_sent() -> None:
    own, of_other = commits(0, 50), commits(1_000, MANY)
    assert shared(lives(*own), [*own, *of_other]) == [("c", "orders")]
    assert shared(lives(*own), [*own, *of_other[1:]]) == []  # too few
    assert shared(lives(*own, *of_other), [*own, *of_other]) == []
    assert shared(lives(*own), own) == []


def test_what_may_have_another_reason_tells_of_no_other_process() -> None:
    own, of_other = commits(0, 50), commits(1_000, MANY)
    assert shared(own, [*own, *[{**one, "time": one["time"] + 900_000} for one in of_other]]) == []  # it has ended
    assert shared(lives(), of_other) == []  # the client's offsets were not recorded
    assert shared(lives(*own), [*own, *commits(1_000, MANY, path="file")]) == []


def test_it_is_a_gap_of_the_client_in_its_group() -> None:
    own, of_other = commits(0, 50), commits(1_000, MANY)
    events = join(recordings(client_8_orders=lives(*own), broker_7_broker_a=[*own, *of_other])).table.to_pylist()
    gaps = [(one["client"], one["group"]) for one in events if one["detail"] == SHARED_UNSEEN]
    assert gaps == [("c", "orders")]
