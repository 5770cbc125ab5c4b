"""What exactly holds if the clients of a group do not allocate from the same input: theorems.

Claims that are false as stated are here too; those that need whole groups are in ``unequal_views``.
"""

from __future__ import annotations

import dataclasses

from ..model.allocation import averagely_owns, averagely_start, circle_owns, config_takes, machine_room_takes
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, ite, not_, same
from .allocation import Numbering, crowd, machine_room_partition, takers
from .theorem import Function, Relation, Theorem, exactly_one, exists, forall
from .unequal_views import GROUP_CLAIMS, GroupClaim

__all__ = [
    "GROUP_CLAIMS",
    "INPUT_THEOREMS",
    "NAIVE_THEOREMS",
    "GroupClaim",
    "any_common_order",
    "averagely_and_circle_agree",
    "duplicate_id",
    "own_id_absent",
]

# A strategy that divides by position has one owner for each position. The partition theorems of AVG, AVG_BY_CIRCLE and
# MACHINE_ROOM (among its eligible queues) say that these are such strategies.
_ANY_STRATEGY = "any strategy that divides by position, such as AVG, AVG_BY_CIRCLE, MACHINE_ROOM, whatever the numbers"
_BY_POSITION = ("RB-21", "RB-22", "RB-24")


def any_common_order() -> Theorem:
    """Lists need not be sorted, but all clients need the same order: positions in that order are divided."""

    def numbered(consumers: IntLike, there: Numbering, back: Numbering) -> BoolLike:
        return forall(0, consumers, lambda c: all_of(0 <= there(c), there(c) < consumers, same(back(there(c)), c)))

    return Theorem(
        id="any-common-order",
        statement="Lists that are unsorted, but in the same order for all clients, are divided as well as sorted ones.",
        sizes=("consumers",),
        symbols={"place_of": Function(), "client_at": Function()},
        given=lambda owner, place_of, client_at, consumers: all_of(
            0 <= owner,
            owner < consumers,
            numbered(consumers, place_of, client_at),
            numbered(consumers, client_at, place_of),
        ),
        claim=lambda owner, place_of, client_at, consumers: exactly_one(
            0, consumers, lambda client: same(place_of(client), owner), witness=client_at(owner)
        ),
        covers=_ANY_STRATEGY,
        rules=("RB-6", *_BY_POSITION),
    )


def duplicate_id() -> Theorem:
    """Two running clients with one id both take its first share; its second share has no owner (EN-2, RB-20)."""

    def takes(client: IntLike, owner: IntLike, first: IntLike, second: IntLike) -> BoolLike:
        return same(ite(same(client, second), first, client), owner)

    def claim(owner: IntLike, first: IntLike, second: IntLike, consumers: IntLike) -> BoolLike:
        twins = forall(
            0,
            consumers,
            lambda client: same(takes(client, owner, first, second), any_of(same(client, first), same(client, second))),
        )
        nobody = forall(0, consumers, lambda client: not_(takes(client, owner, first, second)))
        one = exactly_one(0, consumers, lambda client: takes(client, owner, first, second), witness=owner)
        return ite(same(owner, first), twins, ite(same(owner, second), nobody, one))

    return Theorem(
        id="duplicate-id-exactly",
        statement=(
            "When an id is listed twice, both clients own the share of its first position, nobody owns the "
            "share of the second, and every other queue has one owner."
        ),
        sizes=("consumers",),
        given=lambda owner, first, second, consumers: all_of(
            0 <= first, first < second, second < consumers, 0 <= owner, owner < consumers
        ),
        claim=claim,
        tells=lambda owner, first, second, consumers: (
            f"clients {first} and {second} of {consumers} with one id, a queue of share {owner} goes to "
            + takers(consumers, lambda client: takes(client, owner, first, second))
        ),
        covers=_ANY_STRATEGY,
        rules=("EN-2", "RB-20", *_BY_POSITION),
    )


