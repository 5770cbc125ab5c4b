"""What became of one message for one group, as a status and in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...model.retry_policy import maximum_sent
from ..claims.claims import claim
from ..claims.settings import Settings
from ..encoding.names import DEAD_LETTER_PREFIX, RETRY_PREFIX, Names
from ..engine.context import actor_of
from ..format.coverage import EVER, SETTINGS, Hole, evidence_mask, missing
from ..format.kinds import SUCCESSES, Kind, Result
from ..format.message_status import MessageStatus
from ..format.schema import Group
from .evidence import Found
from .message_attempts import Attempt, attempts_of, spot_of
from .message_lookup import Located, place_of
from .message_undelivered import Copies, Told, undelivered
from .sentences import Event, clock

_SKIPPED = claim("nothing-skipped")
_OF_THE_SYSTEM = ("RMQ_SYS_", "rmq_sys_", "SCHEDULE_TOPIC_")  # where messages wait: halves of transactions, delays
_DELIVERIES = evidence_mask((Kind.DELIVER,))
_RESULTS = evidence_mask((Kind.RESULT,))

NEVER_DELIVERED = "never delivered, and "
"""How the words about a lost message begin."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a message for one group.

    Attributes:
        group: the group, empty if deliveries do not name it; client: client id in a broadcasting group, otherwise
            empty.
        status: what became of it.
        told: the status in words.
        attempts: its deliveries, by time.
        maximum: how often it may be tried again.
        messages: number of messages that the question matches: those of a batch share one key.
        consumed: number of these that a listener succeeded with.
        unsure: where further deliveries of it may be missing from the recording, in words; empty if nowhere.
    """

    group: str
    client: str
    status: MessageStatus
    told: str
    attempts: tuple[Attempt, ...]
    maximum: int
    messages: int = 1
    consumed: int = 0
    unsure: str = ""

    @property
    def at(self) -> str:
        """The client, for a broadcasting group."""
        return f" at {self.client}" if self.client else ""


def consumers(own: Sequence[Found], found: Sequence[Found], located: Located) -> list[tuple[str, str]]:
    """The groups, and the clients of broadcasting groups, that handled the message or its queues, and those that say
    that they consume its topic.

    Deliveries that do not name their group count as those of a group without a name.
    """
    names = located.names
    slots = [names.slots[each.slot] for each in found if each.slot >= 0]
    groups = {(slot.group, slot.who) for slot in slots if slot.group}
    groups |= {(each.event["group"], "") for each in own if each.event.get("group")}
    if any(each.event["kind"] == Kind.DELIVER and not _group_of(each.event) for each in own):
        groups.add(("", ""))
    idle = located.consuming - located.coverage.not_judged.keys()
    groups |= {(group, "") for group in idle if not names.is_broadcasting(group)}
    broadcasting = {group for group, client in groups if client}
    return sorted((group, client) for group, client in groups if client or group not in broadcasting)


def outcome_of(
    group: str,
    client: str,
    own: Sequence[Found],
    found: Sequence[Found],
    *,
    located: Located,
    known: Group,
    settings: Settings,
) -> Outcome:
    """What became of a message.

    ``own`` are the events of the message by time, ``found`` these and those of its queues; ``client`` is the client of
    a broadcasting group.
    """
    events = [each.event for each in own if _concerns(each.event, group, client, located.names)]
    around = [each.event for each in found if _concerns(each.event, group, client, located.names)]
    named = (int(maximum_sent(e["max_attempts"])) for e in events if e.get("max_attempts") is not None)
    limit = next(named, known.maximum)
    attempts = attempts_of(events, limit, settings, orderly=known.listener == "orderly")
    asked = _Asked(group=group, own=own, events=events, around=around, located=located)
    ended = _ended(asked, attempts, known)
    if ended is None:
        ended = _unfinished(asked, attempts[-1], limit, _tries(attempts)) if attempts else _never(asked)
    status, told = ended
    # It may have been delivered since it was stored, or since the recording began.
    stored = [each.event["time"] for each in own if each.event["kind"] == Kind.STORE]
    hole = _lost_since(asked, _DELIVERIES, min(stored, default=located.coverage.begin), located.coverage.end)
    messages, consumed = _of_batch(asked)
    return Outcome(
        group=group,
        client=client,
        status=status,
        told=told,
        attempts=attempts,
        maximum=limit,
        messages=messages,
        consumed=consumed,
        unsure=str(hole) if hole is not None else "",
    )


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What is known about the message and a group."""

    group: str
    own: Sequence[Found]  # all events of the message
    events: Sequence[Event]  # those that concern the group
    around: Sequence[Event]  # these, and what the group did with the queues of the message
    located: Located  # where the message was found


def _concerns(event: Event, group: str, client: str, names: Names) -> bool:
    of_group = _group_of(event) == group or event.get("topic") == RETRY_PREFIX + group
    return of_group and client in ("", str(names.member(actor_of(event))))


def _group_of(event: Event) -> str:
    """The group of an event, or that of its retry topic if the event does not name one; empty if nothing does."""
    topic = event.get("topic") or ""
    return event.get("group") or (topic.removeprefix(RETRY_PREFIX) if topic.startswith(RETRY_PREFIX) else "")


