"""The agenda: a heap of events that are still to come.

Their number, and the last serial number, are in ``world.all``.

Events of the same ms come in the order in which they were put there, so the same seed always gives the same run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....machine_code.compiled import heavy, part
from .codes import columns

_SERIALS = 1 << 25


EVENT = columns("""
    key  # of the heap: time and serial number
    place  # of the heap: where the event with that key is
    free  # places that are not in use, from the size of the heap on
    what one two three
""")
"""One line of an agenda. Its columns are three lists of equal length: a heap, free places, and events by place."""


def new_agenda(room: int) -> Any:
    """An empty agenda with room for that many events."""
    agenda = np.zeros(room, EVENT)
    agenda["free"] = np.arange(room)
    return agenda


def larger(agenda: Any) -> Any:
    """The same agenda with twice the capacity."""
    grown = new_agenda(2 * len(agenda))
    grown[: len(agenda)] = agenda
    return grown


@heavy
def put(world: Any, time: int, what: int, one: int, two: int, three: int) -> None:
    """Schedule the event ``what`` at ``time``, with three numbers of its own."""
    a = world.all[0]
    agenda = world.agenda
    size = a.events
    a.serial += 1
    key = time * _SERIALS + a.serial % _SERIALS
    place = agenda[size].free
    agenda[place].what = what
    agenda[place].one = one
    agenda[place].two = two
    agenda[place].three = three
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if agenda[above].key <= key:
            break
        agenda[at].key = agenda[above].key
        agenda[at].place = agenda[above].place
        at = above
    agenda[at].key = key
    agenda[at].place = place
    a.events = size + 1


@part
def next_time(world: Any) -> int:
    """When the next event happens; the agenda must not be empty."""
    return int(world.agenda[0].key // _SERIALS)


@part
def take(world: Any) -> int:
    """Remove the next event; returns its place, which is valid until the next :func:`put`."""
    a = world.all[0]
    agenda = world.agenda
    first = agenda[0].place
    size = a.events - 1
    a.events = size
    key = agenda[size].key
    place = agenda[size].place
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and agenda[below + 1].key < agenda[below].key:
            below += 1
        if agenda[below].key >= key:
            break
        agenda[at].key = agenda[below].key
        agenda[at].place = agenda[below].place
        at = below
    agenda[at].key = key
    agenda[at].place = place
    agenda[size].free = first
    return int(first)
