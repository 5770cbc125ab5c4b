"""Properties of the example machines, with the verdicts that every engine must reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..model.examples import EXAMPLES, Sized
from ..model.examples.bounded_buffer import EMPTY, BoundedBuffer, Slot, average
from ..model.examples.dining_philosophers import DiningPhilosophers, Mood, Philosopher, first_hungry, right
from ..model.examples.peterson import Peterson, Place, Process, first_wants
from ..model.examples.two_phase_commit import Manager, Stage, TwoPhaseCommit
from ..model.kernel import BoolLike, all_of, implies, ite, minimum, not_
from .property import Kind, Property, always, eventually, sometimes
from .verdict import Verdict


@always("consistent")
def consistent(s: TwoPhaseCommit) -> BoolLike:
    """No manager commits while another one aborts."""
    return not_(mixed.holds(s))


@sometimes("committed")
def committed(s: TwoPhaseCommit) -> BoolLike:
    """Every manager may commit."""
    return s.forall(Manager, lambda r: s.stage[r] == Stage.COMMITTED)


@sometimes("aborted")
def aborted(s: TwoPhaseCommit) -> BoolLike:
    """Every manager may abort."""
    return s.forall(Manager, lambda r: s.stage[r] == Stage.ABORTED)


@sometimes("mixed")
def mixed(s: TwoPhaseCommit) -> BoolLike:
    """One manager may commit and another one abort."""
    return all_of(
        s.exists(Manager, lambda r: s.stage[r] == Stage.COMMITTED),
        s.exists(Manager, lambda r: s.stage[r] == Stage.ABORTED),
    )


TWO_PHASE_COMMIT = (consistent, committed, aborted, mixed)


@always("exclusive")
def exclusive(s: Peterson) -> BoolLike:
    """At most one process is in the critical section."""
    return s.count(Process, lambda p: s.place[p] == Place.CRITICAL) <= 1


@sometimes("both-wait")
def both_wait(s: Peterson) -> BoolLike:
    """Both processes may wait at the same time."""
    return s.forall(Process, lambda p: s.place[p] == Place.WAITING)


@sometimes("both-inside")
def both_inside(s: Peterson) -> BoolLike:
    """Both processes may be in the critical section."""
    return s.forall(Process, lambda p: s.place[p] == Place.CRITICAL)


@eventually("first-gets-in", after=first_wants)
def first_gets_in(s: Peterson) -> BoolLike:
    """When p0 wants to enter, it does so eventually."""
    return s.place[0] == Place.CRITICAL


@eventually("first-gets-in-unasked")
def first_gets_in_unasked(s: Peterson) -> BoolLike:
    """p0 enters eventually, whether it wants to or not."""
    return s.place[0] == Place.CRITICAL


PETERSON = (exclusive, both_wait, both_inside, first_gets_in, first_gets_in_unasked)


@always("neighbours-apart")
def neighbours_apart(s: DiningPhilosophers) -> BoolLike:
    """No two neighbours eat at the same time."""
    eats = [s.mood[p] == Mood.EATING for p in range(s.philosophers)]
    return all_of(not_(all_of(eats[p], eats[right(s, p)])) for p in range(s.philosophers))


@always("not-all-one-fork")
def not_all_one_fork(s: DiningPhilosophers) -> BoolLike:
    """Never does everyone hold exactly one fork."""
    return not_(s.forall(Philosopher, lambda p: s.mood[p] == Mood.ONE_FORK))


@sometimes("somebody-eats")
def somebody_eats(s: DiningPhilosophers) -> BoolLike:
    """Somebody may eat."""
    return s.exists(Philosopher, lambda p: s.mood[p] == Mood.EATING)


@eventually("first-eats", after=first_hungry)
def first_eats(s: DiningPhilosophers) -> BoolLike:
    """When p0 is hungry, it eats eventually."""
    return s.mood[0] == Mood.EATING


DINING_PHILOSOPHERS = (neighbours_apart, not_all_one_fork, somebody_eats, first_eats)


@always("in-order")
def in_order(s: BoundedBuffer) -> BoolLike:
    """The item read last is older than every item in the ring."""
    return s.forall(Slot, lambda i: implies(s.slot[i] != EMPTY, s.latest < s.slot[i]))


@always("balanced")
def balanced(s: BoundedBuffer) -> BoolLike:
    """Free slots and unread items make up the ring."""
    return s.written - s.read == s.slots + s.credit


@always("complete")
def complete(s: BoundedBuffer) -> BoolLike:
    """No item is passed over."""
    return s.latest == s.read - 1


@sometimes("full")
def full(s: BoundedBuffer) -> BoolLike:
    """The ring may be full."""
    lowest = minimum(*(s.slot[i] for i in range(s.slots)))
    return all_of(s.credit == 0, lowest == s.read, not_(lowest == EMPTY))


@eventually("everything-read")
def everything_read(s: BoundedBuffer) -> BoolLike:
    """Everything is eventually written and read."""
    return all_of(s.written == s.goods, s.read == s.goods)


BOUNDED_BUFFER = (in_order, balanced, complete, full, everything_read)


@always("average-below-latest")
def average_below_latest(s: BoundedBuffer) -> BoolLike:
    """The average of the items read never passes the latest one."""
    return ite(s.latest == EMPTY, average(s) == 0, average(s) <= s.latest)


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
    """A configuration of an example, its size, and all that is claimed about it."""

    name: str  # ``machine/configuration``, for test ids
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
                properties = (*properties, average_below_latest)
            yield Expected(name=name, sized=sized, claims=tuple(_claim(prop, _REACHED[name]) for prop in properties))


EXPECTED: tuple[Expected, ...] = tuple(_expected())
"""Every sized configuration of every example with its claims."""
