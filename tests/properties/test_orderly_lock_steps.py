"""What steps may do to a lock: everything claimed is so, in exactly so many states."""

from rocketproof.checkers.exploration import Limits
from rocketproof.checkers.explore import explore
from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import judge
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.checkers.suite import claim_row, run_suite
from rocketproof.model.orderly_lock import orderly_lock
from rocketproof.properties.orderly_lock_steps import claims, given_back
from rocketproof.properties.verdict import Verdict

FORCED = "watch_steps=1 client_window=1 broker_window=1 batch=1 unlock_delay=1 force=1"
STATES = {
    "watch_steps=1 consumers=1 pauses=1": 519,
    "watch_steps=1 consumers=1 pauses=1 leaves=1": 641,
    "watch_steps=1 consumers=1 version=4.9.8 pauses=1": 1856,
    "watch_steps=1 consumers=1 renewals=in-flight answer=1 pauses=1": 6575,
    "watch_steps=1 consumers=1 renewals=certain pauses=1": 940,
    "watch_steps=1 consumers=1 force=1 pauses=1": 740,
    "watch_steps=1 consumers=1 leaves=1 await_listeners=0": 324,
    "watch_steps=1 consumers=1 version=4.9.8 leaves=1": 778,
    "watch_steps=1 consumers=1 renewals=in-flight answer=1 leaves=1": 1865,
    "watch_steps=1 consumers=1 renewals=certain leaves=1": 394,
    "watch_steps=1 consumers=1 renewals=certain leaves=1 await_listeners=0": 608,
    "watch_steps=1 consumers=1 force=1 leaves=1": 272,
    "watch_steps=1 client_window=1 broker_window=2 batch=1 crashes=1": 1289,
    "watch_steps=1 client_window=1 broker_window=2 batch=1 leaves=1": 1911,
    "watch_steps=1 consumers=1 client_window=1 broker_window=2 batch=1 lock_losses=1": 160,
    "watch_steps=1 consumers=1 renewals=in-flight answer=1 crashes=1": 2245,
    "watch_steps=1 client_window=1 broker_window=2 batch=1 renewals=in-flight drops=0": 2243,
    FORCED: 923,
    f"{FORCED} renewals=certain renewal=1 lock_losses=1": 13574,
    "consumers=1 renewals=in-flight drops=0": 186,
}


def test_everything_claimed_is_so() -> None:
    outcomes = list(run_suite([claim_row(claim) for claim in claims()]))
    assert [outcome.row.id for outcome in outcomes if not outcome.as_expected] == []
    assert {outcome.row.configuration: outcome.result.figures["states"] for outcome in outcomes} == STATES
    assert len({outcome.row.id for outcome in outcomes}) == 22


def test_a_broker_that_forgets_takes_locks_without_a_word() -> None:
    forgetful = orderly_lock.configure(watch_steps=1, consumers=1, lock_losses=1)
    (result,) = explore(forgetful, [given_back], idle_actions_allowed=True).results
    assert (result.verdict, None if result.run is None else len(result.run)) == (Verdict.VIOLATED, 2)


def test_a_search_that_is_cut_short_says_unknown() -> None:
    limits = Limits(states=50)
    found = explore(orderly_lock.configure(watch_steps=1), [given_back], limits=limits, idle_actions_allowed=True)
    assert found.results[0].verdict is Verdict.UNKNOWN


def test_a_lock_that_a_restarted_broker_invents_is_noticed() -> None:
    (wrong,) = [item for item in all_changes("lock") if item.id == "lock.forget.4"]
    rows = [claim_row(claim) for claim in claims() if "lock_losses" in claim.constants]
    (outcome,) = judge([wrong], settings(rows), Theorems([]))
    assert (wrong.told, outcome.row) == (
        "1 for 0 in ite(forgotten(q), 0, s.holder[q])",
        "lock-is-renewed-by-its-holder",
    )
