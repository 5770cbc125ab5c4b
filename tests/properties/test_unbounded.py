"""Safe delivery for every size: what is proven, that a search finds the lemmas true, and what breaks the proofs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from rocketproof.checkers.explore import explore
from rocketproof.checkers.prove import prove, prove_inductive, prove_together
from rocketproof.checkers.result import Result
from rocketproof.model.concurrently import handle, returns
from rocketproof.model.consume_queue import Message
from rocketproof.model.consumption import consumption
from rocketproof.model.kernel import UNBOUNDED, IntLike, Machine, State, all_of, not_, same
from rocketproof.model.membership import Consumer
from rocketproof.model.process_queue import Stage, put_end, take_out
from rocketproof.model.route import Queue
from rocketproof.properties.claim import Claim
from rocketproof.properties.delivery import at_least_once, mark, nothing_skipped, offset_safe
from rocketproof.properties.property import Property
from rocketproof.properties.unbounded import (
    ANY_FAULTS,
    LEMMAS,
    ORDERLY_LEMMAS,
    PROOFS,
    Proof,
    claims,
    closed,
    exact_mark,
    in_log,
    mark_kept,
    memory_safe,
    pulled,
    starts_safe,
)
from rocketproof.properties.verdict import Verdict

RLIMIT = 300_000
"""Z3 resource units for one question: enough for every proof about concurrent listeners, and soon used up."""

SAFE = (offset_safe, at_least_once, nothing_skipped, starts_safe)


# --- what is proven -----------------------------------------------------------------------------------------------


def verdicts(proof: Proof) -> tuple[set[Verdict], str]:
    configuration = consumption.configure(**proof.constants)
    results = prove_together(configuration, proof.properties, lemmas=proof.lemmas)
    assert [result.property for result in results] == [property.id for property in proof.properties]
    assert {result.run for result in results} == {None}
    return {result.verdict for result in results}, results[0].bounds


@pytest.mark.slow
def test_proven_for_all_clients_queues_messages_and_faults() -> None:
    found, bounds = verdicts(PROOFS[0])
    assert found == {Verdict.HOLDS}
    assert bounds.startswith("all runs, for all messages ≥ 1 and consumers ≥ 1 and queues ≥ 1, any number of ")
    assert bounds.endswith("; inductive together with 5 lemmas")
    named = bounds.partition("any number of ")[2].partition(";")[0].split(", ")
    assert sorted(named) == sorted(name for name, value in ANY_FAULTS.items() if value == UNBOUNDED)
    assert len(named) == 13


@pytest.mark.parametrize("proof", PROOFS[1:], ids=lambda proof: proof.name)
def test_proven_for_all_clients_and_messages_of_a_queue(proof: Proof) -> None:
    found, bounds = verdicts(proof)
    assert found == {Verdict.HOLDS}
    assert bounds.startswith("all runs, for all messages ≥ 1 and consumers ≥ 1, any number of moves, ")
    assert bounds.endswith(f"; inductive together with {len(proof.lemmas)} lemmas")


def test_the_claims_are_those_of_the_proofs() -> None:
    *proven, searched = claims()
    assert len(proven) == 8 + 5 + 5 * 4
    assert all(isinstance(claim, Claim) and claim.expected is Verdict.HOLDS and claim.lemmas for claim in proven)
    assert not searched.lemmas


# --- a search agrees ----------------------------------------------------------------------------------------------

FOUND = [
    ({"messages": 2, "failures": 1, "refusals": 1, "moves": 1, "crashes": 1, "watch_marks": 1}, 23_571),
    ({"messages": 1, "late_commits": 1, "lost_commits": 1, "broker_restarts": 1, "leaves": 1}, 1_752),
    ({"messages": 3, "batch": 2, "pull_batch": 3, "failures": 1, "refusals": 1, "moves": 1, "consumers": 1}, 432),
    ({"messages": 2, "consumers": 1, "pulls": "fine", "piggyback": 1, "held_updates": 1, "moves": 1}, 1_805),
    ({"messages": 2, "version": "4.9.8", "crashes": 1, "restarts": 1, "lost_pulls": 1}, 4_816),
    ({"messages": 2, "group": "new", "from_where": "FIRST_OFFSET", "moves": 1}, 1_217),
]


@pytest.mark.parametrize(("constants", "states"), FOUND, ids=lambda item: str(item)[:60])
def test_every_lemma_holds_in_every_state_of_small_configurations(constants: dict[str, int | str], states: int) -> None:
    marks = (mark, exact_mark) if constants.keys().isdisjoint(("pulls", "batch")) else ()
    watched = (mark_kept,) if "watch_marks" in constants else ()
    found = explore(
        consumption.configure(**constants),
        (*LEMMAS, *SAFE[:-1], in_log, *marks, *watched),
        idle_actions_allowed=True,
    )
    assert {result.verdict for result in found.results} == {Verdict.HOLDS}
    assert found.states == states


def test_every_orderly_lemma_holds_in_every_state_of_a_small_configuration() -> None:
    constants: dict[str, int | str] = {"clock": "stopped", "messages": 2, "moves": 1, "failures": 1, "late_commits": 1}
    found = explore(consumption.configure(listener="orderly", **constants), ORDERLY_LEMMAS, idle_actions_allowed=True)
    assert {result.verdict for result in found.results} == {Verdict.HOLDS}
    assert found.states == 669


# --- what breaks the proofs ---------------------------------------------------------------------------------------


def with_text(name: str, **texts: Callable[..., Any]) -> Machine:
    """The consumption machine with other texts in the place of definitions."""
    assert set(texts) <= set(consumption.definitions)
    return dataclasses.replace(consumption, name=name, replacements={**consumption.replacements, **texts})


def pull_position(s: State, c: IntLike, q: IntLike, finished: object) -> IntLike:
    """The spike's mutant: the offset follows the pull position."""
    return s.next_offset[c, q]


