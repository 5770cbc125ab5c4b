"""A fixed sample of the changed recordings of ``python -m benchmarks trust``."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import changes, further_changes
from benchmarks.changed import Changed
from benchmarks.recordings import Recording, recording
from benchmarks.trust import DONE, KINDS, MERGED, Answers, Part, Tally, answers_of, chances, judge, tallies
from benchmarks.trust import table as table_of
from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.claims import CLAIMS
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.format.header import read_header
from rocketproof.traces.io import Problems, open_trace
from rocketproof.traces.io.events import batch_of
from rocketproof.traces.io.writing import ParquetWriter
from rocketproof.traces.samples import settings_for

SAMPLED = tuple(
    kind for kind in KINDS if kind not in ("unsaid_kinds", "lesser_recorders", "stepped_clocks", "suspended_machines")
)
"""All but those of :mod:`.test_partly_recorded`, and clocks that are set, which still turn some verdicts round."""


@pytest.mark.parametrize("name", ["graceful-shutdown-slow-listener-5.3.3", "walked moves 0"])
def test_no_change_turns_a_verdict_round(name: str) -> None:
    found = dict(tallies(recording(name), SAMPLED))
    assert [line for tally in found.values() for line in (*tally.violated, *tally.hold)] == []
    assert found.keys() == {*SAMPLED} - {MERGED}
    assert all(tally.cases == tally.runs * len(CLAIMS) for tally in found.values())


@pytest.mark.parametrize(
    ("name", "change", "how"),
    [
        ("simulated churn", changes.without_slices, ""),
        ("simulated churn", changes.split_files, ""),
        ("simulated churn", changes.shifted_clocks, " by 5 ms"),
        ("simulated orderly", changes.cut_ends, ""),
        ("simulated A9", changes.renamed, ""),
        ("simulated A10", changes.cut_starts, ""),
        ("simulated B2", changes.without_kinds, "pull_result"),
        ("simulated B8", changes.without_kinds, "commit"),
        ("walked batches 0", changes.damaged_lines, ""),
        ("walked batches 0", changes.shifted_clocks, "broker-0 by -5000 ms"),
        ("walked reset 1", changes.all_clocks, ""),
        ("simulated churn", changes.shifted_clocks, "10.0.0.1@4711#0 by 500 ms"),
        ("simulated faults", changes.cut_starts, "0.75"),
        ("simulated faults", changes.lesser_recorders, "hook of broker-a"),
        ("failures-to-dead-letter-5.3.3+mixed-releases-5.3.3", changes.damaged_lines, "line 1765"),
        ("simulated broadcasting", changes.shifted_clocks, "10.0.0.2@4712#0 by 30 ms"),
        ("walked broker-restart 1", changes.damaged_lines, ""),
        ("walked batches 1", changes.shifted_clocks, "c0#0 by 5000 ms"),
        ("walked reset 1", changes.shifted_clocks, "c0#0 by 5000 ms"),
        ("walked batches 1", changes.without_kinds, "result"),
        ("walked retries 0", changes.damaged_lines, "line 31, bits"),
        ("simulated churn", changes.lesser_recorders, "log of 10.0.0.2@4712#0"),
        ("log-only-5.3.3", changes.unsaid_kinds, "assign"),
        ("simulated churn", changes.lesser_recorders, "membership of 10.0.0.2@4712#0"),
        ("kill-9-mid-batch-4.9.8+orderly-hand-over-4.9.8", changes.unsaid_kinds, "result of 127.0.0.1@one-2#0"),
        ("failures-to-dead-letter-5.3.3+mixed-releases-5.3.3", changes.unsaid_kinds, "assign of client-2791"),
        ("failures-to-dead-letter-5.3.3+mixed-releases-5.3.3", changes.renamed, ""),
        ("walked reset 1", changes.shifted_clocks, "c0#0 by -5000 ms"),
        ("simulated A1", changes.shifted_clocks, "broker-a by -5000 ms"),
        ("simulated A5", changes.without_kinds, "members"),
        ("simulated C2", changes.without_kinds, "result"),
        ("simulated D8", changes.without_kinds, "delay_deliver"),
        ("simulated B7", further_changes.of_another_cluster, ""),
        ("simulated churn", further_changes.other_zones, ""),
        ("simulated A2", further_changes.other_zones, ""),
        ("walked orderly 1", further_changes.other_zones, ""),
        ("failures-to-dead-letter-5.3.3", further_changes.moved_times, ""),
        ("simulated broadcasting", further_changes.unsaid_groups, ""),
        ("walked reset 7013", further_changes.whole_seconds, "#0"),
        ("different-tags-5.3.3", further_changes.whole_seconds, "broker-a"),
        ("log-only-5.3.3", further_changes.other_zones, "3600000"),
        ("simulated A2", further_changes.moved_times, "-30 ms"),
    ],
)
def test_what_once_turned_a_verdict_round(name: str, change: changes.Change, how: str) -> None:
    whole = recording(name)
    before, tally = answers_of({"trace.jsonl": whole.text()}), Tally()
    for changed in change(whole, chances(whole, change)):
        if how in changed.how:
            judge(changed, before, tally, name, has_bug=whole.has_bug)
    assert tally.runs
    assert [*tally.violated, *tally.hold] == []


@pytest.mark.parametrize(
    ("name", "kind", "place"), [("simulated A2", "pull", 60), ("last-offset-added-queues-5.3.3", "store", 30)]
)
def test_an_event_of_a_queue_whose_broker_is_lost_says_nothing_of_another_queue(
    name: str, kind: str, place: int
) -> None:
    whole = recording(name)
    at = [number for number, event in enumerate(whole.events) if event["kind"] == kind][place]
    events = [*whole.events]
    events[at] = {field: value for field, value in events[at].items() if field != "broker"}
    before, after = (
        answers_of({"trace.jsonl": replace(whole, events=those).text()}) for those in (whole.events, events)
    )
    assert {claim for claim, verdict in after.items() if verdict is Verdict.VIOLATED} == {
        claim for claim, verdict in before.items() if verdict is Verdict.VIOLATED
    }


def test_a_process_of_which_no_group_is_told_that_it_left_may_have_left_its_own() -> None:
    whole = recording("simulated A8")
    at = [number for number, event in enumerate(whole.events) if event["kind"] == "unregister"][-3]
    events = [*whole.events]
    events[at] = {field: value for field, value in events[at].items() if field != "group"}
    after = answers_of({"trace.jsonl": replace(whole, events=events).text()})
    assert [after[claim] for claim in ("processes-act-in-order", "shares-are-taken")] == [Verdict.UNKNOWN] * 2


def test_a_recording_that_begins_in_mid_batch_has_batches_of_their_size() -> None:
    whole = recording("batch-acknowledged-in-part-5.3.3")
    batched = [number for number, event in enumerate(whole.events) if event.get("count", 0) > 1]
    cut = next(at for at in batched if whole.events[at - 1].get("count") == whole.events[at]["count"])
    said = answers_of(
        {"trace.jsonl": replace(whole, header=whole.header | {"complete": False}, events=whole.events[cut:]).text()}
    )
    assert said["events-fit-each-other"] is Verdict.HOLDS


def answers_in(path: Path, whole: Recording) -> Answers:
    """The verdicts about a recording in a Parquet file, its events in their order."""
    with ParquetWriter(path, read_header(whole.header, file="", line=1, problems=Problems()).header) as writer:
        writer.write(batch_of(whole.events))
    trace = open_trace([path])
    return {one.claim.id: one.verdict for one in check_locally(trace, settings=settings_for(trace, {})).verdicts}


@pytest.mark.parametrize("time", [86_400_000, 4_070_908_800_000])
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_one_event_with_a_stray_time_is_a_finding_about_that_time(time: int, form: str, tmp_path: Path) -> None:
    whole = recording("graceful-shutdown-slow-listener-5.3.3")

    def answers(said: Recording) -> Answers:
        return answers_of({"a.jsonl": said.text()}) if form == "jsonl" else answers_in(tmp_path / "a.parquet", said)

    before = answers(whole)
    for kind in ("deliver", "commit", "heartbeat"):
        at = [number for number, event in enumerate(whole.events) if event["kind"] == kind][1]
        events = [*whole.events]
        events[at] = events[at] | {"time": time}
        after = answers(replace(whole, events=events))
        changed = {after[claim] for claim, verdict in before.items() if after[claim] is not verdict}
        assert changed == {Verdict.UNKNOWN}, kind


def test_a_verdict_that_is_turned_round_is_told() -> None:
    right = recording("graceful-shutdown-slow-listener-5.3.3")
    text = right.text()
    before = answers_of({"trace.jsonl": text})
    wrong = text.replace('"result": "ok"', '"result": "later"')
    for said, changed, place in (
        (before, wrong, "violated"),
        ({**before, "failed-message-comes-again": Verdict.VIOLATED}, text, "hold"),
    ):
        tally = Tally()
        judge(Changed(change="a change", how="so", files={"trace.jsonl": changed}), said, tally, right.name)
        told = [line for line in getattr(tally, place) if "failed-message-comes-again" in line]
        assert [line.partition(": failed")[0] for line in told] == [f"{right.name}: a change (so)"]


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    part = Part(recording="no such recording", change="renamed", round=0)
    tally = Tally(runs=1, cases=2, became=Counter({"HOLDS to UNKNOWN": 1}))
    lines = ['[{"recording": "no such recording", "change": "renamed", "round": 0}, ', "]\n"]
    told = '{"runs": 1, "cases": 2, "became": {"HOLDS to UNKNOWN": 1}, "violated": [], "hold": []}'
    (tmp_path / DONE).write_text(told.join(lines), "utf-8")
    assert table_of([part], folder=tmp_path) == ({"renamed": tally}, [])


def test_recordings_have_their_names() -> None:
    assert isinstance(recording("walked reset 1"), Recording)
    assert recording("walked reset 1").name == "walked reset 1"
