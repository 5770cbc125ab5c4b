"""What texts may do with a state: reading, writing, sets, quantifiers; each shown on the plain Python form."""

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import pytest

from rocketproof.model.kernel import (
    Domain,
    Int,
    Lowered,
    Machine,
    ModelError,
    SetOf,
    State,
    all_of,
    ite,
    lower,
    not_,
    total,
)
from rocketproof.model.kernel.plain import PlainMachine

pytestmark = pytest.mark.smoke


class Queue(Domain, size="queues", label="q"):
    pass


class Consumer(Domain, size=2, label="c"):
    pass


class Light(IntEnum):
    RED = 0
    GREEN = 1
    BLUE = 2


class Other(IntEnum):
    ZERO = 0


def machine() -> Machine:
    made = Machine("example")
    made.constant("queues", 3, low=1)
    made.constant("word", "go")
    made.variable("x", Int(-2, 5), init=1)
    made.variable("y", Int(-2, 5), init=4)
    made.variable("flag", bool)
    made.variable("light", Light)
    made.variable("offset", Int(-1, 9), Queue, init=lambda c, q: q)
    made.variable("owns", bool, Consumer, Queue)
    made.variable("members", SetOf(Queue), init=lambda c, q: q == 1)
    made.variable("seen", SetOf(Queue), Consumer)
    made.variable("hidden", bool, when=lambda c: c.queues > 5)
    return made


def lowered(text: Callable[..., None]) -> Lowered:
    made = machine()
    made.action(text)
    return lower(made.configure())


def changes(text: Callable[..., None]) -> dict[str, str]:
    """What one step from the initial state changes."""
    configuration = lowered(text)
    plain = PlainMachine(configuration)
    after = plain.step(plain.initial, 0)
    assert after is not None
    before, now = configuration.show_state(plain.initial), configuration.show_state(after)
    return {name: now[name] for name in now if now[name] != before[name]}


def value(text: Callable[[State], Any]) -> int:
    """A number computed in the initial state."""
    made = machine()
    made.variable("result", Int(-50, 50), init=-50)

    @made.action
    def compute(s: State) -> None:
        s.result = text(s)

    plain = PlainMachine(lower(made.configure()))
    after = plain.step(plain.initial, 0)
    assert after is not None
    return after[-1]


def error(text: Callable[..., None]) -> str:
    """The message when lowering, or else taking, the action."""

    def act() -> None:
        plain = PlainMachine(lowered(text))
        plain.step(plain.initial, 0)

    with pytest.raises(ModelError) as caught:
        act()
    return str(caught.value)


# --- writing -----------------------------------------------------------------------------------------------------


def test_updates_are_simultaneous() -> None:
    def swap(s: State) -> None:
        s.x = s.y
        s.y = s.x

    assert changes(swap) == {"x": "4", "y": "1"}


def test_a_later_write_under_a_condition_wins_where_it_holds() -> None:
    def act(s: State) -> None:
        s.x = 2
        with s.when(s.y == 4):
            s.x = 3
        s.y = 0
        with s.when(s.x == 0):
            s.y = 2

    assert changes(act) == {"x": "3", "y": "0"}


def test_a_later_write_wins_where_symbolic_indices_coincide() -> None:
    def act(s: State) -> None:
        s.offset[s.x] = 7
        s.offset[s.y - 3] = 8
        s.offset[2] = 9

    assert changes(act) == {"offset[q1]": "8", "offset[q2]": "9"}


def test_conditions_nest_and_plain_ones_are_decided_at_once() -> None:
    def act(s: State) -> None:
        with s.when(s.x == 1):
            with s.when(s.y == 0):
                s.x = 5
            with s.when(s.word == "go"):
                s.flag = True
            with s.when(s.word == "stop"):
                s.y = 99

    assert changes(act) == {"flag": "true"}


def test_writing_the_same_cell_twice_is_an_error() -> None:
    def twice(s: State) -> None:
        s.x = 1
        s.x += 1

    def twice_at_an_index(s: State) -> None:
        s.offset[s.x + 1] = 1
        s.offset[s.x + 1] = 2

    def twice_under_a_condition(s: State) -> None:
        with s.when(s.flag):
            s.x = 1
            s.x = 2

    def set_twice(s: State) -> None:
        s.members = s.members.add(0)
        s.members = s.members.add(1)

    assert error(twice) == (
        "machine example, action twice: writes x twice; the second write would hide the first. Write it once, with "
        "ite(…), or each time under another s.when(…)."
    )
    assert "action twice_at_an_index: writes offset[" in error(twice_at_an_index)
    assert "action twice_under_a_condition: writes x twice" in error(twice_under_a_condition)
    assert "action set_twice: writes members[q0] twice" in error(set_twice)