def lowest_waiting(s: State, c: IntLike, q: IntLike, finished: Callable[[IntLike], Any]) -> IntLike:
    """Messages that a listener has are not looked at."""
    return s.least(
        Message,
        lambda m: all_of(s.stage[c, q, m] == Stage.WAITING, not_(finished(m))),
        default=put_end(s, c, q),
    )


def after_the_last_put(s: State, c: IntLike, q: IntLike) -> IntLike:
    """A commit carries the pull position."""
    return s.next_offset[c, q]


def end_of_the_log(s: State, c: IntLike, q: IntLike) -> IntLike:
    """A new window starts at the end, whatever is stored."""
    return s.log_end[q] if not isinstance(s.messages, int) else s.messages


FEW: dict[str, int | str] = {
    "consumers": UNBOUNDED,
    "messages": UNBOUNDED,
    "moves": UNBOUNDED,
    "failures": UNBOUNDED,
    "refusals": UNBOUNDED,
}
SMALL: dict[str, int | str] = {"messages": 2, "consumers": 1, "moves": 1, "failures": 1, "refusals": 1}
FINE: dict[str, int | str] = {"pulls": "fine", "failures": 0, "refusals": 0}
ORDERLY: dict[str, int | str] = {
    "listener": "orderly",
    "clock": "stopped",
    "late_commits": 1,
    "failures": 0,
    "refusals": 0,
}
OLD: dict[str, int | str] = {"version": "4.9.8", "failed_queries": 1, "failures": 0, "refusals": 0}


def gaps(result: Result) -> set[str]:
    """The actions that are not shown to preserve a property, without their parameters."""
    firsts = [line.partition(" is not shown to ")[0] for line in result.explanation.splitlines()]
    return {first.partition("(")[0] for first in firsts if "messages=" not in first}


