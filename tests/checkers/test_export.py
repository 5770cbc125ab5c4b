"""The Promela text: SPIN finds exactly the states and steps of the machine, and the same violations."""

import os
from collections import Counter
from collections.abc import Callable, Mapping
from enum import IntEnum
from pathlib import Path

import pytest

from rocketproof.checkers.explore import explore
from rocketproof.checkers.export import promela
from rocketproof.checkers.spin import SpinRun, SpinSearch, run_spin, spin_available
from rocketproof.model.assignment import assignment
from rocketproof.model.examples import EXAMPLES, bounded_buffer, two_phase_commit
from rocketproof.model.kernel import (
    UNBOUNDED,
    BoolLike,
    Configuration,
    Domain,
    Int,
    IntLike,
    Lowered,
    Machine,
    ModelError,
    Predicate,
    SetOf,
    State,
    ite,
    lower,
    maximum,
    minimum,
    not_,
)
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.properties import examples

# In CI spin must be there: then a missing one fails the tests in place of skipping them.
with_spin = pytest.mark.skipif(
    not spin_available() and os.environ.get("CI") != "true",
    reason="spin or a C compiler is not installed (apt-get install spin gcc libc6-dev)",
)


class Slot(Domain, size=3):
    pass


class Wide(Domain, size=40):
    pass


class Deep(Domain, size="depth"):
    pass


class Light(IntEnum):
    RED = 0
    GREEN = 1
    AMBER = 2


