"""Dining philosophers: everyone needs two forks, and shares each with a neighbour.

Edsger W. Dijkstra, "Hierarchical ordering of sequential processes" (1971). Everyone takes the left fork first; with
``order="last_reversed"`` the last one takes the right fork first, Dijkstra's remedy against deadlock. Neither order
protects a philosopher from neighbours who take turns at eating.

============  =============  ======  ===========  =====  =====
philosophers  order          states  transitions  depth  stuck
============  =============  ======  ===========  =====  =====
2             left_first         13           22      4      1
3             left_first         45          111      6      1
3             last_reversed      42          103      6      0
5             left_first        573        2,365     10      1
5             last_reversed     534        2,195     10      0
============  =============  ======  ===========  =====  =====

``neighbours_apart`` holds always. ``not_all_one_fork`` is violated with ``left_first`` after two steps for each
philosopher (this is the one state where everyone is stuck), and holds with ``last_reversed``. ``first_hungry`` does not
lead to ``first_eats`` in either order.
"""

from __future__ import annotations

from enum import IntEnum

from ..kernel import BoolLike, Domain, IntLike, Machine, State, constant, not_, variable


class Philosopher(Domain, size="philosophers", label="p"):
    """The philosophers; fork ``i`` lies to the left of philosopher ``i``."""


class Mood(IntEnum):
    """What a philosopher does."""

    THINKING = 0
    HUNGRY = 1
    ONE_FORK = 2
    EATING = 3


machine = Machine("dining_philosophers", doc="Everyone needs two forks, and shares each with a neighbour.")


@machine.state
class DiningPhilosophers(State):
    """Philosophers, and the forks between them."""

    philosophers = constant(3, low=2, doc="number of philosophers, and of forks")
    order = constant("left_first", choices=("left_first", "last_reversed"), doc="in which order they take the forks")
    mood = variable(Mood, Philosopher, doc="what each philosopher does")
    taken = variable(bool, Philosopher, doc="fork i is in somebody's hand")


def left(s: DiningPhilosophers, p: IntLike) -> IntLike:
    """The fork to the left of ``p``."""
    return p


def right(s: DiningPhilosophers, p: IntLike) -> IntLike:
    """The fork to the right of ``p``."""
    return (p + 1) % s.philosophers


def first_fork(s: DiningPhilosophers, p: IntLike) -> IntLike:
    """The fork that ``p`` takes first."""
    reversed_here = s.order == "last_reversed" and p == s.philosophers - 1
    return right(s, p) if reversed_here else left(s, p)


def second_fork(s: DiningPhilosophers, p: IntLike) -> IntLike:
    """The fork that ``p`` takes second."""
    return left(s, p) + right(s, p) - first_fork(s, p)


@machine.action(tells="{p} becomes hungry")
def become_hungry(s: DiningPhilosophers, p: Philosopher) -> None:
    """A philosopher stops thinking. Not fair: one may think for ever."""
    s.require(s.mood[p] == Mood.THINKING)
    s.mood[p] = Mood.HUNGRY


@machine.action(tells="{p} takes one fork", fair=True)
def take_first(s: DiningPhilosophers, p: Philosopher) -> None:
    """A philosopher takes the first fork when it is there."""
    s.require(s.mood[p] == Mood.HUNGRY, not_(s.taken[first_fork(s, p)]))
    s.taken[first_fork(s, p)] = True
    s.mood[p] = Mood.ONE_FORK


@machine.action(tells="{p} takes the other fork and eats", fair=True)
def take_second(s: DiningPhilosophers, p: Philosopher) -> None:
    """A philosopher takes the second fork when it is there."""
    s.require(s.mood[p] == Mood.ONE_FORK, not_(s.taken[second_fork(s, p)]))
    s.taken[second_fork(s, p)] = True
    s.mood[p] = Mood.EATING


@machine.action(tells="{p} puts both forks back", fair=True)
def put_back(s: DiningPhilosophers, p: Philosopher) -> None:
    """A philosopher has eaten enough."""
    s.require(s.mood[p] == Mood.EATING)
    s.taken[left(s, p)] = False
    s.taken[right(s, p)] = False
    s.mood[p] = Mood.THINKING


def first_hungry(s: DiningPhilosophers) -> BoolLike:
    """Philosopher p0 is hungry."""
    return s.mood[0] == Mood.HUNGRY
