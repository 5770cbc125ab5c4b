"""Single events that are deleted, repeated, delayed, swapped or altered: how mutants are made, and what is noticed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from benchmarks.event_mutants import ALTERED, DELAYED, Change, by_time, trace_mutants
from benchmarks.noticed import Noticed, Recording, markdown, table_of
from rocketproof.traces.errors import TraceError
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.samples import samples, settings_for

SAMPLES = {sample.name: sample for sample in samples()}
RETRIES = SAMPLES["failures-to-dead-letter-5.3.3"]


def events_of(name: str) -> pa.Table:
    return by_time(SAMPLES[name].open().batches())


def recording(name: str, folder: Path, *, follow: bool = False) -> Recording:
    trace = SAMPLES[name].open()
    settings = settings_for(trace, SAMPLES[name].check)
    return Recording(name, trace.header, by_time(trace.batches()), settings, folder, follow=follow)


def test_each_change_is_made_of_one_event() -> None:
    right = events_of("failures-to-dead-letter-5.3.3")
    rows = right.to_pylist()
    made = {(mutant.change, mutant.field): mutant for mutant in trace_mutants(right, each=1, kinds=[Kind.SEND_BACK])}
    deleted, repeated = made[Change.DELETE, ""], made[Change.REPEAT, ""]
    assert len(deleted.events) == len(rows) - 1
    assert len(repeated.events) == len(rows) + 1
    delayed = made[Change.DELAY, ""]
    assert len(delayed.events) == len(rows)
    at = rows[delayed.row]["time"] + DELAYED
    assert Counter(delayed.events["time"].to_pylist()) - Counter(right["time"].to_pylist()) == {at: 1}
    altered = made[Change.ALTER, "attempt"]
    row = {**altered.events.to_pylist()[altered.row], "seq": None}
    assert row == {**rows[altered.row], "attempt": rows[altered.row]["attempt"] + 1, "seq": None}
    for mutant in made.values():
        times = mutant.events["time"].to_pylist()
        assert times == sorted(times)
        assert mutant.events["seq"].to_pylist() == list(range(len(times)))


def test_the_same_seed_makes_the_same_mutants() -> None:
    right = events_of("graceful-shutdown-slow-listener-5.3.3")

    def made(seed: int) -> list[tuple[str, int]]:
        return [(f"{one.kind} {one.label}", one.row) for one in trace_mutants(right, each=2, seed=seed)]

    assert made(1) == made(1)
    assert made(1) != made(2)


def test_every_field_that_is_no_name_of_the_recorder_is_altered() -> None:
    assert len(set(ALTERED)) == len(ALTERED)
    right = events_of("failures-to-dead-letter-5.3.3")
    told = {mutant.field for mutant in trace_mutants(right, each=1)} - {""}
    assert told == set(ALTERED) - {"origin"}


def test_a_recording_with_a_violation_is_no_right_one(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="same-subscriptions violated already"):
        recording("different-tags-5.3.3", tmp_path)


def test_what_is_noticed_is_counted_by_kind_and_change(tmp_path: Path) -> None:
    judged = recording("failures-to-dead-letter-5.3.3", tmp_path).judged(each=1, kinds=[Kind.DELAY_DELIVER])
    line = next(line for line in table_of(judged) if line.label == "alter attempt")
    assert line.check == {Noticed.VIOLATED: 1}
    assert line.noticed == line.either == line.mutants == 1
    assert line.claims == {"attempts-follow-each-other": 1}
    row = "| `delay_deliver` |  |  |  |  | 1/1 | 1/1 | 1/1 |  |"
    assert markdown([line]).splitlines()[2:] == [row]


def test_a_fixed_sample_is_noticed(tmp_path: Path) -> None:
    """What is noticed of pulls and of what leaves a window; more may come, less may not."""
    right = recording("graceful-shutdown-slow-listener-5.3.3", tmp_path, follow=True)
    judged = list(right.judged(each=1, kinds=[Kind.PULL, Kind.REMOVED]))
    noticed = {f"{one.kind} {one.label}" for one in judged if one.conform or one.check >= Noticed.UNKNOWN}
    assert len(judged) == 23
    assert noticed >= {f"pull {change}" for change in ("delete", "swap", "alter client", "alter offset", "alter queue")}
    assert noticed >= {f"removed {change}" for change in ("delete", "repeat", "delay", "alter client", "alter next")}


def test_whatever_is_wrong_with_an_end_is_noticed(tmp_path: Path) -> None:
    right = recording("graceful-shutdown-slow-listener-5.3.3", tmp_path)
    judged = list(right.judged(each=1, kinds=[Kind.CLIENT_STOP, Kind.UNREGISTER, Kind.REVOKE]))
    assert len(judged) == 24
    assert [f"{one.kind} {one.label}" for one in judged if one.check < Noticed.UNKNOWN] == []
