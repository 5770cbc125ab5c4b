"""Following: one queue's events, step by step through the machine.

An event is one action or more, or it shows something of the state that the machine must agree with. What threads do
between two records shows later or not at all; where that leaves a choice, later events of the same window decide it.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from ...model.consume_queue import Message
from ...model.kernel import Action
from ...model.kernel.direct import Direct
from ...model.lock import uses_locks
from ...model.membership import Consumer
from ...model.offsets import broadcasting
from ...model.process_queue import NO_OFFSET, Orphan, Stage
from ...model.rebalance import Queue
from ..kinds import Kind, Result
from . import texts
from .machine import Offsets, machine_of
from .result import Mismatch
from .streams import Actor, Event, Stream
from .windows import UNTOLD, Side, Window

_AS_IT_IS: Mapping[str, int] = MappingProxyType({})

_OF_BATCHES = frozenset(
    {
        "begin_batch",
        "succeed_in_order",
        "suspend",
        "say_commit",
        "say_rollback",
        "commit_taken",
        "publish_batch",
        "publishing_fails",
        "put_batch_back",
        "keep_taken",
        "roll_back",
    }
)
"""Actions of orderly workers."""

_ALL = -2
"""In the place of the number of a window: all of them."""

MOST_MISMATCHES = 1_000
"""Mismatches of one queue that are kept; all are counted."""


class Impossible(Exception):
    """The machine does not allow an event; the message says what it would have allowed."""


class Follower:
    """Follows one queue.

    Attributes:
        stream: what is followed.
        sides: the processes, by number in the machine.
        slack: how far the records of different threads may be apart from what they tell, ms.
        mismatches: what the machine did not allow.
        gaps: windows of which events are missing.
        logs: stored messages: offset → key and count.
        doubtful_store: the broker may have any of the offsets it once had: it was started again.
    """

    def __init__(self, stream: Stream, offsets: Offsets, *, slack: int) -> None:
        self.stream = stream
        self.slack = slack
        self.direct = machine_of(stream, offsets)
        self.state = self.direct.initial
        self.constants = self.direct.frame.constants
        self.sides = [Side("") for _ in range(stream.processes)]
        for (client, incarnation), c in stream.actors.items():
            self.sides[c].name = f"{client}#{incarnation}" if incarnation else client
        self.mismatches: list[Mismatch] = []
        self.mismatch_count = 0
        self.gaps = 0
        self.logs: dict[int, tuple[str, int | None]] = {}
        self.doubtful_store = False
        self.truncated = False
        self.orderly = self.constants.listener == "orderly"
        self.locks = uses_locks(self.constants)
        self.broadcasting = broadcasting(self.constants)
        self.filtered = self.direct.has("put_end")
        self.stored_known = [stream.header.complete] * (len(self.sides) if self.broadcasting else 1)
        self.stored: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self._low = offsets.low
        self._count = offsets.count
        self._varied: dict[tuple[tuple[str, int], ...], Direct] = {}
        self._now = 0
        self._of_window: dict[tuple[Actor, int], list[Event]] = defaultdict(list)
        for event in stream.events:
            if event.actor is not None and event.kind is not Kind.GAP:
                self._of_window[event.actor, UNTOLD if event.epoch is None else event.epoch].append(event)
                self._of_window[event.actor, _ALL].append(event)

    # --- the state ----------------------------------------------------------------------------------------------

    def get(self, name: str, *index: int) -> int:
        """A variable of the machine; of a switched off one 0."""
        return self.direct.get(self.state, name, *index) if self.direct.has(name) else 0

    def memory(self, c: int) -> int:
        """The in-memory offset of ``c``."""
        return self.get("memory", c, texts.Q)

    def owns(self, c: int) -> bool:
        """Whether ``c`` has the queue, not dropped."""
        return bool(self.get("owns", c, texts.Q))

    def stored_offset(self, c: int) -> int:
        """The stored offset, in broadcasting that of ``c``."""
        return self.get("file", c, texts.Q) if self.broadcasting else self.get("committed", texts.Q)

    def stage(self, c: int, m: int) -> Stage:
        """Where the window of ``c`` has a message."""
        return Stage(self.get("stage", c, texts.Q, m))

    def orphan(self, c: int, m: int) -> Orphan:
        """What goes on about a message in a dropped window of ``c``."""
        return Orphan(self.get("orphan", c, texts.Q, m))

    def at(self, offset: int | None) -> int:
        """An offset of the trace as the machine has it."""
        if offset is None:
            raise Impossible("the event does not say its offset")
        if not 0 <= offset - self._low <= self._count:
            raise Impossible(f"offset {offset} is beyond all offsets of this queue's messages")
        return offset - self._low

    def told(self, offset: int) -> str:
        """An offset of the machine as the trace has it."""
        return "none" if offset == NO_OFFSET else str(offset + self._low)

    def clamped(self, offset: int | None) -> int | None:
        """As :meth:`at`, of an end of the log, which may be beyond all offsets that occur."""
        return None if offset is None else min(max(offset - self._low, 0), self._count)

    def ask(self, text: Callable[..., Any], **arguments: Any) -> Any:
        """What a text says of the state."""
        return self._focused(arguments).ask(self.state, text, **arguments)

    # --- steps --------------------------------------------------------------------------------------------------

    def may(self, name: str, *, varied: Mapping[str, int] | None = None, **arguments: int) -> bool:
        """Take an action if the machine allows it, else change nothing."""
        direct = self._focused(arguments, varied or {}, batch_only=name in _OF_BATCHES)
        if name not in direct.actions:
            return False
        kinds = direct.actions[name].parameters
        given = {"q": texts.Q, **arguments}
        after = direct.step(self.state, name, **{key: given[key] for key in kinds})
        if after is None:
            return False
        self._becomes(after)
        return True

    def take(self, name: str, why: str, *, varied: Mapping[str, int] | None = None, **arguments: int) -> None:
        """Take an action; raises :class:`Impossible` with ``why`` if the machine does not allow it."""
        if not self.may(name, varied=varied, **arguments):
            raise Impossible(why)

    def run(self, text: Callable[..., None], why: str = "", **arguments: Any) -> None:
        """Run a text as a step."""
        after = self._focused(arguments).run(self.state, text, **arguments)
        if after is None:
            raise Impossible(why or f"the model does not allow {text.__name__.replace('_', ' ')} here")
        self._becomes(after)

    def _becomes(self, after: Any) -> None:
        self.state = after
        for c, side in enumerate(self.sides):
            value = self.memory(c)
            if value != NO_OFFSET:
                side.values.add(value)
                if side.current is not None and (not side.current.marks or side.current.marks[-1] != value):
                    side.current.marks.append(value)
        for place in range(len(self.stored_known)):
            value = self.stored_offset(place)
            history = self.stored[place]
            if not history or history[-1][1] != value:
                history.append((self._now, value))

    def _focused(
        self, arguments: Mapping[str, Any], varied: Mapping[str, int] = _AS_IT_IS, *, batch_only: bool = False
    ) -> Direct:
        """The machine whose texts look at the messages that a step can concern, which saves most of the time.

        These are what the windows hold and what may come next. A step with one message is about its task; what else it
        asks of the window is the low-water mark, for which the smallest offset stands. A step of an orderly worker is
        about what it has taken and what it takes next.
        """
        direct = self.direct
        if varied:
            key = tuple(sorted(varied.items()))
            if key not in self._varied:
                self._varied[key] = direct.varied(**varied)
            direct = self._varied[key]
        c, m, batch = arguments.get("c"), arguments.get("m"), int(self.constants.batch)
        sides = range(len(self.sides)) if c is None else (c,)
        if c is not None and m is not None:
            task = range(max(m - 1, 0), m + batch + 1)
            found = {*task, *sorted(o for o in self.sides[c].live if o not in task and self._held(c, o))[:1]}
        elif c is not None and batch_only:
            waiting = [o for o in sorted(self.sides[c].live) if o < self._count and self.stage(c, o) is Stage.WAITING]
            found = (self.sides[c].live - set(waiting)) | set(waiting[: batch + 1])
        else:
            found = {self.get("log_end", texts.Q)}
            for d in sides:
                start = self.get("next_offset", d, texts.Q)
                found |= self.sides[d].live
                found.update(range(start, start + max(int(direct.frame.constants.pull_batch), batch) + 1))
        return direct.focused(Message=tuple(sorted(o for o in found if 0 <= o < self._count)))

    def _held(self, c: int, m: int) -> bool:
        return m < self._count and self.stage(c, m) is not Stage.ABSENT

    def leaves(self, c: int, m: int) -> None:
        """A message is in no window of ``c`` any more, unless something still goes on about it."""
        if m < self._count and self.stage(c, m) is Stage.ABSENT and self.orphan(c, m) is Orphan.NONE:
            self.sides[c].live.discard(m)

    # --- what is known beside the state ---------------------------------------------------------------------------

    def side_of(self, event: Event) -> int:
        """The number of the process of an event."""
        if event.actor is None:
            raise Impossible("the event does not say which client it is of")
        return self.stream.actors[event.actor]

    def later(self, event: Event, *, any_window: bool = False) -> Iterator[Event]:
        """The events of the same window after this one; or those of all windows of the same process."""
        if event.actor is None:
            return
        epoch = _ALL if any_window else UNTOLD if event.epoch is None else event.epoch
        events = self._of_window[event.actor, epoch]
        first = bisect.bisect_right(events, event.number, key=lambda one: one.number)
        for place in range(first, len(events)):
            yield events[place]

    def place_of_store(self, c: int) -> int:
        """Which store of offsets ``c`` uses."""
        return c if self.broadcasting else 0

    def was_stored(self, c: int, offset: int) -> bool:
        """Whether the store had this offset now, or so short a time ago that an answer may have told it."""
        place = self.place_of_store(c)
        if not self.stored_known[place] or offset == self.stored_offset(c):
            return True
        history = self.stored[place]
        for number, (_, value) in enumerate(history):
            until = history[number + 1][0] if number + 1 < len(history) else self._now
            if value == offset and (self.doubtful_store or until >= self._now - self.slack):
                return True
        return False

    def put_in(self, c: int, offsets: range | frozenset[int]) -> None:
        """The window of ``c`` may hold these messages."""
        self.sides[c].live.update(offsets)

    # --- going through ---------------------------------------------------------------------------------------------

    def follow(self, handlers: Mapping[Kind, Handler]) -> None:
        """Go through all events of the stream."""
        self._becomes(self.state)
        for event in self.stream.events:
            self._now = event.time
            handler = handlers.get(event.kind)
            if handler is None:
                event.pass_over(f"{event.kind}: not of one queue" if event.queue is None else f"{event.kind}")
                continue
            side = self.sides[self.side_of(event)] if event.actor in self.stream.actors else None
            if side is not None and side.unseen and event.kind not in _BEGIN:
                event.pass_over(side.unseen)
                continue
            before = self.state
            try:
                if handler(self, event) is not False:
                    event.follow()
            except Impossible as error:
                self.state = before
                self._mismatch(event, str(error), side)

    def _mismatch(self, event: Event, why: str, side: Side | None) -> None:
        event.pass_over("mismatches")
        self.mismatch_count += 1
        c = None if side is None else self.sides.index(side)
        if len(self.mismatches) < MOST_MISMATCHES:
            self.mismatches.append(
                Mismatch(
                    seq=event.seq if event.seq is not None else event.number,
                    time=event.time,
                    place=str(self.stream.place),
                    event=str(event),
                    why=why,
                    state=self.describe(c),
                    enabled=() if c is None else self.enabled(c, event.offset),
                )
            )
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
        """A window of ``c`` has begun."""
        side = self.sides[c]
        side.current = Window(UNTOLD if epoch is None else epoch)
        if self.memory(c) != NO_OFFSET:
            side.current.marks.append(self.memory(c))
        side.unseen = ""

    # --- words ------------------------------------------------------------------------------------------------------

    def enabled(self, c: int, offset: int | None) -> tuple[str, ...]:
        """The actions that the machine allows ``c``, with the message at ``offset`` where one is needed."""
        m = None if offset is None else self.clamped(offset)
        return tuple(
            name
            for name, action in self.direct.actions.items()
            if (arguments := _arguments(action, c, m, self._count)) is not None
            and self._focused(arguments).step(self.state, name, **arguments) is not None
        )

    def describe(self, c: int | None) -> str:
        """The state in RocketMQ's words, of all clients or of one and the broker."""
        words = []
        for number in range(len(self.sides)) if c is None else (c,):
            words.append(f"{self.sides[number].name}: {self._client(number)}")
        stored = self.told(self.stored_offset(c or 0))
        words.append(f"stored offset {stored}, log end known {self.told(self.get('log_end', texts.Q))}")
        if self.locks:
            holder = self.get("holder", texts.Q)
            words.append(f"lock held by {self.sides[holder - 1].name if holder else 'nobody'}")
        return "; ".join(words)

    def _client(self, c: int) -> str:
        by_stage: dict[Stage, list[int]] = defaultdict(list)
        for m in sorted(self.sides[c].live):
            if m < self._count and self.stage(c, m) is not Stage.ABSENT:
                by_stage[self.stage(c, m)].append(m)
        owned = "owns the queue" if self.owns(c) else "does not own the queue"
        held = [f"{stage.name.lower()} {self._spans(found)}" for stage, found in sorted(by_stage.items())]
        running = [m for m in sorted(self.sides[c].live) if m < self._count and self.orphan(c, m) is not Orphan.NONE]
        if running:
            held.append(f"of dropped windows {self._spans(running)}")
        position = f"next pull from {self.told(self.get('next_offset', c, texts.Q))}" if self.owns(c) else ""
        memory = f"in-memory offset {self.told(self.memory(c))}"
        return ", ".join(filter(None, [owned, position, memory, *held]))

    def _spans(self, offsets: list[int]) -> str:
        spans: list[list[int]] = []
        for offset in offsets:
            if spans and offset == spans[-1][1] + 1:
                spans[-1][1] = offset
            else:
                spans.append([offset, offset])
        return " ".join(self.told(low) if low == high else f"{self.told(low)}–{self.told(high)}" for low, high in spans)


Handler: TypeAlias = Callable[[Follower, Event], "bool | None"]
"""Follows one event; False if it was passed over instead."""

_BEGIN = frozenset(
    {
        Kind.ASSIGN,
        Kind.CLIENT_START,
        Kind.CLIENT_CRASH,
        Kind.CLIENT_STOP,
        Kind.OFFSET_QUERY,
        Kind.LOCK,
        Kind.COMMIT,
        Kind.GAP,
    }
)
"""Kinds that are looked at though a process has no known window."""


def _arguments(action: Action, c: int, m: int | None, count: int) -> dict[str, int] | None:
    """Arguments of an action for one client and message; None if it needs what is not given."""
    arguments: dict[str, int] = {}
    for name, kind in action.parameters.items():
        if kind is Consumer:
            arguments[name] = c
        elif kind is Queue:
            arguments[name] = texts.Q
        elif kind is Message and m is not None and m < count:
            arguments[name] = m
        elif kind is bool:
            arguments[name] = False
        else:
            return None
    return arguments
