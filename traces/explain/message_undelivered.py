"""What became of a copy of a message that no listener was given: what passed its offset, if anything did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..engine.context import actor_of
from ..format.kinds import Kind, Result
from ..format.message_status import MessageStatus
from .sentences import Event, clock

Told = tuple[MessageStatus, str]
"""A status, and the status in words."""

Copies = Mapping[tuple[tuple[str, str, int | None], int | None], int]
"""Topic, broker and queue of copies, with their offsets and the time of the first event that mentions them, ms."""


def undelivered(events: Sequence[Event], copies: Copies) -> Told:
    """What became of copies that a group was never given, judged by what the group did with their queues.

    Events are in the order of time.
    """
    pulled: Event | None = None
    skipped: Event | None = None
    passed: Event | None = None
    began: Event | None = None
    commits = False
    for event in events:
        place, offset = _place(event), event.get("offset")
        own = [(of, since) for (at, of), since in copies.items() if at == place and of is not None]
        if offset is None or not own:
            continue
        beyond = any(offset > of for of, _ in own)
        if event["kind"] == Kind.PULL_RESULT and any(offset <= of < (event.get("next") or 0) for of, _ in own):
            if not _is_whole(event):
                by = f"passed over at {clock(event['time'])} by the expression of {actor_of(event)}"
                return MessageStatus.FILTERED, by
            pulled = event
        elif event["kind"] in (Kind.RESET, Kind.CORRECT):
            # If the offset is set back before the message, it is no longer skipped.
            skipped = event if beyond else None
        elif event["kind"] == Kind.ASSIGN:
            # The first owner of the queue begins at its configured start position; later owners begin at the stored
            # offset.
            began = began or event
            skipped = event if began is event and passed is None and beyond else skipped
        elif event["kind"] == Kind.COMMIT:
            commits = commits or any(event["time"] >= since for _, since in own)
            passed = passed or (event if beyond else None)
    if skipped is not None:
        to = f"{actor_of(skipped)} began at" if skipped["kind"] == Kind.ASSIGN else "the offset was set to"
        return MessageStatus.SKIPPED, f"skipped at {clock(skipped['time'])}: {to} {skipped['offset']}"
    held = f"pulled by {actor_of(pulled)} at {clock(pulled['time'])}" if pulled is not None else ""
    if passed is not None:
        by = f"passed at {clock(passed['time'])} by offset {passed['offset']} of {actor_of(passed)}"
        return MessageStatus.LOST, f"{held}, and " * bool(held) + by
    if held:
        return MessageStatus.WAITING, f"{held}, and not delivered since"
    waits = _waits(events, copies)
    if commits:
        return MessageStatus.WAITING, f"not delivered{waits}, and the stored offset is not past it"
    told = f"no delivery was recorded{waits}, and nothing that would tell whether it is to come"
    return MessageStatus.NOT_OBSERVABLE, told


def _place(event: Event) -> tuple[str, str, int | None]:
    return event.get("topic") or "", event.get("broker") or "", event.get("queue")


def _is_whole(event: Event) -> bool:
    """Whether a pull returned all messages of its range, so that no message was filtered out."""
    return event.get("result") == Result.FOUND and event.get("count") in (None, event["next"] - event["offset"])


def _waits(events: Sequence[Event], copies: Copies) -> str:
    """Since when a message waits, and for which client: the last known owner of its queue."""
    if not copies:
        return ""
    positions = {at for at, _ in copies}
    owner = ""
    for event in events:
        if _place(event) not in positions:
            continue
        if event["kind"] == Kind.ASSIGN:
            owner = f" for {actor_of(event)}, which has the queue"
        elif event["kind"] == Kind.REVOKE:
            owner = f" for an owner of the queue, which {actor_of(event)} gave up at {clock(event['time'])}"
    return f" since {clock(min(copies.values()))}, when it is first heard of: it waits{owner}"