@pytest.mark.parametrize(
    ("machine", "constants", "property", "lemmas", "broken", "steps"),
    [
        (
            with_text("pull_position", low_water_mark=pull_position),
            {},
            offset_safe,
            LEMMAS,
            {"send_back", "succeed"},
            6,
        ),
        (with_text("waiting", low_water_mark=lowest_waiting), {}, offset_safe, LEMMAS, {"send_back", "succeed"}, 7),
        (with_text("put", to_commit=after_the_last_put), {}, starts_safe, LEMMAS, {"commit", "drop"}, 3),
        (with_text("late_start", start_offset=end_of_the_log), {}, at_least_once, LEMMAS, {"take"}, 1),
        (consumption.mutated("D1"), {}, at_least_once, LEMMAS, {"send_back_fails"}, 5),
        (consumption.mutated("B9"), FINE, offset_safe, LEMMAS, {"answer_stale"}, 10),
        (consumption.mutated("B7"), {**FINE, **ORDERLY}, offset_safe, ORDERLY_LEMMAS, {"answer_nothing", "remove"}, 13),
        (consumption, OLD, at_least_once, LEMMAS, {"query_fails"}, 1),
        (consumption, {**FINE, "lost_commits": 1}, exact_mark, LEMMAS, {"answer_stale"}, 13),
    ],
    ids=lambda item: item.name if isinstance(item, Machine) else "",
)
def test_a_wrong_text_cannot_be_proven_and_has_a_run(
    machine: Machine,
    constants: dict[str, int | str],
    property: Property,
    lemmas: tuple[Property, ...],
    broken: set[str],
    steps: int,
) -> None:
    unbounded = machine.configure(**{**FEW, **constants})
    rest = [lemma for lemma in lemmas if lemma is not property]
    limit = RLIMIT if lemmas is LEMMAS else 5 * RLIMIT
    result = prove_inductive(unbounded, property, lemmas=rest, rlimit=limit)
    assert (result.verdict, result.run) == (Verdict.UNKNOWN, None)
    assert gaps(result) >= broken  # a solver may give up on more
    found = explore(machine.configure(**{**SMALL, **constants}), [property], idle_actions_allowed=True)
    assert found.results[0].verdict is Verdict.VIOLATED
    assert found.results[0].run is not None
    assert len(found.results[0].run) == steps


def test_prove_itself_finds_the_run_of_a_wrong_text() -> None:
    configuration = consumption.mutated("D1").configure(**{**FEW, "moves": 0})
    result = prove(configuration, at_least_once, lemmas=LEMMAS, rlimit=RLIMIT)
    assert result.verdict is Verdict.VIOLATED
    assert result.bounds.startswith("counterexample of 5 steps, none shorter; found for consumption~D1(messages=1,")


def after_the_last_finished(s: State, c: Consumer, q: Queue, m: Message) -> None:
    """The offset is the one after the message that finished last, not the lowest unfinished one."""
    s.require(returns(s, c, q, m))
    handle(s, q, lambda o: same(o, m))
    take_out(s, c, q, lambda o: same(o, m))
    s.memory[c, q] = m + 1


@pytest.mark.parametrize("property", [mark_kept, exact_mark, offset_safe], ids=lambda property: property.id)
def test_an_offset_that_follows_the_last_finished_message_breaks_every_claim_about_it(property: Property) -> None:
    succeed = dataclasses.replace(consumption.actions["succeed"], function=after_the_last_finished)
    machine = dataclasses.replace(consumption, name="last", actions={**consumption.actions, "succeed": succeed})
    watched: dict[str, int | str] = {"moves": 0, "failures": 0, "refusals": 0, "watch_marks": 1}
    result = prove_inductive(machine.configure(**{**FEW, **watched}), property, lemmas=LEMMAS, rlimit=RLIMIT)
    assert (result.verdict, gaps(result)) == (Verdict.UNKNOWN, {"succeed"})
    found = explore(machine.configure(**{**SMALL, **watched}), [property], idle_actions_allowed=True)
    assert found.results[0].verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("lemma", "broken"),
    [
        (closed, {"answer_nothing", "send_back", "take"}),
        (pulled, {"send_back", "succeed"}),
        (memory_safe, {"commit", "drop"}),
        (starts_safe, {"restart_offsets"}),
    ],
    ids=lambda item: item.id if isinstance(item, Property) else "",
)
def test_no_proof_without_this_lemma(lemma: Property, broken: set[str]) -> None:
    constants: dict[str, int | str] = {**FEW, "pulls": "fine", "broker_restarts": UNBOUNDED}
    rest = [item for item in LEMMAS if item is not lemma]
    result = prove_inductive(consumption.configure(**constants), at_least_once, lemmas=rest, rlimit=RLIMIT)
    assert result.verdict is Verdict.UNKNOWN
    assert gaps(result) >= broken  # a solver may give up on more
