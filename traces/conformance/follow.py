"""Following: the events of one queue, step by step through the machine.

An event corresponds to one or more actions, or it shows something about the state with which the machine must agree.
What threads do between two records shows later, or not at all; if this leaves a choice, later events of the same window
decide it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from ...model.process_queue import NO_OFFSET
from ..format.kinds import Kind, Result
from . import texts
from .behaviour import Behaviour, Impossible, ImpossibleAlone
from .events import Actor, Event
from .machine import Machines, Offsets
from .result import Mismatch
from .streams import Stream
from .unseen import MAY_BE_EXPLAINED, Unseen
from .windows import UNTOLD, Window
from .words import describe, enabled

MOST_MISMATCHES = 1_000
"""Maximum number of mismatches of one queue that are kept; all are counted."""

_BEGIN = frozenset(
    {
        Kind.ASSIGN,
        Kind.CLIENT_START,
        Kind.CLIENT_CRASH,
        Kind.CLIENT_STOP,
        Kind.OFFSET_QUERY,
        Kind.LOCK,
        Kind.UNLOCK,
        Kind.COMMIT,
        Kind.GAP,
        Kind.UNREGISTER,
    }
)
"""Kinds that are processed even if a process has no known window."""


class Follower(Behaviour):
    """The behaviour that the events of one queue show."""

    def __init__(self, stream: Stream, offsets: Offsets, unseen: Unseen, machines: Machines, *, slack: int) -> None:
        super().__init__(stream, offsets, machines, slack=slack)
        self.stream = stream  # the events to follow
        self.slack = slack  # how far the records of different threads may be apart from what they record, ms
        self.mismatches: list[Mismatch] = []  # events that the machine did not allow; if there are many, the first ones
        self.mismatch_count = 0  # number of mismatches
        self.doubtful = 0  # number of mismatches that something unrecorded may explain
        self.gaps = 0  # number of windows with missing events
        # the first thing that had to be assumed because nothing recorded shows it; empty if nothing had to be
        self.assumed = ""
        self._unseen = unseen
        self.logs: dict[int, tuple[str, int | None]] = {}  # stored messages: offset → key and count
        self.truncated = False  # the broker was away, and nothing was stored since, so the end of the log may be lost
        self.reset_at: int | None = None  # when an operator set the offset last, ms; None if nobody did
        # clients whose pulls were under way then, each with the end of the log at that time
        self.asked_before_reset: dict[int, int] = {}
        self.ordered: set[int] = set()  # offsets that an operator set for a broadcasting group
        self.over = ""  # why nothing after this can be followed; empty while it can
        self._of_window: dict[tuple[Actor, int], list[Event]] = defaultdict(list)
        self._of_process: dict[Actor, list[Event]] = defaultdict(list)
        for event in stream.events:
            if event.actor is not None and event.kind is not Kind.GAP:
                of_window = self._window(event)
                of_process = self._of_process[event.actor]
                event.place, event.place_of_all = len(of_window), len(of_process)
                of_window.append(event)
                of_process.append(event)

    def side_of(self, event: Event) -> int:
        """The number of the process of an event."""
        if event.actor is None:
            raise Impossible("the event does not say which client it is of")
        return self.stream.actors[event.actor]

    def _window(self, event: Event) -> list[Event]:
        assert event.actor is not None
        return self._of_window[event.actor, UNTOLD if event.epoch is None else event.epoch]

    def following(self, event: Event) -> Event | None:
        """The next event of the same window."""
        return next(self.later(event), None)

    def later(self, event: Event, *, any_window: bool = False) -> Iterator[Event]:
        """The events of the same window after this one; or those of all windows of the same process."""
        if event.actor is None:
            return
        events = self._of_process[event.actor] if any_window else self._window(event)
        for place in range((event.place_of_all if any_window else event.place) + 1, len(events)):
            yield events[place]

    def follow(self, handlers: Mapping[Kind, Handler]) -> None:
        """Go through all events of the stream."""
        self.noted()
        for event in self.stream.events:
            self.now = event.time
            handler = handlers.get(event.kind)
            if self.over:
                event.pass_over(self.over)
                continue
            if handler is None:
                event.pass_over(f"{event.kind}: not of one queue" if event.queue is None else f"{event.kind}")
                continue
            c = self.side_of(event) if event.actor in self.stream.actors else None
            if c is not None and self.sides[c].unseen and event.kind not in _BEGIN:
                if event.result is Result.OFFSET_ILLEGAL and self.get("reset_noted", texts.Q):
                    self.run(texts.note_reset, noted=False)  # PL-18: it is reported once
                event.pass_over(self.sides[c].unseen)
                continue
            self.direct.forget()
            try:
                passed_over = handler(self, event)
            except Impossible as error:
                self.direct.undo(0)
                self.noted()
                self._mismatch(event, error, c)
                continue
            if passed_over is None:
                event.follow()
            else:
                event.pass_over(passed_over)

    def _mismatch(self, event: Event, error: Impossible, c: int | None) -> None:
        is_own = isinstance(error, ImpossibleAlone)
        doubt = self._unseen.may_explain(event, self.stream, self.slack, is_own=is_own)
        event.pass_over(f"{MAY_BE_EXPLAINED}: {doubt}" if doubt else "mismatches")
        self.doubtful += bool(doubt)
        self.mismatch_count += not doubt
        if not doubt and len(self.mismatches) < MOST_MISMATCHES:
            possible = () if c is None else enabled(self, c, event.offset)
            self.mismatches.append(Mismatch.of(event, self.stream.place, error, describe(self, c), possible))
        if c is not None:
            self.lose(c, "after a mismatch, up to the next assignment")

    def lose(self, c: int, why: str) -> None:
        """Events of ``c`` cannot be followed until its next window begins."""
        side = self.sides[c]
        side.unseen = why
        side.answered = Result.NONE
        side.current = None
        side.old.clear()
        self.run(texts.forget, c=c)
        side.live.clear()
        flags = tuple(name for name in ("dropped", "wanted", "zombie", "unlocking") if self.direct.has(name))
        self.run(texts.clear, c=c, flags=flags)
        if self.locks and self.get("holder", texts.Q) == c + 1:
            self.run(texts.unlocked, holder=0)

    def begins(self, c: int, epoch: int | None) -> None:
        """To be called when a window of ``c`` has begun."""
        side = self.sides[c]
        side.current = Window(UNTOLD if epoch is None else epoch)
        if self.memory(c) != NO_OFFSET:
            side.current.marks.append(self.memory(c))
        side.unseen = ""


Handler: TypeAlias = Callable[[Follower, Event], "str | None"]
"""Follows one event; the result is None, or why the event was passed over instead."""
