"""Rules that concern several queues: what a pass of rebalance answers, and what the broker stores of a send-back."""

from __future__ import annotations

from collections import defaultdict

from ...model.delay import DEFAULT_LEVELS, DelayTable, stored_level
from ...model.kernel import ConfigurationError
from ...model.retry_policy import copy_times, fallback_level, retry_level
from ..kinds import FAILURES, Kind, Path, Result
from ..monitors.allocations import Unreadable, expected_share, queue_of, strategy_of
from ..schema import Group
from .result import Mismatch
from .streams import Event, Streams

DUE_WITHIN = 1_000
"""How far a due time may be from the recorded time of storing plus the delay, ms (DL-3)."""


def judged(streams: Streams) -> list[Mismatch]:
    """Hold the events of a trace that belong to no single queue against the rules of the model."""
    return [*_rebalances(streams), *_retries(streams)]


def _mismatch(event: Event, place: str, why: str, state: str) -> Mismatch:
    event.fate = "mismatches"
    number = event.seq if event.seq is not None else event.number
    return Mismatch(seq=number, time=event.time, place=place, event=str(event), why=why, state=state)


def _rebalances(streams: Streams) -> list[Mismatch]:
    """RB-6: a client gives itself what its strategy says of the members and queues that it saw."""
    found = []
    for event in streams.events:
        if event.kind is not Kind.REBALANCE:
            continue
        group = streams.header.groups.get(event.group or "", Group())
        if event.queues is None or event.assigned is None or event.topic is None or event.actor is None:
            event.pass_over("rebalance: what it saw, or answered, was not recorded")
            continue
        if event.result in FAILURES | {Result.ERROR}:
            event.pass_over("rebalance: passes that failed")
            continue
        known = strategy_of(event.detail or group.strategy or "AVG")
        if group.mode != "broadcasting" and (known is None or event.members is None):
            event.pass_over(f"rebalance: strategy {event.detail or group.strategy}, or its members, are not known")
            continue
        try:
            answer = sorted({queue_of(event.topic, queue) for queue in event.assigned})
            if group.mode == "broadcasting":
                right = sorted({queue_of(event.topic, queue) for queue in event.queues})
            else:
                assert known is not None
                share = expected_share(
                    known[0], own_id=event.actor[0], topic=event.topic, queues=event.queues, members=event.members
                )
                right = [] if share is None else sorted(set(share))
        except Unreadable as error:
            event.pass_over(f"rebalance: {error}")
            continue
        if answer == right:
            event.follow()
            continue
        told = ", ".join(f"{queue.broker_name}:{queue.queue_id}" for queue in right) or "nothing"
        state = f"members {', '.join(event.members or ())}; queues {', '.join(event.queues)}"
        found.append(_mismatch(event, f"{event.group} {event.topic}", f"the strategy gives {told} (RB-6)", state))
    return found


def _retries(streams: Streams) -> list[Mismatch]:
    """SB-14, SB-4, DL-2, DL-3: count, level and due time of what the broker stores of a message that was sent back."""
    try:
        table = DelayTable.parse(streams.header.delays or DEFAULT_LEVELS)
    except ConfigurationError as error:
        for event in streams.events:
            if event.kind in (Kind.DELAY_STORE, Kind.DEAD_LETTER):
                event.pass_over(f"{event.kind}: {error}")
        return []
    found = []
    asked: dict[str, list[Event]] = defaultdict(list)
    for event in streams.events:
        if event.kind is Kind.SEND_BACK and event.key is not None:
            asked[event.key].append(event)
    for event in streams.events:
        if event.kind not in (Kind.DELAY_STORE, Kind.DEAD_LETTER):
            continue
        requests = asked.get(event.key or "", [])
        if not requests or event.attempt is None:
            event.pass_over(f"{event.kind}: no send-back of its message is recorded")
            continue
        why = "" if any(_leads_to(request, event, table) for request in requests) else _expected(requests, table)
        if not why and event.kind is Kind.DELAY_STORE and event.due is not None and event.level is not None:
            delay = int(table.delay(event.level))
            if abs(event.due - event.time - delay) > DUE_WITHIN:
                why = f"level {event.level} waits {delay:,} ms (DL-3)"
        if why:
            state = "; ".join(str(request) for request in requests)
            found.append(_mismatch(event, f"message {event.key}", why, state))
        else:
            event.follow()
    return found


def _copy(request: Event, table: DelayTable) -> tuple[int, int] | None:
    """Count and level of the copy that a send-back leads to; None where the event does not tell."""
    if request.attempt is None:
        return None
    times = request.attempt
    if request.path is Path.FALLBACK:
        return int(copy_times(times)), int(stored_level(fallback_level(times), table.levels))
    level = 3 if request.path is Path.EXPIRED and request.level is None else request.level or 0
    return int(copy_times(times)), int(stored_level(retry_level(times, level), table.levels))


def _leads_to(request: Event, event: Event, table: DelayTable) -> bool:
    copy = _copy(request, table)
    if copy is None:
        return True
    if event.attempt not in (copy[0], copy[0] - 1, 0):
        return False
    return event.kind is Kind.DEAD_LETTER or event.level is None or event.level == copy[1]


def _expected(requests: list[Event], table: DelayTable) -> str:
    copies = [copy for copy in (_copy(request, table) for request in requests) if copy is not None]
    told = ", or ".join(f"count {times} at level {level}" for times, level in copies)
    return f"what was sent back becomes {told} (SB-14, SB-4, DL-2)"
