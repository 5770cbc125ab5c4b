"""Proofs: every theorem holds, every mutated rule is caught in its smallest case, and giving up is not holding."""

import dataclasses
from typing import Any

import pytest

from rocketproof.checkers.theorems import prove_theorem
from rocketproof.model.allocation import averagely_start, machine_room_owns, ring_precedes
from rocketproof.model.kernel import BoolLike, IntLike, all_of, any_of, ite, maximum, minimum, not_
from rocketproof.properties.allocation import (
    ALLOCATION_THEOREMS,
    AVERAGELY,
    CIRCLE,
    MACHINE_ROOM,
    balanced,
    config_partition,
    contiguous,
    machine_room_partition,
    nearby_partition,
    partition,
    share_size,
)
from rocketproof.properties.allocation_inputs import INPUT_THEOREMS, NAIVE_THEOREMS
from rocketproof.properties.consistent_hash import (
    RING_THEOREMS,
    ring_is_never_missed,
    ring_joiner_only_takes,
    ring_owner_is_one,
)
from rocketproof.properties.theorem import Theorem
from rocketproof.properties.verdict import Verdict

PROVEN = (*ALLOCATION_THEOREMS, *RING_THEOREMS, *INPUT_THEOREMS)


def named(theorem: Theorem) -> str:
    return theorem.id


def test_there_are_no_two_theorems_of_one_name() -> None:
    ids = [theorem.id for theorem in (*PROVEN, *NAIVE_THEOREMS)]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("theorem", PROVEN, ids=named)
def test_holds_for_every_number(theorem: Theorem) -> None:
    result = prove_theorem(theorem)
    assert (result.verdict, result.bounds, result.explanation) == (Verdict.HOLDS, theorem.covers, "")


NAIVE_CASES = {
    "averagely-start-in-the-list": "with 0 queues and 2 consumers, the share of consumer 1 starts at 1",
    "machine-room-takes-every-queue": "with 1 queue and 1 consumer, in the given rooms no queue: "
    "queue 0 goes to nobody",
    "config-takes-offered-queues-only": "queue 0 is in the list of a client but not offered: it is taken all the same",
}


@pytest.mark.parametrize("theorem", NAIVE_THEOREMS, ids=named)
def test_naive_claims_are_refuted(theorem: Theorem) -> None:
    result = prove_theorem(theorem)
    assert (result.verdict, result.explanation) == (Verdict.VIOLATED, NAIVE_CASES[theorem.id])


