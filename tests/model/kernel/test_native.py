"""The machine-code form: equal to the plain form, to Z3 and to Python itself on random machines and random states."""

import ctypes
import itertools
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketproof.model.kernel import (
    UNBOUNDED,
    Configuration,
    Domain,
    Int,
    Lowered,
    Machine,
    ModelError,
    all_of,
    any_of,
    implies,
    ite,
    lower,
    maximum,
    minimum,
    not_,
    same,
    total,
)
from rocketproof.model.kernel.native import NativeMachine, compile_machine
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.properties.assignment import claims as assignment_claims
from rocketproof.properties.assignment import no_orphan, one_owner, partition_lemma
from rocketproof.properties.examples import EXPECTED

StateTuple = tuple[int, ...]


class Native:
    """Calls the machine code of a configuration on unpacked states."""

    def __init__(self, lowered: Lowered) -> None:
        self.machine: NativeMachine = compile_machine(lowered)
        self.words, self.instances = self.machine.layout.words, len(lowered.instances)
        pointer = ctypes.POINTER(ctypes.c_uint64)
        self._successors = ctypes.CFUNCTYPE(ctypes.c_int64, pointer, pointer, pointer)(self.machine.successors)
        self._properties = ctypes.CFUNCTYPE(ctypes.c_uint64, pointer)(self.machine.properties)

    def _packed(self, state: StateTuple) -> Any:
        return (ctypes.c_uint64 * self.words)(*self.machine.layout.pack(state))

    def successors(self, state: StateTuple) -> list[tuple[int, StateTuple]] | int:
        """The successors with their instance numbers, or the number of the instance that leaves its domain."""
        out = (ctypes.c_uint64 * (self.words * (self.instances + 1)))()
        tags = (ctypes.c_uint64 * (self.instances + 1))()
        count = self._successors(self._packed(state), out, tags)
        if count < 0:
            return -1 - count
        chunks = [out[position * self.words : (position + 1) * self.words] for position in range(count)]
        return [(tags[i], self.machine.layout.unpack(chunk)) for i, chunk in enumerate(chunks)]

    def holds(self, state: StateTuple) -> dict[str, bool]:
        """The truth value of each predicate."""
        mask = self._properties(self._packed(state))
        return {name: bool(mask >> bit & 1) for bit, name in enumerate(self.machine.predicates)}


def random_states(lowered: Lowered, count: int, seed: int = 0) -> list[StateTuple]:
    """States inside the declared domains, reachable or not."""
    chance = random.Random(seed)
    ranges = [(cell.family.low, cell.family.high) for cell in lowered.cells]
    return [tuple(chance.randint(low, high or 0) for low, high in ranges) for _ in range(count)]


def plain_successors(plain: PlainMachine, state: StateTuple) -> list[tuple[int, StateTuple]] | int:
    """As the native form answers."""
    found = []
    for instance in plain.lowered.instances:
        try:
            following = plain.step(state, instance.number)
        except ModelError:
            return instance.number
        if following is not None:
            found.append((instance.number, following))
    return found


# --- the examples ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda expected: expected.name)
def test_native_and_plain_are_equal_on_random_states_of_every_example(expected: Any) -> None:
    predicates = {prop.id: prop.holds for prop in expected.properties}
    lowered = lower(expected.sized.configuration, predicates)
    plain, native = PlainMachine(lowered), Native(lowered)
    states = random_states(lowered, 300)
    outside = 0
    for state in states:
        following = native.successors(state)
        assert following == plain_successors(plain, state)
        assert native.holds(state) == {name: plain.holds(name, state) for name in predicates}
        outside += isinstance(following, int)
    # Only the bounded buffer can count beyond its ranges from states that are not reachable.
    assert bool(outside) == expected.name.startswith("bounded_buffer")


def assignment_configurations() -> dict[str, Configuration]:
    """The finite configurations of the claims about the assignment machine."""
    configurations = [claim.machine.configure(**claim.constants) for claim in assignment_claims()]
    return {str(item): item for item in configurations if UNBOUNDED not in item.constants.values()}


