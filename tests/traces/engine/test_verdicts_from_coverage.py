"""Verdicts from coverage: what may not have been recorded neither violates nor holds, whatever took it away."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.claims import CODE
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.message_status import MessageStatus
from rocketproof.traces.io import open_trace
from rocketproof.traces.samples import FOLDER, settings_for

DATA = Path(__file__).parents[1] / "data"
ALLOCATION, UNFINISHED = "allocation-as-the-strategy-says", "offset-never-past-unfinished"


def check(*paths: Path, **options: str) -> CheckResult:
    trace = open_trace(paths, options=options)
    return check_locally(trace, settings=settings_for(trace, {}))


def lines_of(name: str, folder: Path = DATA) -> list[str]:
    with pa.input_stream(str(folder / name), compression="zstd") as stream:
        return list(stream.read().decode().splitlines())


def written(path: Path, lines: Iterable[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def counts(result: CheckResult) -> dict[Verdict, int]:
    found = [answer.verdict for answer in result.verdicts]
    return {verdict: found.count(verdict) for verdict in Verdict if verdict in found}


def place_of(lines: list[str], kind: str, result: CheckResult, claim: str) -> int:
    """The index of the line with the event that violates a claim."""
    (row,) = result.violations[result.violations["claim"] == CODE[claim]]
    actor = result.names.actors[row["actor"]].name
    events = [json.loads(line) for line in lines]
    (place,) = [
        place
        for place, event in enumerate(events)
        if event.get("kind") == kind and event["time"] == row["time"] and event.get("client") == actor
    ][:1]
    return place


def test_undamaged_recordings_are_judged() -> None:
    for name, claim in (("a6", ALLOCATION), ("b7", UNFINISHED)):
        result = check(DATA / f"{name}.jsonl.zst")
        assert result.verdict(claim).verdict is Verdict.VIOLATED
        assert counts(result)[Verdict.VIOLATED] == 1
        assert Verdict.UNKNOWN not in counts(result)


def test_a_damaged_line_may_have_held_what_violates(tmp_path: Path) -> None:
    lines = lines_of("a6.jsonl.zst")
    place = place_of(lines, "rebalance", check(DATA / "a6.jsonl.zst"), ALLOCATION)
    lines[place] = "#" + lines[place][1:]
    path = written(tmp_path / "damaged.jsonl", lines)
    result = check(path)
    answer = result.verdict(ALLOCATION)
    assert (answer.verdict, answer.violated) == (Verdict.UNKNOWN, 0)
    assert answer.why.startswith(f"what might violate this may be lost: {path}:{place + 1}: damaged line: no JSON")
    assert counts(result).keys() == {Verdict.UNKNOWN, Verdict.NOT_OBSERVABLE}


def test_a_gap_may_have_held_what_violates(tmp_path: Path) -> None:
    lines = lines_of("b7.jsonl.zst")
    place = place_of(lines, "commit", check(DATA / "b7.jsonl.zst"), UNFINISHED)
    time = json.loads(lines[place])["time"]
    gap = {"time": time + 1, "kind": "gap", "due": time - 1, "count": 1, "client": json.loads(lines[place])["client"]}
    lines[place] = json.dumps(gap)
    result = check(written(tmp_path / "gap.jsonl", lines))
    answer = result.verdict(UNFINISHED)
    assert (answer.verdict, answer.violated) == (Verdict.UNKNOWN, 0)
    assert answer.why.startswith("what might violate this may be lost: a gap of the recording of ")
    # A client's gap loses nothing of what brokers record.
    assert result.verdict("never-before-it-is-due").verdict is Verdict.HOLDS


def test_an_unknown_word_may_have_been_what_violates(tmp_path: Path) -> None:
    lines = lines_of("b7.jsonl.zst")
    place = place_of(lines, "commit", check(DATA / "b7.jsonl.zst"), UNFINISHED)
    lines[place] = lines[place].replace('"commit"', '"bommit"')
    path = written(tmp_path / "flipped.jsonl", lines)
    answer = check(path).verdict(UNFINISHED)
    assert (answer.verdict, answer.violated) == (Verdict.UNKNOWN, 0)
    assert f"{path}:{place + 1}: unknown word: kind is 'bommit'" in answer.why


def test_an_impossible_value_is_about_its_event_only(tmp_path: Path) -> None:
    lines = lines_of("a6.jsonl.zst")
    place = next(place for place, line in enumerate(lines) if json.loads(line).get("kind") == "pull")
    event = json.loads(lines[place])
    lines[place] = json.dumps({**event, "offset": -5})
    result = check(written(tmp_path / "negative.jsonl", lines))
    assert result.problems.count == 1
    assert result.verdict(ALLOCATION).verdict is Verdict.VIOLATED
    assert counts(result)[Verdict.HOLDS] >= counts(check(DATA / "a6.jsonl.zst"))[Verdict.HOLDS] - 1


def _header_gone(lines: list[str]) -> list[str]:
    return lines[1:]


def _header_damaged(lines: list[str]) -> list[str]:
    return ["#" + lines[0][1:], *lines[1:]]


def _delays_damaged(lines: list[str]) -> list[str]:
    return [json.dumps({**json.loads(lines[0]), "delays": 5}), *lines[1:]]


@pytest.mark.parametrize("change", [_header_gone, _header_damaged, _delays_damaged])
def test_without_its_header_nothing_of_a_recording_is_sure(
    tmp_path: Path, change: Callable[[list[str]], list[str]]
) -> None:
    for name in ("a6.jsonl.zst", "b7.jsonl.zst"):
        found = counts(check(written(tmp_path / "trace.jsonl", change(lines_of(name)))))
        assert found.keys() == {Verdict.UNKNOWN, Verdict.NOT_OBSERVABLE}


def _of_client(lines: list[str], client: str) -> tuple[list[str], list[str]]:
    its = [line for line in lines[1:] if json.loads(line).get("client") == client]
    return [lines[0], *its], [line for line in lines if line not in set(its)]


def test_a_file_of_a_folder_that_is_lost_takes_its_evidence_along(tmp_path: Path) -> None:
    lines = lines_of("a6.jsonl.zst")
    client = next(event["client"] for event in map(json.loads, lines[1:]) if event["kind"] == "deliver")
    its, others = _of_client(lines, client)
    written(tmp_path / "others.jsonl", others)
    packed = gzip.compress("\n".join(its).encode())
    lost = tmp_path / "one.gz"
    for broken in (b"", packed[:10], b"\x1f\x8b" + bytes(200), b"\x00\xff" * 200):
        lost.write_bytes(broken)
        result = check(tmp_path)
        assert Verdict.HOLDS not in counts(result)
        assert counts(result).get(Verdict.VIOLATED, 0) <= 1  # allocation, which rests on one event
    # Notes beside a recording are none of it.
    lost.unlink()
    written(tmp_path / "one.jsonl", its)
    (tmp_path / "README.md").write_text("of Monday")
    (tmp_path / "info.json").write_text('{"day": "Monday"}')
    assert counts(check(tmp_path)) == counts(check(DATA / "a6.jsonl.zst"))


CUT = {
    "attempts-follow-each-other": "cutstart-attempts-follow-each-other",
    "only-failed-messages-are-sent-back": "cutstart-real-capture",
    "sent-back-message-comes-again": "cutstart-sent-back-message-comes-again",
}


@pytest.mark.parametrize("claim", CUT)
def test_what_came_before_a_recording_in_mid_run_may_excuse(claim: str) -> None:
    result = check(DATA / f"{CUT[claim]}.jsonl.zst")
    answer = result.verdict(claim)
    assert (answer.verdict, answer.why) == (
        Verdict.UNKNOWN,
        "what would excuse it may be lost: what came before the recording began",
    )
    assert Verdict.VIOLATED not in counts(result)


@pytest.mark.parametrize(
    ("name", "options"), [("hook-only.jsonl", {}), ("spring-debug.log", {"group": "g", "zone": "UTC"})]
)
def test_a_listener_alone_does_not_tell_whether_a_queue_stands_still(name: str, options: dict[str, Any]) -> None:
    result = check(DATA / name, **options)
    answer = result.verdict("every-queue-moves")
    assert (answer.verdict, answer.judged, answer.violated) == (Verdict.NOT_OBSERVABLE, 0, 0)
    assert Verdict.VIOLATED not in counts(result)


UNRECORDED = {
    "revoke": "overlaps-are-short",
    "assign": "every-queue-gets-an-owner",
    "result": "orderly-one-listener",
    "deliver": "attempts-follow-each-other",
    "broker_start": "offset-never-back-without-cause",
}


def without(lines: list[str], kind: str) -> list[str]:
    """The recording of an agent that does not record a kind, and says so."""
    header = json.loads(lines[0])
    header["evidence"] = [each for each in header["evidence"] if each != kind]
    return [json.dumps(header), *(line for line in lines[1:] if json.loads(line)["kind"] != kind)]


@pytest.mark.parametrize("name", ["a6.jsonl.zst", "b7.jsonl.zst"])
@pytest.mark.parametrize("kind", UNRECORDED)
def test_a_kind_that_is_honestly_absent_violates_nothing(tmp_path: Path, name: str, kind: str) -> None:
    whole = check(DATA / name)
    less = check(written(tmp_path / "less.jsonl", without(lines_of(name), kind)))
    for before, now in zip(whole.verdicts, less.verdicts, strict=True):
        if before.verdict is not Verdict.VIOLATED:
            assert now.verdict is not Verdict.VIOLATED, before.claim.id
        else:
            assert now.verdict is not Verdict.HOLDS, before.claim.id


def test_without_results_nobody_knows_whether_an_orderly_group_is_in_order(tmp_path: Path) -> None:
    lines = lines_of("orderly-hand-over-5.3.3.jsonl.zst", FOLDER)
    claim = "orderly-in-order"
    assert check(written(tmp_path / "whole.jsonl", lines)).verdict(claim).verdict is Verdict.HOLDS
    answer = check(written(tmp_path / "less.jsonl", without(lines, "result"))).verdict(claim)
    assert (answer.verdict, answer.why) == (
        Verdict.NOT_OBSERVABLE,
        "no result events, by which a violation would show itself",
    )


def test_overlaps_without_revokes_are_not_observable_and_what_seems_to_be_some_does_not_count() -> None:
    answer = check(DATA / "m4-no-revoke.jsonl.zst").verdict("overlaps-are-short")
    assert (answer.verdict, answer.violated, answer.doubtful) == (Verdict.NOT_OBSERVABLE, 0, 0)
    assert answer.why == "no revoke events; the client's log of added and removed queues would settle it"


def test_messages_are_not_said_to_be_lost_where_a_gap_explains_it(tmp_path: Path) -> None:
    lines = lines_of("a6.jsonl.zst")
    events = [json.loads(line) for line in lines]
    client = next(event["client"] for event in events[1:] if event["kind"] == "deliver")
    gone = ("deliver", "result", "pull_result")
    kept = [
        line
        for line, event in zip(lines, events, strict=True)
        if event.get("client") != client or event["kind"] not in gone
    ]
    lost = check(written(tmp_path / "lost.jsonl", kept)).messages
    assert lost[MessageStatus.LOST] > 0
    last = events[-1]["time"]
    gap = json.dumps({"time": last, "kind": "gap", "due": events[1]["time"], "client": client})
    told = check(written(tmp_path / "told.jsonl", [*kept, gap])).messages
    assert (told[MessageStatus.LOST], told[MessageStatus.NOT_OBSERVABLE]) == (
        0,
        lost[MessageStatus.LOST] + lost[MessageStatus.NOT_OBSERVABLE],
    )


@pytest.mark.parametrize("seconds", [30, 60])
def test_a_recording_that_ends_before_added_queues_are_learnt_of(tmp_path: Path, seconds: int) -> None:
    lines = lines_of("last-offset-added-queues-5.3.3.jsonl.zst", FOLDER)
    begin = json.loads(lines[1])["time"]
    kept = [line for line in lines[1:] if json.loads(line)["time"] < begin + seconds * 1000]
    answer = check(written(tmp_path / "less.jsonl", [lines[0], *kept])).verdict("every-queue-is-readable")
    assert (answer.verdict, answer.judged) == (Verdict.HOLDS, 2)


def test_consumers_of_which_nothing_is_known_put_no_copies_of_originals_into_a_topic(tmp_path: Path) -> None:
    """What waits at a delay level is moved by its broker alone: a gap of a client excuses no second move."""
    header = {"rocketproof_trace": 1, "source": "test", "evidence": [str(kind) for kind in Kind], "groups": {"G": {}}}
    message = {
        "broker": "b",
        "topic": "T",
        "queue": 0,
        "key": "0A00000712670000",
        "attempt": 0,
        "level": 1,
        "due": 102_000,
    }
    of_client = {"client": "c", "group": "G"}

    def verdict_with(*more: dict[str, Any]) -> Verdict:
        events: list[dict[str, Any]] = [
            {"time": 500, "kind": "broker_start", "broker": "b"},
            {"time": 101_000, "kind": "delay_store", **message},
            {"time": 102_010, "kind": "delay_deliver", **message, "offset": 0},
            {"time": 102_020, "kind": "deliver", **of_client, **message, "offset": 0},
            {"time": 160_000, "kind": "delay_deliver", **message, "offset": 1},
            {"time": 190_000, "kind": "file_persist", "broker": "b"},
            *more,
        ]
        ordered = sorted(events, key=lambda event: event["time"])
        path = written(tmp_path / "trace.jsonl", map(json.dumps, [header, *ordered]))
        return check(path).verdict("every-copy-has-a-cause").verdict

    assert verdict_with() is Verdict.VIOLATED
    assert verdict_with({"time": 170_000, "kind": "gap", "due": 101_500, "count": 9, **of_client}) is Verdict.VIOLATED
    assert verdict_with({"time": 170_000, "kind": "gap", "due": 101_500, "count": 9, "broker": "b"}) is Verdict.UNKNOWN


def test_what_was_never_recorded_is_not_observable_also_where_the_recording_has_a_hole(tmp_path: Path) -> None:
    place = {"client": "c", "group": "g", "topic": "%RETRY%g", "broker": "b", "queue": 0, "offset": 0, "key": "K"}
    kinds = ["deliver", "result", "send_back", "heartbeat"]
    header = {"rocketproof_trace": 1, "evidence": kinds, "groups": {"g": {"max_attempts": 1}}}
    asks = {"kind": "send_back", "result": "ok", "path": "request", "level": 0, "max_attempts": 1}
    events: list[dict[str, Any]] = [
        {"time": 100_000, "kind": "deliver", **place, "attempt": 1},
        {"time": 100_010, "kind": "result", **place, "attempt": 1, "result": "later"},
        {"time": 100_020, **asks, **place, "attempt": 1},  # a dead letter, which only its broker would have recorded
        {"time": 300_000, "kind": "heartbeat", "client": "c", "group": "g", "subscriptions": ["t=*@1"]},
    ]
    path = written(tmp_path / "mid-run.jsonl", map(json.dumps, [header, *events]))
    answer = check(path).verdict("sent-back-message-comes-again")
    assert (answer.verdict, answer.judged, answer.doubtful) == (Verdict.NOT_OBSERVABLE, 1, 1)


def test_a_member_of_which_a_message_trace_tells_under_another_address_is_named_with_it(tmp_path: Path) -> None:
    given = {"group": "g", "topic": "t", "broker": "b", "queue": 0, "offset": 0, "key": "K", "attempt": 0}
    events: list[dict[str, Any]] = [
        {"rocketproof_trace": 1, "evidence": ["deliver", "members"], "complete": True},
        {"time": 1000, "kind": "members", "broker": "b", "group": "g", "members": ["192.0.2.2@77#1", "192.0.2.2@78"]},
        {"time": 1001, "kind": "deliver", "client": "127.0.0.1@77", **given},
    ]
    found = check(written(tmp_path / "t.jsonl", map(json.dumps, events)))
    assert [str(hole) for hole in found.coverage.holes] == [
        "nothing but what 127.0.0.1@77 did, which has its process id, was recorded of 192.0.2.2@77#1",
        "nothing was recorded of 192.0.2.2@78",
    ]
