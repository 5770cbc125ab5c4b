"""Tracing: which cells, instances and terms a configuration has; finite and unbounded ones."""

from typing import Any

import pytest
import z3

from rocketproof.model.examples import two_phase_commit
from rocketproof.model.kernel import (
    UNBOUNDED,
    ConfigurationError,
    Domain,
    Int,
    Machine,
    ModelError,
    State,
    any_of,
    lower,
    not_,
)
from rocketproof.model.kernel.layout import layout
from rocketproof.model.kernel.native import compile_machine
from rocketproof.model.kernel.plain import PlainMachine

pytestmark = pytest.mark.smoke


class Message(Domain, size="messages", label="m"):
    pass


def counter(high: int | str | None = "messages") -> Machine:
    machine = Machine("counter")
    machine.constant("messages", 3, low=1)
    machine.variable("done", bool, Message)
    machine.variable("next", Int(0, high))

    @machine.action
    def finish(s: State, m: Message) -> None:
        s.require(s.next == m, m < s.messages)
        s.done[m] = True
        s.next += 1

    return machine


def test_cells_and_instances_are_numbered_in_declaration_order() -> None:
    lowered = lower(two_phase_commit.machine.configure(managers=2))
    assert [cell.label for cell in lowered.cells] == [
        "stage[r0]",
        "stage[r1]",
        "decision",
        "ready[r0]",
        "ready[r1]",
        "prepared_sent[r0]",
        "prepared_sent[r1]",
        "commit_sent",
        "abort_sent",
    ]
    assert [instance.label for instance in lowered.instances] == [
        "prepare(r0)",
        "prepare(r1)",
        "choose_to_abort(r0)",
        "choose_to_abort(r1)",
        "hear_prepared(r0)",
        "hear_prepared(r1)",
        "commit",
        "abort",
        "hear_commit(r0)",
        "hear_commit(r1)",
        "hear_abort(r0)",
        "hear_abort(r1)",
    ]
    assert lowered.instances[0].tells == "r0 prepares and says so"


def test_a_family_and_a_variable_of_a_similar_name_are_different() -> None:
    machine = Machine("example")
    machine.variable("x", Int(0, 3), Message, init=1)
    machine.variable("x_0", Int(0, 3), init=2)
    machine.constant("messages", 1)
    lowered = lower(machine.configure(), {"one": lambda s: s.x[0] == 1, "two": lambda s: s.x_0 == 2})
    plain = PlainMachine(lowered)
    assert [plain.holds(name, plain.initial) for name in ("one", "two")] == [True, True]


def test_an_instance_updates_only_what_it_writes() -> None:
    lowered = lower(two_phase_commit.machine.configure(managers=2))
    prepare = lowered.instances[0]
    assert {lowered.cells[number].label: str(z3.simplify(value)) for number, value in prepare.updates.items()} == {
        "stage[r0]": "1",
        "prepared_sent[r0]": "True",
    }
    stages = [z3.substitute(prepare.guard, (lowered.cells[0].symbol, z3.IntVal(stage))) for stage in range(4)]
    assert [z3.is_true(z3.simplify(guard)) for guard in stages] == [True, False, False, False]
    assert prepare.checks == ()


def test_a_state_prints_as_its_author_writes_it() -> None:
    lowered = lower(two_phase_commit.machine.configure(managers=1))
    assert lowered.show_state((3, 2, 1, 0, 1, 0)) == {
        "stage[r0]": "ABORTED",
        "decision": "ABORT",
        "ready[r0]": "true",
        "prepared_sent[r0]": "false",
        "commit_sent": "true",
        "abort_sent": "false",
    }


def test_instances_whose_guard_is_false_are_left_out() -> None:
    machine = Machine("example")
    machine.variable("x", Int(0, 3))

    @machine.action
    def grow(s: State, fast: bool) -> None:
        s.require(not fast, s.x < 3)
        s.x += 1

    assert [instance.label for instance in lower(machine.configure()).instances] == ["grow(false)"]


def test_a_guard_that_is_never_enabled_is_an_error() -> None:
    machine = Machine("example")
    machine.variable("x", Int(0, 3))

    @machine.action
    def grow(s: State, fast: bool) -> None:
        s.require(s.x < 0 if fast else False, s.x >= 0)

    with pytest.raises(ModelError) as caught:
        lower(machine.configure())
    assert str(caught.value) == (
        "machine example, action grow: its guard is false for every parameter in example(); mend the guard, or switch "
        "the action off with when=…."
    )


def test_an_unbounded_configuration_has_arrays_symbols_and_assumptions() -> None:
    lowered = lower(counter().configure(messages=UNBOUNDED), {"some": lambda s: s.exists(Message, lambda m: s.done[m])})
    assert [cell.label for cell in lowered.cells] == ["done[…]", "next"]
    assert [cell.is_array for cell in lowered.cells] == [True, False]
    (finish,) = lowered.instances
    assert (finish.label, dict(finish.arguments), len(finish.symbols)) == ("finish(any m)", {"m": None}, 1)
    assert [str(assumption) for assumption in lowered.assumptions] == ["messages >= 1"]
    assert z3.is_quantifier(lowered.predicates["some"].term)
    assert not lowered.is_finite


