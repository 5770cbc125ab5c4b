"""Missteps of processes and brokers in groups: for each process and group, the first one of each kind is recorded."""

from __future__ import annotations

from collections.abc import Collection

from ..claims.group_steps import GroupMisstep
from ..encoding.names import Actor, Slot
from ..engine.context import Context
from ..engine.findings import Doubt
from ..format.coverage import EVER, evidence_mask
from .group_records import Broker, Event, Member, Noted
from .notebook import Notebook, whole


class GroupMissteps:
    """The missteps whose evidence was recorded.

    Args of the constructor: ``noted``: those found so far, which grow; ``judged``: the missteps that count;
    ``of_brokers``: whether those of brokers do.
    """

    def __init__(
        self,
        noted: dict[tuple[GroupMisstep, Actor, str], Noted],
        judged: Collection[GroupMisstep],
        *,
        of_brokers: bool,
    ) -> None:
        self._noted, self._judged, self._of_brokers = noted, judged, of_brokers

    def write(self, notebook: Notebook, members: int) -> None:
        """Record what was found, and for each claim that is judged, the number of members for which it was judged."""
        for claim in {one.step.claim for one in self._judged}:
            notebook.judge(claim, members)
        for (misstep, actor, _), one in self._noted.items():
            notebook.violation(
                misstep.step.claim,
                slot=one.slot,
                since=one.since,
                time=one.time,
                actor=actor,
                value=int(misstep),
                doubt=one.doubt,
            )

    def note(
        self,
        misstep: GroupMisstep,
        who: Member | Broker,
        event: Event,
        *,
        since: int | None = None,
        topic: str = "",
        queue: str = "",
        doubt: Doubt = Doubt.NONE,
    ) -> None:
        """Record a misstep at an event; ``since``: when it began, ms, if this was not at the event."""
        group = who.group if isinstance(who, Member) else event.get("group") or ""
        key = misstep, who.actor, group
        if misstep not in self._judged or key in self._noted or (isinstance(who, Broker) and not self._of_brokers):
            return
        broker, _, number = queue.rpartition(":")
        self._noted[key] = Noted(
            slot=Slot(group, topic, broker, int(number)) if queue else whole(group, topic),
            since=event["time"] if since is None or since == EVER else since,
            time=event["time"],
            doubt=doubt,
        )


def judged_in(context: Context) -> list[GroupMisstep]:
    """The missteps whose evidence was recorded."""
    occurring = context.events.kinds()
    return [
        one
        for one in GroupMisstep
        if context.evidence & (needs := evidence_mask(one.step.needs)) == needs
        and (context.complete or not one.step.complete)
        and occurring.issuperset(one.step.beside)
    ]
