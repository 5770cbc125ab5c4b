"""Clocks that were set: they take the evidence of groups that go by them, and of no others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.clocks.clocks import Clocks, Step
from rocketproof.traces.encoding.names import Actor
from rocketproof.traces.engine.clock_doubts import steps_as_holes
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.format.coverage import ALL_KINDS, Coverage, Hole
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.io import open_trace

from ..monitors.queues.queue_events import assign, commit, consumed, event, found

ONE, TWO, BROKER = Actor("one", 0), Actor("two", 0), Actor("b", -1)
GROUPS = {ONE: {"G", "H"}, TWO: {"I"}}


def holes(*recorders: Actor) -> list[Hole]:
    step = Step(since=5_000_000, until=6_000_001, recorders=recorders, events=())
    return list(steps_as_holes(Clocks(steps=(step,)), GROUPS))


def test_the_clock_of_a_client_is_that_of_its_own_groups() -> None:
    assert [(hole.group, hole.recorder, hole.since, hole.until) for hole in holes(ONE)] == [
        ("G", "one", 5_000, 6_001),
        ("H", "one", 5_000, 6_001),
    ]
    covered = Coverage(recorded=ALL_KINDS, begin=0, end=9_000, holes=holes(ONE))
    lost = {group: covered.lost(ALL_KINDS, group=group, since=5_500, until=5_600) for group in ("G", "I", "")}
    assert (lost["G"] is not None, lost["I"] is None, lost[""] is not None) == (True, True, True)


def test_what_one_of_several_set_says_of_the_groups_of_all() -> None:
    assert [hole.group for hole in holes(ONE, TWO)] == ["G", "H", "I"]


def test_any_group_goes_by_the_clock_of_a_broker_or_of_nobody_known() -> None:
    assert [hole.group for hole in holes(ONE, BROKER)] == [""]
    assert [hole.group for hole in holes(Actor("three", 0))] == [""]
    assert [hole.group for hole in holes()] == [""]


def test_a_step_of_no_length_leaves_nothing_in_doubt() -> None:
    step = Step(since=5_000_000, until=5_000_000, recorders=(ONE,), events=("it went back by 5,000 ms",))
    assert list(steps_as_holes(Clocks(steps=(step,)), GROUPS)) == []


def late_by(more: int, tmp_path: Path) -> tuple[int, int]:
    """What is said of a queue whose owner pulls and gives no message to a listener, in a group where another one does.

    Nothing bounds its clock. ``more``: how much longer than it may, ms.
    """
    works = *found_by("one", 1_000), *consumed(1_100, "one", 0), commit(1_200, "one", 1)
    other = [{**one, "queue": 1} for one in works]
    waits = [event(10_000 * n, Kind.HEARTBEAT, "two", queue=None, topic=None, broker=None) for n in range(1, 40)]
    until = 1_000 + Settings().given_late + more
    mine = [*found_by("two", 1_000), *(one for one in waits if one["time"] < until), pull_of("two", until)]
    events = sorted([*other, *mine], key=lambda one: one["time"])
    return counted("every-queue-moves", events, tmp_path)


def counted(
    claim: str, events: list[dict[str, Any]], tmp_path: Path, *, settings: Settings | None = None, **group: str
) -> tuple[int, int]:
    """How often a claim is violated, and in doubt, if everything of a group is recorded."""
    groups = {"G": group}
    header = {"rocketproof_trace": 1, "evidence": [str(kind) for kind in Kind], "complete": True, "groups": groups}
    path = tmp_path / "one.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in (header, *events)))
    result = check_locally(open_trace([path]), settings=settings or Settings())
    (answer,) = (one for one in result.verdicts if one.claim.id == claim)
    return answer.violated, answer.doubtful


def found_by(client: str, time: int) -> list[dict[str, Any]]:
    asked = event(time, Kind.OFFSET_QUERY, client, result="none")
    return [asked, assign(time, client, 0), pull_of(client, time + 10, 0), found(time + 20, client, 0, 1)]


def pull_of(client: str, time: int, offset: int = 1) -> dict[str, Any]:
    return event(time, Kind.PULL, client, offset=offset)


def test_what_is_later_than_any_clock_is_off_needs_no_other_clock(tmp_path: Path) -> None:
    assert late_by(20_000, tmp_path) == (1, 0)
    assert late_by(5_000, tmp_path) == (0, 1)


def test_what_two_clients_did_one_after_the_other_is_uncertain_if_one_clock_is_compared_with_nothing(
    tmp_path: Path,
) -> None:
    stores = [event(1_010 + n, Kind.STORE, group=None, offset=n, attempt=0) for n in range(2)]
    mine = *stores, *found_by("one", 1_000), *consumed(1_100, "one", 0), commit(1_200, "one", 1)
    locks = [event(time, Kind.LOCK, client, result="ok") for time, client in ((900, "one"), (30_000, "two"))]
    asked = event(30_100, Kind.OFFSET_QUERY, "two", result="none")
    events = sorted([*mine, *locks, asked], key=lambda one: one["time"])
    told: dict[str, Any] = {"settings": Settings(lock_life_told=True), "listener": "orderly"}
    assert counted("steps-follow-each-other", events, tmp_path, **told) == (0, 1)
    compared = [*events, event(30_050, Kind.STORE, group=None, offset=2, attempt=0), *consumed(30_150, "two", 2)]
    assert counted("steps-follow-each-other", compared, tmp_path, **told) == (1, 0)
    hardly = [*events, *consumed(30_150, "two", 1)]  # half a minute after it was stored
    assert counted("steps-follow-each-other", hardly, tmp_path, **told) == (0, 1)


def test_who_took_a_queue_just_before_its_offset_was_set_may_have_taken_it_after_that(tmp_path: Path) -> None:
    def followed(time: int) -> tuple[int, int]:
        answers = (
            each
            for at in range(20_000, 120_000, 10_000)
            for each in (pull_of("one", at), {**found(at + 5_000, "one", 1, 1), "result": "no_new_message"})
        )
        reset = event(time, Kind.RESET, offset=0)
        events = [*found_by("one", 1_000), *consumed(1_100, "one", 0), commit(1_200, "one", 1), *answers, reset]
        return counted("reset-is-followed", sorted(events, key=lambda one: one["time"]), tmp_path)

    assert (followed(1_010), followed(1_500)) == ((0, 1), (1, 0))


def test_a_message_that_its_broker_keeps_for_long_is_late_by_any_clock_of_a_listener(tmp_path: Path) -> None:
    def kept(until: int) -> tuple[int, int]:
        stored = event(3_000, Kind.STORE, group=None, offset=0, attempt=0)  # by the broker's clock, 2 s after its pull
        waits = event(
            3_200, Kind.DELAY_STORE, queue=None, topic="%RETRY%G", attempt=1, level=1, due=4_200, key="K2", offset=None
        )
        ends = event(until, Kind.FILE_PERSIST, group=None, topic=None, queue=None)
        events = [*found_by("one", 1_000), *consumed(1_100, "one", 0), stored, waits, ends]
        return counted("delivered-when-due", sorted(events, key=lambda one: one["time"]), tmp_path)

    assert (kept(200_000), kept(68_000)) == ((1, 0), (0, 1))


def test_a_broadcasting_client_keeps_its_offset_by_its_own_clock(tmp_path: Path) -> None:
    def unwritten(until: int) -> tuple[int, int]:
        stored = event(3_000, Kind.STORE, group=None, offset=0, attempt=0)  # by the broker's clock, 2 s after its pull
        lives = [event(at, Kind.HEARTBEAT, "one", topic=None, queue=None) for at in range(10_000, until, 10_000)]
        _, *taken = found_by("one", 1_000)
        other = [{**each, "queue": 1} for each in (*taken, *consumed(1_100, "one", 0), commit(2_000, "one", 1))]
        mine = [*taken, *consumed(1_100, "one", 0), pull_of("one", 1_300), pull_of("one", until)]
        events = [*mine, *other, stored, *lives]
        return counted("every-queue-moves", sorted(events, key=lambda one: one["time"]), tmp_path, mode="broadcasting")

    assert (unwritten(120_000), unwritten(66_000)) == ((1, 0), (0, 1))
