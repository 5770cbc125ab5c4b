"""The story of one message: what happened to it, in words, for every group that had to do with it.

Whoever asks names its unique key, the message id of any of its copies, or its origin. All that is known of it is
collected first, then what happened to the queues where it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...model.retry_policy import fallback_level, is_dead_letter, maximum_sent, retry_level
from ..claims.claims import claim
from ..claims.settings import Settings
from ..encoding.coding import Coded, Coder
from ..encoding.names import RETRY_PREFIX, Actor, Names, Slot
from ..engine.context import actor_of
from ..engine.recorded import coverage_in
from ..engine.scan import SCAN_COLUMNS, Scanning, conclude
from ..errors import TraceError
from ..format.coverage import EVER, SETTINGS, Coverage, evidence_mask, missing
from ..format.kinds import FAILURES, SUCCESSES, Kind, Path, Result
from ..format.message_status import MessageStatus
from ..format.schema import Group, origin_of
from ..format.whole_number import whole_number
from ..io import Trace
from ..recorders.members import members_of
from .evidence import OF_MESSAGES, Found, Question, collect, turning_points
from .sentences import Event, clock, where
from .source_lines import pieces
from .story import Sentence, sentences

_MOST_SENTENCES = 200
_AFTER = 600_000  # so long, in ms, the stored offset of its queue is followed
_DEFAULT_GROUP = Group()
_SKIPPED = claim("nothing-skipped")


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One delivery of a message to a listener, with what the rules expect of it.

    Attributes:
        number: its count, ``reconsumeTimes``; None where that was not recorded.
        place: queue and offset in words.
        client: who got it.
        time: when, ms.
        result: how it ended; empty where that is not known.
        took: how long the listener ran, ms; None where that is not known.
        asked: delay level that the listener asked for when it was sent back; None if it was not.
        sent_back: how the send-back ended: ``ok``, ``failed`` or empty.
        level: delay level at which the retry waited; None where that was not recorded.
        expected_level: at which it should have; None for no retry.
        expected_wait: how long the next attempt should wait at least, ms; None for no retry.
        waited: how long after the failure the next attempt came, ms; None if none did.
    """

    number: int | None
    place: str
    client: Actor
    time: int
    result: str = ""
    took: int | None = None
    asked: int | None = None
    sent_back: str = ""
    level: int | None = None
    expected_level: int | None = None
    expected_wait: int | None = None
    waited: int | None = None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a message for one group.

    Attributes:
        group: the group, empty where deliveries do not tell it; client: of a broadcasting group, else empty.
        status: what became of it.
        told: the status in words.
        attempts: its deliveries, by time.
        maximum: how often it may be tried again.
    """

    group: str
    client: str
    status: MessageStatus
    told: str
    attempts: tuple[Attempt, ...]
    maximum: int


@dataclass(frozen=True, kw_only=True)
class MessageStory:
    """What happened to a message.

    Attributes:
        asked: how it was named.
        origins: its origins; several if the name fits several messages.
        keys: its unique keys, where they were recorded.
        copies: where each of its copies was stored, by time.
        outcomes: for each group.
        sentences: all its events, and what happened to its queues meanwhile.
        left_out: events that are not told.
    """

    asked: str
    origins: tuple[int, ...]
    keys: tuple[str, ...]
    copies: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    sentences: tuple[Sentence, ...]
    left_out: int = 0

    def __str__(self) -> str:
        lines = [f"message {self.asked}"]
        for outcome in self.outcomes:
            at = f" at {outcome.client}" if outcome.client else ""
            lines.append(f"  group {outcome.group or 'unknown'}{at}: {outcome.told}")
        lines += [f"  {sentence}" for sentence in self.sentences]
        if self.left_out:
            lines.append(f"  … and {self.left_out:,} more events")
        return "\n".join(lines)


def message_story(trace: Trace, asked: str | int, *, settings: Settings | None = None) -> MessageStory:
    """What happened to the message with this unique key, message id or origin. Reads the trace twice.

    Raises:
        TraceError: no event names it.
    """
    settings = settings or Settings()
    origins, spots, names, coverage = _look_up(trace, str(asked))
    questions = [Question(origin=origin) for origin in sorted(origins)]
    for slot, offset, since, until in spots:
        periods = ((since - settings.rounds, until + _AFTER),)
        questions.append(Question(slot=slot, offsets=((offset, offset + 1),), periods=periods))
    answers = collect(trace, questions, names)
    unique = {(each.place, id(each.event)): each for answer in answers for each in answer}
    found = sorted(unique.values(), key=lambda each: (each.event["time"], each.place))
    own = [each for each in found if each.origin in origins or _is_at(each, spots, names)]
    outcomes = tuple(
        _outcome(group, client, own, found, spots, names, trace, settings, coverage)
        for group, client in _consumers(own, found, names)
    )
    turning = turning_points(found, min((offset for _, offset, _, _ in spots), default=None))
    told = _told(turning, own)
    return MessageStory(
        asked=str(asked),
        origins=tuple(sorted(origins)),
        keys=tuple(sorted({each.event["key"] for each in own if each.event.get("key")})),
        copies=_copies(own),
        outcomes=outcomes,
        sentences=sentences(told),
        left_out=len(turning) - len(told),
    )


_Spot = tuple[Slot, int, int, int]
"""Where a copy of the message is: queue, offset, and from when to when it is heard of there, ms."""


def _look_up(trace: Trace, asked: str) -> tuple[set[int], list[_Spot], Names, Coverage]:
    """Origins of the message, where its copies are, as every group knows these places, and what was recorded."""
    names = Names(trace.header.groups)
    by_name = {origin_of(asked)} | ({whole_number(asked)} if asked.lstrip("-").isdecimal() else set())
    heard = _scan(trace, by_name, asked, names)
    if not heard.origins and not heard.spans and not heard.events:
        raise TraceError(
            f"{', '.join(trace.files)}: no event names the message {asked}. Give its unique key, the offset message id "
            "of one of its copies, or its origin as a number; traces without keys have origins only."
        )
    if heard.origins - by_name:
        # The id of a copy was given: its other copies have other ids, and the same origin.
        heard = _scan(trace, heard.origins, asked, names)
    actors = [actor for actor in names.actors if actor.incarnation >= 0]
    names, slots = Names(trace.header.groups, members_of(heard.seen.context)), names.slots
    members = {names.member(actor) for actor in actors}
    spots = set()
    for (slot, offset), span in heard.spans.items():
        # A group that was never given the message may have passed it all the same.
        at = slots[slot]
        for group in (at.group, *heard.groups):
            known = trace.header.groups.get(group)
            for member in members if known is not None and known.mode == "broadcasting" else (Actor(""),):
                place = (group, at.topic, at.broker, at.queue, member.name, member.incarnation)
                spots.add((names.slots[names.slot_at(*place)], offset, *span))
    scanned = conclude(heard.seen, trace.header, files=trace.files, clocks=trace.clocks)
    return heard.origins, sorted(spots), names, coverage_in(trace, scanned, slots)


@dataclass
class _Heard:
    """What is heard of a message.

    Attributes:
        events: how many name it.
        origins: its origins.
        spans: queue and offset of its copies, with the first and last time they are heard of.
        groups: all groups of the trace.
        seen: what is told of processes, and what was recorded.
    """

    events: int = 0
    origins: set[int] = field(default_factory=set)
    spans: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    groups: set[str] = field(default_factory=set)
    seen: Scanning = field(default_factory=Scanning)


def _scan(trace: Trace, origins: set[int], asked: str, names: Names) -> _Heard:
    wanted = np.array(sorted(origin for origin in origins if -(2**63) <= origin < 2**63), np.int64)
    coder = Coder(names)
    heard = _Heard()
    for piece in pieces(trace):
        batch = piece.batch
        heard.groups.update(word for word in batch.column("group").dictionary.to_pylist() if word)
        heard.seen.see(batch.select(SCAN_COLUMNS), piece.file)
        columns = ["client", "incarnation", "broker", "origin"]
        columns += ["key"] if batch.column("origin").null_count else []
        mask = np.isin(coder.code(batch.select(columns)).origin, wanted)
        for column in ("key", "msg_id"):
            if batch.column(column).null_count < len(batch):
                equal = pc.equal(batch.column(column), pa.scalar(asked))
                mask |= equal.fill_null(False).to_numpy(zero_copy_only=False)
        if mask.any():
            _hear(heard, coder.code(batch.filter(pa.array(mask))))
    return heard


def _hear(heard: _Heard, coded: Coded) -> None:
    heard.events += len(coded)
    heard.origins.update(int(origin) for origin in coded.origin if origin)
    for time, slot, offset in zip(coded.time.tolist(), coded.slot.tolist(), coded.offset.tolist(), strict=True):
        if slot >= 0 and offset >= 0:
            since, until = heard.spans.get((slot, offset), (time, time))
            heard.spans[slot, offset] = min(since, time), max(until, time)


def _is_at(found: Found, spots: Sequence[_Spot], names: Names) -> bool:
    """Whether an event without an origin is of the message all the same, by its queue and offset."""
    if found.origin or found.slot < 0 or found.event["kind"] not in OF_MESSAGES - {Kind.PULL_RESULT}:
        return False
    slot = names.slots[found.slot]
    return any(_place(slot) == _place(of) and found.event.get("offset") == offset for of, offset, _, _ in spots)


def _place(slot: Slot) -> tuple[str, str, int]:
    return slot.topic, slot.broker, slot.queue


def _consumers(own: Sequence[Found], found: Sequence[Found], names: Names) -> list[tuple[str, str]]:
    """The groups, and clients of broadcasting groups, that had to do with the message or its queues.

    Deliveries that do not tell their group are those of a group without a name.
    """
    slots = [names.slots[each.slot] for each in found if each.slot >= 0]
    groups = {(slot.group, slot.who) for slot in slots if slot.group}
    groups |= {(each.event["group"], "") for each in own if each.event.get("group")}
    if any(each.event["kind"] == Kind.DELIVER and not _group_of(each.event) for each in own):
        groups.add(("", ""))
    broadcasting = {group for group, client in groups if client}
    return sorted((group, client) for group, client in groups if client or group not in broadcasting)


def _copies(own: Sequence[Found]) -> tuple[str, ...]:
    stored = [each.event for each in own if each.event["kind"] in (Kind.STORE, Kind.DELAY_DELIVER, Kind.DEAD_LETTER)]
    return tuple(f"{clock(event['time'])} {_spot(event)}" for event in stored)


def _told(found: Sequence[Found], own: Sequence[Found]) -> list[Found]:
    """The events of the message, and around them those of its queues, as many as there is room for."""
    mine = {id(each) for each in own}
    times = np.array([each.event["time"] for each in own], np.int64)

    def rank(at: int) -> tuple[bool, int, int]:
        away = int(np.abs(times - found[at].event["time"]).min()) if len(times) else 0
        return id(found[at]) not in mine, away, at

    return [found[at] for at in sorted(sorted(range(len(found)), key=rank)[:_MOST_SENTENCES])]


def _outcome(
    group: str,
    client: str,
    own: Sequence[Found],
    found: Sequence[Found],
    spots: Sequence[_Spot],
    names: Names,
    trace: Trace,
    settings: Settings,
    coverage: Coverage,
) -> Outcome:
    known = trace.header.groups.get(group, _DEFAULT_GROUP)
    events = [each.event for each in own if _concerns(each.event, group, client, names)]
    maximum = next((e["max_attempts"] for e in events if e.get("max_attempts") is not None), known.max_attempts)
    orderly = known.listener == "orderly"
    limit = int(maximum_sent(maximum))
    attempts = attempts_of(events, limit, settings, orderly=orderly)
    status, told = _status(events, attempts, known, limit, settings)
    if status is None:
        around = [each.event for each in found if _concerns(each.event, group, client, names)]
        status, told = _undelivered(around, spots)
        hidden = _hidden(group, own, spots, coverage) if status is MessageStatus.LOST else ""
        if hidden:
            status, told = MessageStatus.NOT_OBSERVABLE, f"it cannot be told whether it is lost: {told}, but {hidden}"
    return Outcome(group=group, client=client, status=status, told=told, attempts=attempts, maximum=limit)


def _concerns(event: Event, group: str, client: str, names: Names) -> bool:
    of_group = _group_of(event) == group or event.get("topic") == RETRY_PREFIX + group
    return of_group and client in ("", str(names.member(actor_of(event))))


def _group_of(event: Event) -> str:
    """The group of an event; that of its retry topic where the event does not tell it; empty if nothing does."""
    topic = event.get("topic") or ""
    return event.get("group") or (topic.removeprefix(RETRY_PREFIX) if topic.startswith(RETRY_PREFIX) else "")


def attempts_of(events: Sequence[Event], limit: int, settings: Settings, *, orderly: bool) -> tuple[Attempt, ...]:
    """The deliveries of a message to one group, how each ended, and what the rules expect next (SB-14, DL-2).

    Args:
        events: of the message and the group, by time.
        limit: how often it may be sent back, see :func:`~model.retry_policy.maximum_sent`.
        settings: with the table of delays.
        orderly: whether the listener is orderly: then nothing is sent back after a failure, and no wait is expected.
    """
    attempts: list[Attempt] = []
    for event in events:
        if event["kind"] == Kind.DELIVER:
            attempts.append(
                Attempt(number=event.get("attempt"), place=_spot(event), client=actor_of(event), time=event["time"])
            )
            continue
        at = _attempt_of(event, attempts)
        if at is None:
            continue
        if event["kind"] == Kind.RESULT:
            took = event["time"] - attempts[at].time
            attempts[at] = replace(attempts[at], result=event.get("result") or "", took=took)
        elif event["kind"] == Kind.SEND_BACK:
            asked = event.get("level") or 0
            if event.get("path") == Path.FALLBACK:
                asked = _fallback(event, attempts[at])
            attempts[at] = replace(attempts[at], asked=asked, sent_back=event.get("result") or "")
        elif event["kind"] == Kind.DELAY_STORE:
            attempts[at] = replace(attempts[at], level=event.get("level"))
    done = [_expected(attempt, limit, settings) for attempt in attempts] if not orderly else attempts
    for at in range(len(done) - 1):
        ended = done[at].time + (done[at].took or 0)
        done[at] = replace(done[at], waited=done[at + 1].time - ended)
    return tuple(done)


def _spot(event: Event) -> str:
    offset = event.get("offset")
    return where(event) if offset is None else f"offset {offset} of {where(event)}"


def _attempt_of(event: Event, attempts: Sequence[Attempt]) -> int | None:
    """Which delivery an event speaks of: the last one at its place, or of its count, or the last one of all."""
    kind = event["kind"]
    if kind not in (Kind.RESULT, Kind.SEND_BACK, Kind.DELAY_STORE) or not attempts:
        return None
    for at in range(len(attempts) - 1, -1, -1):
        attempt = attempts[at]
        if kind == Kind.DELAY_STORE:
            # A copy is stored with the count of the attempt it will be.
            if event.get("attempt") is None or attempt.number is None or event["attempt"] == attempt.number + 1:
                return at
        elif (event.get("offset") is None or _spot(event) == attempt.place) and actor_of(event) == attempt.client:
            return at
    return None


def _fallback(event: Event, attempt: Attempt) -> int:
    """The level of a retry that the client produces itself, whatever the listener asked for (SB-4)."""
    times = attempt.number if attempt.number is not None else event.get("attempt") or 0
    return int(fallback_level(times))


def _expected(attempt: Attempt, limit: int, settings: Settings) -> Attempt:
    """What the rules say of the next try (SB-14, DL-2)."""
    if attempt.number is None or attempt.result not in FAILURES:
        return attempt
    asked = attempt.asked or 0
    if is_dead_letter(attempt.number, limit, asked):
        return attempt
    level = min(int(retry_level(attempt.number, asked)), settings.delays.levels)
    return replace(attempt, expected_level=level, expected_wait=int(settings.delays.delay(level)))


def _status(
    events: Sequence[Event], attempts: Sequence[Attempt], known: Group, limit: int, settings: Settings
) -> tuple[MessageStatus | None, str]:
    """What became of a message that was delivered, or stored as a dead letter."""
    succeeded = [event for event in events if event["kind"] == Kind.RESULT and event.get("result") in SUCCESSES]
    consumed = f"consumed by {actor_of(succeeded[0])} at {clock(succeeded[0]['time'])}" if succeeded else ""
    dead = [event for event in events if event["kind"] == Kind.DEAD_LETTER]
    if dead and known.mode != "broadcasting":
        what = f"a dead letter since {clock(dead[0]['time'])}"
        return MessageStatus.DEAD_LETTERED, f"{what}{consumed and f', and {consumed}'}, after {_tries(attempts)}"
    if succeeded:
        after = f", after {_tries(attempts)}" if len(attempts) > 1 else ""
        return MessageStatus.ACKNOWLEDGED, f"{consumed}{after}"
    if not attempts:
        return None, ""
    last = attempts[-1]
    if not last.result:
        return MessageStatus.IN_LISTENER, f"given to {last.client} at {clock(last.time)}, with no result in the trace"
    if known.mode == "broadcasting":
        return MessageStatus.DROPPED, "dropped: it failed, and a broadcasting group tries nothing again"
    if last.result == Result.SUSPEND:
        return (
            MessageStatus.PENDING_RETRY,
            f"suspended by {last.client} after {_tries(attempts)}; it is tried again in its queue",
        )
    waiting = [event for event in events if event["kind"] == Kind.DELAY_STORE]
    if last.expected_wait is None and last.number is not None:
        return (
            MessageStatus.NOT_OBSERVABLE,
            f"it failed at count {last.number} of at most {limit}; no dead letter was recorded",
        )
    due = last.time + (last.took or 0) + (last.expected_wait or 0)
    if waiting and waiting[-1].get("due") is not None and waiting[-1]["time"] >= last.time:
        due = waiting[-1]["due"]
    number = "?" if last.number is None else last.number + 1
    return (
        MessageStatus.PENDING_RETRY,
        f"waiting for retry {number} of {limit}, due at {clock(due)}, after {_tries(attempts)}",
    )


def _tries(attempts: Sequence[Attempt]) -> str:
    return f"{len(attempts)} {'delivery' if len(attempts) == 1 else 'deliveries'}"


def _undelivered(events: Sequence[Event], spots: Sequence[_Spot]) -> tuple[MessageStatus, str]:
    """What became of a message that the group was never given: what passed its offset, if anything did."""
    offsets = {(_place(slot), offset) for slot, offset, _, _ in spots}
    for event in events:
        place = event.get("topic") or "", event.get("broker") or "", event.get("queue")
        for at, offset in offsets:
            if at != place or event.get("offset") is None:
                continue
            if event["kind"] == Kind.PULL_RESULT and event["offset"] <= offset < (event.get("next") or 0):
                return _pulled_over(event)
            if event["kind"] in (Kind.RESET, Kind.CORRECT) and event["offset"] > offset:
                return (
                    MessageStatus.SKIPPED,
                    f"skipped at {clock(event['time'])}: the offset was set to {event['offset']}",
                )
    commits = [event for event in events if event["kind"] == Kind.COMMIT and event.get("offset") is not None]
    for event in commits:
        place = event.get("topic") or "", event.get("broker") or "", event.get("queue")
        if any(at == place and event["offset"] > offset for at, offset in offsets):
            by = actor_of(event)
            return (
                MessageStatus.LOST,
                f"never delivered, and passed at {clock(event['time'])} by offset {event['offset']} of {by}",
            )
    if commits:
        waits = _waits(events, spots)
        return MessageStatus.WAITING, f"not delivered{waits}, and the stored offset is not past it"
    waits = _waits(events, spots)
    return (
        MessageStatus.NOT_OBSERVABLE,
        f"no delivery was recorded{waits}, and nothing that would tell whether it is to come",
    )


def _hidden(group: str, own: Sequence[Found], spots: Sequence[_Spot], coverage: Coverage) -> str:
    """What may hide what became of a message that seems lost, as it is asked for the verdict; empty: nothing does."""
    if group in coverage.not_judged:
        return f"of its group nothing can be judged: {coverage.not_judged[group]}"
    lacking = missing((*_SKIPPED.needs, *_SKIPPED.counts_with), coverage.recorded_of(group))
    if lacking:
        return f"no {' or '.join(lacking[0])} events were recorded"
    stored = [each.event["time"] for each in own if each.event["kind"] in (Kind.STORE, Kind.DELAY_DELIVER)]
    hole = coverage.lost(
        evidence_mask(_SKIPPED.excused_by) | SETTINGS,
        group=group,
        topic=spots[0][0].topic if spots else "",
        since=min(stored, default=EVER),
        until=coverage.end,
    )
    return f"what became of it may be hidden ({hole})" if hole is not None else ""


def _waits(events: Sequence[Event], spots: Sequence[_Spot]) -> str:
    """Since when a message waits, and for whom: the client that had its queue last, as far as that was recorded."""
    if not spots:
        return ""
    places = {_place(slot) for slot, _, _, _ in spots}
    owner = ""
    for event in events:
        if (event.get("topic") or "", event.get("broker") or "", event.get("queue")) not in places:
            continue
        if event["kind"] == Kind.ASSIGN:
            owner = f" for {actor_of(event)}, which has the queue"
        elif event["kind"] == Kind.REVOKE:
            owner = f" for an owner of the queue, which {actor_of(event)} gave up at {clock(event['time'])}"
    return f" since {clock(min(since for _, _, since, _ in spots))}, when it is first heard of: it waits{owner}"


def _pulled_over(event: Event) -> tuple[MessageStatus, str]:
    asked = event["next"] - event["offset"]
    if event.get("result") == Result.FOUND and event.get("count") in (None, asked):
        return (
            MessageStatus.NOT_OBSERVABLE,
            f"pulled by {actor_of(event)} at {clock(event['time'])}, with no delivery in the trace",
        )
    return MessageStatus.FILTERED, f"passed over at {clock(event['time'])} by the expression of {actor_of(event)}"
