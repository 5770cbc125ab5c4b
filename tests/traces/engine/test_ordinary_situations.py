"""What happens every day in a healthy group is no violation: recordings of it, event by event."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rocketproof.commands.check import CheckRequest, settings_of
from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.format.header import header_json
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.io import open_trace

BEGIN = 1_767_225_600_000
EVIDENCE = sorted(set(Kind) - {Kind.GAP, Kind.COMMIT_MEMORY, Kind.REMOVED})
HEADER = {
    "rocketproof_trace": 1,
    "complete": True,
    "evidence": EVIDENCE,
    "groups": {"g": {"mode": "clustering", "listener": "concurrently", "max_attempts": -1, "strategy": "AVG"}},
}
Event = dict[str, Any]
MOVES, OVERLAPS = "every-queue-moves", "overlaps-are-short"


def at(seconds: float, kind: str, client: str = "one", queue: int | None = 0, **more: Any) -> Event:
    """An event of a client with a queue; None for one of no queue."""
    place = {} if queue is None else {"topic": "t", "broker": "b", "queue": queue}
    return {"time": BEGIN + int(1000 * seconds), "kind": kind, "client": client, "group": "g", **place, **more}


def start(seconds: float, client: str, *queues: int, offset: int = 0, pulled: int = 10) -> Iterator[Event]:
    """A client starts, takes queues, and pulls ten messages of each."""
    yield at(seconds, "client_start", client, None)
    yield at(seconds, "heartbeat", client, None, subscriptions=["t=*"])
    for queue in queues:
        yield at(seconds, "offset_query", client, queue, result="ok", offset=offset)
        yield at(seconds, "assign", client, queue, offset=offset)
        yield from pulls(seconds + 1, client, queue, offset, pulled)


def pulls(
    seconds: float, client: str, queue: int, offset: int, pulled: int, high: int | None = None
) -> Iterator[Event]:
    """A pull that brings messages, and the next one."""
    then = offset + pulled
    high = then if high is None else high
    yield at(seconds, "pull", client, queue, offset=offset)
    answer = {"min": 0, "max": high, "count": pulled}
    how = "found" if pulled else "no_new_message"
    yield at(seconds, "pull_result", client, queue, offset=offset, next=then, result=how, **answer)


def call(seconds: float, client: str, queue: int, offset: int, lasts: float) -> Iterator[Event]:
    """A listener is called, and returns."""
    key = {"offset": offset, "key": f"K{queue}-{offset}", "attempt": 0}
    yield at(seconds, "deliver", client, queue, **key)
    yield at(seconds + lasts, "result", client, queue, result="ok", **key)


def signs(client: str, since: int, until: int) -> Iterator[Event]:
    """Heartbeats, and passes of rebalance."""
    for seconds in range(since, until, 20):
        yield at(seconds, "heartbeat", client, None, subscriptions=["t=*"])
        yield at(seconds, "rebalance", client, None, topic="t", members=[client], queues=["b:0"], assigned=["b:0"])


def check(tmp_path: Path, *parts: Iterator[Event] | list[Event]) -> CheckResult:
    events = sorted((event for part in parts for event in part), key=lambda event: int(event["time"]))
    file = tmp_path / "trace.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in (HEADER, *events)), encoding="utf-8")
    return check_locally(open_trace([file]), settings=Settings())


def verdict(result: CheckResult, claim: str) -> Verdict:
    return result.verdict(claim).verdict


@pytest.mark.parametrize(("mode", "expected"), [("broadcasting", Verdict.UNKNOWN), ("clustering", Verdict.VIOLATED)])
def test_processes_of_a_host_have_one_name_in_broadcasting(tmp_path: Path, mode: str, expected: Verdict) -> None:
    """EN-7: a log does not tell them apart: a name that starts twice, and takes one queue twice, may be two of them."""
    header = {**HEADER, "complete": False, "groups": {"g": {"mode": mode}}}
    starts = [at(seconds, "client_start", "host@DEFAULT", None) for seconds in (0, 5)]
    takes = [at(seconds, "assign", "host@DEFAULT", 0, offset=0) for seconds in (1, 6)]
    gives = at(90, "revoke", "host@DEFAULT", 0, path="removal")
    events = sorted([*starts, *takes, gives], key=lambda event: int(event["time"]))
    file = tmp_path / "trace.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in (header, *events)), encoding="utf-8")
    assert verdict(check_locally(open_trace([file]), settings=Settings()), "steps-follow-each-other") is expected


@pytest.mark.parametrize("other", ["g", "h"])
def test_consumers_of_several_groups_share_the_client_of_their_process(tmp_path: Path, other: str) -> None:
    """Each tells a start of its own; that of another group is none of a second process."""
    header = {**HEADER, "complete": False, "groups": {"g": {"mode": "broadcasting"}, "h": {"mode": "broadcasting"}}}
    second = at(5, "client_start", "host@DEFAULT", None) | {"group": other}
    events = [at(0, "client_start", "host@DEFAULT", None), at(1, "assign", "host@DEFAULT", 0, offset=0), second]
    file = tmp_path / "trace.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in (header, *events)), encoding="utf-8")
    holes = check_locally(open_trace([file]), settings=Settings()).coverage.holes
    assert any(hole.why.startswith("it has started twice") for hole in holes) == (other == "g")


@pytest.mark.parametrize(("lasts", "late"), [(40, False), (1, True)])
def test_messages_wait_for_a_pool_that_is_busy_with_other_queues(tmp_path: Path, lasts: int, late: bool) -> None:
    # A pool of one thread: all of queue 1 comes before queue 0, or the pool rests for minutes.
    of_queue_1 = [event for n in range(10) for event in call(2 + 40 * n, "one", 1, n, lasts)]
    of_queue_1 += [at(43 + 40 * n, "commit", "one", 1, offset=n + 1, path="periodic") for n in range(10)]
    of_queue_0 = [event for n in range(10) for event in call(402 + n, "one", 0, n, 1)]
    stored = [at(415, "commit", "one", 0, offset=10, path="periodic")]
    result = check(tmp_path, start(0, "one", 0, 1), of_queue_1, of_queue_0, stored, signs("one", 0, 420))
    found = result.verdict(MOVES)
    assert (found.violated > 0, found.doubtful) == (late, 0)


@pytest.mark.parametrize("late", [False, True])
def test_a_pool_takes_what_was_pulled_before(tmp_path: Path, late: bool) -> None:
    """One thread is busy with queue 1, which was pulled before queue 0, or whose messages come one by one later."""
    took = [event for n in range(20) for event in call(2 + 20 * n, "one", 1, n, 15)]
    if late:
        took += [event for n in range(1, 20) for event in pulls(1.5 + 20 * n, "one", 1, n, 1)]
    took += [at(18 + 20 * n, "commit", "one", 1, offset=n + 1, path="periodic") for n in range(20)]
    first = [at(0, "client_start", "one", None), at(0, "heartbeat", "one", None, subscriptions=["t=*"])]
    for queue, count in ((1, 1 if late else 20), (0, 5)):
        first += [at(0, "offset_query", "one", queue, result="ok", offset=0), at(0, "assign", "one", queue, offset=0)]
        first += pulls(1, "one", queue, 0, count)
    waited = [event for n in range(5) for event in call(402 + n, "one", 0, n, 1)]
    stored = [at(408, "commit", "one", 0, offset=5, path="periodic")]
    found = check(tmp_path, first, took, waited, stored, signs("one", 0, 420)).verdict(MOVES)
    assert (found.violated, found.doubtful) == (int(late), 0)


@pytest.mark.parametrize(("passes", "expected"), [("other", Verdict.NOT_OBSERVABLE), ("g", Verdict.VIOLATED)])
def test_a_consumer_may_be_suspended(tmp_path: Path, passes: str, expected: Verdict) -> None:
    """Passes of another group of its process say nothing of it."""
    first = [event for n in range(10) for event in call(2, "one", 0, n, 0.5)]
    waits = list(pulls(4, "one", 0, 10, 0, high=15))
    stored = [at(6, "commit", "one", 0, offset=10, path="periodic")]
    goes_on = [{**one, "group": passes} if one["kind"] == "rebalance" else one for one in signs("one", 20, 900)]
    alive = (signs("one", 0, 20), goes_on)
    assert verdict(check(tmp_path, start(0, "one", 0), first, waits, stored, *alive), MOVES) is expected


@pytest.mark.parametrize(("pulling", "expected"), [(False, Verdict.HOLDS), (True, Verdict.VIOLATED)])
def test_a_client_stands_still_for_minutes(tmp_path: Path, pulling: bool, expected: Verdict) -> None:
    """Its broker forgets it after 120 s, and another one takes its queue; when it goes on, it learns of that."""
    goes_on = [event for n in range(20, 400, 20) for event in pulls(n, "one", 0, 0, 0)] if pulling else []
    before = [event for n in range(5, 20, 5) for event in pulls(n, "one", 0, 0, 0)]
    ends = [*pulls(400, "one", 0, 0, 0), at(401, "revoke", "one", 0, offset=0)]
    other = [event for n in range(160, 440, 20) for event in pulls(n, "two", 0, 0, 0)]
    result = check(tmp_path, start(0, "one", 0, pulled=0), before, goes_on, ends, start(150, "two", 0, pulled=0), other)
    assert verdict(result, OVERLAPS) is expected


def test_timers_of_the_header_are_the_terms(tmp_path: Path) -> None:
    """Routes are asked for every two minutes, and rebalance is as seldom."""
    file = tmp_path / "trace.jsonl"
    stated = {**HEADER, "timers": {"route_poll": 120_000, "rebalance": 60_000, "lunch": 1, "stuck": 0}}
    events = list(start(0, "one", 0))
    file.write_text("".join(json.dumps(line) + "\n" for line in (stated, *events)), encoding="utf-8")
    trace = open_trace([file])
    request = CheckRequest(paths=[str(file)])
    settings = settings_of(trace, request)
    assert (settings.route_poll, settings.rounds, settings.stuck) == (120_000, 120_000, 120_000)
    assert [problem.what.partition(";")[0] for problem in trace.problems.kept] == [
        "timers names 'lunch'",
        "timer stuck is 0, but whole milliseconds from 1 on are needed",
    ]
    assert header_json(trace.header)["timers"] == {"route_poll": 120_000, "rebalance": 60_000}


@pytest.mark.parametrize(
    ("seen", "stops", "expected"),
    [
        ([(1, 100, 1), (100, 150, 0)], 150, Verdict.HOLDS),
        ([(1, 100, 1), (100, 110, 0), (110, 300, 1)], 300, Verdict.VIOLATED),
    ],
)
def test_a_broadcasting_member_takes_only_what_it_has_learnt_of(
    tmp_path: Path, seen: list[tuple[int, int, int]], stops: int, expected: Verdict
) -> None:
    """A broker is away from 100 s to 140 s. The first member may stop before it learns that the broker is back."""

    def passes(client: str, seen: list[tuple[int, int, int]]) -> Iterator[Event]:
        for since, until, count in seen:
            queues = ["b:0"] * count
            yield at(since, "route", client, None, topic="t", queues=queues)
            for seconds in range(since, until, 10):
                yield at(seconds, "heartbeat", client, None, subscriptions=["t=*"])
                yield at(seconds, "rebalance", client, None, topic="t", queues=queues, assigned=queues)

    lines = [
        *start(0, "one", 0),
        *start(0, "two", 0),
        *passes("one", seen),
        *passes("two", [(1, 100, 1), (100, 140, 0), (140, 400, 1)]),
        *(at(101, "revoke", client, path="removal") for client in ("one", "two")),
        at(141, "assign", "two", offset=10),
        at(stops, "client_stop", "one", None),
    ]
    header = {**HEADER, "groups": {"g": {"mode": "broadcasting", "listener": "concurrently"}}}
    file = tmp_path / "trace.jsonl"
    events = sorted(lines, key=lambda event: int(event["time"]))
    file.write_text("".join(json.dumps(line) + "\n" for line in (header, *events)), encoding="utf-8")
    assert verdict(check_locally(open_trace([file]), settings=Settings()), "every-queue-gets-an-owner") is expected


@pytest.mark.parametrize(("stops", "beats"), [(True, True), (False, True), (False, False)])
def test_windows_that_were_stated_and_never_recorded(tmp_path: Path, stops: bool, beats: bool) -> None:
    """The first agents stated that they record what leaves a window and what is given up, also where they did not."""
    header = {**HEADER, "evidence": sorted(set(Kind) - {Kind.GAP})}
    memory = [at(2 + n, "commit_memory", "one", 0, offset=n + 1) for n in range(10)]
    calls = [event for n in range(10) for event in call(1.5 + n, "one", 0, n, 0.1)]
    lines = [*start(0, "one", 0), *calls, *memory, *signs("one", 1, 60)]
    lines = [event for event in lines if beats or event["kind"] != "heartbeat"]
    lines += [at(62, "unregister", "one", None), at(63, "client_stop", "one", None)] * stops
    file = tmp_path / "trace.jsonl"
    events = sorted(lines, key=lambda event: int(event["time"]))
    file.write_text("".join(json.dumps(line) + "\n" for line in (header, *events)), encoding="utf-8")
    holes = [hole.why for hole in check_locally(open_trace([file]), settings=Settings()).coverage.holes]
    unseen = "revoke or lock_lost or removed or expire recorded"
    assert holes == [f"no {'' if beats else 'heartbeat or '}{unseen}"] * (stops or not beats)


def test_a_client_whose_start_failed_is_in_no_other_time_zone(tmp_path: Path) -> None:
    gone = [
        at(seconds, kind, "two", None) for seconds, kind in ((0, "client_start"), (5, "unregister"), (5, "client_stop"))
    ]
    others = [*start(60, "one", 0), *signs("one", 60, 2_400)]
    assert check(tmp_path, gone, others).context.clocks.steps == ()
    # One that has consumed may be, as nothing bounds its clock.
    (step,) = check(tmp_path, gone, signs("two", 1, 5), others).context.clocks.steps
    assert step.events == ("its times are about 15 min from those of others, as in another time zone",)