def off_by_one(queue: IntLike, index: IntLike, queues: IntLike, consumers: IntLike) -> BoolLike:
    """AVG that forgets to skip the longer shares before its own."""
    size = ite(queues <= consumers, 1, queues // consumers + ite(index < queues % consumers, 1, 0))
    return all_of(index * size <= queue, queue < index * size + size, queue < queues)


def all_longer(queue: IntLike, index: IntLike, queues: IntLike, consumers: IntLike) -> BoolLike:
    """AVG with rounded-up shares: a partition, but the last consumers may get much less."""
    size = (queues + consumers - 1) // consumers
    return all_of(index * size <= queue, queue < (index + 1) * size)


def underflow(index: IntLike, queues: IntLike, consumers: IntLike) -> IntLike:
    """The size of an AVG share in unsigned arithmetic: behind the last queue, what is left wraps round to a lot."""
    size = ite(queues <= consumers, 1, queues // consumers + ite(index < queues % consumers, 1, 0))
    left = queues - averagely_start(index, queues, consumers)
    return maximum(0, minimum(size, ite(left < 0, left + 2**32, left)))


def wrong_list(
    queue: IntLike, eligible: BoolLike, place: IntLike, index: IntLike, eligible_queues: IntLike, consumers: IntLike
) -> BoolLike:
    """MACHINE_ROOM that counts among the eligible queues and then takes from the list of all."""
    return machine_room_owns(queue, index, eligible_queues, consumers)


def near_or_all(own_room: IntLike, room: IntLike, consumers_in_room: IntLike) -> IntLike:
    """NEARBY that shares every other room among all, also one that has consumers."""
    return ite(room == own_room, 1, 2)


def without_wrap(point: IntLike, hash: IntLike, other: IntLike) -> BoolLike:
    """A ring that does not close."""
    return hash < other


MUTANTS: list[tuple[Theorem, dict[str, Any], str]] = [
    (
        partition(dataclasses.replace(AVERAGELY, owns=off_by_one)),
        {"queues": 3, "consumers": 2, "queue": 1},
        "with 3 queues and 2 consumers, queue 1 goes to consumers 0 and 1",
    ),
    (
        share_size(dataclasses.replace(AVERAGELY, count=underflow)),
        {"queues": 0, "consumers": 2, "index": 1},
        "with 0 queues and 2 consumers, consumer 1 gets 0 queues, the formula says 1",
    ),
    (
        balanced(dataclasses.replace(AVERAGELY, owns=all_longer)),
        {"queues": 4, "consumers": 3, "first": 0, "second": 2},
        "with 4 queues and 3 consumers, consumer 0 gets 2 queues and consumer 2 gets 0",
    ),
    (
        contiguous(CIRCLE),
        {"queues": 3, "consumers": 2, "first": 0, "queue": 1, "last": 2, "index": 0},
        "with 3 queues and 2 consumers, consumer 0 gets queues 0 and 2 but not 1",
    ),
    (
        contiguous(MACHINE_ROOM),
        {"queues": 3, "consumers": 2, "first": 0, "queue": 1, "last": 2, "index": 0},
        "with 3 queues and 2 consumers, consumer 0 gets queues 0 and 2 but not 1",
    ),
    (
        machine_room_partition(wrong_list),
        {
            "queues": 2,
            "consumers": 1,
            "queue": 0,
            "place": 0,
            "eligible_queues": 1,
            "eligible": {(0,): False, (1,): True},
        },
        "with 2 queues and 1 consumer, in the given rooms queue 1: queue 0 goes to consumer 0",
    ),
    (
        config_partition(lambda listed, offered: all_of(listed, offered)),
        {"consumers": 1, "queue": 0, "listed": {(0, 0): True}, "offered": {(0,): False}},
        "queue 0, not offered, is in the lists of consumer 0 and goes to nobody",
    ),
]


@pytest.mark.parametrize(("theorem", "case", "told"), MUTANTS, ids=lambda value: getattr(value, "id", None))
def test_a_wrong_rule_fails_in_its_smallest_case(theorem: Theorem, case: dict[str, Any], told: str) -> None:
    result = prove_theorem(theorem)
    assert result.verdict is Verdict.VIOLATED
    assert result.explanation == told
    assert {name: result.figures["case"][name] for name in case} == case


def test_nearby_that_shares_a_room_with_consumers_fails() -> None:
    result = prove_theorem(nearby_partition(near_or_all))
    assert (result.verdict, result.figures["case"]["consumers"]) == (Verdict.VIOLATED, 2)
    assert result.explanation == (
        "a queue in room 0, consumers in rooms 0, 1; the inner strategy gives it, among the room, to nobody and, among "
        "all, to consumer 1; it goes to consumer 1"
    )


@pytest.mark.parametrize(
    ("theorem", "sizes"),
    [
        (ring_is_never_missed(slot=lambda before, nodes: before), {"nodes": 1, "before": 1}),
        (ring_is_never_missed(precedes=without_wrap), {"nodes": 2}),
        (ring_owner_is_one(precedes=lambda point, hash, other: not_(hash == other)), {"consumers": 2, "places": 2}),
        (ring_joiner_only_takes(precedes=lambda point, hash, other: hash != other), {"consumers": 3, "places": 2}),
    ],
    ids=["no-wrap-of-slots", "no-wrap", "no-order", "joiner-no-order"],
)
def test_a_ring_that_is_no_ring_fails(theorem: Theorem, sizes: dict[str, int]) -> None:
    result = prove_theorem(theorem)
    assert result.verdict is Verdict.VIOLATED
    assert {name: result.figures["case"][name] for name in sizes} == sizes


def test_the_order_of_a_ring_that_does_not_close_is_still_an_order() -> None:
    # Which of two walks is used does not matter for there being one owner, as long as it is one walk.
    assert prove_theorem(ring_owner_is_one(precedes=without_wrap)).verdict is Verdict.HOLDS
    assert ring_precedes(5, 6, 1) is True
    assert without_wrap(5, 6, 1) is False


def test_a_solver_that_gives_up_is_unknown() -> None:
    cubes = Theorem(
        id="cubes",
        statement="114 is no sum of three cubes (nobody knows).",
        sizes=(),
        claim=lambda x, y, z: not_(x * x * x + y * y * y + z * z * z == 114),
    )
    result = prove_theorem(cubes, work=20_000)
    assert result.verdict is Verdict.UNKNOWN
    assert result.explanation.startswith("the solver gave up: ")


def test_without_work_nothing_is_known() -> None:
    result = prove_theorem(partition(AVERAGELY), work=0)
    assert (result.verdict, result.explanation) == (
        Verdict.UNKNOWN,
        "the solver gave up: the limit of 0 Z3 resource units was hit",
    )
    assert result.figures == {"questions": 0, "work": 0}


def test_a_proof_about_nothing_is_unknown() -> None:
    empty = Theorem(
        id="empty",
        statement="",
        given=lambda queues, consumers: all_of(queues < consumers, consumers < queues),
        claim=lambda queues: queues < 0,
    )
    result = prove_theorem(empty)
    assert result.verdict is Verdict.UNKNOWN
    assert result.explanation.startswith("no case with queues + consumers up to 10 meets the assumption")


def test_a_wrong_witness_is_unknown_not_violated() -> None:
    result = prove_theorem(partition(dataclasses.replace(CIRCLE, owner=lambda queue, queues, consumers: 0)))
    assert result.verdict is Verdict.UNKNOWN
    assert "does not fail when it is computed with plain numbers" in result.explanation


def test_a_small_case_that_does_not_fail_again_is_unknown_not_violated() -> None:
    # A term quotient by a negative divisor is 0, which Python does not agree with.
    odd = Theorem(
        id="odd",
        statement="",
        sizes=("queues",),
        given=lambda queues, divisor: all_of(queues == 3, divisor == -1),
        claim=lambda queues, divisor: queues // divisor == -queues,
    )
    result = prove_theorem(odd)
    assert result.verdict is Verdict.UNKNOWN
    assert "does not fail when it is computed with plain numbers" in result.explanation


def test_a_failing_case_that_is_too_large_to_minimise_is_still_violated() -> None:
    many = Theorem(
        id="many", statement="", given=lambda queues, consumers: queues > 500, claim=lambda consumers: consumers < 700
    )
    result = prove_theorem(many)
    assert (result.verdict, result.bounds) == (Verdict.VIOLATED, "a case, not the smallest")
    assert result.figures["case"]["queues"] > 500
    assert result.figures["case"]["consumers"] >= 700


def test_a_case_too_large_to_be_computed_is_unknown_not_violated() -> None:
    huge = Theorem(id="huge", statement="", sizes=("queues",), claim=lambda queues: queues < 2**32)
    result = prove_theorem(huge)
    assert result.verdict is Verdict.UNKNOWN
    assert result.explanation == "the solver's counterexample is too large to be computed again with plain numbers"


def test_the_answer_is_the_same_again() -> None:
    theorem = partition(dataclasses.replace(AVERAGELY, owns=off_by_one))
    first, second = (prove_theorem(theorem) for _ in range(2))
    assert (first.explanation, first.figures) == (second.explanation, second.figures)


def test_disjunction_of_rules_is_two_owners() -> None:
    both = dataclasses.replace(
        CIRCLE, owns=lambda q, i, n, k: any_of(CIRCLE.owns(q, i, n, k), AVERAGELY.owns(q, i, n, k))
    )
    result = prove_theorem(partition(both))
    assert result.explanation == "with 3 queues and 2 consumers, queue 1 goes to consumers 0 and 1"