@pytest.mark.parametrize(
    "configuration",
    assignment_configurations().values(),
    ids=lambda item: "-".join(f"{name}{value}" for name, value in item.constants.items()),
)
def test_native_and_plain_are_equal_on_random_states_of_the_assignment_machine(configuration: Configuration) -> None:
    predicates = {item.id: item.holds for item in (one_owner, no_orphan, partition_lemma)}
    lowered = lower(configuration, predicates)
    plain, native = PlainMachine(lowered), Native(lowered)
    for state in random_states(lowered, 50):
        assert native.successors(state) == plain_successors(plain, state)
        assert native.holds(state) == {name: plain.holds(name, state) for name in predicates}


@pytest.mark.parametrize(
    "expected", [item for item in EXPECTED if item.sized.states < 1000], ids=lambda expected: expected.name
)
def test_native_and_plain_reach_the_same_states(expected: Any) -> None:
    lowered = lower(expected.sized.configuration)
    plain, native = PlainMachine(lowered), Native(lowered)
    seen, front, transitions = {plain.initial}, [plain.initial], 0
    while front:
        state = front.pop()
        following = native.successors(state)
        assert following == list(plain.successors(state))
        assert isinstance(following, list)
        transitions += len(following)
        new = {target for _, target in following} - seen
        seen |= new
        front.extend(new)
    assert (len(seen), transitions) == (expected.sized.states, expected.sized.transitions)


# --- random expressions ------------------------------------------------------------------------------------------


class Colour(IntEnum):
    RED = 0
    GREEN = 1
    BLUE = 2


@dataclass(frozen=True)
class Shape:
    """The variables of a random machine: one number, a family of numbers, two truth values, one colour."""

    size: int
    low: int
    high: int
    family_low: int
    family_high: int

    def machine(self) -> tuple[Machine, type[Domain]]:
        class Item(Domain, size=self.size):
            pass

        machine = Machine("random")
        machine.variable("x", Int(self.low, self.high))
        machine.variable("f", Int(self.family_low, self.family_high), Item)
        machine.variable("p", bool)
        machine.variable("q", bool, Item)
        machine.variable("c", Colour)
        return machine, Item


@dataclass(frozen=True)
class Concrete:
    """A state as plain Python numbers, read with the rules that the texts of a machine follow."""

    shape: Shape
    state: StateTuple

    @property
    def x(self) -> int:
        return self.state[0]

    @property
    def p(self) -> bool:
        return bool(self.state[1 + self.shape.size])

    @property
    def c(self) -> int:
        return self.state[-1]

    def f(self, index: int) -> int:
        return self.state[1 + index] if 0 <= index < self.shape.size else self.shape.family_low

    def q(self, index: int) -> bool:
        return bool(self.state[2 + self.shape.size + index]) if 0 <= index < self.shape.size else False


Node = tuple[Any, ...]
NUMBERS: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "neg": lambda a: -a,
    "min": minimum,
    "max": maximum,
    "sum": lambda *items: total(items),
}
TRUTHS: dict[str, Callable[..., Any]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": same,
    "!=": lambda a, b: not_(same(a, b)),
}
JOINS: dict[str, Callable[..., Any]] = {
    "and": all_of,
    "or": any_of,
    "not": not_,
    "implies": implies,
    "iff": same,
}


def number(depth: int) -> st.SearchStrategy[Node]:
    """Random whole numbers over the variables."""
    leaves = st.tuples(st.just("const"), st.integers(-4, 6)) | st.tuples(st.sampled_from(["x", "c"]))
    if depth == 0:
        return leaves
    inner, condition = number(depth - 1), truth(depth - 1)
    return (
        leaves
        | st.tuples(st.just("f"), inner)
        | st.tuples(st.sampled_from(["+", "-", "*", "min", "max", "//", "%"]), inner, inner)
        | st.tuples(st.just("sum"), condition, inner, inner)
        | st.tuples(st.just("neg"), inner)
        | st.tuples(st.just("ite"), condition, inner, inner)
    )


