"""A behaviour of the machine of one queue: its present state, what that implies, and the steps that lead on.

Offsets of a recording begin anywhere, those of the machine at 0; :meth:`Behaviour.at` and :meth:`Behaviour.told`
convert between them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ...model.lock import uses_locks
from ...model.offsets import broadcasting
from ...model.process_queue import NO_OFFSET, Orphan, Stage
from . import texts
from .machine import Machines, Offsets, batches_of, machine_of
from .streams import Stream
from .windows import Side, Stored

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


_OF_PULLS = frozenset({"send_pull", "answer_found", "answer_nothing", "nothing_new", "answered_with_error"})
"""Actions and texts that read only where a window begins and ends, and no other message that it holds."""

_SHOWN = frozenset({"memory", "committed", "file"})
"""Variables for offsets that clients have in memory, and for stored ones."""

_STAGES, _ORPHANS = tuple(Stage), tuple(Orphan)


class Impossible(Exception):
    """The machine does not allow an event; the message says what it would have allowed."""


class ImpossibleAlone(Impossible):
    """The event does not follow from what the same process did before, whatever others do, and by whatever clock."""


class Behaviour:
    """One behaviour of the machine of a queue, as far as it is known."""

    def __init__(self, stream: Stream, offsets: Offsets, machines: Machines, *, slack: int) -> None:
        self.direct = machine_of(stream, machines)  # the machine, in its present state
        self.constants = self.direct.frame.constants
        self.now = 0  # the time up to which it is known, ms
        self.sides = [Side("") for _ in range(stream.processes)]  # the processes, by number in the machine
        for (client, incarnation), c in stream.actors.items():
            self.sides[c].name = f"{client}#{incarnation}" if incarnation else client
        self.orderly = self.constants.listener == "orderly"
        self.locks = uses_locks(self.constants)
        self.broadcasting = broadcasting(self.constants)
        self.filtered = self.direct.has("put_end")
        stores = len(self.sides) if self.broadcasting else 1
        # the offsets that the stores have had
        self.store = Stored(stores=stores, known=stream.header.complete, slack=slack)
        for c in stream.found:
            self.store.known[c] = False
        self.count = offsets.count  # number of offsets in the machine
        sizes = batches_of(stream)
        # number of messages in the largest call, by process
        self.batches = [sizes.get(c, 1) for c in range(stream.processes)]
        self._low = offsets.low
        self._batch = int(self.constants.batch)

    # --- the state ----------------------------------------------------------------------------------------------

    def get(self, name: str, *index: int) -> int:
        """A variable of the machine; 0 for one that is switched off."""
        values = self.direct.values.get(name)
        return 0 if values is None else int(values.at(index))

    def memory(self, c: int) -> int:
        """The in-memory offset of ``c``."""
        return self.direct.get("memory", c, texts.Q)

    def owns(self, c: int) -> bool:
        """Whether ``c`` has the queue, not dropped."""
        return bool(self.direct.get("owns", c, texts.Q))

    def lock_holder(self) -> str:
        """Who holds the lock of the queue, in words."""
        holder = self.get("holder", texts.Q)
        return f"held by {self.sides[holder - 1].name if holder else 'nobody'}"

    def place_of_store(self, c: int) -> int:
        """Which store of offsets ``c`` uses."""
        return c if self.broadcasting else 0

    def stored_offset(self, c: int) -> int:
        """The stored offset, in broadcasting that of ``c``."""
        return self.direct.get("file", c, texts.Q) if self.broadcasting else self.direct.get("committed", texts.Q)

    def was_stored(self, c: int, offset: int, since: int | None = None) -> bool:
        """Whether the store has this offset, or had it at ``since`` or later; by default, whether it has it now."""
        return self.store.may_tell(self.place_of_store(c), offset, self.now if since is None else since)

    def stage(self, c: int, m: int) -> Stage:
        """The stage of a message in the window of ``c``."""
        stage: int = self.direct.values["stage"][c, texts.Q, m]
        return _STAGES[stage]

    def orphan(self, c: int, m: int) -> Orphan:
        """What is still happening to a message in a dropped window of ``c``."""
        return _ORPHANS[self.get("orphan", c, texts.Q, m)]

    def ask(self, text: Callable[..., Any], **arguments: Any) -> Any:
        """The value that a text computes from the state."""
        self._look(text.__name__, arguments)
        return self.direct.ask(text, **arguments)

    # --- offsets --------------------------------------------------------------------------------------------------

    def at(self, offset: int | None) -> int:
        """An offset of the trace as an offset of the machine."""
        if offset is None:
            raise Impossible("the event does not say its offset")
        if not 0 <= offset - self._low <= self.count:
            raise Impossible(f"offset {offset} is beyond all offsets of this queue's messages")
        return offset - self._low

    def told(self, offset: int) -> str:
        """An offset of the machine as an offset of the trace."""
        return "none" if offset == NO_OFFSET else str(offset + self._low)

    def clamped(self, offset: int | None) -> int | None:
        """Like :meth:`at`, for an end of the log, which may be beyond all offsets that occur."""
        return None if offset is None else min(max(offset - self._low, 0), self.count)

    # --- steps --------------------------------------------------------------------------------------------------

    def may(self, name: str, *, varied: Mapping[str, int] | None = None, **arguments: int) -> bool:
        """Take an action if the machine allows it; otherwise change nothing."""
        action = self.direct.actions.get(name)
        if action is None:
            return False
        arguments.setdefault("q", texts.Q)
        given = {key: arguments[key] for key in action.parameters}
        self._look(name, given, int((varied or {}).get("pull_batch", 1)))
        if not self.direct.step(name, varied=varied, **given):
            return False
        self._stepped()
        return True

    def take(self, name: str, why: str, *, varied: Mapping[str, int] | None = None, **arguments: int) -> None:
        """Take an action; raises :class:`Impossible` with ``why`` if the machine does not allow it."""
        if not self.may(name, varied=varied, **arguments):
            raise Impossible(why)

    def run(self, text: Callable[..., None], why: str = "", **arguments: Any) -> None:
        """Run a text as a step."""
        self._look(text.__name__, arguments)
        if not self.direct.run(text, **arguments):
            raise Impossible(why or f"the model does not allow {text.__name__.replace('_', ' ')} here")
        self._stepped()

    def allows(self, name: str, arguments: Mapping[str, int]) -> bool:
        """Whether the machine allows an action with all these arguments."""
        self._look(name, arguments)
        return self.direct.enabled(name, **arguments)

    def _stepped(self) -> None:
        if not _SHOWN.isdisjoint(self.direct.changed):
            self.noted()

    def noted(self) -> None:
        """To be called after a change of the state: records its in-memory and stored offsets."""
        for c, side in enumerate(self.sides):
            value = self.memory(c)
            if value != side.memory:
                side.memory = value
                if value != NO_OFFSET:
                    side.remembers(value)
        for place in range(len(self.store.known)):
            self.store.note(place, self.stored_offset(place), self.now)

    def put_in(self, c: int, offsets: Iterable[int]) -> None:
        """The window of ``c`` may now hold these messages."""
        self.sides[c].live.update(offsets)

    def leaves(self, c: int, m: int) -> None:
        """A message is no longer in any window of ``c``, unless something is still happening to it."""
        if m < self.count and self.stage(c, m) is Stage.ABSENT and self.orphan(c, m) is Orphan.NONE:
            self.sides[c].live.discard(m)

    # --- what a step reads ----------------------------------------------------------------------------------------

    def taken(self, c: int) -> list[int]:
        """The messages that an orderly worker of ``c`` has taken: the first ones of its window."""
        return list(itertools.takewhile(lambda m: self.stage(c, m) is Stage.RUNNING, self._held(c)))

    def _held(self, c: int) -> Iterator[int]:
        """The messages that the window of ``c`` holds, in their order."""
        return (m for m in self.sides[c].live if self.stage(c, m) is not Stage.ABSENT)

    def _look(self, name: str, arguments: Mapping[str, Any], pulled: int = 1) -> None:
        """Restrict texts to the messages that a step can concern, which saves most of the time.

        These are the messages in windows and those that may come next. A step with one message is about its task;
        otherwise it only needs the low-water mark of the window, which depends on the smallest offset. A pull is about
        the messages that come. A step of an orderly worker is about the messages that it has taken, and those that it
        takes next.
        """
        c, m = arguments.get("c"), arguments.get("m")
        if c is not None and m is not None:
            stages, q = self.direct.values["stage"], texts.Q
            near = range(m, m + 1) if self._batch == 1 else range(max(m - 1, 0), m + self._batch + 1)
            near = near[: max(self.count - near.start, 0)]
            for o in self.sides[c].live:
                if o not in near and stages[c, q, o] != Stage.ABSENT:
                    self.direct.focus(Message=[o, *near] if o < m else [*near, o])
                    return
            self.direct.focus(Message=near)
            return
        if c is not None and name == "mark":
            self.direct.focus(Message=[*itertools.islice(self._held(c), 1)])
            return
        if c is not None and name in _OF_BATCHES:
            taken = self.taken(c)
            found = {*taken, *itertools.islice(self._held(c), len(taken), len(taken) + self._batch + 1)}
        elif name == "produce":
            found = {self.direct.get("log_end", texts.Q)}
        else:
            found = {self.direct.get("log_end", texts.Q)}
            for d in range(len(self.sides)) if c is None else (c,):
                start = self.direct.get("next_offset", d, texts.Q)
                found.update(range(start, start + max(pulled, self._batch) + 1))
                found.update(itertools.islice(self._held(d), 1) if name in _OF_PULLS else self.sides[d].live)
        self.direct.focus(Message=[o for o in sorted(found) if 0 <= o < self.count])
