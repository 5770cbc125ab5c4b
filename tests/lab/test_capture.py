"""Files of agents that become one trace: what is written, what is left out, and that it can be checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rocketproof.commands.lab_capture import capture
from rocketproof.errors import InputError
from rocketproof.lab.capture import keep_capture
from rocketproof.model.history import Cause
from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.measured import Overlaps, measure
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.errors import TraceError
from rocketproof.traces.io import open_trace
from rocketproof.traces.recorders.captured import CUT_OFF
from rocketproof.traces.recorders.confirming import NEVER_APPLIED
from rocketproof.traces.recorders.joining import KILLED_UNSEEN
from rocketproof.traces.recorders.processes import Death

from ..agents import Line, at, client, read, write

SECOND = 1_000_000
BROKER, FIRST, SECOND_CLIENT = "broker-8-broker-a.jsonl", "client-7-orders.jsonl", "client-9-orders.jsonl"


def consumed(name: str, begin: int, offsets: range) -> list[Line]:
    """A client takes the queue and consumes these messages, 10 ms each; it commits after the last one."""
    who = client(name)
    events = [
        at(begin, "client_start", client=name, group="orders"),
        at(begin + 1_000, "offset_query", **who, result="ok", offset=offsets.start),
        at(begin + 1_100, "assign", **who, offset=offsets.start),
        at(begin + 1_200, "pull", **who, offset=offsets.start),
        at(
            begin + 2_000, "pull_result", **who, offset=offsets.start, result="found",
            next=offsets.stop, min=0, max=offsets.stop, count=len(offsets),
        ),
    ]  # fmt: skip
    for place, offset in enumerate(offsets):
        when = begin + 3_000 + 10_000 * place
        events.append(at(when, "deliver", **who, offset=offset, key=f"k{offset}", attempt=0))
        events.append(at(when + 9_000, "result", **who, offset=offset, key=f"k{offset}", attempt=0, result="ok"))
    return events


def stored(count: int) -> list[Line]:
    place = {name: value for name, value in client("c").items() if name not in ("client", "group")}
    return [at(100 * offset, "store", **place, offset=offset, key=f"k{offset}", attempt=0) for offset in range(count)]


def killed_once(folder: Path) -> list[Death]:
    """Ten messages: one client dies after five of them, of which three are committed; another one takes over."""
    first = [*consumed("c1", 10_000, range(5)), at(45_000, "commit", **client("c1"), offset=3, path="periodic")]
    second = [
        *consumed("c2", SECOND, range(3, 10)),
        at(2 * SECOND, "commit", **client("c2"), offset=10, path="shutdown"),
    ]
    first.sort(key=lambda event: (event["time"], event["micros"]))
    broker = [
        at(0, "broker_start", broker="broker-a"),
        *stored(10),
        at(45_100, "commit", **client("c1"), offset=3),
        at(2 * SECOND + 50, "commit", **client("c2"), offset=10),
        at(2 * SECOND + 60, "members", broker="broker-a", group="orders", members=["c2"]),
    ]
    groups = {"orders": {"listener": "concurrently", "max_attempts": 3}}
    write(folder, FIRST, first, groups=groups, release="5.3.3")
    write(folder, SECOND_CLIENT, second, groups=groups, release="5.3.3")
    write(folder, BROKER, broker, delays="1s 5s", release="5.3.3")
    return [Death(pid=7, time=1_700_000_000_100)]


def checked(path: Path) -> CheckResult:
    return check_locally(open_trace([path], strict=True), settings=Settings())


def test_a_run_becomes_one_trace_that_checks_without_problems(tmp_path: Path) -> None:
    deaths = killed_once(tmp_path / "capture")
    joined = keep_capture([tmp_path / "capture"], out=tmp_path / "run.jsonl", deaths=deaths, complete=True)
    assert (joined.events, joined.left_out, joined.unrecorded, joined.problems) == (50, {}, {}, ())
    header, events = read(tmp_path / "run.jsonl")
    assert header["complete"] is True
    assert header["delays"] == "1s 5s"
    assert header["groups"]["orders"]["max_attempts"] == 3
    assert {"client_crash", "broker_crash", "deliver", "store"} <= set(header["evidence"])
    assert [event["seq"] for event in events] == list(range(50))
    assert [event["time"] for event in events] == sorted(event["time"] for event in events)
    assert {event["recorder"] for event in events if "recorder" in event} == {"client-7", "client-9", "broker-8"}
    result = checked(tmp_path / "run.jsonl")
    assert result.problems.count == 0
    assert dict(result.repeats) == {Cause.CRASH: 2}
    numbers = measure(result)
    assert (numbers.events, numbers.deliveries, numbers.unexplained, numbers.losses) == (50, 12, 0, 0)
    assert (numbers.duplicates, numbers.statuses) == ({"CRASH": 2}, {"ACKNOWLEDGED": 10})
    assert numbers.overlaps == Overlaps(count=0, longest=0, total=0)
    assert [answer.claim.id for answer in result.verdicts if answer.verdict is Verdict.VIOLATED] == []


@pytest.mark.parametrize("name", ["run.jsonl.zst", "run.parquet"])
def test_every_form_holds_the_same(tmp_path: Path, name: str) -> None:
    deaths = killed_once(tmp_path / "capture")
    for out in ("plain.jsonl", name):
        keep_capture([tmp_path / "capture"], out=tmp_path / out, deaths=deaths)
    plain, other = (open_trace([tmp_path / out]) for out in ("plain.jsonl", name))
    assert plain.header == other.header
    assert [b.to_pylist() for b in plain.batches()] == [b.to_pylist() for b in other.batches()]


def test_without_anybody_watching_no_death_is_claimed(tmp_path: Path) -> None:
    killed_once(tmp_path / "capture")
    files = [tmp_path / "capture" / FIRST, tmp_path / "capture" / SECOND_CLIENT]
    keep_capture(files, out=tmp_path / "run.jsonl")
    header, events = read(tmp_path / "run.jsonl")
    assert not {"client_crash", "gap"} & {event["kind"] for event in events}
    assert header["complete"] is False


def test_a_last_line_without_its_end_is_counted_and_no_problem(tmp_path: Path) -> None:
    deaths = killed_once(tmp_path)
    with (tmp_path / FIRST).open("a", encoding="utf-8") as file:
        file.write('{"time":1700000000099,"kind":"del')
    joined = keep_capture([tmp_path / FIRST, tmp_path / BROKER], out=tmp_path / "run.jsonl", deaths=deaths)
    assert joined.left_out == {CUT_OFF: 1}
    assert joined.problems == ()


def test_a_damaged_line_is_a_problem_and_a_gap_of_the_trace(tmp_path: Path) -> None:
    killed_once(tmp_path)
    lines = (tmp_path / FIRST).read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / FIRST).write_text("".join([*lines[:5], "garbage\n", *lines[6:]]), encoding="utf-8")
    joined = keep_capture([tmp_path / FIRST], out=tmp_path / "run.jsonl")
    assert [(problem.line, str(problem.kind)) for problem in joined.problems] == [(6, "damaged line")]
    _, events = read(tmp_path / "run.jsonl")
    gap = events[-1]
    assert (gap["kind"], gap["due"], gap["time"], gap["count"]) == ("gap", 1_700_000_000_010, 1_700_000_000_062, 1)


def test_a_member_that_nobody_recorded_makes_a_gap_of_the_whole_trace(tmp_path: Path) -> None:
    killed_once(tmp_path)
    joined = keep_capture([tmp_path / FIRST, tmp_path / BROKER], out=tmp_path / "run.jsonl")
    assert joined.unrecorded == {"orders": ["c2"]}
    _, events = read(tmp_path / "run.jsonl")
    gap = events[-1]
    assert (gap["kind"], gap["group"], gap["due"], gap["time"]) == (
        "gap",
        "orders",
        1_700_000_000_000,
        1_700_000_002_000,
    )
    assert (gap["client"], gap["detail"]) == ("c2", "not recorded")


def test_deaths_of_the_unseen_and_commits_of_nobody_are_counted(tmp_path: Path) -> None:
    deaths = killed_once(tmp_path)
    header, events = read(tmp_path / BROKER)
    kept = [event for event in events if (event["kind"], event.get("offset")) != ("commit", 3)]
    write(tmp_path, BROKER, kept, **header)
    joined = keep_capture([tmp_path], out=tmp_path / "out" / "run.jsonl", deaths=[*deaths, Death(pid=1, time=1)])
    assert joined.left_out == {NEVER_APPLIED: 1, KILLED_UNSEEN: 1}


def test_clashes_of_headers_are_told_but_not_mixed_releases(tmp_path: Path) -> None:
    killed_once(tmp_path)
    started = [at(5, "client_start", client="c3", group="orders")]
    write(tmp_path, "client-11-orders.jsonl", started, release="4.9.8", delays="1s 5s")
    write(tmp_path, "client-12-orders.jsonl", started, release="4.9.8", delays="1s 9s")
    joined = keep_capture([tmp_path], out=tmp_path / "out" / "run.jsonl")
    assert [problem.what.split(", in ")[0] for problem in joined.problems] == ["delays is 1s 9s"]
    assert read(tmp_path / "out" / "run.jsonl")[0]["release"] == "5.3.3"


def test_nothing_recorded_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / FIRST
    path.write_text(json.dumps({"rocketproof_trace": 1}) + "\n", encoding="utf-8")
    with pytest.raises(TraceError, match="no events can be read"):
        keep_capture([path], out=tmp_path / "run.jsonl")


def events_of(path: Path, kind: str) -> list[dict[str, Any]]:
    return [event for event in read(path)[1] if event["kind"] == kind]


def test_a_commit_is_there_once_at_the_time_of_the_broker(tmp_path: Path) -> None:
    deaths = killed_once(tmp_path)
    keep_capture([tmp_path], out=tmp_path / "run" / "run.jsonl", deaths=deaths)
    commits = events_of(tmp_path / "run" / "run.jsonl", "commit")
    assert [(event["time"], event["offset"], event["client"], event["path"]) for event in commits] == [
        (1_700_000_000_045, 3, "c1", "periodic"),
        (1_700_000_002_000, 10, "c2", "shutdown"),
    ]


# The command


def test_the_command_says_what_it_wrote_and_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    killed_once(tmp_path / "capture")
    out = str(tmp_path / "run.jsonl.zst")
    assert capture(out, [tmp_path / "capture" / FIRST, tmp_path / "capture" / BROKER]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"32 events: {out}",
        "  group orders: 1 member not recorded, so the trace has a gap: c2",
        f"check it: rocketproof check {out}",
    ]


@pytest.mark.parametrize(
    ("out", "why"),
    [("run.csv", "the name must end in .jsonl"), ("capture/run.jsonl", "it would be read as a recording")],
)
def test_the_command_writes_traces_only_and_none_amid_the_recordings(tmp_path: Path, out: str, why: str) -> None:
    killed_once(tmp_path / "capture")
    with pytest.raises(InputError, match=why):
        capture(str(tmp_path / out), [tmp_path / "capture"])


def test_clients_and_brokers_may_be_of_different_releases(tmp_path: Path) -> None:
    write(tmp_path / "in", BROKER, stored(3), release="4.9.7")
    write(tmp_path / "in", FIRST, consumed("c1", 10_000, range(3)), release="4.9.8")
    joined = keep_capture([tmp_path / "in"], out=tmp_path / "trace.jsonl", complete=True)
    assert (open_trace([tmp_path / "trace.jsonl"]).header.release, joined.problems) == ("4.9.8", ())
    write(tmp_path / "in", SECOND_CLIENT, consumed("c2", 90_000, range(3)), release="5.3.3")
    joined = keep_capture([tmp_path / "in"], out=tmp_path / "trace.jsonl", complete=True)
    assert (open_trace([tmp_path / "trace.jsonl"]).header.release, joined.problems) == ("4.9.7", ())
