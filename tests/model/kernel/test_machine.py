"""Declarations: constants, variables, actions, composition, and what is said when they are wrong."""

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import pytest

from rocketproof.model.kernel import (
    UNBOUNDED,
    ConfigurationError,
    Constants,
    Domain,
    Int,
    Machine,
    ModelError,
    SetOf,
    State,
    lower,
)
from rocketproof.model.kernel.plain import PlainMachine

pytestmark = pytest.mark.smoke


class Queue(Domain, size="queues", label="q"):
    pass


class Consumer(Domain, size="consumers"):
    pass


class Light(IntEnum):
    RED = 0
    GREEN = 1


class Gap(IntEnum):
    ONE = 1
    TWO = 2


def machine() -> Machine:
    made = Machine("example")
    made.constant("queues", 2, low=1, high=9, doc="number of queues")
    made.constant("crashes", 0)
    made.constant("mode", "fast", choices=("fast", "slow"))
    made.constant("word", "any")
    return made


def test_constants_have_defaults_and_print_with_the_configuration() -> None:
    configuration = machine().configure(queues=3)
    assert dict(configuration.constants) == {"queues": 3, "crashes": 0, "mode": "fast", "word": "any"}
    assert str(configuration) == "example(queues=3, crashes=0, mode=fast, word=any)"
    assert str(configuration.constants) == "queues=3 crashes=0 mode=fast word=any"
    assert configuration.constants.queues == 3


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        (
            {"queus": 2},
            "machine example has no constant 'queus'. Did you mean 'queues'? Possible: crashes, mode, queues, ",
        ),
        ({"queues": 0}, "queues=0 is not possible; queues is a whole number from 1 to 9."),
        ({"queues": 10}, "queues=10 is not possible; queues is a whole number from 1 to 9."),
        ({"queues": "two"}, "queues='two' is not possible; queues is a whole number from 1 to 9."),
        ({"crashes": -1}, "crashes=-1 is not possible; crashes is a whole number from 0 on."),
        ({"mode": "medium"}, "mode='medium' is not possible; mode is one of fast, slow."),
        ({"mode": UNBOUNDED}, "mode='unbounded' is not possible; mode is one of fast, slow."),
        ({"word": 3}, "word=3 is not possible; word is a word."),
    ],
)
def test_impossible_constants_are_errors_that_say_what_is_possible(constants: Any, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        machine().configure(**constants)
    assert message in str(caught.value)


def test_a_default_must_be_possible() -> None:
    with pytest.raises(ConfigurationError, match="queues=0 is not possible"):
        Machine("wrong").constant("queues", 0, low=1)


def test_a_number_can_be_unbounded() -> None:
    assert machine().configure(queues=UNBOUNDED).constants["queues"] == "unbounded"


def test_a_condition_between_constants_is_held_where_both_are_numbers() -> None:
    part = Machine("part")
    part.constant("low", 1)
    part.constant("high", 3)
    part.constraint("low", "high", holds=lambda k: k.low <= k.high, message="low may not exceed high")
    whole = Machine("whole").include(part)
    assert str(whole.configure(low=3)) == "whole(low=3, high=3)"
    assert whole.configure(low=9, high=UNBOUNDED).constants.low == 9
    with pytest.raises(ConfigurationError, match=r"^low=4, high=3 is not possible; low may not exceed high\.$"):
        whole.configure(low=4)


def test_an_unknown_constant_is_named() -> None:
    with pytest.raises(ModelError, match=r"there is no constant 'queus'. Did you mean 'queues'"):
        Constants({"queues": 1}).queus  # noqa: B018


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("queues", "machine example declares 'queues' twice; rename one."),
        ("_hidden", "'_hidden' is not a possible name"),
        ("two words", "'two words' is not a possible name"),
        ("count", "'count' cannot name a constant or variable, a state already has a method of that name; rename it."),
        ("items", "'items' cannot name a constant or variable"),
    ],
)
def test_impossible_names_are_errors(name: str, message: str) -> None:
    with pytest.raises(ModelError) as as_variable:
        machine().variable(name, bool)
    with pytest.raises(ModelError) as as_constant:
        machine().constant(name, 1)
    assert message in str(as_variable.value)
    assert message in str(as_constant.value)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (int, "variable 'x' has the type <class 'int'>; possible: bool, an IntEnum class, Int(…), SetOf(…)."),
        (Gap, "variable 'x': the members of Gap must be 0, 1, 2 … ."),
        (Int(0, "quues"), "a variable is bounded by 'quues', which is no constant; Int(0) has no upper bound. Did you"),
        (
            SetOf(Consumer),
            "domain Consumer is sized by 'consumers', which is not a constant. Possible: crashes, mode, ",
        ),
    ],
)
def test_impossible_types_are_errors(kind: Any, message: str) -> None:
    made = machine()
    made.variable("x", kind)
    with pytest.raises(ModelError) as caught:
        lower(made.configure())
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        (Int(5, "queues"), "variable 'x' has no possible value in example(queues=2"),
        (Int(lambda c: c.queues, 1), "its range is 2…1."),
    ],
)
def test_an_empty_range_is_an_error_of_the_configuration(bounds: Int, message: str) -> None:
    made = machine()
    made.variable("x", bounds)
    with pytest.raises(ConfigurationError) as caught:
        lower(made.configure())
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "init", "shown"),
    [
        (Int(-2, 3), 4, "the initial value 4 of 'x' is outside its domain -2…3"),
        (Int(-2, 3), lambda c: c.queues * 2, "the initial value 4 of 'x' is outside its domain -2…3"),
        (Int(0, None), -1, "the initial value -1 of 'x' is outside its domain 0…"),
        (bool, 2, "the initial value 2 of 'x' is outside its domain 0…1"),
        (Light, "RED", "the initial value 'RED' of 'x' is outside its domain 0…1"),
    ],
)
def test_an_initial_value_outside_the_domain_is_an_error(kind: Any, init: Any, shown: str) -> None:
    made = machine()
    made.variable("x", kind, init=init)
    with pytest.raises(ModelError) as caught:
        lower(made.configure())
    assert shown in str(caught.value)