def test_a_family_is_assigned_whole_or_in_part() -> None:
    def whole(s: State) -> None:
        s.offset = lambda q: s.offset[q] + 2

    def constant(s: State) -> None:
        s.offset = 6

    def part(s: State, c: Consumer) -> None:
        s.owns[1] = lambda q: q != 1

    def both(s: State) -> None:
        s.owns = lambda c, q: q == c

    assert changes(whole) == {"offset[q0]": "2", "offset[q1]": "3", "offset[q2]": "4"}
    assert changes(constant) == {"offset[q0]": "6", "offset[q1]": "6", "offset[q2]": "6"}
    assert changes(part) == {"owns[c1, q0]": "true", "owns[c1, q2]": "true"}
    assert changes(both) == {"owns[c0, q0]": "true", "owns[c1, q1]": "true"}


def test_an_index_can_be_given_in_steps() -> None:
    def act(s: State) -> None:
        row = s.owns[1]
        s.flag = not_(row[2])
        row[2] = True

    assert changes(act) == {"flag": "true", "owns[c1, q2]": "true"}


# --- reading -----------------------------------------------------------------------------------------------------


def test_a_symbolic_index_reads_that_cell_and_outside_the_lowest_value() -> None:
    assert value(lambda s: s.offset[s.x + 1]) == 2
    assert value(lambda s: s.offset[s.y]) == -1
    assert value(lambda s: s.offset[s.x - 2]) == -1
    assert value(lambda s: ite(s.owns[s.y, 0], 1, 0)) == 0
    assert value(lambda s: ite(s.members.has(s.x), 1, 0)) == 1
    assert value(lambda s: ite(s.members.has(s.y), 1, 0)) == 0


def test_constants_read_as_plain_values() -> None:
    assert value(lambda s: s.queues * 10 if s.word == "go" else 0) == 30


def test_quantifiers_range_over_all_elements() -> None:
    assert value(lambda s: ite(s.forall(Queue, lambda q: s.offset[q] == q), 1, 0)) == 1
    assert value(lambda s: ite(s.forall(Queue, lambda q: s.offset[q] > 0), 1, 0)) == 0
    assert value(lambda s: ite(s.exists(Queue, lambda q: s.offset[q] == 2), 1, 0)) == 1
    assert value(lambda s: ite(s.exists(Queue, lambda q: s.offset[q] == 3), 1, 0)) == 0
    assert value(lambda s: s.count(Queue, lambda q: s.offset[q] > 0)) == 2
    assert value(lambda s: s.least(Queue, lambda q: s.offset[q] > 0, default=9)) == 1
    assert value(lambda s: s.least(Queue, lambda q: s.offset[q] > 2, default=9)) == 9
    assert value(lambda s: s.count(Queue, lambda q: q > 0)) == 2
    assert value(lambda s: s.elements(Queue).size) == 3


def test_sets_have_the_usual_operations() -> None:
    def elements(make: Callable[[State], Any]) -> set[int]:
        code = value(lambda s: total(ite(make(s).has(q), 1 << q, 0) for q in range(3)))
        return {q for q in range(3) if code >> q & 1}

    assert elements(lambda s: s.members) == {1}
    assert elements(lambda s: s.members.add(s.x + 1)) == {1, 2}
    assert elements(lambda s: s.members.add(0).remove(s.x)) == {0}
    assert elements(lambda s: s.full(Queue) - s.members) == {0, 2}
    assert elements(lambda s: s.empty(Queue) | s.members) == {1}
    assert elements(lambda s: s.full(Queue) & s.members.add(2)) == {1, 2}
    assert elements(lambda s: s.members.where(s.flag, s.full(Queue))) == {0, 1, 2}
    assert elements(lambda s: s.members.where(not_(s.flag), s.full(Queue))) == {1}
    assert elements(lambda s: s.seen[1].add(2)) == {2}
    assert value(lambda s: s.members.add(2).size()) == 2
    assert value(lambda s: s.members.add(0).rank(2)) == 2
    assert value(lambda s: ite(s.members.equals(s.empty(Queue).add(s.x)), 1, 0)) == 1
    assert value(lambda s: ite(s.members.equals(s.full(Queue)), 1, 0)) == 0


def test_sets_are_assigned_whole() -> None:
    def act(s: State) -> None:
        s.members = s.full(Queue) - s.members
        s.seen[1] = s.members

    assert changes(act) == {
        "members[q0]": "true",
        "members[q1]": "false",
        "members[q2]": "true",
        "seen[c1, q1]": "true",
    }


# --- modelling errors --------------------------------------------------------------------------------------------


def undeclared_write(s: State) -> None:
    s.offsets[0] = 1


def undeclared_assignment(s: State) -> None:
    s.offsets = 1


def undeclared_read(s: State) -> None:
    s.x = s.yy


def switched_off(s: State) -> None:
    s.flag = s.hidden


def constant_write(s: State) -> None:
    s.queues = 2


def above(s: State) -> None:
    s.x = s.y + 2


def below(s: State) -> None:
    s.offset[1] = -2


def above_under_a_condition(s: State) -> None:
    with s.when(s.flag | (s.y == 4)):
        s.offset[s.x] = s.y * 3


def wrong_place(s: State) -> None:
    s.offset[s.y] = 0


def wrong_known_place(s: State) -> None:
    s.offset[3] = 0


def wrong_known_read(s: State) -> None:
    s.x = s.offset[-1]


