"""A machine that counts to a top, a rule, and mutants of both: each becomes something else when it is tried."""

from rocketproof.checkers.mutants import Entry, entries
from rocketproof.checkers.suite import Row, claim_rows
from rocketproof.model.kernel import BoolLike, Int, IntLike, Machine, State, rule
from rocketproof.properties.claim import Claim
from rocketproof.properties.property import always, eventually, settles
from rocketproof.properties.theorem import Theorem
from rocketproof.properties.verdict import Verdict

counter = Machine("counter")
counter.constant("top", 3, low=1)
counter.constant("resets", 0)
counter.variable("height", Int(0, lambda k: k.top + 1))


@counter.definition
def may_rise(s: State) -> BoolLike:
    """Whether the height may rise."""
    return s.height < s.top


@counter.action(fair=True)
def rise(s: State) -> None:
    """One more."""
    s.require(may_rise(s))
    s.height = s.height + 1


@counter.action(budget="resets")
def reset(s: State) -> None:
    """Start again."""
    s.height = 0


@counter.mutant("K1", "one-too-many", of=may_rise, killed_by="below-top", constants={"top": 2})
def off_by_one(s: State) -> BoolLike:
    """The height rises once more than it may."""
    return s.height <= s.top


@counter.mutant("K2", "never-rises", of=rise, killed_by="ends-at-top")
def stay(s: State) -> None:
    """The height stays."""
    s.require(may_rise(s))


@counter.mutant("K3", "harmless", of=may_rise, killed_by="below-top")
def the_same(s: State) -> BoolLike:
    """Says the same in other words."""
    return s.top > s.height


@counter.mutant("K4", "blamed-wrongly", of=may_rise, killed_by="never-three")
def also_off_by_one(s: State) -> BoolLike:
    """Its property is violated without it as well."""
    return s.height <= s.top


@counter.mutant("K5", "too-wild", killed_by="below-top")
def leap(s: State) -> None:
    """Leaves the declared range."""
    s.height = s.height + 9


@counter.mutant("K6", "unclaimed", of=may_rise, killed_by="below-tip")
def unclaimed(s: State) -> BoolLike:
    """Names a property that nobody claims."""
    return True


@counter.mutant("K12", "out-of-sight", of=may_rise, killed_by="never-falls")
def out_of_sight(s: State) -> BoolLike:
    """Its property speaks of resets, of which there are none."""
    return s.height <= s.top


counter.misconfiguration("K7", "lower-top", killed_by="ends-at-three", sets={"top": 2}, doc="The top is too low.")
counter.explanation("K8", "falls", naive="never-falls", exact="below-top", constants={"resets": 1}, doc="It may reset.")
counter.explanation("K9", "no-surprise", naive="below-top", exact="ends-at-top", doc="Nothing happens.")


@always("below-top")
def below(s: State) -> BoolLike:
    """The height is not above the top."""
    return s.height <= s.top


@always("never-three")
def never_three(s: State) -> BoolLike:
    """The height is never three."""
    return s.height < 3


@always("never-falls")
def never_falls(s: State) -> BoolLike:
    """The height is not reset."""
    return (s.resets_left > 0) | (s.height > 0)


@settles("ends-at-top")
def ends(s: State) -> BoolLike:
    """The height ends at the top."""
    return s.height == s.top


@eventually("ends-at-three")
def three(s: State) -> BoolLike:
    """The height comes to three."""
    return s.height == 3


@rule
def double(value: IntLike) -> IntLike:
    """Twice a number."""
    return value + value


@double.mutant("K10", "squares", killed_by="double-is-even")
def square(value: IntLike) -> IntLike:
    """Multiplies by itself. It is even too often to be noticed at once."""
    return value * value


@double.mutant("K11", "no-theorem", killed_by="double-is-odd")
def nothing(value: IntLike) -> IntLike:
    """Names a theorem that is not there."""
    return 0


EVEN = Theorem(id="double-is-even", statement="", sizes=("value",), claim=lambda value: double(value) % 2 == 0)


def rows() -> list[Row]:
    claims = [
        Claim(property=below, machine=counter),
        Claim(property=never_three, machine=counter, expected=Verdict.VIOLATED),
        Claim(property=never_falls, machine=counter, constants={"resets": 1}, expected=Verdict.VIOLATED),
        Claim(property=ends, machine=counter),
        Claim(property=three, machine=counter),
    ]
    return [*claim_rows(claims), Row(subject=EVEN, machine="rules", expected=Verdict.HOLDS)]


def declared() -> list[Entry]:
    """The entries of the heighter, without the known bugs of the model."""
    return [entry for entry in entries(rows(), [double]) if entry.id.startswith("K")]