def test_initial_values_default_to_the_lowest_and_may_depend_on_constants_and_index() -> None:
    made = machine()
    made.variable("flag", bool)
    made.variable("light", Light)
    made.variable("offset", Int(-3, 3))
    made.variable("green", Light, init=Light.GREEN)
    made.variable("end", Int(0, 20), Queue, init=lambda c, q: 10 * q + c.queues)
    made.variable("members", SetOf(Queue), init=lambda c, q: q == 1)
    lowered = lower(made.configure())
    assert lowered.show_state(lowered.initial_state()) == {
        "flag": "false",
        "light": "RED",
        "offset": "-3",
        "green": "GREEN",
        "end[q0]": "2",
        "end[q1]": "12",
        "members[q0]": "false",
        "members[q1]": "true",
    }


def test_actions_are_declared_with_their_parameters() -> None:
    made = machine()

    @made.action(fair=True, budget="crashes", tells="{q} goes {light}, {fast}")
    def change(s: State, q: Queue, light: Light, fast: bool) -> None:
        """A light changes."""

    action = made.actions["change"]
    assert dict(action.parameters) == {"q": Queue, "light": Light, "fast": bool}
    assert (action.fair, action.budget, action.doc) == (True, "crashes", "A light changes.")
    instances = lower(made.configure(crashes=1)).instances
    assert [instance.label for instance in instances][:3] == [
        "change(q0, RED, false)",
        "change(q0, RED, true)",
        "change(q0, GREEN, false)",
    ]
    assert instances[-1].tells == "q1 goes GREEN, true"
    assert [instance.number for instance in instances] == list(range(8))


def test_an_action_is_weakly_or_strongly_fair_or_not() -> None:
    made = machine()
    for number, fair in enumerate((False, True, "strongly")):
        action = made.action(fair=fair)(named(f"action{number}"))  # type: ignore[call-overload]
        assert action.__name__ == f"action{number}"
    found = [(one.fair, one.strongly_fair) for name, one in made.actions.items() if name.startswith("action")]
    assert found == [(False, False), (True, False), (True, True)]
    with pytest.raises(ModelError, match="'fair' is 'weakly'; give True, False or"):
        made.action(fair="weakly")(named("action3"))  # type: ignore[call-overload]


def named(name: str) -> Callable[[State], None]:
    def action(s: State) -> None:
        pass

    action.__name__ = name
    return action


def wrongly_annotated(s: State, q: int) -> None:
    pass


def not_annotated(s, q) -> None:  # type: ignore[no-untyped-def]
    pass


