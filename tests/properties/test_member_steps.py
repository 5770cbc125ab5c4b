"""What steps may do to a group: everything claimed is so, in exactly so many states."""

from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import judge
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.checkers.suite import claim_row, run_suite
from rocketproof.properties.member_steps import claims

STATES = {
    "consumers=2 running=1 queues=2 watch_steps=1 leaves=2 crashes=1": 517,
    "consumers=2 running=2 queues=2 watch_steps=1 brokers=2 cuts=1 broker_restarts=1": 1336,
    "consumers=2 running=2 queues=2 watch_steps=1 brokers=2 cuts=1 leaves=1": 1140,
    "consumers=2 running=2 queues=2 watch_steps=1 orderly=1 leaves=1 crashes=1": 179,
    "consumers=2 running=2 queues=2 watch_steps=1 pauses=1 crashes=1": 46,
    "consumers=2 running=2 queues=2 watch_steps=1 orderly=1 broker_restarts=1": 57,
    "consumers=2 running=1 queues=2 watch_steps=1 steps=fine leaves=1": 1093,
    "consumers=3 running=3 queues=3 watch_steps=1 steps=fine crashes=1": 564,
    "consumers=2 running=1 queues=2 watch_steps=1 orderly=1 steps=fine": 162,
    "consumers=2 running=1 queues=2 watch_steps=1 repairs=1": 150,
    "consumers=2 running=2 queues=2 watch_steps=1 route_changes=1 crashes=1": 132,
    "consumers=2 running=1 queues=2 watch_steps=1 periodic=0 leaves=1 crashes=1": 336,
    "running=0 consumers=1 queues=1 messages=1 watch_steps=1 leaves=1": 39,
    "running=0 consumers=1 queues=1 messages=1 watch_steps=1 unsubscribes=1": 25,
    "running=0 consumers=1 queues=2 messages=1 watch_steps=1 brokers=2 cuts=1 broker_restarts=1": 3788,
}


def test_everything_claimed_is_so() -> None:
    outcomes = list(run_suite([claim_row(claim) for claim in claims()]))
    assert [outcome.row.id for outcome in outcomes if not outcome.as_expected] == []
    assert {outcome.row.configuration: outcome.result.figures["states"] for outcome in outcomes} == STATES
    assert len({outcome.row.id for outcome in outcomes}) == 23


def test_a_pass_that_takes_before_it_drops_is_noticed() -> None:
    (early,) = [item for item in all_changes("rebalance") if item.id == "rebalance.take_queue.1"]
    rows = [claim_row(claim) for claim in claims() if claim.property.id == "a-pass-drops-before-it-takes"]
    (outcome,) = judge([early], settings(rows), Theorems([]))
    assert (early.told, outcome.row) == ("without the guard s.at[c] == Pass.DROPPED", "a-pass-drops-before-it-takes")
