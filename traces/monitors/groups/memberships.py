"""Memberships: from when to when a process was a member of a group, according to the recording."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from ...claims.settings import REBALANCE_PERIOD
from ...clocks.order import Order
from ...encoding.names import Actor
from ...engine.context import Context
from ...format.coverage import EVIDENCE_BIT
from ...format.kinds import Kind
from .runs import Step, Told, told_by

_START, _SIGN, _END = range(3)


@dataclass(slots=True)
class Membership:
    """One membership of a process in a group."""

    group: str  # the group
    actor: Actor  # the process
    first: int  # its first sign of life there, ms
    last: int  # its last one
    end: int | None = None  # when it stopped, left or was seen to be dead; None if that was not recorded


class Memberships:
    """All memberships of a trace.

    Attributes:
        order: order of events of two processes.
        ends_are_recorded: whether the end of a process would have been recorded; otherwise silence may be its end.
    """

    def __init__(self, told: Told, *, context: Context, skew: int) -> None:
        wanted = EVIDENCE_BIT[Kind.CLIENT_STOP] | EVIDENCE_BIT[Kind.CLIENT_CRASH]
        self.ends_are_recorded = context.evidence & wanted == wanted
        self._context_end = context.end
        self.order = Order(context.clocks, skew)
        self._memberships: dict[str, dict[Actor, list[Membership]]] = {}
        self._groups_of: dict[Actor, list[str]] = {}
        self._starts: dict[Actor, int] = {}
        moments = [
            (step.time, _START if step.kind is Kind.CLIENT_START else _END, n) for n, step in enumerate(told.steps)
        ]
        for n, run in enumerate(told.runs):
            if run.group and run.actor.incarnation >= 0:
                moments += [(run.first, _SIGN, n), (run.last, _SIGN, n)]
        for time, what, n in sorted(moments):
            if what == _SIGN:
                self._sign(told.runs[n].group, told.runs[n].actor, time)
            elif what == _START:
                self._start(told.steps[n])
            else:
                self._end(told.steps[n])
        self._without_a_group(told)

    @classmethod
    def of_all(cls, context: Context, skew: int) -> Memberships:
        """Those of all processes; for :meth:`Context.once`."""
        return cls(context.events.once(told_by, 2 * REBALANCE_PERIOD), context=context, skew=skew)

    def groups(self) -> list[str]:
        """All groups, sorted."""
        return sorted(self._memberships)

    def of(self, group: str) -> list[Membership]:
        """The memberships in a group, by their beginning."""
        memberships = [membership for each in self._memberships.get(group, {}).values() for membership in each]
        return sorted(memberships, key=lambda membership: (membership.first, membership.actor))

    def at(self, group: str, actor: Actor, time: int) -> Membership | None:
        """The latest membership of a process in a group that began before a time; None if there is none."""
        memberships = self._memberships.get(group, {}).get(actor, ())
        place = bisect_right(memberships, time, key=lambda membership: membership.first)
        return memberships[place - 1] if place else None

    def until(self, membership: Membership, *, certain: bool) -> int:
        """Until when the process was certainly a member, and until when possibly; ms."""
        if membership.end is not None:
            return membership.end
        unsure = not self.ends_are_recorded or self.has_ended_unseen(membership)
        return membership.last if certain and unsure else self._context_end

    def has_ended_unseen(self, membership: Membership) -> bool:
        """Whether no end was recorded, but another process of the same client began after the last sign."""
        return membership.end is None and any(
            one.first > membership.last
            for actor, several in self._memberships[membership.group].items()
            if actor.name == membership.actor.name and actor != membership.actor
            for one in several
        )

    def _without_a_group(self, told: Told) -> None:
        """Processes that are never seen in a group belong to the group without a name."""
        known = {actor for actors in self._memberships.values() for actor in actors}
        for step in told.steps:
            if step.actor not in known:
                if step.kind is not Kind.CLIENT_CRASH:
                    self._sign("", step.actor, step.time)
                if step.kind is not Kind.CLIENT_START:
                    self._end(step)

    def _start(self, step: Step) -> None:
        # A start without a group counts for every group in which the process is seen.
        self._starts[step.actor] = step.time
        if step.group:
            self._sign(step.group, step.actor, step.time)

    def _sign(self, group: str, actor: Actor, time: int) -> None:
        memberships = self._memberships.setdefault(group, {}).setdefault(actor, [])
        if not memberships:
            self._groups_of.setdefault(actor, []).append(group)
        started = self._starts.get(actor)
        if memberships:
            latest = memberships[-1]
            if latest.end is None:
                latest.last = max(latest.last, time)
                return
            # Requests under way when it ended may be recorded a little later.
            if time <= latest.end + self.order.widest and (started is None or started < latest.end):
                return
            started = None if started is None or started < latest.end else started
        memberships.append(Membership(group, actor, time if started is None else started, time))

    def _end(self, step: Step) -> None:
        for group in self._groups_of.get(step.actor, ()):
            latest = self._memberships[group][step.actor][-1]
            if step.group in ("", group) and latest.end is None:
                latest.end = step.time
                # A death is seen from outside, possibly later: it is no sign of life.
                if step.kind is not Kind.CLIENT_CRASH:
                    latest.last = max(latest.last, step.time)