def unknown_annotation(s: State, q: "Nowhere") -> None:  # type: ignore[name-defined]  # noqa: F821
    pass


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            wrongly_annotated,
            "action wrongly_annotated: parameter 'q' is annotated <class 'int'>; annotate it with a Domain",
        ),
        (not_annotated, "action not_annotated: parameter 'q' is annotated None; annotate it with a Domain class"),
        (unknown_annotation, "action unknown_annotation: the annotation 'Nowhere' cannot be found"),
    ],
)
def test_wrong_annotations_are_errors(text: Any, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        machine().action(text)
    assert message in str(caught.value)


def pull(s: State, q: Queue) -> None:
    s.require(s.x < 5)


def test_wrong_budgets_and_holes_are_errors_with_near_names() -> None:
    part = machine()
    part.action(budget="crash")(pull)
    with pytest.raises(ModelError, match=r"action pull: its budget 'crash' is not a constant. Did you mean 'crashes'"):
        part.configure()
    with pytest.raises(ModelError, match=r"action pull: 'tells' has the hole \{queue\}\. Possible: q\."):
        machine().action(tells="pull from {queue}")(pull)


def test_include_adds_everything_and_refuses_clashes() -> None:
    part = Machine("part")
    part.constant("lost", 1)
    part.variable("x", Int(0, 9))
    part.action(pull)
    whole = machine().include(part)
    assert list(whole.constants) == ["queues", "crashes", "mode", "word", "lost"]
    assert [instance.label for instance in lower(whole.configure()).instances] == ["pull(q0)", "pull(q1)"]
    with pytest.raises(ModelError, match="machine example declares 'lost' twice; rename one"):
        whole.include(part)
    same_action, same_variable, clash = Machine("other"), Machine("other"), Machine("other")
    same_action.action(pull)
    same_variable.variable("x", bool)
    clash.variable("queues", bool)
    with pytest.raises(ModelError, match="machine example has two actions named pull; rename one"):
        whole.include(same_action)
    with pytest.raises(ModelError, match="machine example declares 'x' twice"):
        whole.include(same_variable)
    with pytest.raises(ModelError, match="machine example declares 'queues' twice"):
        whole.include(clash)
    with pytest.raises(ModelError, match="machine example has two actions named pull; rename one"):
        whole.action(pull)


def test_what_was_before_the_last_step_is_remembered_where_that_is_asked_for() -> None:
    part = machine()
    part.variable("x", Int(0, 2), Queue)
    part.variable("light", Light)
    part.remember("x", "light", when=lambda k: k.mode == "slow")

    @part.action
    def fill(s: State) -> None:
        s.x[0] = s.x[0] + 1

    @part.action
    def change(s: State) -> None:
        s.light = Light.GREEN

    whole = Machine("whole").include(part)
    assert [cell.label for cell in lower(whole.configure()).cells] == ["x[q0]", "x[q1]", "light"]
    lowered = lower(whole.configure(mode="slow"))
    assert [cell.label for cell in lowered.cells][3:] == ["was_x[q0]", "was_x[q1]", "was_light"]
    plain = PlainMachine(lowered)
    state, seen = plain.initial, []
    for number in (0, 1, 0):
        state = dict(plain.successors(state))[number]
        seen.append(state)
    assert seen == [(1, 0, 0, 0, 0, 0), (1, 0, 1, 1, 0, 0), (2, 0, 1, 1, 0, 1)]
    with pytest.raises(
        ModelError, match=r"machine example has no variable 'lights' to remember\. Did you mean 'light'"
    ):
        part.remember("lights", when=lambda k: True)
    with pytest.raises(ModelError, match="machine example declares 'was_x' twice"):
        part.remember("x", when=lambda k: True)


def test_what_a_constant_switches_off_leaves_nothing_behind() -> None:
    made = machine()
    made.variable("always", bool)
    made.variable("extra", Int(0, 3), Queue, when=lambda c: c.mode == "slow")

    @made.action
    def usual(s: State) -> None:
        s.always = True

    @made.action(when=lambda c: c.mode == "slow")
    def slow(s: State, q: Queue) -> None:
        s.extra[q] = 1

    @made.action(budget="crashes")
    def crash(s: State) -> None:
        s.always = False

    def shape(**constants: Any) -> tuple[list[str], list[str]]:
        lowered = lower(made.configure(**constants))
        return [cell.label for cell in lowered.cells], [instance.label for instance in lowered.instances]

    assert shape() == (["always"], ["usual"])
    assert shape(mode="slow") == (["always", "extra[q0]", "extra[q1]"], ["usual", "slow(q0)", "slow(q1)"])
    assert shape(crashes=2) == (["always", "crashes_left"], ["usual", "crash"])


def test_a_budget_without_limit_has_no_counter() -> None:
    made = machine()

    @made.action(budget="crashes", when=lambda k: k.crashes > 1)
    def crash(s: State) -> None:
        pass

    configuration = made.configure(crashes=UNBOUNDED)
    assert (configuration.unbounded, configuration.unlimited) == ((), ("crashes",))
    lowered = lower(configuration)
    assert [instance.label for instance in lowered.instances] == ["crash"]
    assert "crashes_left" not in [cell.label for cell in lowered.cells]
    assert lowered.is_finite


def test_a_budget_cannot_share_its_counter_with_a_variable() -> None:
    made = machine()
    made.variable("crashes_left", bool)

    @made.action(budget="crashes")
    def crash(s: State) -> None:
        pass

    with pytest.raises(ModelError, match="variable 'crashes_left' is the counter of the budget 'crashes' already"):
        lower(made.configure(crashes=1))
