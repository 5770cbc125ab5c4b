"""Definitions, refinements, mutants, misconfigurations and explanations: what each of them changes, and what not."""

import re

import pytest

from rocketproof.checkers.explore import explore
from rocketproof.model.kernel import (
    BoolLike,
    ConfigurationError,
    Constants,
    Domain,
    Int,
    IntLike,
    Machine,
    ModelError,
    State,
)
from rocketproof.properties.property import always


class Seat(Domain, size="seats", label="s"):
    """Seats of a hall."""


def hall() -> Machine:
    """A hall that sells its seats one by one."""
    machine = Machine("hall")
    machine.constant("seats", 2, low=1)
    machine.constant("doors", 1, low=1, high=3)
    machine.variable("sold", bool, Seat)
    machine.variable("entered", Int(0, lambda k: k.seats * (k.doors + 1)))

    @machine.definition
    def free(s: State, seat: IntLike) -> BoolLike:
        return s.sold[seat] == 0

    @machine.action(tells="{seat} is sold")
    def sell(s: State, seat: Seat) -> None:
        s.require(free(s, seat))
        s.sold[seat] = True
        s.entered = s.entered + s.doors

    @machine.mutant("S1", "seat-sold-twice", of=free, killed_by="no-crowd", constants={"seats": 1})
    def never_asked(s: State, seat: IntLike) -> BoolLike:
        """Nobody looks whether the seat is free."""
        return s.entered < s.seats

    @machine.mutant("S2", "seat-never-marked", of=sell, killed_by="no-crowd", tells="{seat} is sold silently")
    def sell_silently(s: State, seat: Seat) -> None:
        """The seat is not marked. Source: nowhere."""
        s.require(free(s, seat), s.entered < s.seats)
        s.entered = s.entered + 1

    @machine.mutant(
        "S3", "guest-without-ticket", killed_by="tickets", constants={"seats": 1}, tells="somebody slips in"
    )
    def slip_in(s: State) -> None:
        """A guest comes in without a ticket."""
        s.require(s.entered < s.seats)
        s.entered = s.entered + 1

    machine.misconfiguration(
        "S4", "two-doors", killed_by="no-crowd", constants={"seats": 1}, sets={"doors": 2}, doc="Two doors count twice."
    )
    machine.explanation(
        "S5", "hall-fills", naive="empty", exact="no-crowd", constants={"seats": 1}, doc="It is a hall."
    )
    return machine


@always("no-crowd")
def no_crowd(s: State) -> BoolLike:
    """No more guests than seats."""
    return s.entered <= s.seats


def size(machine: Machine, **constants: int | str) -> int:
    return explore(machine.configure(**constants)).states


def test_a_mutant_replaces_a_definition_an_action_or_adds_one() -> None:
    machine = hall()
    assert size(machine) == 4
    assert size(machine.mutated("S1")) == 6
    assert size(machine.mutated("S2")) == 3
    assert size(machine.mutated("S3")) == 12
    assert size(machine) == 4  # the machine itself is as it was


def test_a_mutated_machine_says_so_and_keeps_the_rest() -> None:
    machine = hall()
    wrong = machine.mutated("S2")
    assert str(wrong.configure()) == "hall~S2(seats=2, doors=1)"
    assert wrong.actions.keys() == machine.actions.keys()
    assert (wrong.actions["sell"].tells, machine.actions["sell"].tells) == ("{seat} is sold silently", "{seat} is sold")
    assert wrong.actions["sell"].doc == "The seat is not marked. Source: nowhere."
    assert machine.mutated("S3").actions["slip_in"].tells == "somebody slips in"


def test_what_is_declared_is_there_to_read() -> None:
    first = hall().mutants["S1"]
    assert (first.id, first.slug, first.killed_by, first.replaces) == ("S1", "seat-sold-twice", "no-crowd", "free")
    assert (first.constants, first.sets, first.doc) == ({"seats": 1}, {}, "Nobody looks whether the seat is free.")
    assert hall().mutants["S3"].replaces == ""
    told = hall().explanations["S5"]
    assert (told.naive, told.exact, told.constants, told.doc) == ("empty", "no-crowd", {"seats": 1}, "It is a hall.")


def test_a_misconfiguration_is_the_same_machine_with_other_constants() -> None:
    machine = hall()
    wrong = machine.mutants["S4"]
    assert (wrong.constants, wrong.wrong_constants, wrong.function) == ({"seats": 1}, {"seats": 1, "doors": 2}, None)
    assert size(machine.mutated("S4"), **wrong.wrong_constants) == size(machine, **wrong.constants) == 2
    right = explore(machine.configure(**wrong.constants), [no_crowd]).results[0]
    bad = explore(machine.mutated("S4").configure(**wrong.wrong_constants), [no_crowd]).results[0]
    assert (right.verdict, bad.verdict) == ("HOLDS", "VIOLATED")