def truth(depth: int) -> st.SearchStrategy[Node]:
    """Random truth values over the variables."""
    leaves = st.tuples(st.just("const"), st.booleans()) | st.tuples(st.just("p"))
    if depth == 0:
        return leaves
    inner, value = truth(depth - 1), number(depth - 1)
    return (
        leaves
        | st.tuples(st.just("q"), value)
        | st.tuples(st.sampled_from(sorted(TRUTHS)), value, value)
        | st.tuples(st.sampled_from(["and", "or", "implies", "iff"]), inner, inner)
        | st.tuples(st.just("not"), inner)
        | st.tuples(st.just("ite"), inner, inner, inner)
    )


NUMBER, TRUTH = number(3), truth(4)


def symbolic(node: Node, s: Any) -> Any:
    """The term of a node; computed at once where nothing in it is symbolic."""
    op, *args = node
    if op == "const":
        return args[0]
    if op in ("x", "p", "c"):
        return getattr(s, op)
    values = [symbolic(arg, s) for arg in args]
    if op in ("f", "q"):
        # A known index outside the domain is an error at once; only symbolic ones read as the lowest value.
        return getattr(s, op)[values[0] + (s.x - s.x)]
    if op in ("//", "%"):
        left, right = values[0] + (s.x - s.x), values[1]
        return left // right if op == "//" else left % right
    if op == "ite":
        return ite(*values)
    return {**NUMBERS, **TRUTHS, **JOINS}[op](*values)


def computed(node: Node, state: Concrete) -> int:
    """The value of a node in Python: the meaning that all other forms must have."""
    op, *args = node
    if op == "const":
        return int(args[0])
    if op in ("x", "p", "c"):
        return int(getattr(state, op))
    if op == "ite":
        return computed(args[1] if computed(args[0], state) else args[2], state)
    values = [computed(arg, state) for arg in args]
    if op in ("f", "q"):
        return int(getattr(state, op)(values[0]))
    if op in ("//", "%"):
        if values[1] <= 0:
            return 0
        return values[0] // values[1] if op == "//" else values[0] % values[1]
    if op in JOINS:
        return int(JOINS[op](*map(bool, values)))
    return int({**NUMBERS, **TRUTHS}[op](*values))


SHAPES = st.builds(
    lambda size, low, width, family_low, family_width: Shape(
        size, low, low + width, family_low, family_low + family_width
    ),
    st.integers(1, 3),
    st.integers(-4, 3),
    st.integers(0, 5),
    st.integers(-3, 3),
    st.integers(0, 4),
)


def some_states(lowered: Lowered) -> Sequence[StateTuple]:
    ranges = [range(cell.family.low, (cell.family.high or 0) + 1) for cell in lowered.cells]
    sizes = 1
    for item in ranges:
        sizes *= len(item)
    return list(itertools.product(*ranges)) if sizes <= 60 else random_states(lowered, 60)


@given(SHAPES, st.lists(TRUTH, min_size=1, max_size=3))
@settings(max_examples=60)
def test_random_predicates_mean_the_same_in_python_plain_native_and_z3(shape: Shape, predicates: list[Node]) -> None:
    machine, _ = shape.machine()
    texts = {f"t{i}": (lambda s, node=node: symbolic(node, s)) for i, node in enumerate(predicates)}
    lowered = lower(machine.configure(), texts)
    plain, native = PlainMachine(lowered), Native(lowered)
    for position, state in enumerate(some_states(lowered)):
        want = {f"t{i}": bool(computed(node, Concrete(shape, state))) for i, node in enumerate(predicates)}
        assert {name: plain.holds(name, state) for name in texts} == want
        assert native.holds(state) == want
        if position < 5:
            assert {name: in_z3(lowered, lowered.predicates[name].term, state) for name in texts} == want


def in_z3(lowered: Lowered, term: Any, state: StateTuple) -> int | bool:
    """The value of a term as Z3 computes it."""
    values = [
        (cell.symbol, z3.BoolVal(bool(value)) if cell.family.is_bool else z3.IntVal(value))
        for cell, value in zip(lowered.cells, state, strict=True)
    ]
    value = z3.simplify(z3.substitute(term, *values))
    return z3.is_true(value) if z3.is_bool(term) else int(value.as_long())


