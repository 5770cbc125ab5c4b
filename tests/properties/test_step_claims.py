"""What steps may do to windows, offsets and clients: everything claimed is so, in exactly so many states."""

from rocketproof.checkers.suite import claim_row, run_suite
from rocketproof.properties.step_claims import claims

ALONE = "consumers=1 watch_changes=1"
OLD = "version=4.9.8 truncations=1 corrections=steps held_updates=1"
COPIES = "messages=3 consumers=1 queues=2 retry_room=2 copies=2 failures=2"
LEVELS = "levels=3 watch_changes=1"
STATES = {
    f"messages=2 {ALONE} pull_batch=2 batch=2 moves=1 failures=1": 67,
    f"messages=2 {ALONE} pulls=fine moves=1": 730,
    f"messages=2 {ALONE} pulls=fine removals=1": 139,
    f"messages=2 {ALONE} pulls=fine moves=1 broker_restarts=1": 3059,
    f"messages=1 {ALONE} pulls=fine truncations=1": 40,
    f"messages=2 {ALONE} removals=1 moves=1": 196,
    f"messages=2 {ALONE} retentions=1 corrections=steps": 80,
    f"messages=1 {ALONE} pulls=fine moves=1 crashes=1 restarts=1": 334,
    f"messages=1 {ALONE} pulls=fine leaves=1 crashes=1": 88,
    f"messages=1 {ALONE} pulls=fine pauses=1 leaves=1": 131,
    "messages=1 consumers=2 watch_changes=1 moves=1 leaves=1": 1391,
    f"messages=1 {ALONE} leaves=1 moves=1 lost_commits=1": 121,
    f"messages=1 {ALONE} leaves=1 failures=1": 42,
    "messages=1 consumers=2 watch_changes=1 moves=1 causes=1": 391,
    f"messages=1 {ALONE} moves=1 broker_restarts=1": 63,
    f"messages=2 {ALONE} version=4.9.8 failed_queries=1 moves=1": 110,
    f"messages=1 {ALONE} slaves=1 fail_overs=1": 36,
    f"messages=2 {ALONE} pulls=fine piggyback=1 moves=1": 1067,
    f"messages=2 {ALONE} late_commits=1 moves=1": 674,
    f"messages=2 {ALONE} truncations=1 corrections=steps moves=1": 202,
    f"messages=1 {ALONE} {OLD} late_commits=1 moves=1": 1089,
    f"messages=1 {ALONE} resets=1 corrections=steps piggyback=1 moves=1": 110,
    f"messages=1 {ALONE} resets=1 corrections=steps pulls=fine": 251,
    f"messages=1 {ALONE} version=4.9.8 resets=1 pulls=fine moves=1": 1560,
    f"messages=1 {ALONE} queues=2 group=scaled arriving=1 head_in_memory=1 starts=steps": 473,
    f"messages=1 {ALONE} group=new starts=steps crashes=1 restarts=1": 14,
    f"messages=2 {ALONE} expression=C tags=C,Aa moves=1": 49,
    f"messages=2 {ALONE} expression=Aa tags=BB,Aa moves=1": 20,
    "messages=1 consumers=2 watch_changes=1 expression=Aa tags=Aa,C other_expression=C": 104,
    "messages=1 consumers=2 watch_changes=1 expression=Aa tags=Aa,C next_expression=C crashes=1 restarts=1": 1189,
    "messages=2 consumers=1 queues=2 retry_room=1 copies=1 failures=2 watch_changes=1 refusals=1": 114,
    "messages=2 consumers=1 queues=2 retry_room=1 copies=1 failures=1 watch_changes=1 retry_queues=0": 26,
    "messages=2 consumers=1 queues=2 retry_room=1 copies=1 failures=1 watch_changes=1 expiries=1 crashes=1": 430,
    "messages=3 consumers=1 queues=2 retry_room=1 copies=1 failures=1 watch_changes=1 expiries=1": 1746,
    "messages=2 consumers=1 queues=2 retry_room=1 copies=1 failures=1 expiries=1": 130,
    f"messages=2 {ALONE} mode=broadcasting moves=1": 98,
    f"messages=2 {ALONE} mode=broadcasting expiries=1": 44,
    "mode=broadcasting messages=1 consumers=1 torn_writes=1": 19,
    f"messages=1 {ALONE} mode=broadcasting crashes=1 restarts=1 leaves=1 pauses=1": 356,
    f"messages=1 {ALONE} mode=broadcasting crashes=1 restarts=1 lost_files=1": 34,
    f"messages=1 {ALONE} mode=broadcasting restarts=2 torn_writes=2": 369,
    f"messages=1 {ALONE} moves=1 orphans=1 failures=1 crashes=1": 114,
    "messages=2 consumers=1 queues=2 retry_room=1 copies=1 failures=1 watch_changes=1 moves=1 orphans=1": 461,
    f"messages=1 {ALONE} version=4.9.8 resets=1 held_updates=1 crashes=1": 270,
    f"messages=1 {ALONE} moves=1 held_updates=1 crashes=1": 90,
    f"messages=2 {ALONE} pull_batch=2 batch=2 moves=1 hangs=1 crashes=1": 46,
    f"{COPIES} attempts=2 {LEVELS}": 106,
    f"messages=4 consumers=1 queues=2 retry_room=2 copies=2 failures=2 attempts=1 {LEVELS} pull_batch=2": 948,
    "messages=2 consumers=1 queues=2 retry_room=1 copies=1 failures=1 watch_changes=1 listener_level=1": 54,
    "messages=2 consumers=1 queues=2 retry_room=1 copies=1 failures=1 listener_level=1": 30,
    "messages=4 consumers=1 queues=2 retry_room=2 copies=3 failures=3 attempts=2": 1984,
    f"{COPIES} attempts=1 {LEVELS} version=4.9.8 refused=2": 107,
    f"{COPIES} attempts=2 {LEVELS} unsure_puts=1": 787,
    f"{COPIES} attempts=2 {LEVELS} unreadable=1": 122,
    f"{COPIES} attempts=1 {LEVELS} broker_crashes=1": 847,
    f"{COPIES} attempts=2 {LEVELS} broker_stops=1": 800,
    "messages=2 consumers=1 queues=2 retry_room=1 copies=1 failures=1 levels=3 broker_stops=1": 126,
    "messages=2 consumers=1 queues=2 retry_room=1 copies=1 failures=1 levels=3 promotions=1": 242,
    f"{COPIES} attempts=2 {LEVELS} power_losses=1 watch_retries=1": 407,
    f"{COPIES} attempts=1 {LEVELS} promotions=1": 1054,
    f"{COPIES} attempts=1 {LEVELS} refused=1 lost_replies=1 repeated_fallbacks=1": 516,
}


def test_everything_claimed_is_so() -> None:
    outcomes = list(run_suite([claim_row(claim) for claim in claims()]))
    assert [outcome.row.id for outcome in outcomes if not outcome.as_expected] == []
    assert {outcome.row.configuration: outcome.result.figures["states"] for outcome in outcomes} == STATES
    assert len({outcome.row.id for outcome in outcomes}) == 78
