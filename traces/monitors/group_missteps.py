"""Missteps of processes and brokers in groups: for each process and group, the first one of each kind is recorded."""

from __future__ import annotations

from ..claims.group_steps import GroupMisstep
from ..encoding.names import Slot
from ..engine.context import Context
from ..engine.findings import Doubt
from ..format.coverage import EVER, evidence_mask
from .group_records import Broker, Event, Member
from .notebook import Notebook, whole


class GroupMissteps:
    """The missteps whose evidence was recorded."""

    def __init__(self, context: Context, notebook: Notebook) -> None:
        self._notebook = notebook
        occurring = context.events.kinds()
        self._judged = {
            one
            for one in GroupMisstep
            if context.evidence & (needs := evidence_mask(one.step.needs)) == needs
            and (context.complete or not one.step.complete)
            and occurring.issuperset(one.step.beside)
        }
        self._told: set[tuple[object, ...]] = set()

    def judge(self, count: int) -> None:
        """Record, for each claim that is judged, the number of members for which it was judged."""
        for claim in {one.step.claim for one in self._judged}:
            self._notebook.judge(claim, count)

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
        if misstep not in self._judged or key in self._told:
            return
        self._told.add(key)
        broker, _, number = queue.rpartition(":")
        slot = Slot(group, topic, broker, int(number)) if queue else whole(group, topic)
        self._notebook.violation(
            misstep.step.claim,
            slot=slot,
            since=event["time"] if since is None or since == EVER else since,
            time=event["time"],
            actor=who.actor,
            value=int(misstep),
            doubt=doubt,
        )
