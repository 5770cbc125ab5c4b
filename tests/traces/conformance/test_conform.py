"""Following traces through the model: what counts as followed, and what a mismatch says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocketproof.cli import main
from rocketproof.properties.verdict import Verdict
from rocketproof.traces.conformance import Conformance
from rocketproof.traces.generate.recorder import record_run
from rocketproof.traces.io.writing import write_jsonl
from rocketproof.traces.samples import samples

from ..generate.recorder.told import walked
from .recorded import changed, of_events, of_lines, walk, whys

ONE = ("take(c0, q0)", "pull(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "succeed(c0, q0, m0)", "commit(c0, q0)")
"""One client reads two messages, handles the first, and commits."""


def kinds(folder: Path) -> dict[str, int]:
    """The last event of each kind in that walk, by ``seq``."""
    recording = record_run(walked(*ONE, consumers=1))
    return {event["kind"]: event["seq"] for event in recording.events}


def one(folder: Path, kind: str, **values: object) -> Conformance:
    """That walk with the last event of a kind changed."""
    return changed(folder, {kinds(folder)[kind]: values}, *ONE, consumers=1)


def test_every_event_is_followed_or_counted(tmp_path: Path) -> None:
    answer = walk(tmp_path, *ONE, consumers=1)
    assert answer.verdict is Verdict.HOLDS
    assert (answer.events, answer.followed, answer.queues) == (15, 14, 1)
    assert answer.passed_over == {"heartbeat: the model of one queue has nothing to say of it": 1}


def test_a_mismatch_says_what_was_possible(tmp_path: Path) -> None:
    answer = one(tmp_path, "removed", next=2)
    (mismatch,) = answer.mismatches
    assert answer.verdict is Verdict.VIOLATED
    assert mismatch.place == "billing Orders@broker-0:0"
    assert mismatch.event == "removed c0 offset=0 next=2 epoch=1 key=q0-m0"
    assert mismatch.why == "the low-water mark is 1"
    assert mismatch.state == (
        "c0: owns the queue, next pull from 2, in-memory offset 0, waiting 1, running 0; "
        "stored offset none, log end known 2"
    )
    assert "succeed" in mismatch.enabled
    assert answer.passed_over["after a mismatch, up to the next assignment"] == 1
    assert answer.passed_over["mismatches"] == 1


WRONG = [
    ("assign", {"offset": 1}, "the broker has answered 0"),
    ("pull", {"offset": 0}, "the next pull of the window starts at 1"),
    ("pull_result", {"offset": 0}, "the request that is under way asks from 1"),
    ("pull_result", {"count": 2}, "there are no 2 messages from 1 to 2"),
    ("result", {"offset": 1}, "no listener has this message"),
    ("removed", {"offset": 1}, "no listener has had this message"),
    ("commit_memory", {"offset": 2}, "the in-memory offset is 1"),
    ("commit", {"offset": 2}, "the client never had this offset in memory; it has 1"),
]


@pytest.mark.parametrize(("kind", "values", "why"), WRONG)
def test_what_the_model_does_not_allow(kind: str, values: dict[str, object], why: str, tmp_path: Path) -> None:
    answer = one(tmp_path, kind, **values)
    assert [mismatch.why for mismatch in answer.mismatches][:1] == [why]


def test_a_commit_of_a_real_client_that_never_had_the_offset_is_none_of_the_model(tmp_path: Path) -> None:
    (sample,) = (one for one in samples() if one.name == "failures-to-dead-letter-5.3.3")
    trace = sample.open()
    batches = trace.sorted_batches()
    events = [{name: v for name, v in row.items() if v is not None} for batch in batches for row in batch.to_pylist()]
    last = max(number for number, event in enumerate(events) if event["kind"] == "commit" and event["offset"] > 0)
    had = events[last]["offset"]
    events[last]["offset"] = had + 1
    whys_of_it = whys(of_events(trace.header, events, tmp_path))
    assert whys_of_it[:1] == [f"the client never had this offset in memory; it has {had}"]


def test_an_event_that_is_missing_shows_at_the_next(tmp_path: Path) -> None:
    for kind, why in (
        ("deliver", "no listener has this message"),
        ("result", "its listener has not returned"),
        ("removed", "the in-memory offset is 0"),
    ):
        answer = changed(tmp_path, {kinds(tmp_path)[kind]: None}, *ONE, consumers=1)
        assert [mismatch.why for mismatch in answer.mismatches] == [why]


def test_a_message_that_was_removed_twice_is_no_behaviour(tmp_path: Path) -> None:
    recording = record_run(walked(*ONE, consumers=1))
    (left,) = [event for event in recording.events if event["kind"] == "removed"]
    events = [*recording.events, {**left, "time": left["time"] + 1, "seq": 1_000}]
    (mismatch,) = of_events(recording.header, events, tmp_path).mismatches
    assert mismatch.why == "the window does not hold this message"


def test_a_gap_makes_windows_unknown(tmp_path: Path) -> None:
    recording = record_run(walked(*ONE, consumers=1))
    begin = recording.events[0]["time"]
    gap = {"time": begin + 900, "seq": 99, "kind": "gap", "client": "c0", "count": 3, "due": begin + 400}
    answer = of_events(recording.header, [*recording.events, gap], tmp_path)
    assert answer.verdict is Verdict.UNKNOWN
    assert (answer.gaps, answer.mismatches) == (1, ())
    assert answer.passed_over["after a gap in the recording, up to the next assignment"] == 4


def test_without_windows_nothing_is_observable(tmp_path: Path) -> None:
    recording = record_run(walked(*ONE, consumers=1))
    events = [event for event in recording.events if event["kind"] != "assign"]
    answer = of_events(recording.header, events, tmp_path)
    assert answer.verdict is Verdict.NOT_OBSERVABLE
    assert answer.why == "billing Orders@broker-0:0: it was never assigned"
    assert answer.followed == 0


def test_a_queue_of_thousands_of_messages_is_followed(tmp_path: Path) -> None:
    labels = [label for m in range(8) for label in ("pull(c0, q0)", f"begin(c0, q0, m{m})", f"succeed(c0, q0, m{m})")]
    recording = record_run(walked("take(c0, q0)", *labels, consumers=1, messages=8))
    far = [
        {**event, **{name: event[name] + (event[name] > 3) * 9_000 for name in ("offset", "next") if name in event}}
        for event in recording.events
    ]
    assert of_events(recording.header, recording.events, tmp_path).mismatches == ()
    (mismatch, *_) = of_events(recording.header, far, tmp_path).mismatches
    assert mismatch.why == "the low-water mark is 4"  # far below the position: with a gap the mark stays at the gap


def test_the_command_prints_the_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = record_run(walked(*ONE, consumers=1))
    trace, told = tmp_path / "run.jsonl", tmp_path / "answer.json"
    write_jsonl(trace, recording.header, recording.events)
    with pytest.raises(SystemExit) as done:
        main(["conform", str(trace), "--json", str(told)])
    assert done.value.code == 0
    assert "HOLDS: 14 of 15 events followed, in 1 queues; 0 model mismatches" in capsys.readouterr().out
    assert json.loads(told.read_text())["passed_over"] == {
        "heartbeat: the model of one queue has nothing to say of it": 1
    }
    wrong = [{**event, "next": 2} if event["kind"] == "removed" else event for event in recording.events]
    write_jsonl(trace, recording.header, wrong)
    with pytest.raises(SystemExit) as done:
        main(["conform", str(trace)])
    assert done.value.code == 1
    assert "MODEL MISMATCH" in capsys.readouterr().out
    with pytest.raises(SystemExit) as done:
        main(["conform", str(tmp_path / "none")])
    assert done.value.code == 3


@pytest.mark.parametrize(("later", "wrong"), [(0, []), (100, ["the in-memory offset is 0"])])
def test_an_answer_finds_the_window_empty_before_it_is_told_what_left(
    later: int, wrong: list[str], tmp_path: Path
) -> None:
    # FI-3: the thread that pulls sees that the last message has left, and is recorded before the one that took it out.
    read = (
        "assign c0 offset=0 epoch=1 time=1000",
        "pull c0 offset=0 epoch=1 time=1001",
        "pull_result c0 result=found offset=0 next=1 min=0 max=1 count=1 epoch=1 time=1002",
        "pull c0 offset=1 epoch=1 time=1003",
        "deliver c0 offset=0 count=1 epoch=1 time=1004",
        "result c0 result=ok offset=0 epoch=1 time=1005",
        "pull_result c0 result=no_matched_message offset=1 next=2 min=0 max=2 count=0 epoch=1 time=1006",
        "commit_memory c0 offset=2 time=1006",
        f"removed c0 offset=0 next=1 epoch=1 time={1006 + later}",
        f"commit_memory c0 offset=2 time={1006 + later}",
        f"pull c0 offset=2 epoch=1 time={1006 + later}",
        f"commit c0 offset=2 path=piggyback time={1006 + later}",
    )
    assert whys(of_lines(tmp_path, *read)) == wrong


def test_a_listener_commits_by_hand_in_one_call_and_has_it_done_in_another(tmp_path: Path) -> None:
    # OR-7: ``setAutoCommit`` is of one call.
    def call(offset: int, result: str) -> list[str]:
        return [f"deliver c0 offset={offset} count=1 epoch=1", f"result c0 result={result} offset={offset} epoch=1"]

    begins = ["lock c0 result=ok", "assign c0 offset=0 epoch=1", "pull c0 offset=0 epoch=1"]
    begins += ["pull_result c0 result=found offset=0 next=2 min=0 max=2 count=2 epoch=1"]
    first, second = "removed c0 offset=0 next=1 epoch=1", "removed c0 offset=1 next=2 epoch=1"

    def wrong(*lines: str) -> list[str]:
        return whys(of_lines(tmp_path, *begins, *lines, listener="orderly"))

    assert wrong(*call(0, "ok"), first, *call(1, "commit"), second) == []
    assert wrong(*call(0, "ok"), *call(1, "commit"), first.replace("next=1", "next=2"), second) == []
    assert wrong(*call(0, "suspend"), first, *call(1, "commit"), second) == ["the batch has not succeeded"]


@pytest.mark.parametrize(
    ("members", "tries", "wrong"),
    [
        ({"max_attempts": 1}, 2, []),
        ({"max_attempts": 1}, 1, ["the batch has not succeeded"]),
        ({"max_attempts": 2, "lowest_max_attempts": 1}, 2, []),
        ({"max_attempts": 2, "lowest_max_attempts": 1}, 3, []),
        ({"max_attempts": -1, "lowest_max_attempts": 1}, 2, []),
    ],
)
def test_a_batch_is_given_up_at_the_maximum_of_its_member(
    members: dict[str, int], tries: int, wrong: list[str], tmp_path: Path
) -> None:
    begins = ["lock c0 result=ok", "assign c0 offset=0 epoch=1", "pull c0 offset=0 epoch=1"]
    begins += ["pull_result c0 result=found offset=0 next=2 min=0 max=2 count=2 epoch=1"]

    def called(offset: int, attempt: int, result: str) -> list[str]:
        return [
            f"deliver c0 offset={offset} attempt={attempt} count=1 epoch=1",
            f"result c0 offset={offset} attempt={attempt} result={result} epoch=1",
        ]

    def whys_of(*lines: str) -> list[str]:
        return whys(of_lines(tmp_path, *begins, *failed, *lines, listener="orderly", **members))

    failed = [line for attempt in range(tries) for line in called(0, attempt, "suspend")]
    failed.append(f"send_back c0 offset=0 attempt={tries - 1} path=fallback result=ok")
    assert whys_of("removed c0 offset=0 next=1 epoch=1", "commit_memory c0 offset=1") == wrong
    # OR-8: without autoCommit, a batch that was given up stays until the next commit.
    both = ["removed c0 offset=0 next=2 epoch=1", "removed c0 offset=1 next=2 epoch=1", "commit_memory c0 offset=2"]
    assert (whys_of(*called(1, 0, "commit"), *both) == []) is (wrong == [])


def test_orderly_members_may_differ_in_the_size_of_their_calls(tmp_path: Path) -> None:
    def call(client: str, *offsets: int, ended: str) -> list[str]:
        called = [f"deliver {client} offset={m} next={offsets[-1] + 1} count={len(offsets)} epoch=1" for m in offsets]
        return [*called, *(f"result {client} result={ended} offset={m} epoch=1" for m in offsets)]

    def has(client: str, begin: int) -> list[str]:
        own = (
            f"lock {client} result=ok",
            f"assign {client} offset={begin} epoch=1",
            f"pull {client} offset={begin} epoch=1",
        )
        return [*own, f"pull_result {client} result=found offset={begin} next=4 min=0 max=4 count={4 - begin} epoch=1"]

    left = ["removed c0 offset=0 next=2 epoch=1", "removed c0 offset=1 next=2 epoch=1", "commit_memory c0 offset=2"]
    left += ["revoke c0 epoch=1 path=removal", "commit c0 offset=2 path=removal", "unlock c0"]
    first, second = call("c1", 2, ended="ok"), call("c1", 3, ended="ok")
    lines = [*has("c0", 0), *call("c0", 0, 1, ended="ok"), *left, *has("c1", 2), *first]
    lines += ["removed c1 offset=2 next=3 epoch=1", "commit_memory c1 offset=3", *second]
    answer = of_lines(tmp_path, *lines, listener="orderly")
    assert (whys(answer), answer.followed) == ([], len(lines))
    alone = [*has("c0", 0), *call("c0", 0, 1, ended="suspend"), *call("c0", 0, ended="ok")]
    assert whys(of_lines(tmp_path, *alone, listener="orderly")) == ["the batch has 2 messages"]


def test_an_orderly_window_without_a_stored_offset_begins_where_the_queue_ends_at_its_second_query(
    tmp_path: Path,
) -> None:
    # PL-11: one message came between the query when the queue was taken and that of the first pull with the lock.
    missing = "offset_query c0 result=none"
    begins = ["lock c0 result=ok", missing, "assign c0 offset=0 epoch=1"]

    def wrong(*lines: str) -> list[str]:
        return whys(of_lines(tmp_path, *begins, *lines, listener="orderly"))

    reads = ["pull c0 offset=1 epoch=1", "pull_result c0 result=found offset=1 next=2 min=0 max=2 count=1 epoch=1"]
    assert wrong(missing, *reads, "pull c0 offset=2 epoch=1") == []
    assert wrong(missing, *reads, "pull c0 offset=3 epoch=1") == ["the next pull of the window starts at 2"]
    assert wrong(*reads) == ["the next pull of the window starts at 0"]


def test_messages_that_come_late_to_a_dropped_window_leave_the_offset_as_it_is(tmp_path: Path) -> None:
    """PL-24: the window is taken back below where it was left, and its last request is answered only then."""

    def consumed(m: int, *, mark: int, epoch: int) -> list[str]:
        told = (f"deliver c0 offset={m}", f"result c0 offset={m} result=ok", f"removed c0 offset={m} next={mark}")
        return [*(f"{line} epoch={epoch}" for line in told), f"commit_memory c0 offset={mark}"]

    lines = [
        *("assign c0 offset=0 epoch=1", "pull c0 offset=0 epoch=1"),
        *("pull_result c0 result=found offset=0 next=2 count=2 epoch=1", "pull c0 offset=2 epoch=1"),
        *(*consumed(1, mark=0, epoch=1), *consumed(0, mark=2, epoch=1), "revoke c0 epoch=1 path=removal"),
        *("offset_query c0 result=missing", "assign c0 offset=0 epoch=2"),
        "pull_result c0 result=found offset=2 next=3 count=1 epoch=1",
        *("pull c0 offset=0 epoch=2", "pull_result c0 result=found offset=0 next=3 count=3 epoch=2"),
        *consumed(0, mark=1, epoch=2),
    ]
    answer = of_lines(tmp_path, *lines)
    assert whys(answer) == []
    assert answer.followed == len(lines)


def test_a_broadcasting_consumer_that_starts_again_in_its_process_keeps_its_place(tmp_path: Path) -> None:
    """EN-7: processes of a host have one client id, and each its window; only who has ended is taken the place of."""

    def reads(process: int, begin: int, end: int) -> list[str]:
        of = f"epoch=0 incarnation={process}"
        return [
            *(f"client_start c0 incarnation={process}", f"assign c0 offset={begin} {of}") * (begin == 0),
            f"pull c0 offset={begin} {of}",
            f"pull_result c0 result=found offset={begin} next={end} count={end - begin} {of}",
        ]

    stopped = ["unregister c0 incarnation=0", "client_stop c0 incarnation=0"]
    lines = [*reads(0, 0, 1), *stopped, *reads(0, 0, 2), *reads(1, 0, 2), *reads(0, 2, 3)]
    answer = of_lines(tmp_path, *lines, mode="broadcasting")
    assert (whys(answer), answer.passed_over) == ([], {})


def test_orderly_processes_with_one_client_id_have_one_lock(tmp_path: Path) -> None:
    """A1: brokers grant locks to client ids, so both processes have it; one that starts after the other is alone."""

    def has(process: int) -> list[str]:
        of = f"epoch=0 incarnation={process}"
        return [f"lock c0 result=ok {of}", f"assign c0 offset=0 {of}", f"pull c0 offset=0 {of}"]

    stopped = ["unregister c0 incarnation=0", "client_stop c0 incarnation=0"]
    found = "pull_result c0 result=found offset=0 next=1 count=1 epoch=0 incarnation=0"
    both = of_lines(tmp_path, *has(0), *has(1), found, *stopped, listener="orderly")
    assert (both.mismatch_count, both.queues) == (0, 0)
    assert both.why.endswith("two processes had one client id, to which brokers grant locks")
    given_up = ["revoke c0 path=shutdown epoch=0 incarnation=0", "unlock c0 incarnation=0"]
    later = of_lines(tmp_path, *has(0), stopped[0], *given_up, stopped[1], *has(1), listener="orderly")
    assert (whys(later), later.queues) == ([], 1)


def test_queues_of_a_static_topic_are_not_followed(tmp_path: Path) -> None:
    """Brokers call them otherwise, and what is sent back is of theirs."""
    lines = [
        "assign c0 offset=0 epoch=0",
        "pull c0 offset=0 epoch=0",
        "pull_result c0 result=found offset=0 next=1 count=1 epoch=0",
        "deliver c0 offset=0 count=1 epoch=0",
        "result c0 offset=0 result=later epoch=0",
        "removed c0 offset=0 next=1 epoch=0",
    ]
    assert whys(of_lines(tmp_path, *lines)) == ["the message has failed, and was not sent back"]
    answer = of_lines(tmp_path, *(f"{line} broker=__syslo__global__" for line in lines))
    assert (answer.mismatch_count, answer.queues) == (0, 0)
    assert answer.why.endswith("its topic is static, and brokers call its queues otherwise")


def test_the_one_worker_of_an_orderly_queue_writes_what_it_has_just_removed(tmp_path: Path) -> None:
    lines = (
        *("lock c0 result=ok", "assign c0 offset=0 epoch=0", "pull c0 offset=0 epoch=0"),
        "pull_result c0 result=found offset=0 next=2 count=2 epoch=0",
        *("deliver c0 offset=0 count=1 epoch=0", "result c0 offset=0 result=ok epoch=0"),
        *("removed c0 offset=0 next=1 epoch=0", "commit_memory c0 offset=1"),
        *("deliver c0 offset=1 count=1 epoch=0", "result c0 offset=1 result=ok epoch=0"),
        "removed c0 offset=1 next=2 epoch=0",
    )
    assert whys(of_lines(tmp_path, *lines, "commit_memory c0 offset=2", listener="orderly")) == []
    behind = "commit_memory c0 offset=1"
    assert whys(of_lines(tmp_path, *lines, behind, listener="orderly")) == ["the in-memory offset is 2"]
    assert whys(of_lines(tmp_path, *lines[1:], behind)) == []  # another worker may be late


@pytest.mark.parametrize(("passed", "wrong"), [(35, []), (5, ["the window may not pull now"])])
def test_a_worker_whose_lock_has_expired_is_refused_without_unlocking_the_window(
    passed: int, wrong: list[str], tmp_path: Path
) -> None:
    lines = (
        *("lock c0 result=ok", "assign c0 offset=0 epoch=0", "broker_start -"),
        *["route c1"] * passed,  # a second each
        *("lock c1 result=ok", "lock c0 result=failed", "pull c0 offset=0 epoch=0"),
    )
    told = whys(of_lines(tmp_path, *lines, listener="orderly"))
    assert [why.partition(":")[0] for why in told] == wrong