@pytest.mark.parametrize(
    ("machine", "constants", "reason"),
    [
        (counter(), {"messages": UNBOUNDED}, "variable done ranges over an unbounded domain"),
        (counter(None), {}, "variable next has no upper bound"),
    ],
)
@pytest.mark.parametrize(
    ("engine", "use"),
    [
        ("the plain Python form", PlainMachine),
        ("packing", layout),
        ("compiled search", compile_machine),
    ],
)
def test_an_unbounded_domain_is_an_error_where_every_state_is_needed(
    machine: Machine, constants: dict[str, Any], reason: str, engine: str, use: Any
) -> None:
    configuration = machine.configure(**constants)
    with pytest.raises(ModelError) as caught:
        use(lower(configuration))
    assert str(caught.value) == (
        f"{engine} needs a finite configuration, but in {configuration} {reason}; give the constant a number, or the "
        "variable a bound, or use the engine 'prove'."
    )


def test_counting_an_unbounded_domain_is_an_error() -> None:
    configuration = counter().configure(messages=UNBOUNDED)
    with pytest.raises(ModelError, match="property all: elements of Message cannot be counted, its size is unbounded"):
        lower(configuration, {"all": lambda s: s.count(Message, lambda m: s.done[m]) == s.next})
    with pytest.raises(ModelError, match="the elements of Message cannot be counted or listed"):
        lower(configuration, {"all": lambda s: s.full(Message).size() == s.next})


def test_the_least_of_an_unbounded_domain_may_be_asked_after_an_assignment_but_not_in_a_quantifier() -> None:
    machine = Machine("least")
    machine.constant("messages", 2, low=1)
    machine.variable("done", bool, Message)
    machine.variable("first", Int(0))

    @machine.action
    def finish(s: State, m: Message) -> None:
        s.done = lambda o: any_of(o == m, s.done[o])
        s.first = s.least(Message, lambda o: not_(s.done[o]), default=0)

    lowered = lower(machine.configure(messages=UNBOUNDED))
    assert len(lowered.instances[0].definitions) == 1
    with pytest.raises(ModelError, match="over the unbounded Message cannot stand inside a quantifier"):
        lower(
            machine.configure(messages=UNBOUNDED),
            {"in order": lambda s: s.forall(Message, lambda m: s.least(Message, lambda o: s.done[o], default=0) <= m)},
        )


def test_a_lower_bound_cannot_be_unbounded() -> None:
    machine = Machine("example")
    machine.constant("messages", 3)
    machine.variable("x", Int("messages", None))
    with pytest.raises(ConfigurationError, match="variable 'x' has no possible value"):
        lower(machine.configure(messages=UNBOUNDED))


def test_a_bound_that_is_an_unbounded_constant_stays_a_bound() -> None:
    machine = Machine("bounded")
    machine.constant("messages", 2, low=1)
    machine.variable("next", Int(-1, "messages"))
    machine.variable("before", Int(0, lambda k: k.messages - 1), Message)
    machine.variable("free", Int(0))

    @machine.action
    def write(s: State, m: Message) -> None:
        s.next = m
        s.before = lambda o: s.before[o] + 1

    lowered = lower(machine.configure(messages=UNBOUNDED))
    families = {cell.family.name: cell.family for cell in lowered.cells}
    assert {name: family.allowed for name, family in families.items()} == {
        "next": "-1…messages",
        "before": "0…messages - 1",
        "free": "0…",
    }
    assert {family.high for family in families.values()} == {None}
    assert [check.allowed for check in lowered.instances[0].checks] == ["-1…messages", "0…messages - 1"]
    finite = {cell.family.name: cell.family for cell in lower(machine.configure(messages=3)).cells if not cell.is_array}
    assert (finite["next"].high, finite["next"].limit, finite["next"].allowed) == (3, 3, "-1…3 (messages)")


def test_an_initial_value_must_fit_for_every_number() -> None:
    machine = Machine("begins")
    machine.constant("messages", 2, low=1)
    machine.variable("next", Int(0, "messages"), init=1)
    assert lower(machine.configure(messages=UNBOUNDED)).initial_state() == (1,)
    machine.variable("later", Int(0, "messages"), init=2)
    with pytest.raises(ModelError, match="the initial value 2 of 'later' is outside its domain 0…messages in begins"):
        lower(machine.configure(messages=UNBOUNDED))


def test_an_initial_value_cannot_depend_on_an_unbounded_index() -> None:
    machine = Machine("first")
    machine.constant("messages", 2, low=1)
    machine.variable("first", bool, Message, init=lambda k, m: m == 0)
    assert lower(machine.configure()).initial_state() == (1, 0)
    with pytest.raises(ModelError, match="the initial value of 'first' depends on an unbounded index or constant"):
        lower(machine.configure(messages=UNBOUNDED))
