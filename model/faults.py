"""Faults of clients, each with a budget: death, a process that stands still, a new process in the old one's place.

Faults of the broker and of the network are declared beside what they break: lost and late commits and a broker that
forgets in ``offsets``, a log that shrinks in ``consume_queue``, cuts and lost notices in ``membership``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .history import Cause
from .kernel import BoolLike, IntLike, Machine, State, constant, variable
from .membership import Consumer, Life
from .process_queue import in_table, working
from .queue_table import Leaving, change_table
from .route import nothing

if TYPE_CHECKING:
    from .group import GroupState

faults = Machine("faults", doc="Deaths, pauses and restarts of clients.")


@faults.state
class FaultsState(State):
    """Which clients run, and how often they may fail."""

    crashes = constant(0, high=3, doc="how many clients may die without a word")
    restarts = constant(0, high=3, doc="how many clients may be started in the place of a gone one")
    pauses = constant(0, high=2, doc="how often a client may stand still (GC, SIGSTOP)")
    broker_restarts = constant(0, high=2, doc="how often the broker may crash and come back")
    life = variable(Life, Consumer, init=Life.UP)
    paused = variable(bool, Consumer, when=lambda k: k.pauses > 0, doc="the process stands still")


def vanish(s: GroupState, c: IntLike, leaving: Leaving) -> None:
    """The process of ``c`` is gone, and its windows with it."""
    change_table(s, c, lost=lambda q: in_table(s, c, q), won=nothing, leaving=leaving)
    s.life[c] = Life.GONE
    if s.pauses:
        s.paused[c] = False
    if s.leaves:
        s.persisted[c] = False


@faults.action(budget="crashes", tells="{c} dies")
def die(s: GroupState, c: Consumer) -> None:
    """The process ends without warning, and everything that was only in its memory is lost."""
    s.require(s.life[c] != Life.GONE)
    vanish(s, c, Leaving(cause=Cause.CRASH, persists=False, listeners_go_on=False))


@faults.definition
def may_start(s: GroupState, c: IntLike) -> BoolLike:
    """What else a start requires; a broadcasting client must be able to read its offset file (OF-10)."""
    return True


@faults.definition
def process_starts(s: GroupState, c: IntLike) -> None:
    """What else happens when a new process starts in the place of ``c``."""


@faults.action(budget="restarts", tells="a client starts in the place of {c}")
def restart(s: GroupState, c: Consumer) -> None:
    """ST-1: a process with a new client id (EN-7); of the old one only its files remain (in broadcasting)."""
    s.require(s.life[c] == Life.GONE, may_start(s, c))
    s.life[c] = Life.UP
    process_starts(s, c)


@faults.action(budget="pauses", tells="{c} stands still")
def pause(s: GroupState, c: Consumer) -> None:
    """A long garbage collection, or SIGSTOP: nothing happens in this process, while others go on."""
    s.require(working(s, c))
    s.paused[c] = True


@faults.action(fair=True, tells="{c} goes on", when=lambda k: k.pauses > 0)
def resume(s: GroupState, c: Consumer) -> None:
    """The process runs again, and does not know that it was stopped."""
    s.require(s.paused[c])
    s.paused[c] = False