def _of_batch(asked: _Asked) -> tuple[int, int]:
    """How many messages of a batch have the given key, judged by their queues and offsets, and how many were
    consumed.

    A copy in the retry topic cannot be assigned to one of them.
    """
    kinds = (Kind.STORE, Kind.DELIVER)
    seen = [each.event for each in asked.own if each.event["kind"] in kinds and each.event.get("offset") is not None]
    elsewhere = (RETRY_PREFIX, DEAD_LETTER_PREFIX, *_OF_THE_SYSTEM)
    positions = {spot_of(event) for event in seen if not (event.get("topic") or "").startswith(elsewhere)}
    consumed = {
        spot_of(event)
        for event in asked.events
        if event["kind"] == Kind.RESULT and event.get("result") in SUCCESSES and event.get("offset") is not None
    }
    messages = max(1, len(positions))
    return messages, min(messages, len(consumed))


def _ended(asked: _Asked, attempts: Sequence[Attempt], known: Group) -> Told | None:
    """What became of a message that needs nothing more: it was consumed, is a dead letter, or was dropped."""
    succeeded = [event for event in asked.events if event["kind"] == Kind.RESULT and event.get("result") in SUCCESSES]
    consumed = f"consumed by {actor_of(succeeded[0])} at {clock(succeeded[0]['time'])}" if succeeded else ""
    dead = [event for event in asked.events if event["kind"] == Kind.DEAD_LETTER]
    if dead and known.mode != "broadcasting":
        what = f"a dead letter since {clock(dead[0]['time'])}"
        return MessageStatus.DEAD_LETTERED, f"{what}{consumed and f', and {consumed}'}, after {_tries(attempts)}"
    if succeeded:
        after = f", after {_tries(attempts)}" if len(attempts) > 1 else ""
        return MessageStatus.ACKNOWLEDGED, f"{consumed}{after}"
    if attempts and attempts[-1].result and known.mode == "broadcasting":
        return MessageStatus.DROPPED, "dropped: it failed, and a broadcasting group tries nothing again"
    return None


def _tries(attempts: Sequence[Attempt]) -> str:
    return f"{len(attempts)} {'delivery' if len(attempts) == 1 else 'deliveries'}"


def _never(asked: _Asked) -> Told:
    """What became of a message that was never delivered."""
    spots = asked.located.spots
    copies: dict[tuple[tuple[str, str, int | None], int | None], int] = {}
    for slot, offset, since, _ in spots:
        at = place_of(slot), offset
        copies[at] = min(copies.get(at, since), since)
    took = ((Kind.ASSIGN,), (Kind.PULL_RESULT,))
    if copies and not asked.around and not missing(took, asked.located.coverage.recorded_of(asked.group)):
        stored = clock(min(copies.values()))
        return MessageStatus.WAITING, f"it waits since {stored}, when it is first heard of, and nobody took its queue"
    status, told = undelivered(asked.around, copies)
    if status is not MessageStatus.LOST:
        return status, told
    told = f"{NEVER_DELIVERED}{told}"
    hidden = _hidden(asked, spots[0][0].topic if spots else "")
    if hidden:
        return MessageStatus.NOT_OBSERVABLE, f"it cannot be told whether it is lost: {told}, but {hidden}"
    return status, told


def _unfinished(asked: _Asked, last: Attempt, limit: int, tries: str) -> Told:
    """What became of a message after its last recorded delivery, if that did not succeed."""
    coverage = asked.located.coverage
    if not last.result and not last.sent_back:
        return _without_result(asked, last)
    if last.result == Result.SUSPEND:
        return _suspended(asked, last, tries)
    copy = _next_copy(asked.events, last)
    number = "?" if last.number is None else last.number + 1
    retry = f"retry {number} of {limit}"
    if copy is not None:
        return _of_copy(asked, copy, retry, tries)
    if last.result and last.expected_wait is None and last.number is not None:
        told = f"it failed at count {last.number} of at most {limit}; no dead letter was recorded"
        return MessageStatus.NOT_OBSERVABLE, told
    ended = last.time + (last.took or 0)
    due = ended + (last.expected_wait or 0)
    waiting = [event for event in asked.events if event["kind"] == Kind.DELAY_STORE]
    if waiting and waiting[-1].get("due") is not None and waiting[-1]["time"] >= last.time:
        due = waiting[-1]["due"]
    hole = _lost_since(asked, _DELIVERIES, ended, coverage.end) if coverage.end > due else None
    if hole is not None:
        told = f"it failed at {clock(ended)}, {retry} was due at {clock(due)}, and a delivery may be missing ({hole})"
        return MessageStatus.NOT_OBSERVABLE, told
    return MessageStatus.PENDING_RETRY, f"waiting for {retry}, due at {clock(due)}, after {tries}"


