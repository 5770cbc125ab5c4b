"""Rules that concern several queues: the answer of a rebalance pass, and what the broker stores for a send-back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ...model.allocation import MessageQueue
from ...model.delay import DEFAULT_LEVELS, DelayTable, stored_level
from ...model.kernel import ConfigurationError
from ...model.retry_policy import EXPIRY_LEVEL, copy_times, fallback_level, is_dead_letter, maximum_sent, retry_level
from ..encoding.names import DEAD_LETTER_PREFIX, group_of_topic
from ..format.kinds import FAILURES, Kind, Path, Result
from ..format.schema import Group, Header
from ..monitors.groups.allocations import Unreadable, expected_share, queues_of, strategy_of
from .events import Event
from .result import Mismatch

DUE_WITHIN = 1_000
"""How far a due time may be from the recorded time of storing plus the delay, ms (DL-3)."""


def rebalances(events: Iterable[Event], header: Header) -> list[Mismatch]:
    """RB-6: a client gives itself what its strategy returns for the members and queues that it saw."""
    found = []
    for event in events:
        try:
            answer, right = _shares(event, header.groups.get(event.group or "", Group()))
        except Unreadable as error:
            event.pass_over(f"rebalance: {error}")
            continue
        if answer == right:
            event.follow()
            continue
        told = ", ".join(f"{queue.broker_name}:{queue.queue_id}" for queue in right) or "nothing"
        state = f"members {', '.join(event.members or ())}; queues {', '.join(event.queues or ())}"
        event.outcome = "mismatches"
        found.append(Mismatch.of(event, f"{event.group} {event.topic}", f"the strategy gives {told} (RB-6)", state))
    return found


def _shares(event: Event, group: Group) -> tuple[Sequence[MessageQueue], Sequence[MessageQueue]]:
    """The queues that a client gave itself in a pass, and those that its strategy gives it, sorted.

    Raises:
        Unreadable: the pass cannot be judged; the message says why.
    """
    if event.queues is None or event.assigned is None or event.topic is None or event.actor is None:
        raise Unreadable("what it saw, or answered, was not recorded")
    if group.differs:
        raise Unreadable(group.differs)
    if event.result in FAILURES | {Result.ERROR}:
        raise Unreadable("passes that failed")
    answer = queues_of(event.topic, event.assigned)
    if group.mode == "broadcasting":
        return answer, queues_of(event.topic, event.queues)
    known = strategy_of(event.detail or group.strategy or "AVG")
    if known is None or event.members is None:
        raise Unreadable(f"strategy {event.detail or group.strategy}, or its members, are not known")
    share = expected_share(
        known[0], own_id=event.actor[0], topic=event.topic, queues=event.queues, members=event.members
    )
    return answer, tuple(sorted(share or ()))


def retries(events: Sequence[Event], header: Header, *, missing: Sequence[tuple[int, int]] = ()) -> list[Mismatch]:
    """SB-14, SB-4, DL-2, DL-3: count, level and due time of what the broker stores for a message that was sent back.

    When a message is due is judged only if the header tells the delay levels: brokers may have different ones.

    Args:
        events: send-backs, and what was stored for them, all of the same messages, in the order of the trace.
        header: header of the trace.
        missing: spans of time (ms) in which a send-back may be unrecorded.
    """
    try:
        table = DelayTable.parse(header.delays or DEFAULT_LEVELS)
    except ConfigurationError as error:
        for event in events:
            if event.kind in (Kind.DELAY_STORE, Kind.DEAD_LETTER):
                event.pass_over(f"{event.kind}: {error}")
        return []
    found = []
    asked: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in events:
        if event.kind is Kind.SEND_BACK and event.key is not None:
            asked[_group(event), event.key].append(event)
    for event in events:
        if event.kind not in (Kind.DELAY_STORE, Kind.DEAD_LETTER):
            continue
        requests = asked.get((_group(event), event.key or ""), [])
        if event.attempt == 0 and event.topic is not None and not group_of_topic(event.topic):
            event.pass_over(f"{event.kind}: a message that its producer delays")
            continue
        if not requests or event.attempt is None:
            event.pass_over(f"{event.kind}: no send-back of its message is recorded")
            continue
        leads = any(_leads_to(request, event, table) for request in requests)
        if not leads and any(since <= event.time <= until for since, until in missing):
            event.pass_over(f"{event.kind}: its send-back may be among what is not recorded")
            continue
        why = "" if leads else _expected(requests, table)
        if not why and event.kind is Kind.DELAY_STORE and event.due is not None and event.level is not None:
            delay = int(table.delay(event.level))
            if header.delays and abs(event.due - event.time - delay) > DUE_WITHIN:
                why = f"level {event.level} waits {delay:,} ms (DL-3)"
        if why:
            state = "; ".join(str(request) for request in requests)
            event.outcome = "mismatches"
            found.append(Mismatch.of(event, f"message {event.key}", why, state))
        else:
            event.follow()
    return found


def _group(event: Event) -> str:
    """The group in which it failed: a copy is stored in its retry or dead-letter topic."""
    return event.group or group_of_topic(event.topic or "")


def _copies(request: Event, table: DelayTable) -> list[tuple[int, int, bool]]:
    """Count, level and whether it is dead, for each copy that may come of a send-back; empty if not recorded."""
    if request.attempt is None:
        return []
    times, asked = request.attempt, request.level or 0
    if request.path is Path.FALLBACK or (request.path is Path.APPLICATION and request.level is None):
        # SB-15: a live lock of the group, or an old broker, gives up earlier. SB-8: a second attempt has no count.
        level = int(stored_level(fallback_level(times), table.levels))
        return [(count, level, dead) for count in (int(copy_times(times)), times, 0) for dead in (False, True)]
    if request.path is Path.EXPIRED and request.level is None:
        asked = EXPIRY_LEVEL
    level = int(stored_level(retry_level(times, asked), table.levels))
    maximum = request.max_attempts
    deaths = (False, True) if maximum is None else (bool(is_dead_letter(times, maximum_sent(maximum), asked)),)
    return [(int(copy_times(times)), level, dead) for dead in deaths]


def _leads_to(request: Event, event: Event, table: DelayTable) -> bool:
    """Whether what the broker stored is a result of a send-back."""
    copies = _copies(request, table)
    if not copies:
        return True
    dead = event.kind is Kind.DEAD_LETTER or str(event.topic or "").startswith(DEAD_LETTER_PREFIX)
    for count, level, gives_up in copies:
        if (event.attempt, dead) != (count, gives_up):
            continue
        if event.kind is Kind.DEAD_LETTER:
            return True
        if (not dead or request.path is Path.FALLBACK) and event.level in (None, level):
            return True
    return False


def _expected(requests: list[Event], table: DelayTable) -> str:
    told = ", or ".join(
        f"a dead letter with count {count}" if dead else f"a copy with count {count} at level {level}"
        for count, level, dead in dict.fromkeys(copy for request in requests for copy in _copies(request, table))
    )
    return f"what was sent back becomes {told} (SB-14, SB-4, DL-2)"