def test_a_misconfiguration_without_sets_is_wrong_in_all_its_constants() -> None:
    machine = hall()
    machine.misconfiguration("S6", "three-doors", killed_by="no-crowd", constants={"doors": 3}, doc="")
    assert (machine.mutants["S6"].constants, machine.mutants["S6"].wrong_constants) == ({}, {"doors": 3})
    with pytest.raises(ModelError, match=r"mutant S7: a misconfiguration sets some constant; say which with sets=…\."):
        machine.misconfiguration("S7", "nothing", killed_by="no-crowd", doc="")


def test_a_composition_has_the_mutants_of_its_parts_and_refines_their_definitions() -> None:
    part = hall()
    house = Machine("house").include(part)
    house.variable("closed", bool)

    @house.action
    def close(s: State) -> None:
        s.require(s.closed == 0)
        s.closed = True

    @house.refine(part.definitions["free"])
    def free_and_open(s: State, seat: IntLike) -> BoolLike:
        return (s.sold[seat] == 0) & (s.closed == 0)

    assert (size(part), size(house)) == (4, 8)
    assert house.mutants.keys() == part.mutants.keys()
    assert house.explanations.keys() == part.explanations.keys()
    assert size(house.mutated("S1")) == 12  # a mutant wins over a refinement of what it replaces
    assert size(Machine("street").include(house)) == 8


def first_guests(k: Constants) -> int:
    return 0


def most_guests(k: Constants) -> int:
    return k.seats


def test_a_mutant_replaces_how_a_variable_begins_or_where_its_domain_ends() -> None:
    machine = Machine("lobby")
    machine.constant("seats", 2, low=1)
    machine.variable("guests", Int(0, most_guests), init=first_guests)

    @machine.action
    def come(s: State) -> None:
        s.require(s.guests < s.seats)
        s.guests = s.guests + 1

    @machine.mutant("S9", "somebody-is-there", of=first_guests, killed_by="no-crowd")
    def one_guest(k: Constants) -> int:
        return 1

    @machine.mutant("S10", "small-lobby", of=most_guests, killed_by="no-crowd")
    def one_seat(k: Constants) -> int:
        return 1

    assert (size(machine), size(machine.mutated("S9")), size(machine)) == (3, 2, 3)
    with pytest.raises(ModelError, match=r"lobby~S10, action come: writes 2 to guests, allowed is 0…1"):
        size(machine.mutated("S10"))


def test_what_a_mutant_cannot_replace_is_told_with_the_way_round() -> None:
    machine = hall()
    machine.mutant("S11", "nothing", of=most_guests, killed_by="no-crowd")(most_guests)
    with pytest.raises(
        ModelError,
        match=r"no action or definition called 'most_guests' to replace, and no variable begins or ends with it; a "
        r"function that texts call is made a definition first, with @machine\.definition; one that decides from "
        r"constants what exists cannot be replaced, so let the mutant set constants\.",
    ):
        machine.mutated("S11")


def test_a_part_may_break_what_another_part_defines() -> None:
    cellar = Machine("cellar")

    @cellar.mutant("S8", "always-free", of=hall().definitions["free"], killed_by="no-crowd")
    def always(s: State, seat: IntLike) -> BoolLike:
        return s.entered < s.seats

    assert size(Machine("house").include(hall(), cellar).mutated("S8")) == 6
    with pytest.raises(ModelError, match=r"mutant S8: machine cellar has no action or definition called 'free'"):
        cellar.mutated("S8")


def test_mistakes_are_named() -> None:
    machine = hall()
    with pytest.raises(ConfigurationError, match=r"machine hall has no mutant 'S9'\. .*Possible: S1, S2, S3, S4\."):
        machine.mutated("S9")
    with pytest.raises(ModelError, match=r"machine hall has two mutants S1; rename one\."):
        machine.mutant("S1", "again", killed_by="no-crowd")(lambda s: None)
    with pytest.raises(ModelError, match=r"mutant S6: of='enter' is no function; give the action or definition itself"):
        machine.mutant("S6", "by-name", of="enter", killed_by="no-crowd")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"machine hall explains S5 twice; leave one out\."):
        machine.explanation("S5", "again", naive="empty", exact="no-crowd", doc="")
    with pytest.raises(ModelError, match=r"machine hall has two definitions named free; rename one\."):
        machine.definition(machine.definitions["free"].function)
    refined = machine.refine(machine.definitions["free"])
    refined(lambda s, seat: True)
    with pytest.raises(ModelError, match=r"machine hall refines free twice; let one text"):
        refined(lambda s, seat: True)
    other = hall()
    other.refine(other.definitions["free"])(lambda s, seat: True)
    both = Machine("both")
    both.replacements["free"] = lambda s, seat: True
    with pytest.raises(ModelError, match=r"machine both: two of its parts refine free; let one text"):
        both.include(other)


def test_an_added_action_must_have_a_name_and_parameters_of_its_own() -> None:
    machine = hall()

    def sell(s: State) -> None:
        s.entered = 0

    machine.mutant("S9", "takes-a-name", killed_by="no-crowd")(sell)
    with pytest.raises(ModelError, match=re.escape("machine hall~S9 has two actions named sell; rename one.")):
        machine.mutated("S9")