@given(SHAPES, TRUTH, NUMBER, NUMBER, NUMBER, TRUTH, TRUTH)
@settings(max_examples=60)
def test_random_steps_are_the_same_in_python_plain_and_native(
    shape: Shape, guard: Node, number: Node, index: Node, element: Node, condition: Node, truth: Node
) -> None:
    machine, _ = shape.machine()

    def act(s: Any) -> None:
        s.require(any_of(symbolic(guard, s), s.p))
        s.x = symbolic(number, s) + (s.x - s.x)
        with s.when(symbolic(condition, s)):
            s.f[symbolic(index, s) + (s.x - s.x)] = symbolic(element, s)
        s.q = lambda i: any_of(symbolic(truth, s), s.q[i])

    machine.action(act)
    lowered = lower(machine.configure())
    plain, native = PlainMachine(lowered), Native(lowered)
    for state in some_states(lowered):
        here = Concrete(shape, state)
        want = after(shape, here, guard, number, index, element, condition, truth)
        assert plain_successors(plain, state) == want
        assert native.successors(state) == want


def after(
    shape: Shape, here: Concrete, guard: Node, number: Node, index: Node, element: Node, condition: Node, truth: Node
) -> list[tuple[int, StateTuple]] | int:
    """What the step above does, in Python."""
    if not (computed(guard, here) or here.p):
        return []
    x, place, value = computed(number, here), computed(index, here), computed(element, here)
    numbers = [here.f(i) for i in range(shape.size)]
    inside = shape.low <= x <= shape.high
    if computed(condition, here):
        inside = inside and 0 <= place < shape.size and shape.family_low <= value <= shape.family_high
        if inside:
            numbers[place] = value
    if not inside:
        return 0
    truths = [int(bool(computed(truth, here)) or here.q(i)) for i in range(shape.size)]
    return [(0, (x, *numbers, int(here.p), *truths, here.c))]


# --- limits ------------------------------------------------------------------------------------------------------


def squared(high: int) -> Lowered:
    machine = Machine("wide")
    machine.variable("x", Int(0, high), init=high)
    return lower(machine.configure(), {"large": lambda s: s.x * s.x >= high})


def test_numbers_beyond_64_bits_are_an_error() -> None:
    fits, beyond = squared(2**31), squared(2**32)
    native = Native(fits)
    assert native.holds(fits.initial_state()) == {"large": True}
    assert PlainMachine(beyond).holds("large", beyond.initial_state())
    with pytest.raises(
        ModelError, match="machine wide computes with numbers of the range 0…18446744073709551616, which"
    ):
        compile_machine(beyond)


def test_more_than_63_predicates_are_an_error() -> None:
    machine = Machine("example")
    machine.variable("x", Int(0, 63))
    texts = {f"t{number}": (lambda s, number=number: s.x == number) for number in range(64)}
    with pytest.raises(ModelError, match="64 properties at once are too many, 63 are possible; check them in parts"):
        compile_machine(lower(machine.configure(), texts))
    del texts["t0"]
    assert [name for name, holds in Native(lower(machine.configure(), texts)).holds((63,)).items() if holds] == ["t63"]


DIGESTS = """
import sys
from rocketproof.model.kernel import lower
from rocketproof.model.kernel.native import compile_machine
from rocketproof.model.presets import PRESETS

named = {preset.name: preset for preset in PRESETS}
kept = [lower(named[name].machine.configure(**named[name].constants), {}) for name in sys.argv[1:]]
print(compile_machine(kept[-1]).digest)
"""


def test_code_is_found_again_whatever_the_process_built_before() -> None:
    def digest(*presets: str) -> str:
        return subprocess.check_output([sys.executable, "-c", DIGESTS, *presets], text=True)

    assert digest("orderly") == digest("broadcast", "delivery", "orderly")
