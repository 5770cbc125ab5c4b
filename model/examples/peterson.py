"""Peterson's algorithm: two processes share a critical section with two flags and one turn.

G. L. Peterson, "Myths about the mutual exclusion problem" (1981). A process first raises its flag, then gives the turn
away. With ``order="turn_first"`` the two steps are swapped, the classical mistake.

==========  ======  ===========  =====  =====
order       states  transitions  depth  stuck
==========  ======  ===========  =====  =====
flag_first      20           34      6      0
turn_first      32           60      7      0
==========  ======  ===========  =====  =====

``exclusive`` holds with ``flag_first`` (then ``both_inside`` is not possible) and is violated after 6 steps with
``turn_first``. Whoever wants to enter does so eventually, in either order; from the initial state nobody does for sure,
since a process need not want to enter.
"""

from __future__ import annotations

from enum import IntEnum

from ..kernel import BoolLike, Domain, Int, Machine, State, any_of, constant, not_, variable


class Process(Domain, size=2, label="p"):
    """The two processes."""


class Place(IntEnum):
    """Where a process is."""

    IDLE = 0
    BETWEEN = 1
    WAITING = 2
    CRITICAL = 3


machine = Machine("peterson", doc="Two processes share a critical section with two flags and one turn.")


@machine.state
class Peterson(State):
    """Where the processes are, their flags and the turn."""

    order = constant("flag_first", choices=("flag_first", "turn_first"), doc="what a process does first")
    place = variable(Place, Process, doc="where each process is")
    flag = variable(bool, Process, doc="the process wants to enter")
    turn = variable(Int(0, 1), doc="who goes first when both want to enter")


@machine.action(tells="{p} wants in and raises its flag", when=lambda constants: constants.order == "flag_first")
def raise_flag_first(s: Peterson, p: Process) -> None:
    """The right first step. Not fair: a process may stay idle for ever."""
    s.require(s.place[p] == Place.IDLE)
    s.flag[p] = True
    s.place[p] = Place.BETWEEN


@machine.action(tells="{p} gives the turn away", fair=True, when=lambda constants: constants.order == "flag_first")
def give_turn_second(s: Peterson, p: Process) -> None:
    """The right second step."""
    s.require(s.place[p] == Place.BETWEEN)
    s.turn = 1 - p
    s.place[p] = Place.WAITING


@machine.action(tells="{p} wants in and gives the turn away", when=lambda constants: constants.order == "turn_first")
def give_turn_first(s: Peterson, p: Process) -> None:
    """The mistake: the other process cannot see yet that this one wants to enter."""
    s.require(s.place[p] == Place.IDLE)
    s.turn = 1 - p
    s.place[p] = Place.BETWEEN


@machine.action(tells="{p} raises its flag", fair=True, when=lambda constants: constants.order == "turn_first")
def raise_flag_second(s: Peterson, p: Process) -> None:
    """The mistake, second half."""
    s.require(s.place[p] == Place.BETWEEN)
    s.flag[p] = True
    s.place[p] = Place.WAITING


@machine.action(tells="{p} enters", fair=True)
def enter(s: Peterson, p: Process) -> None:
    """A process enters when the other one does not want to, or has given the turn away."""
    s.require(s.place[p] == Place.WAITING, any_of(not_(s.flag[1 - p]), s.turn == p))
    s.place[p] = Place.CRITICAL


@machine.action(tells="{p} leaves", fair=True)
def leave(s: Peterson, p: Process) -> None:
    """A process leaves the critical section."""
    s.require(s.place[p] == Place.CRITICAL)
    s.flag[p] = False
    s.place[p] = Place.IDLE


def first_wants(s: Peterson) -> BoolLike:
    """Process p0 is on its way in."""
    return any_of(s.place[0] == Place.BETWEEN, s.place[0] == Place.WAITING)
