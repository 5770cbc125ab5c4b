"""The fold that applies the tables of :mod:`...claims.obligations`: one loop that knows neither kinds nor claims.

It processes the same events as the fold by queue, which reports, for each event, up to where the queue is finished and
what blocks it there. A late event is a suspect; :mod:`..queues.late` checks with the context whether something
explains it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....machine_code.compiled import constant, entry, hot, int64, part
from ...claims.claims import CODE
from ...claims.marks import Beside, Condition, Mark, Value
from ...claims.obligations import OBLIGATIONS, Blocked
from ...claims.settings import Settings
from ...encoding.names import NO_QUEUE, OF_A_TOPIC, Names
from ...engine.context import Context
from ...engine.findings import ROW, Note
from ...format.coverage import EVIDENCE_BIT
from ...format.kinds import Kind, Result, codes
from ..fold import FoldOfTables
from ..queues.queue_events import QueueEvents
from .duties import (
    BEGIN,
    CONDITIONS,
    DUTY,
    END,
    KEPT,
    MEET,
    MET,
    MOVE,
    NEVER,
    STEP,
    TURN,
    UNKNOWN,
    can_be_seen,
    duty_of,
    steps_of,
    unpulled_of,
)

_WHOLE = np.int64
_LOG_END, _PULLED, _FINISHED, _MEMORY, _STORED, _DELIVERED, _ = map(int, Mark)
_AFTER_OFFSET, _NEXT, _HIGH, _ZERO = (int(value) for value in tuple(Value)[1:])
_MOVES = CODE["every-queue-moves"]
_KINDS = 256
_UNJUDGED = OF_A_TOPIC | NO_QUEUE
_PULL, _RESULT = constant(codes(Kind)[Kind.PULL]), constant(codes(Kind)[Kind.RESULT])
_PULL_RESULT = constant(codes(Kind)[Kind.PULL_RESULT])
_NOTHING = constant(sum(1 << codes(Result)[word] for word in (Result.NO_NEW_MESSAGE, Result.NO_MATCHED_MESSAGE)))
_ALL = (1 << 32) - 1

QUEUE = np.dtype(
    [
        (name, _WHOLE)
        for name in (
            "flags",
            "owner",  # who has it, and
            "before",  # who had it when it was taken
            "left",  # who last gave it up
            "told",  # whether that was recorded by assigns
            "start",  # where it started
            "given",  # lowest possible offset of what its owner was given: its answers so far had no messages
            "floor",  # highest offset that it may hold from before it was first heard of, or is still to be given
            "conditions",
            "since",  # since when it is owned
            "blocked",  # what keeps the message at FINISHED, and
            "keeper",  # who was given it, as of the last event
            "weighed",  # 1: nothing has changed since its obligations were evaluated
        )
    ]
)
"""A queue."""

CLOCK = np.dtype([(name, _WHOLE) for name in ("since", "target", "finished", "keeper")])
"""An obligation of a queue: since when it is to be met, the position to be left or reached, the position up to which
all was finished then, and the process that was given the message there.
"""


class Tables(NamedTuple):
    """What the loop works on."""

    first: Any  # for each kind, the first of its steps, and one more entry
    steps: Any  # STEP by kind
    duties: Any  # DUTY
    queues: Any  # QUEUE by slot
    marks: Any  # positions, slots × Mark
    clocks: Any  # CLOCK, slots × duties
    rows: Any  # suspects
    used: Any  # one number: how many there are
    opened: Any  # for each claim, how often something had to come
    unpulled: Any  # one entry of UNPULLED


class ObligationFold(FoldOfTables):
    """The fold: feed it events together with the results of the fold by queue for each, then ask for what was late."""

    given = ("first", "steps", "duties", "unpulled")

    def __init__(self, *, names: Names, settings: Settings, context: Context) -> None:
        self._names, self._end = names, context.end
        recorded = frozenset(kind for kind in Kind if context.evidence & EVIDENCE_BIT[kind])
        self.obligations = tuple(one for one in OBLIGATIONS if can_be_seen(one, recorded))
        steps = steps_of(self.obligations, assigns=Kind.ASSIGN in recorded)
        self._tables = Tables(
            first=np.searchsorted([kind for kind, _ in steps], np.arange(_KINDS + 1)).astype(_WHOLE),
            steps=np.array([step for _, step in steps], STEP),
            duties=np.array([duty_of(one, settings.shortest) for one in self.obligations], DUTY),
            queues=np.zeros(0, QUEUE),
            marks=np.zeros((0, len(Mark)), _WHOLE),
            clocks=np.zeros((0, len(self.obligations)), CLOCK),
            rows=np.zeros(256, ROW),
            used=np.zeros(1, _WHOLE),
            opened=np.zeros(len(CODE), _WHOLE),
            unpulled=unpulled_of(self.obligations, settings),
        )

    def feed(self, events: QueueEvents, finished: Any, blocked: Any, keeper: Any) -> None:
        """Process further events.

        Args:
            events: the next ones.
            finished: for each, the mark FINISHED of its queue after it; ``blocked``: what keeps the message there;
                ``keeper``: the actor that was given it last.
            blocked: see there.
            keeper: see there.
        """
        self._make_room()
        at = 0
        while at < len(events.time):
            at = _run(self._tables, at, events, finished, blocked, keeper)
            self._make_room()

    def late(self) -> Any:
        """Rows for everything that was late, in the order of the table for each queue; called once, at the end."""
        at = 0
        while at < len(self._tables.queues):
            at = _finish(self._tables, at, self._end)
            self._make_room()
        return self._tables.rows[: int(self._tables.used[0])].copy()

    @property
    def judged(self) -> Any:
        """For each claim, how often something was to come; for moving queues, how many have a known end."""
        judged = self._tables.opened.copy()
        judged[_MOVES] = np.count_nonzero(self._tables.marks[:, _LOG_END] >= 0) if self.obligations else 0
        return judged

    def _make_room(self) -> None:
        tables = self._tables
        slots, known = len(self._names.slots), len(tables.queues)
        if slots > known:
            more = max(slots, 2 * known) - known
            queues, clocks = np.zeros(more, QUEUE), np.zeros((more, len(self.obligations)), CLOCK)
            queues["owner"] = queues["before"] = queues["left"] = UNKNOWN
            queues["start"] = queues["given"] = queues["floor"] = UNKNOWN
            queues["flags"] = _UNJUDGED
            clocks["since"] = NEVER
            marks = np.full((more, len(Mark)), UNKNOWN, _WHOLE)
            tables = tables._replace(
                queues=np.concatenate([tables.queues, queues]),
                marks=np.concatenate([tables.marks, marks]),
                clocks=np.concatenate([tables.clocks, clocks]),
            )
        flags = np.asarray(self._names.flags[:slots])
        tables.queues["weighed"][:slots] &= tables.queues["flags"][:slots] == flags
        tables.queues["flags"][:slots] = flags
        if int(tables.used[0]) + 2 * len(self.obligations) + 2 > len(tables.rows):
            tables = tables._replace(rows=np.concatenate([tables.rows, np.zeros(len(tables.rows), ROW)]))
        self._tables = tables


@entry
def _run(t: Any, start: int, e: Any, finished: Any, blocked: Any, keepers: Any) -> Any:
    """Process events ``e`` from ``start`` on; returns where to continue once there is more room, or the end."""
    for i in range(start, len(e.time)):
        q = int64(e.slot[i])
        if q < 0 or t.queues[q].flags & _UNJUDGED:
            continue
        if t.used[0] + 2 * len(t.duties) + 2 > len(t.rows):
            return i
        queue, kind, now = t.queues[q], int64(e.kind[i]), e.time[i]
        actor = int64(e.actor[i])
        result, path = int64(1) << int64(e.result[i]), int64(1) << int64(e.path[i])
        changed = int64(0) if queue.weighed else int64(_ALL)
        for r in range(t.first[kind], t.first[kind + 1]):
            step = t.steps[r]
            if step.results & result == 0 or step.paths & path == 0 or queue.flags & step.only != step.only:
                continue
            if step.owner and actor != queue.owner:
                continue
            if step.do == MOVE:
                value = e.offset[i]
                if step.to == _AFTER_OFFSET:
                    value = e.offset[i] + 1 if e.offset[i] >= 0 else e.offset[i]
                elif step.to == _NEXT:
                    value = e.next[i]
                elif step.to == _HIGH:
                    value = e.high[i]
                elif step.to == _ZERO:
                    value = int64(0)
                known = t.marks[q, step.at]
                if value >= 0 and value != known and not (step.forward and value < known):
                    t.marks[q, step.at] = value
                    changed |= int64(1) << step.at
            elif step.do == TURN:
                low = t.marks[q, _FINISHED]
                aside = (step.to == Beside.BELOW and e.offset[i] >= low) or (
                    step.to == Beside.BEYOND and e.offset[i] < low
                )
                if queue.conditions & step.given == step.given and not aside:
                    conditions = (queue.conditions | step.begins) & ~step.ends
                    changed |= (queue.conditions ^ conditions) << CONDITIONS
                    queue.conditions = conditions
            elif step.do == MET:
                if t.clocks[q, step.at].since != NEVER:
                    _stop(t, q, step.at, now)
                    changed = int64(_ALL)
            elif step.do == BEGIN or (
                step.do == MEET
                and actor >= 0
                and actor != queue.owner
                # A process that had the queue besides the one that gave it up still has it, and continues; a process
                # that pulls it has had it since before the recording, if it was not seen to take it.
                and (
                    step.forward
                    or not queue.told
                    or (queue.owner < 0 and (actor == queue.before or (kind == _PULL and actor != queue.left)))
                )
            ):
                _end_window(t, q, now)
                changed = int64(_ALL)
                queue.told = 1 if step.do == BEGIN else queue.told
                queue.before = queue.owner if actor != queue.before else UNKNOWN
                queue.owner, queue.conditions, queue.since = actor, 0, now
                queue.start = max(e.offset[i], UNKNOWN) if step.do == BEGIN else UNKNOWN
                queue.given = queue.start
                # Messages above its start that others have finished are still to be given to it.
                queue.floor = finished[i] if step.do == MEET or 0 <= queue.start < finished[i] else UNKNOWN
                t.marks[q, _PULLED] = queue.start
                t.marks[q, _MEMORY] = t.marks[q, _DELIVERED] = UNKNOWN
            elif step.do == END:
                queue.told, queue.left = 1, actor
                if actor == queue.owner or queue.owner < 0:
                    _end_window(t, q, now)
                    changed = int64(_ALL)
                    queue.owner, queue.conditions = UNKNOWN, 0
                elif actor == queue.before:
                    queue.before = UNKNOWN
        if kind == _PULL_RESULT and actor == queue.owner and result & _NOTHING and e.offset[i] == queue.given:
            queue.given = max(e.next[i], queue.given)
        if t.marks[q, _FINISHED] != finished[i]:
            if kind == _RESULT and 0 <= queue.owner != actor:
                queue.floor = max(queue.floor, finished[i])
            t.marks[q, _FINISHED] = finished[i]
            changed |= int64(1 << _FINISHED)
        if queue.blocked != blocked[i] or queue.keeper != keepers[i]:
            queue.blocked, queue.keeper = blocked[i], keepers[i]
            changed |= int64(KEPT)
        queue.weighed = 1
        if changed == 0:
            continue
        for d in range(len(t.duties)):
            if t.duties[d].watches & changed:
                _weigh(t, q, d, now, int64(blocked[i]), int64(keepers[i]))
    return len(e.time)


@part
def _end_window(t: Any, q: int, now: int) -> None:
    """A queue gets another owner, or none, or the recording ends."""
    for d in range(len(t.duties)):
        _stop(t, q, d, now)
    queue, terms = t.queues[q], t.unpulled[0]
    if (
        queue.owner < 0
        or not queue.told
        or queue.conditions & (Condition.PULLING | Condition.UNLOCKED)
        or now - queue.since <= terms.within
    ):
        return
    row = t.rows[t.used[0]]
    t.used[0] += 1
    row.claim, row.note, row.cause, row.doubt, row.origin, row.late = terms.claim, Note.UNPULLED, 0, 0, 0, 0
    row.slot, row.since, row.time, row.actor, row.other = q, queue.since, now, queue.owner, -1
    row.offset, row.until, row.value, row.expected = queue.start, -1, terms.duty, t.marks[q, _STORED]


@hot
def _weigh(t: Any, q: int, d: int, now: int, blocked: int, keeper: int) -> None:
    """Whether an obligation of a queue is to be met now, and since when."""
    duty, queue, clock = t.duties[d], t.queues[q], t.clocks[q, d]
    at = t.marks[q, duty.mark]
    due = (
        (queue.owner >= 0) == (duty.owned != 0)
        and queue.conditions & duty.during == duty.during
        and queue.conditions & duty.unless == 0
        and queue.flags & duty.only == duty.only
        and queue.flags & duty.never == 0
    )
    if due and duty.owned:
        due = at >= 0
    if due and duty.behind >= 0:
        due = at < t.marks[q, duty.behind]
    if due and duty.floor:
        # In a window from before the recording, messages below the first known position may be in work.
        due = max(at, queue.given) >= queue.floor
    if due and duty.idle:
        due = t.marks[q, _FINISHED] >= t.marks[q, _PULLED]
    if due and duty.blocked >= 0:
        # A message last given to another process was not given to the owner.
        mine = blocked if keeper == queue.owner or blocked == Blocked.NOTHING else Blocked.WAITING
        due = mine == duty.blocked and queue.start <= at
    begins = due and clock.since == NEVER
    if begins:
        t.opened[duty.claim] += 1
    elif not due or (duty.moves and ((at >= clock.target) if duty.whole else (at != clock.target))):
        _stop(t, q, d, now)
        begins = due
    if begins:
        clock.since, clock.finished, clock.keeper = now, t.marks[q, _FINISHED], keeper
        clock.target = t.marks[q, duty.behind] if duty.whole else at


@hot
def _stop(t: Any, q: int, d: int, now: int) -> None:
    """An obligation ends, met or not; it is reported if late."""
    clock, duty = t.clocks[q, d], t.duties[d]
    if clock.since != NEVER and now - clock.since > duty.within:
        row = t.rows[t.used[0]]
        t.used[0] += 1
        row.claim, row.note, row.cause, row.doubt, row.origin, row.late = duty.claim, 0, 0, 0, 0, 0
        row.slot, row.since, row.time = q, clock.since, now
        row.actor, row.other, row.offset = t.queues[q].owner, -1, clock.target
        if duty.blocked >= 0:
            row.other, row.offset = clock.keeper, clock.finished
        elif duty.whole:
            row.offset = t.marks[q, duty.mark]
        row.until = clock.target if duty.whole else t.marks[q, _LOG_END]
        row.value, row.expected = d, t.marks[q, _STORED]
    clock.since = NEVER


@entry
def _finish(t: Any, start: int, end: int) -> Any:
    """End the queues from ``start`` on; returns the same as :func:`_run`."""
    for q in range(start, len(t.queues)):
        if t.used[0] + 2 * len(t.duties) + 2 > len(t.rows):
            return q
        _end_window(t, q, end)
    return len(t.queues)
