"""A run of a small configuration goes along with what was recorded, as far as the model does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rocketproof.checkers.run import Run
from rocketproof.model.consumption import consumption
from rocketproof.properties.property import Kind as PropertyKind
from rocketproof.properties.property import Property
from rocketproof.traces.conformance.along_queue import AlongQueue
from rocketproof.traces.conformance.alongside import Alongside, alongside
from rocketproof.traces.conformance.excerpt import excerpt, recorded
from rocketproof.traces.conformance.streams import Place
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Group, Header
from rocketproof.traces.generate.recorder import record_run
from rocketproof.traces.io import open_trace
from rocketproof.traces.io.writing import write_jsonl

from .recorded import Walks, event_of

PLACE = Place(group="billing", topic="Orders", broker="broker-0", queue=0)

CONFIGURATIONS: Mapping[str, Mapping[str, int | str]] = {
    "concurrent": {"messages": 2, "moves": 2, "crashes": 1, "failures": 1, "orphans": 1, "leaves": 1, "causes": 1},
    "broadcasting": {"mode": "broadcasting", "messages": 2, "failures": 1, "leaves": 1, "orphans": 1, "moves": 1},
    "orderly": {
        "listener": "orderly",
        "client_window": 1,
        "broker_window": 2,
        "call": 1,
        "unlock_delay": 1,
        "forced_unlock": 1,
        "messages": 2,
        "failures": 1,
        "crashes": 1,
        "orphans": 1,
    },
}


def along(header: Header, events: list[dict[str, Any]], folder: Path, **row: int) -> Alongside:
    path = folder / "trace.jsonl"
    write_jsonl(path, header, events)
    stream = recorded(open_trace([path]), [PLACE])[PLACE]
    finding = {"offset": 0, "until": 2, "since": 0, "time": 1 << 60, **row}
    found = excerpt(stream, finding, list(stream.actors))
    assert found is not None
    return alongside(AlongQueue(found))


def of_run(run: Run, folder: Path) -> Alongside:
    recording = record_run(run)
    return along(recording.header, recording.events, folder)


def of_lines(folder: Path, *lines: str, **row: int) -> Alongside:
    header = Header(source="a test", evidence=frozenset(Kind), release="5.3.3", groups={"billing": Group()})
    return along(header, [event_of(number, line) for number, line in enumerate(lines)], folder, **row)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_every_random_run_is_gone_along_with(name: str, tmp_path: Path) -> None:
    walks = Walks(consumption.configure(**CONFIGURATIONS[name]))
    stopped = {}
    for seed in range(20):
        run = walks.run(seed, 25)
        if any(walks.lowered.instances[number].action.name.startswith("take") for number in run.steps):
            stopped[seed] = of_run(run, tmp_path).stopped_by
    assert len(stopped) > 10
    assert {seed: str(event) for seed, event in stopped.items() if event is not None} == {}


RIGHT = (
    "assign c0 offset=0 epoch=1",
    "pull_result c0 result=found offset=0 next=2 count=2 epoch=1",
    "deliver c0 offset=1 epoch=1",
    "result c0 result=ok offset=1 epoch=1",
    "removed c0 offset=1 next=0 epoch=1",
)


def test_where_no_step_shows_what_was_recorded_the_run_ends(tmp_path: Path) -> None:
    # The listener of offset 0 has not even begun.
    run = of_lines(tmp_path, *RIGHT, "commit c0 path=periodic offset=2 epoch=1", "client_crash c0")
    assert run.steps == ("take(c0, q0)", "pull(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m1)", "succeed(c0, q0, m1)")
    assert [one.steps for one in run.events] == [1, 3, 4, 5, 5, None, None]
    assert str(run.stopped_by) == "commit c0 path=periodic offset=2 epoch=1"


def test_a_message_in_the_middle_of_a_long_queue_is_followed_by_itself(tmp_path: Path) -> None:
    lines = ["assign c0 offset=500 epoch=1", "pull_result c0 result=found offset=500 next=532 count=32 epoch=1"]
    for offset in range(500, 532):
        lines += [
            f"deliver c0 offset={offset} epoch=1",
            f"result c0 result=ok offset={offset} epoch=1",
            f"removed c0 offset={offset} next={offset + 1} epoch=1",
        ]
    run = of_lines(
        tmp_path,
        *lines,
        "commit c0 path=periodic offset=532 epoch=1",
        "revoke c0 epoch=1",
        "assign c1 offset=510 epoch=1",
        offset=520,
        until=521,
    )
    assert {one.event.offset for one in run.events if one.event.kind is Kind.DELIVER} == {520}
    # c1 begins at 510, before the message, though the stored offset is behind it.
    assert (len(run.steps), str(run.stopped_by)) == (6, "assign c1 offset=510 epoch=1")


def test_of_several_runs_that_go_along_one_that_violates_the_property_is_taken(tmp_path: Path) -> None:
    lines = (*RIGHT[:1], RIGHT[1].replace("next=2 count=2", "next=1 count=1"))
    lines += tuple(line.replace("offset=1", "offset=0").replace("next=0", "next=1") for line in RIGHT[2:])
    lines += ("revoke c0 epoch=1",)
    path = tmp_path / "trace.jsonl"
    header = Header(source="a test", evidence=frozenset(Kind), release="5.3.3", groups={"billing": Group()})
    write_jsonl(path, header, [event_of(number, line) for number, line in enumerate(lines)])
    stream = recorded(open_trace([path]), [PLACE])[PLACE]
    found = excerpt(stream, {"offset": 0, "until": 1, "since": 0, "time": 1 << 60}, list(stream.actors))
    assert found is not None
    shortest = alongside(AlongQueue(found))
    never = Property(
        id="never-lost", statement="", kind=PropertyKind.ALWAYS, holds=lambda s: s.lost_commits_left == s.lost_commits
    )
    before = ("take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "succeed(c0, q0, m0)")
    assert shortest.steps == (*before, "drop(c0, q0)")
    assert alongside(AlongQueue(found), wanted=never).steps == (*before, "drop_losing_commit(c0, q0)")


def test_what_has_neither_message_nor_process_has_no_excerpt(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    header = Header(source="a test", evidence=frozenset(Kind), release="5.3.3", groups={"billing": Group()})
    write_jsonl(path, header, [event_of(0, "lock c0 result=ok")])
    stream = recorded(open_trace([path]), [PLACE])[PLACE]
    assert excerpt(stream, {"offset": -1, "until": -1, "since": 0, "time": 1 << 60}, []) is None
