"""What rebalance passes give a process: brokers must list it as a member, and it must take what it is given."""

from __future__ import annotations

from ...claims.group_steps import GroupMisstep
from ...claims.settings import Settings
from ...engine.context import Context, brokers_of
from ...engine.findings import Doubt
from ...format.coverage import EVER, EVIDENCE_BIT
from ...format.kinds import Kind
from ..steps.state import APART
from .broker_steps import BrokerSteps
from .group_records import Event, GroupMissteps, Member, Pass, broker_of

PASSES = 3
"""How often a queue is given without being taken: a request may be lost, and the next pass may be another thread's."""


class Shares:
    """Judges each pass by those before it."""

    def __init__(self, context: Context, settings: Settings, brokers: BrokerSteps, missteps: GroupMissteps) -> None:
        self._settings, self._brokers, self._missteps = settings, brokers, missteps
        self._locks = bool(context.evidence & EVIDENCE_BIT[Kind.LOCK])

    def listed(self, member: Member, event: Event, topic: str, before: Pass | None) -> None:
        """EN-1: whether no broker lists a process as a member for longer than several heartbeats take."""
        time, members = event["time"], event.get("members")
        if not members or member.actor.name in members:
            member.unlisted.pop(topic, None)
            return
        goes_on = before is not None and time - before.time <= self._settings.rounds
        since, beats = member.unlisted.get(topic, (time, member.beats)) if goes_on else (time, member.beats)
        member.unlisted[topic] = since, beats
        if time - since > 2 * self._settings.heartbeat + self._settings.rounds and member.beats - beats > 1:
            self._missteps.note(GroupMisstep.UNLISTED, member, event, since=since, topic=topic)

    def given(
        self,
        member: Member,
        event: Event,
        topic: str,
        assigned: frozenset[str],
        before: Pass | None,
        *,
        is_orderly: bool,
    ) -> None:
        """The queues that a pass gives to a process that is known not to have them."""
        for at in [at for at in member.awaited if at[0] == topic and at[1] not in assigned]:
            del member.awaited[at]
        earlier = None if before is None else before.assigned
        brokers = brokers_of(event["queues"])
        begins = assigned if member.started is not None else frozenset()
        is_new = begins if earlier is None else assigned - earlier
        for queue in sorted(queue for queue in assigned if self._lacks(member, (topic, queue), queue in is_new)):
            had = member.queues.get((topic, queue))
            if self._brokers.is_away(broker_of(queue), event["time"]):
                member.awaited.pop((topic, queue), None)
                continue
            times = member.awaited.setdefault((topic, queue), [])
            times.append(event["time"])
            # RB-35: an orderly queue whose listener still ran when it was dropped cannot be taken until it is idle.
            longest = self._settings.rounds + (self._settings.silent_death if is_orderly and had is not None else 0)
            if is_orderly and not self._locks:
                continue
            if len(times) >= PASSES and times[-1] - times[0] > longest - APART:
                is_answered = member.reached.get(broker_of(queue), EVER) > times[0]
                if len(brokers) == 1:
                    is_answered |= bool(event.get("members")) or member.told_at > times[0]
                doubt = Doubt.NONE if is_answered else Doubt.EVIDENCE
                self._missteps.note(
                    GroupMisstep.NOT_TAKEN, member, event, since=times[0], topic=topic, queue=queue, doubt=doubt
                )

    @staticmethod
    def _lacks(member: Member, at: tuple[str, str], is_new: bool) -> bool:
        """Whether a process does not have a queue, as far as is known: it gave it up, or was just given it."""
        had = member.queues.get(at)
        return is_new or at in member.awaited if had is None else not had.has
