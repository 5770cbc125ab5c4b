"""What steps may do to orderly clients: everything claimed is so, in exactly so many states."""

from rocketproof.checkers.suite import claim_row, run_suite
from rocketproof.properties.orderly_steps import claims

COARSE = "listener=orderly client_window=1 broker_window=2 call=1 unlock_delay=1"
STILL = "listener=orderly clock=stopped consumers=1"
STATES = {
    f"{COARSE} watch_steps=1 messages=1 consumers=1 moves=1 leaves=2": 527,
    f"{COARSE} watch_steps=1 messages=1 consumers=1 watch_changes=1 moves=1 version=4.9.8": 417,
    f"{COARSE} watch_steps=1 messages=1 consumers=1 moves=1 crashes=1 failures=1": 717,
    f"{COARSE} watch_steps=1 messages=1 moves=1": 6820,
    f"{COARSE} watch_steps=1 messages=1 crashes=1": 2703,
    f"{COARSE} watch_steps=1 messages=1 leaves=1": 5191,
    f"{COARSE} watch_steps=1 messages=1 consumers=1 watch_changes=1 moves=1 orphans=1 forced_unlock=1": 254,
    f"{COARSE} watch_steps=1 messages=1 consumers=1 moves=1 reallocations=1 leaves=1": 828,
    f"{COARSE} watch_steps=1 messages=1 consumers=1 moves=1 renewals=certain": 153,
    f"{STILL} watch_steps=1 messages=2 give_up=attempts attempts=2 failures=2 refusals=1": 174,
    f"{STILL} watch_steps=1 messages=2 give_up=attempts auto_commit=0 failures=3": 795,
    f"{STILL} messages=3 batch=2": 49,
    f"{COARSE} messages=1 consumers=1 moves=1 orphans=1 forced_unlock=1": 96,
    f"{STILL} messages=1 late_commits=1": 11,
    f"{COARSE} watch_steps=1 messages=1 consumers=1 watch_changes=1 moves=1 late_locks=1": 520,
    f"{COARSE} watch_steps=1 messages=1 consumers=1 watch_changes=1 moves=1 late_commits=1": 452,
    f"{COARSE} watch_steps=1 messages=1 consumers=1 watch_changes=1 pauses=1 moves=1": 794,
    f"{STILL} watch_steps=1 watch_changes=1 messages=1 give_up=attempts attempts=1 failures=3 refusals=1": 47,
    f"{STILL} watch_steps=1 watch_changes=1 messages=2 auto_commit=0 failures=1 moves=1": 764,
    f"{STILL} watch_steps=1 messages=1 poison=1 give_up=attempts attempts=1 auto_commit=0": 17,
    f"{STILL} watch_steps=1 watch_changes=1 messages=2 poison=1 give_up=attempts attempts=1 auto_commit=0": 49,
    f"{STILL} watch_steps=1 messages=2 moves=1 version=4.9.8": 287,
    f"{STILL} watch_steps=1 watch_changes=1 messages=3 batch=2": 128,
    f"{COARSE} watch_steps=1 messages=1 moves=1 failures=1 forced_unlock=1": 14667,
    f"{COARSE} watch_steps=1 messages=1 late_locks=1": 2957,
    f"{COARSE} watch_steps=1 messages=1 watch_changes=1 late_commits=1": 7089,
    "listener=orderly mode=broadcasting messages=1 consumers=1 watch_changes=1 moves=1 leaves=1 orphans=1": 119,
    f"{STILL} watch_steps=1 watch_changes=1 messages=2 expression=Aa tags=Aa,C moves=1": 123,
}


def test_everything_claimed_is_so() -> None:
    outcomes = list(run_suite([claim_row(claim) for claim in claims()]))
    assert [outcome.row.id for outcome in outcomes if not outcome.as_expected] == []
    assert {outcome.row.configuration: outcome.result.figures["states"] for outcome in outcomes} == STATES
    assert len({outcome.row.id for outcome in outcomes}) == 46
