"""The monitor by queue: ownership, offsets, deliveries and progress of every queue of every group.

One compiled loop processes the events of all queues as they come; its parts are one file each: :mod:`.ownership`,
:mod:`.commits`, :mod:`.deliveries`, :mod:`.repeats`, :mod:`.pulls`, :mod:`.ranges`, and at the end
:mod:`.message_status`. What has to follow on a queue, and what must have come before, are folds of their own,
:mod:`..tables.obligations` and :mod:`..tables.causes`, which run along. How one step follows another is judged beside
it, by :mod:`..steps`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ....machine_code.compiled import entry, int64
from ....machine_code.pair_table import FREE, new_pairs, roomy
from ...claims.marks import MOVES, TURNS
from ...claims.settings import Settings
from ...clocks.order import Order
from ...encoding.coding import Coded
from ...encoding.names import BROADCASTING, NO_QUEUE, OF_A_TOPIC, RETRY_TOPIC, Actor, Names
from ...engine.context import Context, actor_of
from ...engine.findings import ROW, Note
from ...format.kinds import Kind, Result
from ...format.message_status import MessageStatus
from ..fold import Carried, Fold, Outcome, learnt
from ..notes import NO_CLAIM, note, outcome_of, retract, tally, with_room
from ..steps.fold import STEP_KINDS, StepFold
from ..tables.causes import CauseFold
from ..tables.obligations import ObligationFold
from ..terms import NEVER, terms_of
from . import message_status
from .commits import ROOM, SURE, begin, commit, correct, remove, reset
from .deliveries import deliver, discard, expire, result, send_back
from .group_life import without_explained
from .late import late_rows
from .ownership import assign, finish_ownership, revoke
from .pages import SIZE, new_pages
from .pulls import end_illegal, end_refusals, pull, pull_result, query, stored
from .queue_events import QueueEvents
from .queue_state import ACTOR, END, UNKNOWN, State, new_rooms, new_slots, new_windows
from .ranges import PASSED, RANGE, blocked_by, keeper_of

_ORDER = (
    Kind.DELIVER,
    Kind.RESULT,
    Kind.COMMIT,
    Kind.PULL,
    Kind.PULL_RESULT,
    Kind.ASSIGN,
    Kind.REVOKE,
    Kind.OFFSET_QUERY,
    Kind.SEND_BACK,
    Kind.EXPIRE,
    Kind.DISCARDED,
    Kind.RESET,
    Kind.CORRECT,
    Kind.STORE,
    Kind.DELAY_DELIVER,
)

KINDS = frozenset(_ORDER) | {row.kind for row in (*MOVES, *TURNS)} | frozenset(STEP_KINDS)
"""Kinds that the monitors by queue read, the last two of _ORDER only for retry queues; obligations read more. They
ignore all others, and events without a group or queue.
"""


def queue_folds(*, names: Names, settings: Settings, context: Context, messages: int = 0) -> tuple[Fold, ...]:
    """The monitors by queue, each of which must be fed all events; see :class:`QueueFold` for the arguments."""
    return (
        QueueFold(names=names, settings=settings, context=context, messages=messages),
        StepFold(names=names, settings=settings, context=context),
    )


_GIVEN = ("terms", "actors", "order", "ends")


class QueueFold:
    """The fold: feed it events, then let it finish.

    ``messages`` is the approximate number of deliveries, if it is known.
    """

    def __init__(self, *, names: Names, settings: Settings, context: Context, messages: int = 0) -> None:
        self._names, self._settings, self._context = names, settings, context
        self._obligations = ObligationFold(names=names, settings=settings, context=context)
        self._causes = CauseFold(names=names, settings=settings, context=context)
        self._order = Order(context.clocks, settings.skew)
        self._slots = 0
        self._brokers: dict[str, int] = {}
        self._ends = context.ends(names)
        gaps = [event for event in context.events.of_kinds(Kind.GAP) if event.get("client")]
        self._resumed = {actor_of(gap): int(gap["time"]) for gap in gaps}
        pages = 64 + 2 * messages // SIZE
        ends = np.zeros(len(self._ends.time), END)
        ends["time"], ends["how"], ends["group"] = self._ends.time, self._ends.how, self._ends.group
        self._groups = {group: code for code, group in enumerate(self._ends.groups.words)}
        self._state = State(
            terms=terms_of(settings, context),
            rooms=new_rooms(),
            slots=new_slots(0),
            windows=new_windows(0),
            cells=new_pages(pages),
            places=new_pairs(4 * pages),
            ranges=np.zeros(ROOM * 2, RANGE),
            past=np.zeros(ROOM * 2, PASSED),
            rows=np.zeros(ROOM * 4, ROW),
            used=np.zeros(1, np.int64),
            counts=tally(),
            actors=np.zeros(1, ACTOR),
            order=self._order.table(()),
            ends=ends,
        )

    def feed(self, coded: Coded) -> None:
        """Process the next events."""
        self._learn_names()
        finished, blocked, keeper, uncaused = (np.zeros(len(coded), np.int64) for _ in range(4))
        events = QueueEvents.of(coded)
        self._through(len(coded), lambda at: _run(self._state, at, events, finished, blocked, keeper, uncaused))
        self._obligations.feed(events, finished, blocked, keeper)
        self._causes.feed(events, uncaused)

    def carried(self) -> Carried:
        """See :class:`..fold.Fold`."""
        return {
            **learnt(self._state, _GIVEN),
            **{f"obligations.{name}": array for name, array in self._obligations.carried().items()},
            **{f"causes.{name}": array for name, array in self._causes.carried().items()},
        }

    def carry_on(self, carried: Carried) -> None:
        """See :class:`..fold.Fold`. What is known about slots besides events is added again with their names."""
        self._state = self._state._replace(**{name: carried[name] for name in learnt(self._state, _GIVEN)})
        for fold, prefix in ((self._obligations, "obligations."), (self._causes, "causes.")):
            fold.carry_on({name[len(prefix) :]: array for name, array in carried.items() if name.startswith(prefix)})

    def finish(self) -> Outcome:
        """The result."""
        self._learn_names()
        slots = len(self._state.slots)
        self._through(slots, lambda at: _finish(self._state, at))
        statuses = self._tell_statuses(slots)  # which may enlarge the state
        outcome, state = outcome_of(self._state, statuses), self._state
        terms: Any = {"names": self._names, "settings": self._settings, "context": self._context}
        rows = retract(
            state.rows[: int(state.used[0])],
            order=state.order,
            commits_by=state.slots["commits_by"],
            sends=state.actors["sends"],
        )
        late = late_rows(self._obligations.late(), self._obligations.obligations, **terms)
        without_cause, judged = self._causes.finish()
        rows = without_explained(np.concatenate([rows, late, without_cause]), **terms)
        return replace(outcome.with_rows(rows), judged=outcome.judged + self._obligations.judged + judged)

    def _tell_statuses(self, slots: int) -> Any:
        told = np.zeros((slots, len(MessageStatus)), np.int64)
        places = self._state.places[self._state.places["one"] != FREE]
        places = places[np.lexsort([places["other"], places["one"]])]
        slot, page, place = (np.ascontiguousarray(places[name]) for name in ("one", "other", "value"))
        past = int(self._state.rooms[0]["past"])
        self._through(len(places), lambda at: message_status.of_pages(self._state, slot, page, place, at, told))
        self._through(past, lambda at: message_status.of_passed(self._state, at, past, told))
        self._through(slots, lambda at: message_status.of_waiting(self._state, at, slots, told))
        return told

    def _through(self, count: int, step: Callable[[int], int]) -> None:
        """Call a loop that returns where it ran out of room, or the end, and make room, until it is through."""
        at = 0
        while at < count:
            at = step(at)
            self._make_room()

    def _learn_names(self) -> None:
        """Make room for slots and actors that are new since the last time."""
        names, state = self._names, self._state
        actors, known = len(names.actors), len(state.actors) - 1
        if actors > known:
            for code in range(known, actors):
                if names.actors[code].incarnation < 0:
                    self._brokers[names.actors[code].name] = code
            table = np.zeros(actors + 1, ACTOR)
            table["client"][:actors] = [actor.incarnation >= 0 for actor in names.actors[:actors]]
            table["sends"][:actors] = [actor.name in self._context.clocks.senders for actor in names.actors[:actors]]
            table["ends"] = np.searchsorted(self._ends.actor, np.arange(actors + 1))
            table["resumed"][:actors] = [self._resumed.get(actor, NEVER) for actor in names.actors[:actors]]
            state = state._replace(actors=table, order=self._order.table(names.actors))
        slots, known = len(names.slots), len(state.slots)
        if slots > known:
            more = max(slots, 2 * known) - known
            state = state._replace(
                slots=np.concatenate([state.slots, new_slots(more)]),
                windows=np.concatenate([state.windows, new_windows(more)]),
            )
        for code in range(self._slots, slots):
            state.slots["flags"][code] = names.flags[code]
            broker = names.slots[code].broker
            state.slots["broker"][code] = self._brokers.get(broker, UNKNOWN)
            state.slots["group"][code] = self._groups.get(names.slots[code].group, UNKNOWN)
            if Actor(broker, -1) in self._context.clocks.clocks and not names.flags[code] & BROADCASTING:
                state.slots["commits_by"][code] = self._brokers.get(broker, UNKNOWN)
        self._slots = slots
        self._state = state

    def _make_room(self) -> None:
        """Enlarge arrays that are nearly full."""
        state = with_room(self._state, room=2 * ROOM + SIZE)
        pages, ranges, past = (int(state.rooms[0][name]) for name in ("pages", "ranges", "past"))
        if pages + 2 > len(state.cells) // SIZE:
            more = min(max(64, len(state.cells) // SIZE), 1 << 14)
            state = state._replace(cells=np.concatenate([state.cells, new_pages(more)]))
        state = state._replace(places=roomy(state.places, pages + 1))
        if ranges + 2 > len(state.ranges):
            state = state._replace(ranges=np.concatenate([state.ranges, np.zeros(len(state.ranges), RANGE)]))
        if past + 2 * ROOM > len(state.past):
            state = state._replace(past=np.concatenate([state.past, np.zeros(len(state.past), PASSED)]))
        self._state = state


@entry
def _run(s: Any, start: int, e: Any, finished: Any, blocked: Any, keepers: Any, uncaused: Any) -> Any:
    """Process events ``e`` from ``start`` on; returns where to continue once there is more room, or the end."""
    for i in range(start, len(e.time)):
        q = int64(e.slot[i])
        if q < 0 or s.slots[q].flags & (OF_A_TOPIC | NO_QUEUE):
            continue
        if (
            s.used[0] + ROOM > len(s.rows)
            or (s.rooms[0].pages + 2) * SIZE > len(s.cells)
            or 2 * (s.rooms[0].pages + 2) > len(s.places)
            or s.rooms[0].ranges + 2 > len(s.ranges)
            or s.rooms[0].past + ROOM > len(s.past)
        ):
            return i
        kind, time, offset = e.kind[i], e.time[i], e.offset[i]
        actor, how, path = int64(e.actor[i]), int64(e.result[i]), int64(e.path[i])
        if kind == Kind.DELIVER and offset >= 0:
            deliver(s, q, time, actor, offset, e.origin[i], int64(e.attempt[i]))
        elif kind == Kind.RESULT and offset >= 0:
            uncaused[i] = result(s, q, time, actor, offset, e.origin[i], how)
        elif kind == Kind.COMMIT:
            client = s.actors[actor].client if actor >= 0 else 0
            if how == Result.MISSING:
                remove(s, q, time, actor)
            elif offset >= 0 and not commit(s, q, time, actor, client, path, offset):
                return i
        elif kind == Kind.PULL_RESULT:
            pull_result(s, q, time, actor, how, offset, e.next[i], e.low[i], e.high[i], int64(e.count[i]))
        elif kind == Kind.PULL:
            pull(s, q, time, actor, offset)
        elif kind == Kind.ASSIGN:
            assign(s, q, time, actor, max(offset, UNKNOWN))
            if offset >= 0 and s.slots[q].flags & BROADCASTING:
                begin(s, q, offset, SURE)  # the offsets of the queue are those of this member
        elif kind == Kind.REVOKE:
            revoke(s, q, time, actor, path)
        elif kind == Kind.OFFSET_QUERY:
            query(s, q, time, actor, how, offset, e.due[i])
        elif kind == Kind.SEND_BACK and offset >= 0:
            send_back(s, q, time, actor, offset, e.origin[i], how)
        elif kind == Kind.EXPIRE and offset >= 0:
            uncaused[i] = expire(s, q, time, actor, offset, e.origin[i])
        elif kind == Kind.DISCARDED and offset >= 0:
            discard(s, q, actor, offset)
        elif kind == Kind.RESET:
            if offset >= 0 and not reset(s, q, time, actor, offset):
                return i
        elif kind == Kind.CORRECT:
            if offset >= 0 and not correct(s, q, time, actor, offset):
                return i
        elif kind in (Kind.STORE, Kind.DELAY_DELIVER) and offset >= 0 and s.slots[q].flags & RETRY_TOPIC:
            stored(s, q, time, offset)
        finished[i], blocked[i], keepers[i] = s.slots[q].low, blocked_by(s, q), keeper_of(s, q)
    return len(e.time)


@entry
def _finish(s: Any, start: int) -> Any:
    """End the queues from ``start`` on; returns the same as :func:`_run`."""
    for q in range(start, len(s.slots)):
        if s.used[0] + ROOM > len(s.rows):
            return q
        slot = s.slots[q]
        if slot.first < 0 and slot.explicit == 0:
            continue
        finish_ownership(s, q)
        end_refusals(s, q)
        end_illegal(s, q)
        if slot.stored >= 0 and slot.noted_time != slot.stored_time:
            row = s.rows[note(s, NO_CLAIM, Note.OFFSET, q, slot.stored_time)]
            row.actor, row.value, row.expected = slot.stored_actor, slot.stored, slot.stored_path
            row.until = slot.stored_end
    return len(s.slots)
