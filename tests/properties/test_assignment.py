"""Every claim about the assignment machine: its verdict, the exact size of its state space, its shortest run."""

from collections import Counter

import pytest

from rocketproof.checkers.catalogue import default_rows
from rocketproof.checkers.suite import Outcome, run_suite
from rocketproof.properties.verdict import Verdict

from .told import sizes, told

# Property, configuration, states, transitions (None where proven for every number of queues), and steps of the run, its
# loop included (None where there is no run).
EXPECTED: list[tuple[str, str, int | None, int | None, int | None]] = [
    ("one-queue-one-consumer", "consumers=2 running=1", 9, 20, 3),
    ("every-queue-owned", "consumers=2 running=1", 9, 20, 3),
    ("join-overlap", "consumers=2 running=1", 9, 20, 3),
    ("join-gap", "consumers=2 running=1", 9, 20, 3),
    (
        "partition-lemma",
        "consumers=3 running=2 brokers=2 leaves=1 crashes=1 broker_restarts=1 cuts=1 strategy=AVG",
        592200,
        5528032,
        None,
    ),
    (
        "owns-its-share",
        "consumers=3 running=2 brokers=2 leaves=1 crashes=1 broker_restarts=1 cuts=1 strategy=AVG",
        592200,
        5528032,
        None,
    ),
    (
        "no-orphan-once-agreed",
        "consumers=3 running=2 brokers=2 leaves=1 crashes=1 broker_restarts=1 cuts=1 strategy=AVG",
        592200,
        5528032,
        None,
    ),
    (
        "partition-lemma",
        "consumers=3 running=2 brokers=2 leaves=1 crashes=1 broker_restarts=1 cuts=1 strategy=AVG_BY_CIRCLE",
        592200,
        5528032,
        None,
    ),
    (
        "partition-lemma",
        "consumers=3 running=2 brokers=2 leaves=1 crashes=1 broker_restarts=1 cuts=1 strategy=CONFIG",
        592200,
        5528032,
        None,
    ),
    (
        "partition-lemma",
        "consumers=3 running=2 brokers=2 leaves=1 crashes=1 broker_restarts=1 cuts=1 strategy=MACHINE_ROOM",
        592200,
        5528032,
        None,
    ),
    (
        "partition-lemma",
        "consumers=3 running=2 brokers=2 leaves=1 crashes=1 broker_restarts=1 cuts=1 strategy=MACHINE_ROOM_NEARBY",
        592200,
        5528032,
        None,
    ),
    (
        "partition-lemma",
        "consumers=3 running=2 brokers=2 leaves=1 crashes=1 broker_restarts=1 cuts=1 strategy=CONSISTENT_HASH",
        592200,
        5528032,
        None,
    ),
    (
        "partition-lemma",
        "consumers=3 running=0 queues=unbounded brokers=2 leaves=1 crashes=1 broker_restarts=1 cuts=1",
        None,
        None,
        None,
    ),
    ("partition-lemma", "consumers=3 running=2 brokers=2 leaves=1 crashes=1 steps=fine", 197648, 1089313, None),
    ("owns-its-share", "consumers=3 running=2 brokers=2 leaves=1 crashes=1 steps=fine", 197648, 1089313, None),
    ("partition-lemma", "consumers=2 running=2 queues=5 route_changes=1 crashes=1", 70, 171, None),
    ("written-queues-owned", "consumers=2 running=2 queues=5 route_changes=1 crashes=1", 70, 171, None),
    ("partition-lemma", "consumers=3 running=2 orderly=1 crashes=1 leaves=1", 4395, 17039, None),
    ("owns-its-share", "consumers=3 running=2 orderly=1 crashes=1 leaves=1", 4395, 17039, None),
    ("orderly-lock-excludes", "consumers=3 running=2 orderly=1 crashes=1 leaves=1", 4395, 17039, None),
    ("orderly-gap", "consumers=3 running=2 orderly=1 crashes=1 leaves=1", 4395, 17039, 3),
    ("owns-its-share", "consumers=2 running=2 broker_restarts=1", 17, 43, None),
    ("restart-overlap", "consumers=2 running=2 broker_restarts=1", 17, 43, 3),
    ("restart-gap", "consumers=2 running=2 broker_restarts=1", 17, 43, 3),
    ("owns-its-share", "consumers=2 running=2 unsubscribes=1", 5, 10, None),
    ("partition-lemma", "consumers=2 running=2 unsubscribes=1", 5, 10, 2),
    ("owns-its-share", "consumers=2 running=1 repairs=1", 92, 278, None),
    ("written-queues-owned", "consumers=1 running=0 unread_queues=1", 4, 4, 3),
    ("partition-lemma", "consumers=3 running=1 same_id=1", 135, 453, 4),
    ("same-id-never-heals", "consumers=3 running=1 same_id=1", 135, 453, None),
    ("same-id-overlap", "consumers=3 running=1 same_id=1", 135, 453, 4),
    ("same-id-gap", "consumers=3 running=1 same_id=1", 135, 453, 4),
    ("partition-lemma", "consumers=2 running=1 last_strategy=AVG_BY_CIRCLE", 9, 20, 4),
    ("mixed-overlap", "consumers=2 running=1 last_strategy=AVG_BY_CIRCLE", 9, 20, 4),
    ("mixed-gap", "consumers=2 running=1 last_strategy=AVG_BY_CIRCLE", 9, 20, 4),
    ("partition-lemma", "consumers=2 running=1 unsubscribed=1", 4, 6, 3),
    ("unsubscribed-gap", "consumers=2 running=1 unsubscribed=1", 4, 6, 3),
    ("no-orphan-once-agreed", "consumers=3 running=1 same_id=1 strategy=CONSISTENT_HASH", 135, 453, None),
    (
        "broadcasting-client-gets-every-queue",
        "consumers=2 running=0 queues=2 mode=broadcasting crashes=1 route_changes=1",
        298,
        1235,
        None,
    ),
    (
        "client-that-does-not-run-has-nothing",
        "consumers=2 running=0 queues=2 mode=broadcasting crashes=1 route_changes=1",
        298,
        1235,
        None,
    ),
    (
        "orderly-lock-excludes",
        "consumers=3 running=2 orderly=1 crashes=1 leaves=1 broker_restarts=1",
        115323,
        562332,
        3,
    ),
    ("orderly-lock-excludes", "consumers=3 running=2 orderly=1 crashes=1 leaves=1 pauses=1", 35786, 157514, 6),
    ("leave-gap", "consumers=2 running=2 leaves=1", 11, 20, 3),
    ("leave-overlap", "consumers=2 running=2 leaves=1", 11, 20, 3),
    ("death-gap", "consumers=2 running=2 crashes=1", 7, 14, 1),
    ("brokers-overlap", "consumers=2 running=2 brokers=2 cuts=1", 36, 168, 3),
    ("brokers-gap", "consumers=2 running=2 brokers=2 cuts=1", 36, 168, 4),
    ("route-overlap", "consumers=2 running=2 queues=5 route_changes=1", 10, 27, 3),
    ("route-gap", "consumers=2 running=2 queues=5 route_changes=1", 10, 27, 3),
    ("paused-owner", "consumers=2 running=2 pauses=1", 4, 10, 1),
    ("disagreement-ends", "consumers=2 running=1 brokers=2", 21, 99, None),
    ("disagreement-ends", "consumers=2 running=2 crashes=1 leaves=1", 38, 88, None),
    ("disagreement-ends", "consumers=2 running=2 broker_restarts=1", 17, 43, None),
    ("disagreement-ends", "consumers=2 running=2 queues=5 route_changes=1", 10, 27, None),
    ("disagreement-ends", "consumers=2 running=2 brokers=2 cuts=1 heals=1", 36, 168, None),
    ("disagreement-ends", "consumers=2 running=2 unsubscribes=1", 5, 10, None),
    ("disagreement-ends", "consumers=2 running=1 repairs=1", 92, 278, None),
    ("disagreement-ends", "consumers=3 running=2 brokers=1 leaves=0 crashes=1 steps=fine", 1506, 5377, None),
    ("disagreement-ends", "consumers=2 running=1 periodic=0", 9, 11, None),
    ("disagreement-ends", "consumers=2 running=1 periodic=0 lost_notices=1", 21, 28, 4),
    ("disagreement-ends", "consumers=2 running=2 crashes=1 periodic=0", 9, 8, 2),
    ("disagreement-ends", "consumers=2 running=1 periodic=0 crashes=1", 29, 59, 5),
    ("disagreement-ends", "consumers=2 running=2 brokers=2 cuts=1 heals=0", 13, 48, 5),
    (
        "overlap-heals",
        "consumers=3 running=2 brokers=2 leaves=1 crashes=1 broker_restarts=1 cuts=1",
        592200,
        5528032,
        None,
    ),
    ("abandoned-lock-is-free-again", "consumers=2 running=2 queues=2 orderly=1 crashes=1", 15, 32, None),
]


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    # What is claimed of steps has a test of its own.
    rows = [row for row in default_rows() if row.machine == "assignment" and "watch_steps" not in row.constants]
    return list(run_suite(rows))


