"""What the ring of CONSISTENT_HASH promises, whatever the hash function: theorems about any ring.

A ring is described in two ways. As the client keeps it: nodes sorted by hash, each at one place (``hash_of``). As a set
of members, each with nodes anywhere (``node``): of two nodes with the same hash, that of the later client stays on the
ring, because clients are added in sorted order and a later node replaces an earlier one.
"""

from __future__ import annotations

from collections.abc import Callable

from ..model.allocation import ring_precedes, ring_slot
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, not_, same
from .allocation import names
from .theorem import Function, Relation, Theorem, forall

Slot = Callable[[IntLike, IntLike], IntLike]
Precedes = Callable[[IntLike, IntLike, IntLike], BoolLike]
Member = Callable[[IntLike], BoolLike]
Node = Callable[[IntLike, IntLike], BoolLike]

_COVERS = "every number of consumers and virtual nodes, and any hash function"


def ring_is_never_missed(slot: Slot = ring_slot, precedes: Precedes = ring_precedes) -> Theorem:
    """A ring with at least one node has one for every queue: the slot that is looked up exists, and is the first from
    the queue on.
    """

    def given(
        nodes: IntLike, before: IntLike, point: IntLike, other: IntLike, hash_of: Callable[[IntLike], IntLike]
    ) -> BoolLike:
        return all_of(
            0 <= other,
            other < nodes,
            0 <= before,
            before <= nodes,
            forall(0, nodes, lambda low: forall(low + 1, nodes, lambda high: hash_of(low) < hash_of(high))),
            forall(0, nodes, lambda node: same(hash_of(node) < point, node < before)),
        )

    def claim(
        nodes: IntLike, before: IntLike, point: IntLike, other: IntLike, hash_of: Callable[[IntLike], IntLike]
    ) -> BoolLike:
        chosen = slot(before, nodes)
        first = any_of(same(other, chosen), precedes(point, hash_of(chosen), hash_of(other)))
        return all_of(0 <= chosen, chosen < nodes, first)

    return Theorem(
        id="consistent-hash-owner-exists",
        statement="A ring with at least one node has an owner for every queue: the first node met from the queue on.",
        sizes=("nodes",),
        symbols={"hash_of": Function()},
        given=given,
        claim=claim,
        tells=lambda nodes, before, point, hash_of: (
            f"nodes at {', '.join(str(hash_of(node)) for node in range(nodes))} and a queue at {point}: "
            f"slot {slot(before, nodes)} of {nodes} is chosen"
        ),
        covers="every number of nodes at any places",
        rules=("RB-26",),
    )


def ring_owner_is_one(precedes: Precedes = ring_precedes) -> Theorem:
    """No queue has two owners on one ring, equal hashes included (U1)."""
    return Theorem(
        id="consistent-hash-owner-is-one",
        statement="Consumers that see the same ids agree on the one owner of a queue, even where hashes are equal.",
        sizes=("consumers", "places"),
        symbols={"member": Relation(), "node": Relation(2)},
        given=lambda first, first_hash, second, second_hash, point, member, node, consumers, places: all_of(
            _owner(precedes, point, first, first_hash, member, node, consumers, places),
            _owner(precedes, point, second, second_hash, member, node, consumers, places),
        ),
        claim=lambda first, second: same(first, second),
        tells=_tell_owners,
        covers=_COVERS,
        rules=("RB-26", "U1"),
    )


def ring_joiner_only_takes(precedes: Precedes = ring_precedes) -> Theorem:
    """A joining member only takes queues, and moves none between others; conversely, a leaving one only gives up its
    own (U3).
    """

    def given(
        first: IntLike,
        first_hash: IntLike,
        second: IntLike,
        second_hash: IntLike,
        joiner: IntLike,
        point: IntLike,
        member: Member,
        node: Node,
        consumers: IntLike,
        places: IntLike,
    ) -> BoolLike:
        def after(client: IntLike) -> BoolLike:
            return any_of(member(client), same(client, joiner))

        return all_of(
            0 <= joiner,
            joiner < consumers,
            not_(member(joiner)),
            _owner(precedes, point, first, first_hash, member, node, consumers, places),
            _owner(precedes, point, second, second_hash, after, node, consumers, places),
        )

    return Theorem(
        id="consistent-hash-joiner-only-takes",
        statement=(
            "A member that joins only takes queues, and a member that leaves only gives up its own: no queue "
            "moves between the others, even where hashes are equal."
        ),
        sizes=("consumers", "places"),
        symbols={"member": Relation(), "node": Relation(2)},
        given=given,
        claim=lambda first, second, joiner: any_of(same(second, joiner), same(second, first)),
        tells=lambda first, second, joiner, point, member, node, consumers, places: (
            f"{_tell_owners(first, second, point, member, node, consumers, places)}; consumer {joiner} joined between"
        ),
        covers=_COVERS,
        rules=("RB-26", "U3"),
    )


def _owner(
    precedes: Precedes,
    point: IntLike,
    client: IntLike,
    hash: IntLike,
    member: Member,
    node: Node,
    consumers: IntLike,
    places: IntLike,
) -> BoolLike:
    """Whether ``client`` owns a queue at ``point`` by its node at ``hash``: the first node met; among equal ones the
    latest.
    """

    def beaten(other: IntLike, place: IntLike) -> BoolLike:
        tie = all_of(same(place, hash), other <= client)
        return implies(all_of(member(other), node(other, place)), any_of(precedes(point, hash, place), tie))

    return all_of(
        0 <= client,
        client < consumers,
        0 <= hash,
        hash < places,
        0 <= point,
        point < places,
        member(client),
        node(client, hash),
        forall(0, consumers, lambda other: forall(0, places, lambda place: beaten(other, place))),
    )


def _tell_owners(
    first: int,
    second: int,
    point: int,
    member: Callable[[int], bool],
    node: Callable[[int, int], bool],
    consumers: int,
    places: int,
) -> str:
    rings = "; ".join(
        f"consumer {client} {'(member) ' * member(client)}has "
        + names("node", [place for place in range(places) if node(client, place)])
        for client in range(consumers)
    )
    return (
        f"a ring of {places} places, a queue at {point}; {rings}: its owner is consumer {first}, and consumer {second}"
    )


RING_THEOREMS: tuple[Theorem, ...] = (ring_is_never_missed(), ring_owner_is_one(), ring_joiner_only_takes())
"""What holds for CONSISTENT_HASH; all are expected to be proven."""
