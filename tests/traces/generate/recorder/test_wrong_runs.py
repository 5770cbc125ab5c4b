"""Counterexamples of known bugs: the trace of each shows a claim violated, or it is said why no trace could."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketproof.checkers.catalogue import default_rows
from rocketproof.checkers.mutants import MachineMutant, Trials, entries
from rocketproof.checkers.run import Run
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.traces.generate.recorder import record_run

from .judged import AGAIN_AND_AGAIN, continued, judged, violated
from .told import walked

SHOWN = {
    "A1": "one-process-for-each-client-id",
    "A2": "same-subscriptions",
    "A3": "same-subscriptions",
    "A3-rolling": "same-subscriptions",
    "A7": "every-queue-gets-an-owner",
    "A7-still-pulled": "same-subscriptions",
    "A8": "every-queue-gets-an-owner",
    "A9": "every-queue-gets-an-owner",
    "A10": "no-flapping",
    "A11": "allocation-as-the-strategy-says",
    "B1": "offset-never-back-without-cause",
    "B2": "offset-never-back-without-cause",
    "B3": "steps-follow-each-other",
    "B4": "offset-never-back-without-cause",
    "B7": "offset-never-past-unfinished",
    "B7-broadcast": "offset-never-past-unfinished",
    "B8": "every-queue-moves",
    "B10": "every-queue-moves",
    "B10-broadcast": "every-queue-moves",
    "B8-busy": "nothing-skipped",
    "B9": "nothing-skipped",
    "C2": "only-failed-messages-are-sent-back",
    "C5": "every-duplicate-has-a-cause",
    "D1": "failed-message-comes-again",
    "D2": "dead-letter-exactly-at-the-maximum",
    "D3": "every-copy-has-a-cause",
    "D3-one-less": "dead-letter-exactly-at-the-maximum",
    "D3-orderly": "level-as-the-count-says",
    "D7": "only-failed-messages-are-sent-back",
    "D8": "every-queue-moves",
    "E1": "no-flapping",
    "E3-orderly": "orderly-one-listener",
    "E6": "orderly-in-order",
    "E7": "every-queue-moves",
    "F1": "every-queue-moves",
    "F2": "only-failed-messages-are-sent-back",
    "F3": "every-copy-has-a-cause",
    "F7": "every-queue-moves",
    "G4": "illegal-offset-is-corrected",
    "G5-sent-back": "every-queue-moves",
    "H1": "delivered-when-due",
    "H2": "every-copy-has-a-cause",
    "H3": "every-copy-has-a-cause",
    "H5": "every-copy-has-a-cause",
}
"""Mutant → the claim that its trace violates."""

NOT_SHOWN = {
    "A1-broadcast": "two broadcasting processes of a host have one client id by default, and are two members (OF-11)",
    "A3-hash": "events have no tags, so nobody sees that a message was not asked for",
    "A4": "events have no tags, so a pull that was answered with the filter of before looks like any other",
    "A4-version-zero": "as A4",
    "A12": "what nobody knows of is missed by nobody: messages would have to be stored in the new queue",
    "A13": "as A12; a trace with messages in it shows every-queue-is-readable",
    "B6": "there is no event for a topic that is deleted and created again",
    "C3": "a copy beside the original may come from a drop between the check and the send-back, which is right",
    "D3-at-maximum": "a copy that counts from 0 again looks like one that a second attempt has sent without its count",
    "D5": "traces identify a message by its unique key, which survives",
    "D6": "a fallback ignores the level that was asked for in a right cluster too",
    "D9": "permissions of topics are in no event",
    "D11": "a request that fails and a fallback that works are right, each for itself",
    "E6-insert": "the counter of a window is in no event; that the queue stands still is, see E7 and F1",
    "F4": "a call counts as hung after 30 minutes, since the consume timeout is looked for every 15 (PQ-9)",
    "G1": "a group counts as known two rounds of rebalance after its first commit, and the run is shorter",
    "G3": "a process that cannot start says nothing",
    "H4": "a replica that takes over may repeat deliveries of the last seconds in a right cluster too",
}
"""Mutant → why its counterexample is a right trace."""

AT_REST = {"A1-broadcast": {"every-queue-moves"}}
"""Mutant → what its trace violates only as the model rests: a process writes its file no more where another one of its
client id has written the same into it."""

SLOW = {"D2", "D8", "F3", "H2", "H3", "H5", "D3", "D3-one-less", "D7", "F2", "H1", "A1", "A7", "A10", "E1"}

UNRECORDED = ("orderly_lock", "long_polling", "client_instance")
"""Machines whose runs cannot be recorded."""

ENTRIES = {
    entry.id: entry
    for entry in entries(default_rows(), [])
    if isinstance(entry, MachineMutant) and entry.machine.name not in UNRECORDED
}


def counterexample(mutant: str) -> Run:
    """The run in which the bug breaks the property that must notice it."""
    entry = ENTRIES[mutant]
    machine = entry.machine.mutated(mutant)
    (result,) = Trials().check(machine, entry.mutant.wrong_constants, [entry.killer], stop_early=True)
    assert isinstance(result.run, Run)
    return result.run


def found(mutant: str, folder: Path) -> set[str]:
    """Claims violated by the counterexample, when it has gone on for a while: what is wrong may show later."""
    run = counterexample(mutant)
    if run.loop is not None:
        return violated(judged(record_run(run), folder))
    machine = PlainMachine(run.lowered)
    longer = [continued(machine, run, seed, steps=12) for seed in range(1, 4)]
    longer.append(continued(machine, run, 0, steps=200, to_rest=True))
    return set().union(*(violated(judged(record_run(item), folder)) for item in longer))


def test_every_mutant_is_shown_or_it_is_said_why_not() -> None:
    assert sorted(ENTRIES) == sorted([*SHOWN, *NOT_SHOWN])


@pytest.mark.parametrize(
    "mutant", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in SHOWN]
)
def test_the_trace_of_a_bug_violates_a_claim(mutant: str, tmp_path: Path) -> None:
    assert SHOWN[mutant] in found(mutant, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", NOT_SHOWN)
def test_what_no_trace_can_show_is_not_taken_for_something_else(mutant: str, tmp_path: Path) -> None:
    aside = AGAIN_AND_AGAIN - {"every-queue-moves"} | {"overlaps-are-short"} | AT_REST.get(mutant, set())
    assert found(mutant, tmp_path) - aside == set()


def test_a_window_that_nobody_knows_of_delivers_everything_again(tmp_path: Path) -> None:
    """OF-31: what 4.9.8 makes of a queue that is taken during a reset, and what no cause of the list explains."""
    steps = ["order_reset", "begin_reset(c0)", "take(c0, q0)", "end_reset(c0)", "take(c0, q0)", "pull(c0, q0)"]
    steps += ["begin(c0, q0, m0)", "succeed(c0, q0, m0)", "ghost_handles(c0, q0, m0)"]
    run = walked(*steps, messages=1, consumers=1, resets=1, version="4.9.8")
    result = judged(record_run(run), tmp_path)
    # More is delivered than its pulls have brought, which is a misstep besides.
    assert violated(result) == {"every-duplicate-has-a-cause", "steps-follow-each-other"}
    assert result.verdict("every-duplicate-has-a-cause").violated == 1
