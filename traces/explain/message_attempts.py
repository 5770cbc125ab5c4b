"""The deliveries of one message to one group: how each ended, and what the rules expect next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...model.retry_policy import fallback_level, is_dead_letter, retry_level
from ..claims.settings import Settings
from ..encoding.names import Actor
from ..engine.context import actor_of
from ..format.kinds import FAILURES, Kind, Path
from .sentences import Event, where


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One delivery of a message to a listener, with what the rules expect."""

    number: int | None  # its count, ``reconsumeTimes``; None if it was not recorded
    place: str  # queue and offset in words
    client: Actor  # the client that got it
    time: int  # when, ms
    result: str = ""  # how it ended; empty if this is not known
    took: int | None = None  # how long the listener ran, ms; None if this is not known
    asked: int | None = None  # delay level that the listener requested in its send-back; None if there was no send-back
    sent_back: str = ""  # how the send-back ended: ``ok``, ``failed`` or empty
    level: int | None = None  # delay level at which the retry waited; None if it was not recorded
    expected_level: int | None = None  # the level at which it should have waited; None for no retry
    expected_wait: int | None = None  # how long the next attempt should wait at least, ms; None for no retry
    waited: int | None = None  # how long after the failure the next attempt came, ms; None if none did


def attempts_of(events: Sequence[Event], limit: int, settings: Settings, *, orderly: bool) -> tuple[Attempt, ...]:
    """The deliveries of a message to one group, how each ended, and what the rules expect next (SB-14, DL-2). It may be
    sent back ``limit`` times (:func:`~model.retry_policy.maximum_sent`). After a failure of an orderly listener nothing
    is sent back, and no wait is expected.
    """
    attempts: list[Attempt] = []
    for event in events:
        if event["kind"] == Kind.DELIVER:
            attempts.append(
                Attempt(number=event.get("attempt"), place=spot_of(event), client=actor_of(event), time=event["time"])
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
            if event.get("path") == Path.FALLBACK:  # SB-4: the client chooses, whatever the listener requested
                number = attempts[at].number
                asked = int(fallback_level(event.get("attempt") or 0 if number is None else number))
            attempts[at] = replace(attempts[at], asked=asked, sent_back=event.get("result") or "")
        elif event["kind"] == Kind.DELAY_STORE:
            attempts[at] = replace(attempts[at], level=event.get("level"))
    done = [_expected(attempt, limit, settings) for attempt in attempts] if not orderly else attempts
    for at in range(len(done) - 1):
        ended = done[at].time + (done[at].took or 0)
        done[at] = replace(done[at], waited=done[at + 1].time - ended)
    return tuple(done)


def spot_of(event: Event) -> str:
    """Queue and offset of an event, in words."""
    offset = event.get("offset")
    return where(event) if offset is None else f"offset {offset} of {where(event)}"


def _attempt_of(event: Event, attempts: Sequence[Attempt]) -> int | None:
    """The delivery to which an event belongs: the last at its queue and offset, or with its count, or of all."""
    kind = event["kind"]
    if kind not in (Kind.RESULT, Kind.SEND_BACK, Kind.DELAY_STORE) or not attempts:
        return None
    for at in range(len(attempts) - 1, -1, -1):
        attempt = attempts[at]
        if kind == Kind.DELAY_STORE:
            # A copy is stored with the count that its delivery will have.
            if event.get("attempt") is None or attempt.number is None or event["attempt"] == attempt.number + 1:
                return at
        elif (event.get("offset") is None or spot_of(event) == attempt.place) and actor_of(event) == attempt.client:
            return at
    return None


def _expected(attempt: Attempt, limit: int, settings: Settings) -> Attempt:
    """What the rules say about the next try (SB-14, DL-2)."""
    if attempt.number is None or attempt.result not in FAILURES:
        return attempt
    asked = attempt.asked or 0
    if is_dead_letter(attempt.number, limit, asked):
        return attempt
    level = min(int(retry_level(attempt.number, asked)), settings.delays.levels)
    return replace(attempt, expected_level=level, expected_wait=int(settings.delays.delay(level)))
