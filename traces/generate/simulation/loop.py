"""The loop: takes event after event from the agenda, until something from outside is due or a table is full."""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import heavy, part
from .agenda import next_time, put, take
from .broker import come_due, produce
from .codes import ZERO
from .commits import persist
from .listener import again, begin, finish
from .pulls import give_up_waiting, pull, reply
from .send_backs import clean_expired, send_back, sent_back
from .world import AGAIN, CLEAN, DUE, FINISH, PARKED, PERSIST, PRODUCE, PULL, REPLY, SAVE, SEND, SENT

REACHED, ROWS_FULL, GROW = range(3)
"""Why the loop has stopped: nothing more before that time; rows or facts must be written; a table must grow."""

SAVING = 5_000


@heavy
def run(world: Any, until: int, margin: int) -> int:
    """Process everything that happens before ``until``.

    Times are in ms since the start; ``margin``: how many rows and facts one event may make.
    """
    a = world.all[0]
    agenda = world.agenda
    most_rows = world.rows.shape[1] - margin
    most_facts = len(world.facts) - margin
    most_events = len(agenda) - margin
    while a.events > 0:
        time = next_time(world)
        if time >= until:
            break
        if a.rows >= most_rows or a.facts >= most_facts:
            return ROWS_FULL
        if a.full or a.events >= most_events:
            return GROW
        a.now = time
        place = take(world)
        event = agenda[place]
        what, one, two, three = event.what, event.one, event.two, event.three
        if what == FINISH:
            finish(world, one, two, three)
        elif what == PULL:
            pull(world, one)
        elif what == REPLY:
            reply(world, one, two)
        elif what == PRODUCE:
            produce(world, one)
        elif what == PARKED:
            give_up_waiting(world, one, two)
        elif what == SEND:
            send_back(world, one, two, three)
        elif what == SENT:
            sent_back(world, one, two, three)
        elif what == AGAIN:
            again(world, one, two, three)
            begin(world, one)
        elif what == DUE:
            come_due(world, one)
        elif what == PERSIST:
            persist(world, one)
        elif what == CLEAN:
            clean_expired(world, one)
        elif what == SAVE:
            _save(world, one)
    a.now = until
    return REACHED


@part
def _save(world: Any, broker: int) -> None:
    """OF-23: a broker writes its offsets to its file every 5 s."""
    if world.brokers[broker].up:
        for c in range(len(world.cells)):
            cell = world.cells[c]
            if cell.broker == broker:
                cell.saved = cell.committed
    put(world, world.all[0].now + SAVING, SAVE, broker, ZERO, ZERO)
