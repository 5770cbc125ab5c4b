"""Properties made of a text: what the decorator says, what the docstring, and over what it quantifies."""

from rocketproof.checkers.explore import explore
from rocketproof.model.kernel import BoolLike, Domain, Int, IntLike, Machine, State, constant, same, variable
from rocketproof.properties.of_each import always, sometimes
from rocketproof.properties.property import Kind
from rocketproof.properties.verdict import Verdict


class Lamp(Domain, size="lamps", label="l"):
    """What may be lit."""


machine = Machine("lamps")


@machine.state
class Lamps(State):
    lamps = constant(2, low=1)
    lit = variable(Int(0, 1), Lamp)


@machine.action
def switch(s: Lamps, lamp: Lamp) -> None:
    """One lamp more."""
    s.require(s.lit[lamp] == 0)
    s.lit[lamp] = 1


@always(Lamp, assuming=("there is power",))("lamp-is-off", "G1", "G2")
def off(s: Lamps, lamp: IntLike) -> BoolLike:
    """No lamp is lit,
    ever.
    """
    return s.lit[lamp] == 0


@always(Lamp, Lamp)("lamps-are-alike")
def alike(s: Lamps, one: IntLike, other: IntLike) -> BoolLike:
    """All lamps are lit, or none is."""
    return same(s.lit[one], s.lit[other])


@sometimes(Lamp)("lamp-is-on")
def on(s: Lamps, lamp: IntLike) -> BoolLike:
    """Some lamp may be lit."""
    return s.lit[lamp] == 1


@always()("lamps-are-counted")
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
