"""What goes on around a lock: what holds, and in how many states it was looked for."""

from rocketproof.checkers.suite import claim_row, run_suite
from rocketproof.properties.orderly_lock_progress import claims


def test_everything_claimed_holds() -> None:
    outcomes = list(run_suite([claim_row(claim) for claim in claims()]))
    assert [outcome.row.id for outcome in outcomes if not outcome.as_expected] == []
    found = {(outcome.row.id, outcome.row.configuration): outcome.result.figures["states"] for outcome in outcomes}
    assert found["lock-request-ends", "consumers=1 renewals=in-flight answer=1"] == 498
    assert found["false-belief-ends", "renewals=certain lock_losses=1"] == 13289
    assert found["listeners-run-in-the-table", "consumers=1 version=4.9.8"] == 178
