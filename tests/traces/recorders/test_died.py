"""Deaths that nobody recorded and the user tells: what came again is explained then, in raw files and joined ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocketproof.commands.sizes import read_death
from rocketproof.errors import InputError
from rocketproof.lab.capture import keep_capture
from rocketproof.model.history import Cause
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.errors import TraceError
from rocketproof.traces.io import open_trace
from rocketproof.traces.recorders.processes import UNWRITTEN, Death
from rocketproof.traces.samples import FOLDER

from ...agents import read, split_into_recordings

SAMPLE = FOLDER / "kill-9-mid-batch-5.3.3.jsonl.zst"


def result_of(path: Path, *deaths: Death) -> CheckResult:
    return check_locally(open_trace([path], deaths=deaths), settings=Settings())


def without_lists(folder: Path) -> Path:
    """The raw files of the sample; nobody tells who the members of the group are."""
    split_into_recordings(SAMPLE, folder)
    for path in folder.iterdir():
        header, events = read(path)
        kept = [event for event in events if "members" not in event]
        numbered = ({**event, "seq": seq} for seq, event in enumerate(kept))
        path.write_text("".join(json.dumps(line) + "\n" for line in (header, *numbered)), encoding="utf-8")
    return folder


def killed(path: Path) -> Death:
    """The death that the sample has, by client."""
    (crash,) = [e for b in open_trace([path]).batches() for e in b.to_pylist() if e["kind"] == "client_crash"]
    return Death(client=crash["client"], time=crash["time"])


def test_a_death_explains_what_came_again(tmp_path: Path) -> None:
    without_lists(tmp_path / "raw")
    keep_capture([tmp_path / "raw"], out=tmp_path / "joined.jsonl")
    death = killed(SAMPLE)
    expected = check_locally(open_trace([SAMPLE]), settings=Settings()).repeats
    assert expected[Cause.CRASH] > 0
    for path in (tmp_path / "raw", tmp_path / "joined.jsonl"):
        assert result_of(path).repeats[Cause.CRASH] == 0
        assert result_of(path, death).repeats == expected


def test_lists_of_members_tell_of_a_death_too(tmp_path: Path) -> None:
    split_into_recordings(SAMPLE, tmp_path)
    death = killed(SAMPLE)
    trace = open_trace([tmp_path])
    (crash,) = [e for b in trace.batches() for e in b.to_pylist() if e["kind"] == "client_crash"]
    assert crash["client"] == death.client
    assert abs(crash["time"] - death.time) < 1_000
    assert result_of(tmp_path).repeats == check_locally(open_trace([SAMPLE]), settings=Settings()).repeats


def test_what_a_killed_recorder_may_not_have_written_is_a_gap(tmp_path: Path) -> None:
    without_lists(tmp_path)
    death = killed(SAMPLE)
    trace = open_trace([tmp_path], deaths=[death])
    told = [e for b in trace.batches() for e in b.to_pylist() if e["kind"] in ("client_crash", "gap")]
    assert [(e["kind"], e["client"], e["group"], e["time"]) for e in told] == [
        ("gap", death.client, "lab", death.time),
        ("client_crash", death.client, "lab", death.time),
    ]
    assert 0 <= death.time - told[0]["due"] <= UNWRITTEN
    assert all(Path(file).parent == tmp_path for file in trace.files)


def test_nobody_dies_who_was_not_there() -> None:
    with pytest.raises(TraceError, match=r"--died stranger@5: nothing of that client is in the trace\."):
        open_trace([SAMPLE], deaths=[Death(client="stranger", time=5)])
    with pytest.raises(TraceError, match="nothing of that client is in the trace before 5; its first event is at "):
        open_trace([SAMPLE], deaths=[Death(client=killed(SAMPLE).client, time=5)])


@pytest.mark.parametrize(
    ("text", "client", "time"),
    [
        ("10.0.0.7@4711@1767225605000", "10.0.0.7@4711", 1_767_225_605_000),
        ("c1@2026-01-01T00:00:05Z", "c1", 1_767_225_605_000),
        ("c1@2026-01-01 00:00:05.250", "c1", 1_767_225_605_250),
        ("c1@2026-01-01T08:00:05+08:00", "c1", 1_767_225_605_000),
    ],
)
def test_a_death_is_told_by_client_and_time(text: str, client: str, time: int) -> None:
    assert read_death(text) == Death(client=client, time=time)


@pytest.mark.parametrize("text", ["c1", "@5", "c1@soon", ""])
def test_what_is_no_death_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not CLIENT@TIME"):
        read_death(text)