def division() -> Configuration:
    """Quotients and remainders of negative dividends, by divisors of either sign and zero."""
    machine = Machine("division")
    machine.variable("dividend", Int(-7, 7), init=-7)
    machine.variable("divisor", Int(-2, 3))
    machine.variable("quotient", Int(-8, 8))
    machine.variable("remainder", Int(-8, 8))

    @machine.action
    def divide(s: State) -> None:
        s.quotient = s.dividend // s.divisor
        s.remainder = s.dividend % s.divisor

    @machine.action
    def halve(s: State) -> None:
        s.require(s.dividend // 2 != s.quotient, s.dividend % 3 == 1)
        s.quotient = s.dividend // 2
        s.remainder = (s.dividend * s.divisor) % 5

    @machine.action
    def up(s: State) -> None:
        s.dividend = ite(s.dividend == 7, -7, s.dividend + 1)

    @machine.action
    def turn(s: State) -> None:
        s.divisor = ite(s.divisor == 3, -2, s.divisor + 1)

    return machine.configure()


def swapping() -> Configuration:
    """Simultaneous updates, symbolic indices, an enumeration, a set, offset ranges, a constant cell and a budget."""
    machine = Machine("swapping")
    machine.constant("jolts", 2)
    machine.variable("value", Int(300, 303), Slot, init=lambda _, i: 300 + i)
    machine.variable("cursor", Int(0, 2))
    machine.variable("light", Light)
    machine.variable("seen", SetOf(Slot))
    machine.variable("fixed", Int(7, 7))
    machine.variable("wide", Int(-70_000, 70_000), init=-70_000)

    @machine.action
    def swap(s: State) -> None:
        following = (s.cursor + 1) % 3
        s.require(s.light == Light.GREEN)
        s.value[s.cursor] = s.value[following]
        s.value[following] = s.value[s.cursor]
        s.cursor = following
        s.seen = s.seen.add(s.cursor)

    @machine.action
    def change(s: State, light: Light) -> None:
        s.require(s.light != light, s.seen.size() < 3)
        s.light = light

    @machine.action(budget="jolts")
    def jolt(s: State, i: Slot) -> None:
        s.value[i] = ite(s.value[i] == 303, 300, s.value[i] + 1)
        s.wide = ite(s.wide == 70_000, -70_000, s.wide + s.fixed * 20_000)

    @machine.action
    def forget(s: State) -> None:
        s.seen = s.empty(Slot)

    return machine.configure()


def two_words() -> Configuration:
    """A state of 83 bits that reaches its values on both sides of a word border; it ends in a deadlock."""
    machine = Machine("two_words")
    machine.variable("flag", bool, Wide)
    machine.variable("far", bool, Wide)
    machine.variable("place", Int(0, 6))

    @machine.action
    def march(s: State, back: bool) -> None:
        s.require(s.place < 6)
        s.place += 1
        s.flag[s.place * 6] = not_(s.flag[s.place * 6]) if back else True
        s.far[39 - s.place * 5] = back

    return machine.configure()


def unread() -> Configuration:
    """A variable that is written and never read belongs to the state all the same; a step may also change nothing."""
    machine = Machine("unread")
    machine.variable("ticks", Int(0, 5))
    machine.variable("last", Int(0, 2), init=2)

    @machine.action
    def tick(s: State, i: Slot) -> None:
        s.require(s.ticks < 5)
        s.ticks += 1
        s.last = i

    @machine.action
    def rest(s: State) -> None:
        s.require(s.ticks != 2)

    return machine.configure()


def keywords() -> Configuration:
    """A shift register of names that are words of Promela or C, or look like the names the export makes itself."""
    machine = Machine("keywords")
    for name in ("temp1_0", "len", "atomic", "int", "now", "machine", "depth", "inside"):
        machine.variable(name, bool)
    machine.variable("derived", bool, Slot)

    @machine.action
    def shift(s: State, bit: bool) -> None:
        s.require(not_(s.len & s.depth))
        s.temp1_0 = bit
        s.len, s.atomic, s.int, s.now = s.temp1_0, s.len, s.atomic, s.int
        s.machine, s.depth, s.inside = s.now, s.machine, s.depth

    @machine.action
    def turn(s: State, i: Slot) -> None:
        s.derived[i] = not_(s.derived[i])

    return machine.configure()


def smallest(s: State) -> IntLike:
    """The smallest level: each minimum writes the one before it twice."""
    return minimum(*(s.level[i] for i in range(s.depth)))


def exploding(depth: int) -> Configuration:
    """A guard that would have more than 2**depth terms as a tree."""
    machine = Machine("exploding")
    machine.constant("depth", depth)
    machine.variable("level", Int(0, 2), Deep, init=lambda _, i: int(i < 2) + int(i < 1))
    machine.variable("moves", Int(0, 4))

    @machine.action
    def sink(s: State, i: Deep) -> None:
        largest = maximum(*(s.level[j] for j in range(s.depth)))
        s.require(s.level[i] > smallest(s), largest == 2)
        s.level[i] -= 1

    @machine.action
    def lift(s: State, i: Deep) -> None:
        s.require(smallest(s) == 0, s.level[i] < 2, s.moves < 4)
        s.level[i] += 1
        s.moves += 1

    return machine.configure()


MACHINES: Mapping[str, tuple[Callable[[], Configuration], int, int]] = {
    "division": (division, 3510, 11562),
    "swapping": (swapping, 480, 2166),
    "two_words": (two_words, 127, 126),
    "unread": (unread, 16, 52),
    "keywords": (keywords, 1536, 6912),
    "exploding": (lambda: exploding(14), 13324, 80308),
}

EXAMPLE_CONFIGURATIONS = (
    ("two_phase_commit", "five"),
    ("peterson", "swapped"),
    ("dining_philosophers", "five"),
    ("bounded_buffer", "everything"),
)


LAMPS = """\
/* lamps()
   spin -o1 -o2 -o3 -a FILE && cc -O3 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m1000000
   SPIN counts the initial state as a transition: it prints one more than the machine has. */

unsigned heat_0 : 3 = 3; /* heat[s0], minus (-3) */
unsigned heat_1 : 3 = 2; /* heat[s1], minus (-3) */
unsigned heat_2 : 3 = 1; /* heat[s2], minus (-3) */
bit on = 0; /* on */
bit holds_cool_0; /* cool */
bit inside;
unsigned temp4_0 : 4;
unsigned temp4_1 : 4;

active proctype machine() {
end:
  do
  :: /* exchange */
     d_step { (on && !((heat_2 - 3) <= (((heat_0 - 3) >= 0 -> (heat_0 - 3) / 2 : -((2 - 1 - (heat_0 - 3)) / 2))))) ->
       temp4_0 = (heat_1 - 3) + 3;
       temp4_1 = (heat_0 - 3) + 3;
       heat_0 = temp4_0;
       heat_1 = temp4_1;
       on = 0;
       holds_cool_0 = !(3 <= (heat_0 - 3));
       assert(holds_cool_0);
       temp4_0 = 0;
       temp4_1 = 0;
       holds_cool_0 = 0 }
  :: /* warm(s0) */
     d_step { 1 ->
       /* heat[s0]: -3..3 */ inside = (((heat_0 - 3) + 1) <= 3);
       assert(inside && 1);
       heat_0 = ((heat_0 - 3) + 1) + 3;
       holds_cool_0 = !(3 <= (heat_0 - 3));
       assert(holds_cool_0);
       inside = 0;
       holds_cool_0 = 0 }
  :: /* warm(s2) */
     d_step { 1 ->
       /* heat[s2]: -3..3 */ inside = (((heat_2 - 3) + 1) <= 3);
       assert(inside && 2);
       heat_2 = ((heat_2 - 3) + 1) + 3;
       holds_cool_0 = !(3 <= (heat_0 - 3));
       assert(holds_cool_0);
       inside = 0;
       holds_cool_0 = 0 }
  od
}
"""


def counts(lowered: Lowered) -> tuple[int, int, Counter[str]]:
    """Distinct states, transitions, and for each predicate the transitions into a state that violates it."""
    machine = PlainMachine(lowered)
    seen = {machine.initial}
    frontier = [machine.initial]
    transitions = 0
    violations: Counter[str] = Counter()
    while frontier:
        following = [state for before in frontier for _, state in machine.successors(before)]
        transitions += len(following)
        for state in following:
            violations.update(name for name in lowered.predicates if not machine.holds(name, state))
        frontier = sorted(set(following) - seen)
        seen.update(frontier)
    return len(seen), transitions, violations


def spin(text: str, folder: Path, *, all_errors: bool = False) -> SpinRun:
    return run_spin(text, workdir=folder, optimize="-O0", hash_bits=16, max_depth=100_000, all_errors=all_errors)


@with_spin
@pytest.mark.parametrize("name", MACHINES)
def test_spin_counts_the_same(name: str, tmp_path: Path) -> None:
    make, states, transitions = MACHINES[name]
    lowered = lower(make())
    run = spin(promela(lowered), tmp_path)
    found = explore(make())
    assert counts(lowered)[:2] == (states, transitions)
    assert (found.complete, found.states, found.transitions) == (True, states, transitions)
    assert (run.complete, run.errors, run.states, run.transitions) == (True, 0, states, transitions)


@with_spin
@pytest.mark.parametrize(("machine", "name"), EXAMPLE_CONFIGURATIONS)
def test_spin_counts_the_examples(machine: str, name: str, tmp_path: Path) -> None:
    sized = EXAMPLES[machine].configurations[name]
    run = spin(promela(lower(sized.configuration)), tmp_path)
    assert (run.complete, run.errors, run.states, run.transitions) == (True, 0, sized.states, sized.transitions)


@with_spin
@pytest.mark.parametrize("strategy", ["AVG", "AVG_BY_CIRCLE"])
def test_spin_counts_the_assignment_machine(strategy: str, tmp_path: Path) -> None:
    configuration = assignment.configure(consumers=3, running=1, crashes=1, leaves=1, queues=4, strategy=strategy)
    run = spin(promela(lower(configuration)), tmp_path)
    found = explore(configuration, idle_actions_allowed=True)
    assert found.complete
    assert found.states > 1_000
    assert (run.complete, run.errors, run.states, run.transitions) == (True, 0, found.states, found.transitions)


@with_spin
@pytest.mark.parametrize("search", SpinSearch)
def test_every_search_of_spin_counts_the_same(search: SpinSearch, tmp_path: Path) -> None:
    configuration = assignment.configure(consumers=3, running=1, crashes=1)
    invariants: Mapping[str, Predicate] = {"all alive": lambda s: s.crashes_left > 0}
    found = explore(configuration, idle_actions_allowed=True)
    text = promela(lower(configuration, invariants))
    run = run_spin(text, workdir=tmp_path, optimize="-O0", hash_bits=16, memory_mb=256, search=search)
    assert (run.complete, run.errors) == (True, 0)
    assert (run.states, run.transitions) == (found.states, found.transitions) == (400, 1672)
    text = promela(lower(configuration, invariants), invariants=["all alive"])
    run = run_spin(text, workdir=tmp_path, optimize="-O0", hash_bits=16, memory_mb=256, search=search)
    assert (run.errors > 0, run.violated) == (True, "holds_all_alive_0")


@with_spin
def test_spin_finds_the_violated_invariant(tmp_path: Path) -> None:
    invariants: Mapping[str, Predicate] = {"consistent": examples.consistent.holds}
    lowered = lower(two_phase_commit.machine.configure(managers=3, impatient=1), invariants)
    text = promela(lowered, invariants=("consistent",))
    first = spin(text, tmp_path / "first")
    assert (first.errors, first.complete, first.violated) == (1, False, "holds_consistent_0")
    every = spin(text, tmp_path / "every", all_errors=True)
    states, transitions, violations = counts(lowered)
    assert (every.states, every.transitions, every.complete) == (states, transitions, True) == (459, 2276, True)
    assert every.errors == violations["consistent"] == 60


@with_spin
def test_an_invariant_that_holds_costs_spin_nothing(tmp_path: Path) -> None:
    lowered = lower(two_phase_commit.machine.configure(managers=3), {"consistent": examples.consistent.holds})
    run = spin(promela(lowered, invariants=("consistent",)), tmp_path)
    assert (run.states, run.transitions, run.errors, run.violated) == (288, 1145, 0, "")


@with_spin
def test_spin_agrees_on_invariants_over_derived_and_shared_terms(tmp_path: Path) -> None:
    def never_all_up(s: State) -> BoolLike:
        return smallest(s) < 1

    lowered = lower(exploding(5), {"never all up": never_all_up})
    run = spin(promela(lowered, invariants=("never all up",)), tmp_path, all_errors=True)
    states, transitions, violations = counts(lowered)
    assert (run.states, run.transitions, run.errors) == (states, transitions, violations["never all up"])
    assert violations["never all up"] > 0


@with_spin
def test_spin_sees_an_invariant_violated_from_the_start(tmp_path: Path) -> None:
    lowered = lower(unread(), {"started": lambda s: s.ticks > 0})
    run = spin(promela(lowered, invariants=("started",)), tmp_path)
    assert (run.errors, run.violated, run.depth) == (1, "holds_started_0", 0)


@with_spin
def test_spin_finds_a_write_outside_its_domain(tmp_path: Path) -> None:
    machine = Machine("overflow")
    machine.variable("level", Int(0, 3))

    @machine.action
    def rise(s: State) -> None:
        s.level += 1

    run = spin(promela(lower(machine.configure())), tmp_path)
    assert (run.errors, run.complete, run.violated, run.states) == (1, False, "(inside&&1)", 4)
    with pytest.raises(ModelError, match=r"action rise: writes 4 to level, allowed is 0…3"):
        explore(machine.configure())


def test_shared_parts_of_guards_do_not_explode() -> None:
    text = promela(lower(exploding(24)))
    assert text.count("/* derived */") == 6
    assert len(text) < 200_000
    assert max(map(len, text.splitlines())) < 10_000


def test_the_text_reads_like_the_machine() -> None:
    machine = Machine("lamps")
    machine.variable("heat", Int(-3, 3), Slot, init=lambda _, i: -i)
    machine.variable("on", bool)

    @machine.action
    def exchange(s: State) -> None:
        s.require(s.on, s.heat[0] // 2 < s.heat[2])
        s.heat[0] = s.heat[1]
        s.heat[1] = s.heat[0]
        s.on = False

    @machine.action
    def warm(s: State, i: Slot) -> None:
        s.require(i != 1)
        s.heat[i] += 1

    text = promela(lower(machine.configure(), {"cool": lambda s: s.heat[0] < 3}), invariants=("cool",))
    assert text == LAMPS


def test_an_infinite_configuration_is_refused() -> None:
    with pytest.raises(ModelError, match=r"export to Promela needs a finite configuration"):
        promela(lower(two_phase_commit.machine.configure(managers=UNBOUNDED)))


def test_an_unknown_invariant_is_refused() -> None:
    lowered = lower(bounded_buffer.machine.configure(), {"balanced": examples.balanced.holds})
    with pytest.raises(ModelError, match=r"no predicate 'balance' was lowered. Did you mean 'balanced'"):
        promela(lowered, invariants=("balance",))


@pytest.mark.parametrize(
    ("high", "low", "problem"),
    [
        (2**31, 0, r"x ranges over 0…2147483648"),
        (2**31 - 1, 0, r"a value of 0…4294967294 may leave the 32 bits"),
        (2**30, -(2**30), r"a partial result of 0…2147483648 may leave the 32 bits"),
    ],
)
def test_numbers_beyond_32_bits_are_refused(high: int, low: int, problem: str) -> None:
    machine = Machine("large")
    machine.variable("x", Int(0, high))
    machine.variable("y", Int(0, high))
    machine.variable("z", Int(low - 1, low), init=low)

    @machine.action
    def step(s: State) -> None:
        s.require(s.x + s.y + (s.z if low else 0) > 5)
        s.x = 0

    with pytest.raises(ModelError, match=problem):
        promela(lower(machine.configure()))