def own_id_absent() -> Theorem:
    """A client that does not see itself drops all its queues; exactly these queues then have no owner (RB-20)."""

    def takes(client: IntLike, owner: IntLike, missing: IntLike) -> BoolLike:
        return all_of(not_(same(client, missing)), same(client, owner))

    def claim(owner: IntLike, missing: IntLike, consumers: IntLike) -> BoolLike:
        nobody = forall(0, consumers, lambda client: not_(takes(client, owner, missing)))
        one = exactly_one(0, consumers, lambda client: takes(client, owner, missing), witness=owner)
        return ite(same(owner, missing), nobody, one)

    return Theorem(
        id="own-id-absent-exactly",
        statement="When one client does not see its own id but the others do, exactly its share has no owner.",
        sizes=("consumers",),
        given=lambda owner, missing, consumers: all_of(
            0 <= missing, missing < consumers, 0 <= owner, owner < consumers
        ),
        claim=claim,
        tells=lambda owner, missing, consumers: (
            f"client {missing} of {consumers} does not see itself, a queue of share {owner} goes to "
            + takers(consumers, lambda client: takes(client, owner, missing))
        ),
        covers=_ANY_STRATEGY,
        rules=("RB-20", *_BY_POSITION),
    )


def averagely_and_circle_agree() -> Theorem:
    """AVG and AVG_BY_CIRCLE may be mixed only if they give the same answer."""

    def claim(queue: IntLike, index: IntLike, queues: IntLike, consumers: IntLike) -> BoolLike:
        def equal(queue: IntLike, index: IntLike) -> BoolLike:
            return same(averagely_owns(queue, index, queues, consumers), circle_owns(queue, index, queues, consumers))

        return ite(any_of(queues <= consumers, same(consumers, 1)), equal(queue, index), not_(equal(1, 0)))

    return Theorem(
        id="averagely-and-circle-agree",
        statement=(
            "AVG and AVG_BY_CIRCLE give the same shares only when there are no more queues than consumers, or "
            "only one consumer. Otherwise they already differ in the second queue."
        ),
        given=lambda queue, index, queues, consumers: all_of(
            consumers >= 1, 0 <= queue, queue < queues, 0 <= index, index < consumers
        ),
        claim=claim,
        rules=("RB-21", "RB-22"),
    )


def share_starts_in_the_list() -> Theorem:
    """RB-21: the place where unsigned arithmetic goes wrong (A14): a start behind the list."""
    return Theorem(
        id="averagely-start-in-the-list",
        statement="Naive: with AVG, no client's share starts beyond the end of the list, not even an empty one.",
        given=lambda index, queues, consumers: all_of(queues >= 0, consumers >= 1, 0 <= index, index < consumers),
        claim=lambda index, queues, consumers: averagely_start(index, queues, consumers) <= queues,
        tells=lambda index, queues, consumers: (
            f"{crowd(queues, consumers)}, the share of consumer {index} starts at "
            f"{averagely_start(index, queues, consumers)}"
        ),
        rules=("RB-21",),
    )


INPUT_THEOREMS: tuple[Theorem, ...] = (
    any_common_order(),
    duplicate_id(),
    own_id_absent(),
    averagely_and_circle_agree(),
)
"""What exactly holds if inputs are wrong; all are expected to be proven."""


NAIVE_THEOREMS: tuple[Theorem, ...] = (
    share_starts_in_the_list(),
    dataclasses.replace(
        machine_room_partition(),
        id="machine-room-takes-every-queue",
        statement="Naive: MACHINE_ROOM leaves no queue without a consumer.",
        claim=lambda queue, place, eligible, eligible_queues, consumers: exists(
            0,
            consumers,
            lambda index: machine_room_takes(queue, eligible(queue), place, index, eligible_queues, consumers),
        ),
    ),
    Theorem(
        id="config-takes-offered-queues-only",
        statement="Naive: CONFIG takes only queues of the topic that is being rebalanced.",
        sizes=(),
        symbols={"listed": Relation(), "offered": Relation()},
        claim=lambda queue, listed, offered: implies(config_takes(listed(queue), offered(queue)), offered(queue)),
        tells=lambda queue: f"queue {queue} is in the list of a client but not offered: it is taken all the same",
        covers="any lists",
        rules=("RB-23",),
    ),
)
"""Popular claims that are false as stated; all are expected to be VIOLATED."""