def test_every_claim_is_as_expected(outcomes: list[Outcome]) -> None:
    assert [outcome.row.id for outcome in outcomes if not outcome.as_expected] == []
    assert Counter(outcome.result.verdict for outcome in outcomes) == {Verdict.HOLDS: 53, Verdict.VIOLATED: 13}


def test_sizes_and_shortest_runs_are_exact(outcomes: list[Outcome]) -> None:
    assert sizes(outcome for outcome in outcomes if outcome.row.id != "every-action-happens") == EXPECTED


def test_the_lemma_is_proven_for_every_number_of_queues(outcomes: list[Outcome]) -> None:
    proven = [outcome.result for outcome in outcomes if outcome.result.engine == "prove"]
    # Which lemmas Z3 wants is not the same after whatever else a process has proven.
    assert [result.bounds.split(" together")[0] for result in proven] == ["all runs, for all queues ≥ 1; inductive"]


def test_every_action_happens_in_the_suite(outcomes: list[Outcome]) -> None:
    assert outcomes[-1].row.id == "every-action-happens"
    assert outcomes[-1].result.bounds.startswith("27 actions")


def test_two_owners_after_a_join_are_told_in_three_steps(outcomes: list[Outcome]) -> None:
    assert (
        told(outcomes, "one-queue-one-consumer", "consumers=2 running=1")
        == """\
start:
    life: c0=UP
    members: b0 c0
    owns: c0 q0, c0 q1, c0 q2, c0 q3
    view: c0 c0
1. c1 starts
     life[c1]: NEW → UP
2. the heartbeat of c1 reaches b0
     members[b0, c1]: false → true
3. c1 rebalances with the member list of b0
     owns[c1, q2]: false → true
     owns[c1, q3]: false → true
     view[c1, c0]: false → true
     view[c1, c1]: false → true"""
    )


def test_a_lost_notification_without_the_timer_is_never_repaired(outcomes: list[Outcome]) -> None:
    text = told(outcomes, "disagreement-ends", "consumers=2 running=1 periodic=0 lost_notices=1")
    assert "the notification to c0 is lost" in text
    assert text.endswith("and nothing that must happen can: the run stays here for ever.")


def test_a_lasting_cut_makes_views_flap_for_ever(outcomes: list[Outcome]) -> None:
    text = told(outcomes, "disagreement-ends", "consumers=2 running=2 brokers=2 cuts=1 heals=0")
    assert "from here on the run repeats for ever:" in text
