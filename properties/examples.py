"""Properties of the example machines, with the verdicts that every engine must reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..model.examples import EXAMPLES, Sized, bounded_buffer, dining_philosophers, peterson, two_phase_commit
from .property import Kind, Property
from .verdict import Verdict

TWO_PHASE_COMMIT = (
    Property(
        id="consistent",
        statement="No manager commits while another one aborts.",
        kind=Kind.ALWAYS,
        holds=two_phase_commit.consistent,
    ),
    Property(
        id="committed",
        statement="Every manager may commit.",
        kind=Kind.SOMETIMES,
        holds=two_phase_commit.committed,
    ),
    Property(
        id="aborted",
        statement="Every manager may abort.",
        kind=Kind.SOMETIMES,
        holds=two_phase_commit.aborted,
    ),
    Property(
        id="mixed",
        statement="One manager may commit and another one abort.",
        kind=Kind.SOMETIMES,
        holds=two_phase_commit.mixed,
    ),
)

PETERSON = (
    Property(
        id="exclusive",
        statement="At most one process is in the critical section.",
        kind=Kind.ALWAYS,
        holds=peterson.exclusive,
    ),
    Property(
        id="both-wait",
        statement="Both processes may wait at the same time.",
        kind=Kind.SOMETIMES,
        holds=peterson.both_wait,
    ),
    Property(
        id="both-inside",
        statement="Both processes may be in the critical section.",
        kind=Kind.SOMETIMES,
        holds=peterson.both_inside,
    ),
    Property(
        id="first-gets-in",
        statement="When p0 wants to enter, it does so eventually.",
        kind=Kind.EVENTUALLY,
        after=peterson.first_wants,
        holds=peterson.first_inside,
    ),
    Property(
        id="first-gets-in-unasked",
        statement="p0 enters eventually, whether it wants to or not.",
        kind=Kind.EVENTUALLY,
        holds=peterson.first_inside,
    ),
)

DINING_PHILOSOPHERS = (
    Property(
        id="neighbours-apart",
        statement="No two neighbours eat at the same time.",
        kind=Kind.ALWAYS,
        holds=dining_philosophers.neighbours_apart,
    ),
    Property(
        id="not-all-one-fork",
        statement="Never does everyone hold exactly one fork.",
        kind=Kind.ALWAYS,
        holds=dining_philosophers.not_all_one_fork,
    ),
    Property(
        id="somebody-eats",
        statement="Somebody may eat.",
        kind=Kind.SOMETIMES,
        holds=dining_philosophers.somebody_eats,
    ),
    Property(
        id="first-eats",
        statement="When p0 is hungry, it eats eventually.",
        kind=Kind.EVENTUALLY,
        after=dining_philosophers.first_hungry,
        holds=dining_philosophers.first_eats,
    ),
)

BOUNDED_BUFFER = (
    Property(
        id="in-order",
        statement="The item read last is older than every item in the ring.",
        kind=Kind.ALWAYS,
        holds=bounded_buffer.in_order,
    ),
    Property(
        id="balanced",
        statement="Free slots and unread items make up the ring.",
        kind=Kind.ALWAYS,
        holds=bounded_buffer.balanced,
    ),
    Property(
        id="complete",
        statement="No item is passed over.",
        kind=Kind.ALWAYS,
        holds=bounded_buffer.complete,
    ),
    Property(
        id="full",
        statement="The ring may be full.",
        kind=Kind.SOMETIMES,
        holds=bounded_buffer.full,
    ),
    Property(
        id="everything-read",
        statement="Everything is eventually written and read.",
        kind=Kind.EVENTUALLY,
        holds=bounded_buffer.everything_read,
    ),
)

AVERAGE_BELOW_LATEST = Property(
    id="average-below-latest",
    statement="The average of the items read never passes the latest one.",
    kind=Kind.ALWAYS,
    holds=bounded_buffer.average_below_latest,
)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What is known about one property in one configuration of an example.

    Attributes:
        steps: length of the shortest counterexample (ALWAYS) or witness (SOMETIMES), if there is one.
    """

    property: Property
    verdict: Verdict
    steps: int | None = None


@dataclass(frozen=True, kw_only=True)
class Expected:
    """A configuration of an example, its size, and all that is claimed about it.

    Attributes:
        name: ``machine/configuration``, for test ids.
    """

    name: str
    sized: Sized
    claims: tuple[Claim, ...]

    @property
    def properties(self) -> tuple[Property, ...]:
        """The properties claimed."""
        return tuple(claim.property for claim in self.claims)


# Each line: configuration → violated ALWAYS properties and reached SOMETIMES properties, with the number of steps. An
# ALWAYS property that is not named holds; a SOMETIMES property that is not named is violated (nothing reaches it).
_REACHED: Mapping[str, Mapping[str, int]] = {
    "two_phase_commit/one": {"committed": 4, "aborted": 1},
    "two_phase_commit/two": {"committed": 7, "aborted": 2},
    "two_phase_commit/three": {"committed": 10, "aborted": 3},
    "two_phase_commit/five": {"committed": 16, "aborted": 5},
    "two_phase_commit/impatient": {"committed": 10, "aborted": 3, "mixed": 9, "consistent": 9},
    "peterson/right": {"both-wait": 4},
    "peterson/swapped": {"both-wait": 4, "both-inside": 6, "exclusive": 6},
    "dining_philosophers/two": {"somebody-eats": 3, "not-all-one-fork": 4},
    "dining_philosophers/three": {"somebody-eats": 3, "not-all-one-fork": 6},
    "dining_philosophers/three-reversed": {"somebody-eats": 3},
    "dining_philosophers/five": {"somebody-eats": 3, "not-all-one-fork": 10},
    "dining_philosophers/five-reversed": {"somebody-eats": 3},
    "bounded_buffer/small": {"full": 2},
    "bounded_buffer/long": {"full": 3},
    "bounded_buffer/losing": {"full": 2, "complete": 3},
    "bounded_buffer/overwriting": {"full": 2, "complete": 3},
    "bounded_buffer/everything": {"full": 3, "complete": 3},
}

_EVENTUALLY: Mapping[str, Verdict] = {
    "first-gets-in": Verdict.HOLDS,
    "first-gets-in-unasked": Verdict.VIOLATED,
    "first-eats": Verdict.VIOLATED,
    "everything-read": Verdict.HOLDS,
}

_PROPERTIES: Mapping[str, tuple[Property, ...]] = {
    "two_phase_commit": TWO_PHASE_COMMIT,
    "peterson": PETERSON,
    "dining_philosophers": DINING_PHILOSOPHERS,
    "bounded_buffer": BOUNDED_BUFFER,
}


def _claim(prop: Property, reached: Mapping[str, int]) -> Claim:
    if prop.kind is Kind.EVENTUALLY:
        return Claim(property=prop, verdict=_EVENTUALLY[prop.id])
    steps = reached.get(prop.id)
    holds = (steps is None) == (prop.kind is Kind.ALWAYS)
    return Claim(property=prop, verdict=Verdict.HOLDS if holds else Verdict.VIOLATED, steps=steps)


def _expected() -> Iterator[Expected]:
    for machine, example in EXAMPLES.items():
        for short, sized in example.configurations.items():
            name = f"{machine}/{short}"
            properties = _PROPERTIES[machine]
            if sized.configuration.constants.get("average") == "kept":
                properties = (*properties, AVERAGE_BELOW_LATEST)
            yield Expected(name=name, sized=sized, claims=tuple(_claim(prop, _REACHED[name]) for prop in properties))


EXPECTED: tuple[Expected, ...] = tuple(_expected())
"""Every sized configuration of every example with its claims."""
