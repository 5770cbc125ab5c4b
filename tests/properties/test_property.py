"""Properties: what the decorator of a text says, what its docstring, and over what the text quantifies."""

import pytest

from rocketproof.checkers.explore import explore
from rocketproof.checkers.liveness import check_eventually
from rocketproof.model.kernel import BoolLike, Domain, Int, Machine, ModelError, State, constant, same, variable
from rocketproof.properties.property import Kind, always, eventually, settles, sometimes
from rocketproof.properties.verdict import Verdict


class Lamp(Domain, size="lamps", label="l"):
    """What may be lit."""


machine = Machine("lamps")


@machine.state
class Lamps(State):
    lamps = constant(2, low=1)
    lit = variable(Int(0, 1), Lamp)


@machine.action(fair=True)
def switch(s: Lamps, lamp: Lamp) -> None:
    """One lamp more."""
    s.require(s.lit[lamp] == 0)
    s.lit[lamp] = 1


@always("lamp-is-off", "G1", "G2", assuming=("there is power",))
def off(s: Lamps, lamp: Lamp) -> BoolLike:
    """No lamp is lit,
    ever.
    """
    return s.lit[lamp] == 0


@always("lamps-are-alike")
def alike(s: Lamps, one: Lamp, other: Lamp) -> BoolLike:
    """All lamps are lit, or none is."""
    return same(s.lit[one], s.lit[other])


@sometimes("lamp-is-on")
def on(s: Lamps, lamp: Lamp) -> BoolLike:
    """Some lamp may be lit."""
    return s.lit[lamp] == 1


@always("lamps-are-counted")
def counted(s: Lamps) -> BoolLike:
    """As many lamps may be lit as there are."""
    return s.count(Lamp, lambda lamp: s.lit[lamp] == 1) <= s.lamps


def test_the_docstring_is_the_statement_and_the_decorator_says_the_rest() -> None:
    assert (off.id, off.statement, off.kind) == ("lamp-is-off", "No lamp is lit, ever.", Kind.ALWAYS)
    assert (off.assuming, off.rules) == (("there is power",), ("G1", "G2"))
    assert (on.kind, on.assuming, on.rules) == (Kind.SOMETIMES, (), ())


def test_always_is_of_every_element_and_sometimes_of_one() -> None:
    found = explore(machine.configure(), [off, alike, on, counted])
    assert found.bounds == "all 4 states, 4 transitions, depth 2"
    assert [(result.verdict, result.run and len(result.run.steps)) for result in found.results] == [
        (Verdict.VIOLATED, 1),
        (Verdict.VIOLATED, 1),
        (Verdict.HOLDS, 1),
        (Verdict.HOLDS, None),
    ]


@eventually("lamps-get-lit", after=lambda s: s.lit[1] == 1)
def get_lit(s: Lamps, lamp: Lamp) -> BoolLike:
    """Once the second lamp is lit, all of them are in the end."""
    return s.lit[lamp] == 1


@settles("lamps-stay-lit", assuming=("there is power",))
def stay_lit(s: Lamps, lamp: Lamp) -> BoolLike:
    """In the end, all lamps are lit for good."""
    return s.lit[lamp] == 1


def test_what_happens_in_the_end_happens_to_every_element() -> None:
    assert (get_lit.kind, get_lit.assuming, stay_lit.kind, stay_lit.after) == (
        Kind.EVENTUALLY,
        (),
        Kind.SETTLES,
        None,
    )
    one = machine.configure(lamps=1)
    assert [check_eventually(machine.configure(), item).verdict for item in (get_lit, stay_lit)] == [Verdict.HOLDS] * 2
    assert check_eventually(one, stay_lit).bounds == "all 2 states, 1 transitions, depth 1"


def test_a_parameter_must_range_over_a_domain() -> None:
    def bright(s: Lamps, lamp: int) -> BoolLike:
        return s.lit[lamp] == 1

    message = "property bright: parameter 'lamp' is annotated <class 'int'>; annotate it with a Domain class."
    with pytest.raises(ModelError, match=message):
        always("bright")(bright)