def _without_result(asked: _Asked, last: Attempt) -> Told:
    """What became of a message if its last delivery has no recorded result."""
    given = f"given to {last.client} at {clock(last.time)}, with no result in the trace"
    passed, told = undelivered(_since(asked.around, last), _positions_of(asked.events, last))
    if passed is MessageStatus.LOST:
        hole = _lost_since(asked, _RESULTS, last.time, asked.located.coverage.end)
        if hole is not None:
            told = f"{told}; its result may be missing ({hole})"
        return (MessageStatus.NOT_OBSERVABLE if hole is not None else passed), f"{given}, and {told}"
    end = next((e for e in asked.located.ends if actor_of(e) == last.client and e["time"] >= last.time), None)
    if end is not None:
        how = "died" if end["kind"] == Kind.CLIENT_CRASH else "stopped"
        told = f"{given}: its client {how} at {clock(end['time'])}, and nobody was given it again"
        return MessageStatus.WAITING, told
    return MessageStatus.IN_LISTENER, given


def _suspended(asked: _Asked, last: Attempt, tries: str) -> Told:
    """What became of a message after a listener suspended its queue."""
    told = f"suspended by {last.client} after {tries}"
    status, passed = undelivered(_since(asked.around, last), _positions_of(asked.events, last))
    if status is MessageStatus.LOST:
        return _lost(f"{told}, and {passed}", _hidden(asked, ""))
    return MessageStatus.PENDING_RETRY, f"{told}; it is tried again in its queue"


def _of_copy(asked: _Asked, copy: Event, retry: str, tries: str) -> Told:
    """What became of a message that was stored again for a retry, if the retry is not recorded as delivered."""
    stored = f"{retry} was stored at {clock(copy['time'])} as {spot_of(copy)}"
    spot = {((copy.get("topic") or "", copy.get("broker") or "", copy.get("queue")), copy.get("offset")): copy["time"]}
    status, told = undelivered(asked.around, spot)
    if status in (MessageStatus.FILTERED, MessageStatus.SKIPPED):
        return status, f"{stored}, and {told}"
    hole = _lost_since(asked, _DELIVERIES, copy["time"], asked.located.coverage.end)
    if status is MessageStatus.LOST:
        hidden = f"what became of it may be hidden ({hole})" if hole is not None else _hidden(asked, copy["topic"])
        return _lost(f"{stored}, {NEVER_DELIVERED}{told}", hidden)
    if hole is not None and status is not MessageStatus.WAITING:
        return MessageStatus.NOT_OBSERVABLE, f"{stored}, and a delivery of it may be missing ({hole})"
    waits = f"waiting for {retry}, stored at {clock(copy['time'])} as {spot_of(copy)}, after {tries}"
    return MessageStatus.PENDING_RETRY, waits


def _lost(told: str, hidden: str) -> Told:
    """The outcome that a message is lost, unless something may hide what became of it."""
    return (MessageStatus.NOT_OBSERVABLE, f"{told}, but {hidden}") if hidden else (MessageStatus.LOST, told)


def _next_copy(events: Iterable[Event], last: Attempt) -> Event | None:
    """The copy in the retry topic from which the attempt after ``last`` is to be delivered."""
    for event in events:
        if event["kind"] not in (Kind.DELAY_DELIVER, Kind.STORE) or event.get("offset") is None:
            continue
        if not (event.get("topic") or "").startswith(RETRY_PREFIX):
            continue
        numbered = event.get("attempt") is not None and last.number is not None
        if event["attempt"] > last.number if numbered else event["time"] >= last.time:
            return event
    return None


def _since(events: Iterable[Event], last: Attempt) -> list[Event]:
    return [event for event in events if event["time"] >= last.time]


def _positions_of(events: Iterable[Event], last: Attempt) -> Copies:
    """Where the last delivered copy was, if this was recorded."""
    return {
        ((event.get("topic") or "", event.get("broker") or "", event.get("queue")), event["offset"]): event["time"]
        for event in events
        if event["kind"] == Kind.DELIVER and event["time"] == last.time and event.get("offset") is not None
    }


def _lost_since(asked: _Asked, kinds: int, since: int, until: int) -> Hole | None:
    """Where an event of ``kinds`` about the message may be missing."""
    topic = next((slot.topic for slot, *_ in asked.located.spots if not slot.topic.startswith(RETRY_PREFIX)), "")
    return asked.located.coverage.lost(kinds, group=asked.group, topic=topic, since=since, until=until)


def _hidden(asked: _Asked, topic: str) -> str:
    """What may hide the end of a message that seems lost, by the rules of the verdict; empty if nothing does."""
    coverage = asked.located.coverage
    if asked.group in coverage.not_judged:
        return f"of its group nothing can be judged: {coverage.not_judged[asked.group]}"
    lacking = missing((*_SKIPPED.needs, *_SKIPPED.counts_with), coverage.recorded_of(asked.group))
    if lacking:
        return f"no {' or '.join(lacking[0])} events were recorded"
    stored = [each.event["time"] for each in asked.own if each.event["kind"] in (Kind.STORE, Kind.DELAY_DELIVER)]
    hole = coverage.lost(
        evidence_mask(_SKIPPED.excused_by) | SETTINGS,
        group=asked.group,
        topic=topic,
        since=min(stored, default=EVER),
        until=coverage.end,
    )
    return f"what became of it may be hidden ({hole})" if hole is not None else ""