def too_many_indices(s: State) -> None:
    s.x = s.offset[0, 1]


def truth_for_number(s: State) -> None:
    s.x = s.flag


def number_for_truth(s: State) -> None:
    s.flag = 1


def wrong_enumeration(s: State) -> None:
    s.light = Other.ZERO


def light_for_number(s: State) -> None:
    s.x = Light.RED


def no_such_light(s: State) -> None:
    s.light = s.x + 2


def family_for_number(s: State) -> None:
    s.x = s.offset


def set_for_number(s: State) -> None:
    s.x = s.members


def set_of_others(s: State) -> None:
    s.members = s.empty(Consumer)


def branches(s: State) -> None:
    if s.x == 1:
        s.y = 0


def loops_over_a_family(s: State) -> None:
    if s.offset:
        s.y = 0


def compares_a_family(s: State) -> None:
    s.require(s.offset == 1)


def compares_a_row_of_a_family(s: State) -> None:
    s.require(s.owns[0] != s.owns[1])


def indexes_a_value(s: State) -> None:
    s.x = s.owns[0, 1][2]


def require_inside_when(s: State) -> None:
    with s.when(s.flag):
        s.require(s.x == 1)


def require_a_number(s: State) -> None:
    s.require(s.x)


def never(s: State) -> None:
    s.require(s.flag, not_(s.flag))
    s.x = 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (undeclared_write, "there is no variable 'offsets'. Did you mean 'offset'? Possible: flag, light, "),
        (undeclared_assignment, "writes the undeclared variable 'offsets'. Did you mean 'offset'?"),
        (undeclared_read, "there is no variable 'yy'. Did you mean 'y'?"),
        (switched_off, "variable 'hidden' is switched off in example; switch the text that uses it"),
        (constant_write, "'queues' is a constant and cannot be assigned."),
        (above, "writes 6 to x, allowed is -2…5."),
        (below, "writes -2 to offset[q1], allowed is -1…9."),
        (above_under_a_condition, "writes 12 to offset[x], allowed is -1…9."),
        (wrong_place, "writes 4 to offset[y], allowed is index in 0…2."),
        (wrong_known_place, "index 3 of 'offset' is outside Queue 0…2."),
        (wrong_known_read, "index -1 of 'offset' is outside Queue 0…2."),
        (too_many_indices, "'offset' has 1 indices, but is given 2."),
        (truth_for_number, "'x' holds a whole number, but is given flag."),
        (number_for_truth, "'flag' holds a truth value, but is given 1."),
        (wrong_enumeration, "'light' holds Light, but is given <Other.ZERO: 0>."),
        (light_for_number, "'x' holds a plain number, but is given <Light.RED: 0>."),
        (no_such_light, "writes 3 to light, allowed is 0…2."),
        (family_for_number, "'x' holds a whole number, but is given offset[, …]."),
        (set_for_number, "assigns a set to 'x', which is not a set here."),
        (set_of_others, "assigns a set of Consumer to 'members', which holds sets of Queue."),
        (branches, "is not known while the machine is lowered, so Python cannot branch on it"),
        (loops_over_a_family, "offset is a family, not a value; index it: offset[…]."),
        (compares_a_family, "offset is a family, not a value; index it: offset[…]."),
        (compares_a_row_of_a_family, "owns is a family, not a value; index it: owns[…]."),
        (indexes_a_value, "is a value already and has no index 2; all indices of a family stand together: s.x[i, j]."),
        (require_inside_when, "'require' inside 's.when' would guard the whole action; move it out."),
        (require_a_number, "expected a truth value, got the number x; compare it with something first."),
        (never, "its guard is false for every parameter in example(queues=3, word=go); mend the guard, or switch"),
    ],
)
def test_a_modelling_error_names_machine_action_variable_and_value(text: Callable[..., None], message: str) -> None:
    said = error(text)
    assert said.startswith(f"machine example, action {text.__name__}: ")
    assert message in said


def test_a_write_outside_is_no_error_where_the_action_is_not_enabled_or_does_not_write() -> None:
    def act(s: State) -> None:
        s.require(s.x == 1)
        with s.when(s.y > 4):
            s.x = s.y + 1

    assert changes(act) == {}


def test_errors_of_properties_name_the_property() -> None:
    def said(text: Callable[[State], Any]) -> str:
        with pytest.raises(ModelError) as caught:
            lower(machine().configure(), {"fine": text})
        return str(caught.value)

    def writes(s: State) -> bool:
        s.x = 1
        return True

    assert said(writes) == "machine example, property fine: a property or a guard must not write, but assigns 'x'."
    assert said(lambda s: s.x) == (
        "machine example, property fine: expected a truth value, got the number x; compare it with something first."
    )
    assert said(lambda s: s.z == 1).startswith("machine example, property fine: there is no variable 'z'.")
    assert said(lambda s: 1 if s.flag else 2).startswith(
        "machine example, property fine: the value of flag is not known"
    )
    assert said(lambda s: all_of(s.offset)).startswith("machine example, property fine: ")
