"""A process of which little is recorded breaks no rule by that: it is held only to what it was seen to record.

The systematic part, right recordings from which each kind is gone, of all recorders or of one, is ``unsaid_kinds`` and
``lesser_recorders`` of ``benchmarks/changes.py``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import changes
from benchmarks.recordings import Event, Recording, recorder_of, recording
from benchmarks.trust import Tally, answers_of, chances, judge
from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.format.coverage import Coverage, evidence_mask
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.generate.simulation import Plan, simulate
from rocketproof.traces.io import open_trace

from ..monitors.queues.queue_events import assign, broker_restart, heartbeat, revoke, start
from ..monitors.queues.queue_events import deliver as delivery
from ..monitors.queues.queue_events import result as ended
from ..monitors.queues.queue_events import send_back as sent_back
from ..recordings import write

SAMPLE = "graceful-shutdown-slow-listener-5.3.3"


def checked(folder: Path, whole: Recording, lost: str, of: str, *, said: bool) -> CheckResult:
    """What is said of a recording in which one process recorded no events of a kind; the header may say it did."""
    kept: list[Event] = [
        event for event in whole.events if not (event["kind"] == lost and recorder_of(event) == f"127.0.0.1@{of}#0")
    ]
    header = {name: value for name, value in whole.header.items() if said or name != "evidence"}
    path = folder / "trace.jsonl"
    path.write_text(replace(whole, header=header, events=kept).text(), "utf-8")
    return check_locally(open_trace([path]), settings=Settings())


@pytest.mark.parametrize(
    ("kind", "claim", "said"),
    [
        ("assign", "nothing-without-its-cause", False),
        ("assign", "nothing-without-its-cause", True),
        ("client_start", "processes-act-in-order", False),
        ("deliver", "steps-follow-each-other", True),
        ("offset_query", "steps-follow-each-other", True),
        ("pull_result", "steps-follow-each-other", True),
        ("unregister", "processes-act-in-order", False),
    ],
)
def test_what_a_process_does_not_record_puts_findings_in_doubt(
    kind: str, claim: str, said: bool, tmp_path: Path
) -> None:
    found = checked(tmp_path, recording(SAMPLE), kind, "one", said=said).verdict(claim)
    assert (found.verdict, found.violated) == (Verdict.NOT_OBSERVABLE, 0)
    assert found.doubtful > 0
    assert found.why == f"127.0.0.1@one recorded no {kind} events, without which it cannot be told"


def test_that_there_are_none_may_be_said(tmp_path: Path) -> None:
    whole = recording(SAMPLE)
    found = checked(tmp_path, whole, "unregister", "one", said=True).verdict("processes-act-in-order")
    assert (found.verdict, found.violated) == (Verdict.VIOLATED, 1)


def test_what_others_recorded_does_not_help_a_process() -> None:
    seen, told = evidence_mask({Kind.PULL}), evidence_mask({Kind.REVOKE})
    coverage = Coverage(
        recorded=seen | told,
        begin=0,
        end=1,
        processes={("g", "one", 0): seen, ("g", "two", 0): told, ("", "two", 1): told},
        told={("g", "two", 0): seen, ("g", "two", 1): seen},
    )
    assert coverage.unseen("g", ("one", 0), seen, told) == told
    assert coverage.unseen("g", ("two", 0), seen, told) == seen  # what is said is enough for the second only
    assert coverage.unseen("g", ("two", 1), told, seen) == 0


TRIED_AGAIN = [
    broker_restart(0),
    start(0, "one"),
    start(0, "two"),
    assign(1_000, "one", 0),
    {**assign(1_000, "two", 5), "queue": 1},
    delivery(2_000, "one", 0),
    {**delivery(2_000, "two", 5), "queue": 1},
    ended(2_100, "one", 0, "later"),
    {**ended(2_100, "two", 5, "later"), "queue": 1},
    {**sent_back(2_110, "two", 5), "queue": 1},
    delivery(7_110, "one", 0),
]
"""A client tries again what failed, as one does that cannot send back; its send-backs are not recorded."""
EVIDENCE = sorted({*Kind} - {Kind.PULL, Kind.PULL_RESULT})


@pytest.mark.parametrize("said", [False, True])
def test_a_client_whose_send_backs_are_not_recorded_may_try_again_itself(said: bool, tmp_path: Path) -> None:
    header: dict[str, Any] = {"rocketproof_trace": 1, "complete": True} | ({"evidence": EVIDENCE} if said else {})
    path = write(tmp_path / "trace.jsonl", header, *TRIED_AGAIN)
    found = check_locally(open_trace([path]), settings=Settings()).verdict("every-duplicate-has-a-cause")
    assert (found.verdict, found.violated) == ((Verdict.VIOLATED, 1) if said else (Verdict.NOT_OBSERVABLE, 0))
    assert found.why == ("" if said else "one recorded no send_back events, without which it cannot be told")


@pytest.mark.parametrize(
    ("members", "told"), [(2, []), (3, ["G had 3 members as one divided queues, and 2 of them were recorded"])]
)
def test_a_pass_that_saw_more_members_than_were_recorded_leaves_a_hole(
    members: int, told: list[str], tmp_path: Path
) -> None:
    divided = {"time": 3_000, "kind": "rebalance", "client": "one", "group": "G", "topic": "T", "count": members}
    events = [assign(1_000, "one", 0), {**assign(1_000, "two", 5), "queue": 1}, divided]
    path = write(tmp_path / "trace.jsonl", {"rocketproof_trace": 1}, *events)
    holes = check_locally(open_trace([path]), settings=Settings()).coverage.holes
    assert [hole.why for hole in holes if "members" in hole.why] == told


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """A cluster that runs for longer than all deadlines."""
    size: dict[str, Any] = {"messages": 400, "queues": 4, "consumers": 2, "seed": 1, "keys": True}
    made = simulate(Plan(out=tmp_path_factory.mktemp("made") / "out", format="jsonl", failure_rate=0.1, **size))
    return Recording.read(Path(made.trace))


@pytest.mark.parametrize(
    ("kinds", "who", "claim"),
    [
        (["assign"], "10.0.0.2@4712#0", "every-queue-gets-an-owner"),
        (["assign", "pull"], "10.0.0.2@4712#0", "every-queue-moves"),
        (["dead_letter"], "broker-b", "sent-back-message-comes-again"),
    ],
)
def test_what_others_may_have_done_unseen_is_in_doubt(
    simulated: Recording, kinds: list[str], who: str, claim: str, tmp_path: Path
) -> None:
    kept = [event for event in simulated.events if not (event["kind"] in kinds and recorder_of(event) == who)]
    header = {name: value for name, value in simulated.header.items() if name != "evidence"}
    path = tmp_path / "trace.jsonl"
    path.write_text(replace(simulated, header=header, events=kept).text(), "utf-8")
    found = check_locally(open_trace([path]), settings=Settings()).verdict(claim)
    assert found.verdict is not Verdict.VIOLATED
    assert found.doubtful > 0


@pytest.mark.parametrize(
    "name",
    [
        "walked reset 0",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("failures-to-dead-letter-4.9.8", "broadcast-5.3.3")),
        pytest.param("simulated", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("change", [changes.unsaid_kinds, changes.lesser_recorders])
def test_no_rule_is_broken_by_what_is_not_recorded(simulated: Recording, name: str, change: changes.Change) -> None:
    whole = simulated if name == "simulated" else recording(name)
    before, tally = answers_of({"trace.jsonl": whole.text()}), Tally()
    for changed in change(whole, chances(whole, change)):
        judge(changed, before, tally, name)
    assert tally.runs > 20
    assert tally.violated == []


WITHOUT_OWNER = [
    start(0, "one"),
    start(0, "two"),
    *(heartbeat(time, "two", "T=*@1") for time in range(500, 121_000, 20_000)),
    assign(1_000, "one", 0),
    revoke(20_000, "one"),
    assign(120_000, "two", 0),
]
TWICE_STARTED = [start(0, "one"), heartbeat(5, "one", "T=*@1"), broker_restart(10), broker_restart(1_000)]
CRASH, RUNS = {Kind.BROKER_CRASH}, {Kind.BROKER_START, Kind.BROKER_STOP, Kind.BROKER_CRASH}


@pytest.mark.parametrize(
    ("events", "claim", "lacking", "why"),
    [
        (WITHOUT_OWNER, "every-queue-gets-an-owner", RUNS, "broker_start and no broker_stop and no broker_crash"),
        (TWICE_STARTED, "processes-act-in-order", CRASH, "broker_crash"),
    ],
)
def test_what_nobody_records_and_may_excuse_it_is_named(
    events: list[Event], claim: str, lacking: set[Kind], why: str, tmp_path: Path
) -> None:
    header: dict[str, Any] = {"rocketproof_trace": 1, "evidence": sorted({*Kind} - lacking), "complete": True}
    path = write(tmp_path / "trace.jsonl", header, *sorted(events, key=lambda event: event["time"]))
    found = check_locally(open_trace([path]), settings=Settings()).verdict(claim)
    assert (found.verdict, found.violated, found.doubtful) == (Verdict.NOT_OBSERVABLE, 0, 1)
    assert found.why == (
        f"no {why} events, which may explain it; starts and ends of brokers, in their logs would settle it"
    )
