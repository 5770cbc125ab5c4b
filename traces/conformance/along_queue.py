"""Following a queue: which steps of the model correspond to its recorded events, and what such a state looks like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from ...model.consumption import consumption
from ...model.kernel.lowered import Instance
from ...model.kernel.plain import StateTuple
from ...model.membership import Life
from ...model.process_queue import Orphan, Stage
from ..format.kinds import SUCCESSES, Kind, Result
from .alongside import Following, Shows
from .events import Event
from .excerpt import Excerpt, stops

_QUIET = (
    "remove remove_by_force remove_and_unlock_later unlock_later pull_expires tick renew recompute_offset "
    "late_commit_arrives commit_late persist put_batch_back keep_taken roll_back"
)
_UNRECORDED = frozenset(_QUIET.split())
"""Actions that no event of an excerpt shows."""

_SHUTTING_DOWN = frozenset({"stop", "persist_at_stop", "unregister"})

_STEPS: Mapping[Kind, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        Kind.ASSIGN: "take allocate_again",
        Kind.REVOKE: "drop drop_losing_commit drop_delaying_commit drop_in_order",
        Kind.PULL_RESULT: "pull",
        Kind.DELIVER: "begin begin_batch",
        Kind.RESULT: "succeed fail orphan_succeeds orphan_listener_fails succeed_in_order suspend say_commit "
        "say_rollback return_to_dropped_window",
        Kind.SEND_BACK: "send_back orphan_sends_back publish_batch",
        Kind.REMOVED: "succeed send_back commit_taken publish_batch",
        Kind.COMMIT: "commit persist persist_at_stop late_commit_arrives",
        Kind.CLIENT_STOP: "end_stop",
        Kind.CLIENT_CRASH: "die",
    }.items()
}
"""Kind → the actions that it records; the other kinds of an excerpt show nothing about a state."""

_OF_ONE_MESSAGE = frozenset({Kind.DELIVER, Kind.RESULT, Kind.SEND_BACK, Kind.REMOVED})
_FAIL = frozenset({"fail", "orphan_listener_fails", "suspend", "say_rollback"})


class AlongQueue(Following):
    """Follows an excerpt of a queue through ``consumption``."""

    def __init__(self, excerpt: Excerpt) -> None:
        super().__init__(excerpt.events, excerpt.actors, consumption, excerpt.constants())
        self._excerpt = excerpt
        self._batched = int(self.constants["batch"]) > 1

    def names(self) -> list[str]:
        """See :class:`Following`."""
        messages = [f"m{number} is offset {offset}" for number, offset in enumerate(self._excerpt.messages)]
        return [*self.processes(), *messages, f"q0 is {self._excerpt.stream.place}"]

    def may_come_later(self, event: Event) -> bool:
        """The machine may take the step together with the one in which the message leaves the window."""
        return event.kind is Kind.SEND_BACK or (event.kind is Kind.RESULT and event.result in SUCCESSES)

    def unrecorded(self, event: Event) -> frozenset[str]:
        """See :class:`Following`; a stop is recorded as a whole."""
        return _UNRECORDED | _SHUTTING_DOWN if stops(event) else _UNRECORDED

    def goals(self, event: Event, c: int | None) -> Iterator[tuple[list[Instance], Shows]]:
        """See :class:`Following`."""
        kind = event.kind
        if kind not in _STEPS or (c is None and kind is not Kind.COMMIT):
            return
        names = _STEPS[kind] | (_SHUTTING_DOWN if stops(event) else frozenset())
        m = None if event.offset is None else self._excerpt.place(event.offset)
        own = self.own(names, c=c, m=m if kind in _OF_ONE_MESSAGE and not self._batched else None)
        get = self._of
        if kind is Kind.ASSIGN:
            yield own, lambda s, p: p is not None and get(s, "owns", c) == 1 and m in (None, get(s, "next_offset", c))
        elif kind is Kind.REVOKE:
            stopping = stops(event)
            yield (
                own,
                lambda s, p: (stopping or p is not None) and (get(s, "owns", c) == 0 or get(s, "life", c) != Life.UP),
            )
        elif kind is Kind.PULL_RESULT and event.next is not None and m is not None:
            for end in range(m + 1, self._excerpt.place(event.next) + 1):
                yield own, partial(self._pulled, c, end)
        elif kind is Kind.DELIVER:
            yield own, lambda s, p: (p is not None or self._batched) and get(s, "stage", c, m) == Stage.RUNNING
        elif kind is Kind.RESULT:
            good = event.result in SUCCESSES
            own = [one for one in own if _ends(one, good)]
            yield own, lambda s, p: p is not None and self._running(s, c) < self._running(p, c)
        elif kind in (Kind.SEND_BACK, Kind.REMOVED):
            if kind is Kind.REMOVED or event.result is Result.OK:
                yield (
                    own,
                    lambda s, p: (
                        get(s, "stage", c, m) == Stage.ABSENT
                        and (get(s, "orphan", c, m) == Orphan.NONE or kind is Kind.REMOVED)
                    ),
                )
        elif kind is Kind.COMMIT and m is not None:
            yield own, lambda s, p: self._stored(s, c) == m
        elif kind in (Kind.CLIENT_STOP, Kind.CLIENT_CRASH):
            yield own, lambda s, p: get(s, "life", c) == Life.GONE

    def _pulled(self, c: int | None, end: int, state: StateTuple, _: StateTuple | None) -> bool:
        return self._of(state, "next_offset", c) == end

    def _running(self, state: StateTuple, c: int | None) -> int:
        """How many messages the listeners of a client have without a known result."""
        if self._of(state, "result", c) > 0:
            return 0
        messages = range(len(self._excerpt.messages))
        return sum(
            self._of(state, "stage", c, m) == Stage.RUNNING or self._of(state, "orphan", c, m) == Orphan.RUNNING
            for m in messages
        )

    def _stored(self, state: StateTuple, c: int | None) -> int:
        of_queue = self.cell.get("committed[q0]")
        return state[of_queue] if of_queue is not None else self._of(state, "file", c)

    def _of(self, state: StateTuple, name: str, c: int | None, m: int | None = None) -> int:
        """A variable of a client and a message."""
        return self.get(state, name, f"c{c}", "q0", f"m{m}")


def _ends(step: Instance, good: bool) -> bool:
    """Whether a step that ends a call ends it well; or, with ``good`` False, whether it does not."""
    return (step.action.name in _FAIL) is not good and step.arguments.get("success", int(good)) == int(good)
