"""The history of rebalances: what each pass changed, why, and how much of it was back and forth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...claims.settings import REBALANCE_PERIOD
from ...encoding.names import Actor
from ...engine.context import Context
from ...format.kinds import Kind
from .runs import Run, told_by
from .views import Differ, view_of


@dataclass(frozen=True, kw_only=True)
class Change:
    """A pass of rebalance of one member over one topic that saw or answered something new.

    Attributes:
        time: ms.
        actor: the member.
        topic: the topic.
        joined: client ids that were not in its view before; ``left``: ids that were.
        added: queues, as broker:id, that were not in its view before; ``removed``: queues that were.
        gained: queues that it newly gives itself; ``lost``: queues that it gives up.
        disagrees: how its view differs from the latest views of other members, by their names.
    """

    time: int
    actor: Actor
    topic: str
    joined: tuple[str, ...]
    left: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    disagrees: Mapping[Actor, Differ]

    @property
    def unprovoked(self) -> bool:
        """Whether the answer changed although the view did not, which the report marks (RB-27)."""
        return bool(self.gained or self.lost) and not (self.joined or self.left or self.added or self.removed)


@dataclass(frozen=True, kw_only=True)
class Flapping:
    """How unstable a group is.

    Attributes:
        moves: how often a member gave itself a queue, not counting its first answer.
        returns: how many of these queues it had had before, and given up.
        score: share of returns in moves, from 0 (every change was lasting) to 1 (every queue came back).
        worst: the topic and queue that came back most often, with how often; None without returns.
    """

    moves: int
    returns: int
    score: float
    worst: tuple[str, str, int] | None


def rebalance_history(context: Context, group: str) -> tuple[Change, ...]:
    """The passes of a group that changed something, in the order of time."""
    before: dict[tuple[Actor, str], Run] = {}
    latest: dict[str, dict[Actor, Run]] = {}
    found: list[Change] = []
    told = context.events.once(told_by, 2 * REBALANCE_PERIOD)
    ends = [(step.time, step.actor) for step in told.steps if step.kind is not Kind.CLIENT_START]
    passes = [run for run in told.of(group, Kind.REBALANCE) if run.queues is not None or run.assigned is not None]
    gone = 0
    for run in passes:
        while gone < len(ends) and ends[gone][0] <= run.first:
            for of_topic in latest.values():
                of_topic.pop(ends[gone][1], None)
            gone += 1
        of_topic = latest.setdefault(run.topic, {})
        change = _change(before.get((run.actor, run.topic)), run, of_topic)
        before[run.actor, run.topic] = of_topic[run.actor] = run
        if change is not None:
            found.append(change)
    return tuple(found)


def flapping(changes: tuple[Change, ...]) -> Flapping:
    """How much of a history was back and forth."""
    answered: set[tuple[Actor, str]] = set()
    given_up: set[tuple[Actor, str, str]] = set()
    returned: dict[tuple[str, str], int] = {}
    moves = 0
    for change in changes:
        first = (change.actor, change.topic) not in answered
        answered.add((change.actor, change.topic))
        for queue in change.gained:
            moves += not first
            if (change.actor, change.topic, queue) in given_up:
                returned[change.topic, queue] = returned.get((change.topic, queue), 0) + 1
        given_up.update((change.actor, change.topic, queue) for queue in change.lost)
    returns = sum(returned.values())
    worst = min(returned, key=lambda key: (-returned[key], key), default=None)
    return Flapping(
        moves=moves,
        returns=returns,
        score=returns / moves if moves else 0.0,
        worst=None if worst is None else (*worst, returned[worst]),
    )


def _change(before: Run | None, run: Run, others: Mapping[Actor, Run]) -> Change | None:
    """What is new in a pass; None if nothing is."""
    joined, left = _moved(before.members if before else None, run.members)
    added, removed = _moved(before.queues if before else None, run.queues)
    gained, lost = _moved(before.assigned if before else None, run.assigned)
    if before is not None and not (joined or left or added or removed or gained or lost):
        return None
    return Change(
        time=run.first,
        actor=run.actor,
        topic=run.topic,
        joined=joined,
        left=left,
        added=added,
        removed=removed,
        gained=gained,
        lost=lost,
        disagrees=_disagreements(run, others),
    )


def _moved(before: list[str] | None, now: list[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What came and what went; nothing if the present list is not known."""
    if now is None:
        return (), ()
    was, is_now = set(before or ()), set(now)
    return tuple(sorted(is_now - was)), tuple(sorted(was - is_now))


def _disagreements(run: Run, others: Mapping[Actor, Run]) -> dict[Actor, Differ]:
    own = view_of(run)
    found: dict[Actor, Differ] = {}
    for actor, other in sorted(others.items()):
        theirs = view_of(other)
        if actor != run.actor and own is not None and theirs is not None and own != theirs:
            found[actor] = own.differs(theirs)
    return found
