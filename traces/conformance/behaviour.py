"""A behaviour of the machine of one queue: its present state, what that says, and the steps that lead on.

Offsets of a recording begin anywhere, those of the machine at 0; :meth:`Behaviour.at` and :meth:`Behaviour.told` lead
from one to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ...model.kernel.direct import Direct
from ...model.lock import uses_locks
from ...model.offsets import broadcasting
from ...model.process_queue import NO_OFFSET, Orphan, Stage
from . import texts
from .machine import Offsets, batches_of, machine_of
from .stored import Stored
from .streams import Stream
from .windows import Side

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


class Impossible(Exception):
    """The machine does not allow an event; the message says what it would have allowed."""


class Behaviour:
    """One behaviour of the machine of a queue, as far as it is known.

    Attributes:
        direct: the machine.
        state: the present one.
        now: the time up to which it is known, ms.
        sides: the processes, by number in the machine.
        store: what the stores of offsets have had.
        count: how many offsets the machine has.
        batches: the messages of the largest call, by process.
    """

    def __init__(self, stream: Stream, offsets: Offsets, *, slack: int) -> None:
        self.direct = machine_of(stream, offsets)
        self.state = self.direct.initial
        self.constants = self.direct.frame.constants
        self.now = 0
        self.sides = [Side("") for _ in range(stream.processes)]
        for (client, incarnation), c in stream.actors.items():
            self.sides[c].name = f"{client}#{incarnation}" if incarnation else client
        self.orderly = self.constants.listener == "orderly"
        self.locks = uses_locks(self.constants)
        self.broadcasting = broadcasting(self.constants)
        self.filtered = self.direct.has("put_end")
        stores = len(self.sides) if self.broadcasting else 1
        self.store = Stored(stores=stores, known=stream.header.complete, slack=slack)
        self.count = offsets.count
        sizes = batches_of(stream)
        self.batches = [sizes.get(c, 1) for c in range(stream.processes)]
        self._low = offsets.low
        self._varied: dict[tuple[tuple[str, int], ...], Direct] = {}

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

    def lock_holder(self) -> str:
        """Who holds the lock of the queue, in words."""
        holder = self.get("holder", texts.Q)
        return f"held by {self.sides[holder - 1].name if holder else 'nobody'}"

    def place_of_store(self, c: int) -> int:
        """Which store of offsets ``c`` uses."""
        return c if self.broadcasting else 0

    def stored_offset(self, c: int) -> int:
        """The stored offset, in broadcasting that of ``c``."""
        return self.get("file", c, texts.Q) if self.broadcasting else self.get("committed", texts.Q)

    def was_stored(self, c: int, offset: int) -> bool:
        """Whether the store had this offset now, or so short a time ago that an answer may have told it."""
        return self.store.may_tell(self.place_of_store(c), offset, self.now)

    def stage(self, c: int, m: int) -> Stage:
        """Where the window of ``c`` has a message."""
        return Stage(self.get("stage", c, texts.Q, m))

    def orphan(self, c: int, m: int) -> Orphan:
        """What goes on about a message in a dropped window of ``c``."""
        return Orphan(self.get("orphan", c, texts.Q, m))

    def ask(self, text: Callable[..., Any], **arguments: Any) -> Any:
        """What a text says of the state."""
        return self._focused(arguments).ask(self.state, text, **arguments)

    # --- offsets --------------------------------------------------------------------------------------------------

    def at(self, offset: int | None) -> int:
        """An offset of the trace as the machine has it."""
        if offset is None:
            raise Impossible("the event does not say its offset")
        if not 0 <= offset - self._low <= self.count:
            raise Impossible(f"offset {offset} is beyond all offsets of this queue's messages")
        return offset - self._low

    def told(self, offset: int) -> str:
        """An offset of the machine as the trace has it."""
        return "none" if offset == NO_OFFSET else str(offset + self._low)

    def clamped(self, offset: int | None) -> int | None:
        """As :meth:`at`, of an end of the log, which may be beyond all offsets that occur."""
        return None if offset is None else min(max(offset - self._low, 0), self.count)

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
        self.becomes(after)
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
        self.becomes(after)

    def allows(self, name: str, arguments: Mapping[str, int]) -> bool:
        """Whether the machine allows an action with all of its arguments."""
        return self._focused(arguments).step(self.state, name, **arguments) is not None

    def becomes(self, after: Any) -> None:
        """The state is another one: what it shows of in-memory and stored offsets is noted."""
        self.state = after
        for c, side in enumerate(self.sides):
            if (value := self.memory(c)) != NO_OFFSET:
                side.remembers(value)
        for place in range(len(self.store.known)):
            self.store.note(place, self.stored_offset(place), self.now)

    def put_in(self, c: int, offsets: range | frozenset[int]) -> None:
        """The window of ``c`` may hold these messages."""
        self.sides[c].live.update(offsets)

    def leaves(self, c: int, m: int) -> None:
        """A message is in no window of ``c`` any more, unless something still goes on about it."""
        if m < self.count and self.stage(c, m) is Stage.ABSENT and self.orphan(c, m) is Orphan.NONE:
            self.sides[c].live.discard(m)

    # --- what a step looks at ---------------------------------------------------------------------------------------

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
            waiting = [o for o in sorted(self.sides[c].live) if o < self.count and self.stage(c, o) is Stage.WAITING]
            found = (self.sides[c].live - set(waiting)) | set(waiting[: batch + 1])
        else:
            found = {self.get("log_end", texts.Q)}
            for d in sides:
                start = self.get("next_offset", d, texts.Q)
                found |= self.sides[d].live
                found.update(range(start, start + max(int(direct.frame.constants.pull_batch), batch) + 1))
        return direct.focused(Message=tuple(sorted(o for o in found if 0 <= o < self.count)))

    def _held(self, c: int, m: int) -> bool:
        return m < self.count and self.stage(c, m) is not Stage.ABSENT
