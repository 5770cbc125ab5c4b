"""One event as a short English sentence, in RocketMQ's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ..engine.context import actor_of
from ..format.kinds import Kind, Path, Result
from ..format.whole_number import whole_number
from ..monitors.subscriptions import NUMBERED, parse_subscription
from .timelines import GIVEN_UP

Event = Mapping[str, Any]

_MOST_NAMED = 8
"""Maximum length of lists of members and queues in sentences."""


def clock(time: int) -> str:
    """The time of day of an event, UTC, with milliseconds."""
    try:
        return datetime.fromtimestamp(time / 1000, UTC).strftime("%H:%M:%S.%f")[:-3]
    except (OverflowError, ValueError, OSError):
        return f"{time} ms"


def tell(event: Event) -> str:
    """The event in a sentence without its time, such as ``10.0.0.1@7 is given offset 17 of Orders@broker-a:3``."""
    kind = event["kind"]
    teller = _TELLERS.get(kind)
    text = teller(event) if teller is not None else f"{who(event)}: {kind}"
    extra = event.get("detail")
    return f"{text} ({extra})" if extra and kind != Kind.REBALANCE else text


def who(event: Event) -> str:
    """The process that acts."""
    actor = actor_of(event)
    return str(actor) if actor.name else "somebody"


def where(event: Event) -> str:
    """The queue of an event, or what is known of it."""
    topic, broker, queue = event.get("topic"), event.get("broker"), event.get("queue")
    place = f"@{broker}:{queue}" if broker and queue is not None else f":{queue}" if queue is not None else ""
    return f"{topic or 'an unknown topic'}{place}"


def listed(items: Sequence[str] | None, one: str, several: str) -> str:
    """A list in words, such as ``2 members (a, b)``; long ones are shortened."""
    if items is None:
        return f"unknown {several}"
    named = ", ".join(items[:_MOST_NAMED]) + (", …" if len(items) > _MOST_NAMED else "")
    return f"{len(items)} {one if len(items) == 1 else several}" + (f" ({named})" if items else "")


def queues_in_words(queues: Sequence[str] | None) -> str:
    """A list of queues in words, with consecutive queues of a broker joined: ``5 queues (a:0-3, b:0)``."""
    if queues is None:
        return "unknown queues"
    spans: list[tuple[str, int, int] | str] = []
    for queue in queues:
        broker, _, number = queue.rpartition(":")
        if not number.isdecimal():
            spans.append(queue)
            continue
        last = spans[-1] if spans else ""
        if isinstance(last, tuple) and (last[0], last[2] + 1) == (broker, whole_number(number)):
            spans[-1] = broker, last[1], whole_number(number)
        else:
            spans.append((broker, whole_number(number), whole_number(number)))
    words = [
        each if isinstance(each, str) else f"{each[0]}:{each[1]}" + (f"-{each[2]}" if each[2] > each[1] else "")
        for each in spans
    ]
    named = ", ".join(words[:_MOST_NAMED]) + (", …" if len(words) > _MOST_NAMED else "")
    return f"{len(queues)} {'queue' if len(queues) == 1 else 'queues'}" + (f" ({named})" if words else "")


def _message(event: Event) -> str:
    offset = event.get("offset")
    if offset is not None:
        return f"offset {offset} of {where(event)}"
    named = event.get("key") or event.get("msg_id") or event.get("origin")
    return f"message {named} of {where(event)}" if named is not None else f"a message of {where(event)}"


def _number(event: Event, field: str = "offset") -> str:
    return "unknown" if event.get(field) is None else str(event[field])


def _attempt(event: Event) -> str:
    return "" if event.get("attempt") is None else f" (attempt {event['attempt']})"


def _way(event: Event) -> str:
    return f" ({event['path']})" if event.get("path") else ""


def _heartbeat(event: Event) -> str:
    subscriptions = event.get("subscriptions")
    told = ", ".join(map(_subscription, subscriptions or ()))
    consumes = "" if subscriptions is None else f", consuming {told or 'nothing'}"
    return f"{who(event)} sends a heartbeat for group {event.get('group') or 'unknown'}{consumes}"


def _subscription(text: str) -> str:
    """A subscription; a version is the time of the ``subscribe`` call, unless versions are numbered."""
    topic, expression, version = parse_subscription(text)
    return f"{topic}={expression} of {clock(version)}" if version and version > NUMBERED else text


def _rebalance(event: Event) -> str:
    strategy = f" by {event['detail']}" if event.get("detail") else ""
    assigned = event.get("assigned")
    answer = "gets no answer" if assigned is None else f"gives itself {queues_in_words(assigned)}"
    return (
        f"{who(event)} divides {event.get('topic') or 'a topic'}{strategy}: it sees "
        f"{listed(event.get('members'), 'member', 'members')} and {queues_in_words(event.get('queues'))}, "
        f"and {answer}"
    )


def _route(event: Event) -> str:
    return f"{who(event)} learns that {event.get('topic') or 'a topic'} has {queues_in_words(event.get('queues'))}"


def _assign(event: Event) -> str:
    start = "" if event.get("offset") is None else f", from offset {event['offset']}"
    return f"{who(event)} takes {where(event)}{start}"


def _revoke(event: Event) -> str:
    path = event.get("path") or ""
    words = {str(known): text for known, text in GIVEN_UP.items()}
    return f"{where(event)} of {who(event)} is {words.get(path, f'given up ({path})')}"


def _lock(event: Event) -> str:
    if event.get("result") == Result.ERROR:
        return f"{who(event)} asks for the lock of {where(event)}: the request fails"
    refused = event.get("result") == Result.FAILED
    return f"{who(event)} {'is refused' if refused else 'gets'} the lock of {where(event)}"


def _offset_query(event: Event) -> str:
    result = event.get("result")
    if result == Result.ERROR:
        answer = "the query fails"
    elif result == Result.MISSING:
        answer = "nothing is stored"
    else:
        answer = f"the answer is {_number(event)}"
    return f"{who(event)} asks for the stored offset of {where(event)}: {answer}"


def _commit(event: Event) -> str:
    if event.get("client"):
        return f"{who(event)} stores offset {_number(event)} of {where(event)}{_way(event)}"
    return f"the stored offset of {where(event)} becomes {_number(event)}{_way(event)}"


def _pull_result(event: Event) -> str:
    asked = f"{who(event)} pulls {where(event)} from {_number(event)}"
    result = event.get("result") or "no status"
    if result == Result.FOUND:
        count = "some" if event.get("count") is None else event["count"]
        return f"{asked}: {count} {'message' if count == 1 else 'messages'}, next is {_number(event, 'next')}"
    ends = f", next is {event['next']}" if event.get("next") is not None else ""
    known = f" (queue from {_number(event, 'min')} to {_number(event, 'max')})" if event.get("max") is not None else ""
    return f"{asked}: {result.replace('_', ' ')}{ends}{known}"


def _send_back(event: Event) -> str:
    level = event.get("level")
    asked = "" if level is None else " giving up" if level < 0 else f" for level {level}" if level else ""
    path, result = event.get("path"), event.get("result")
    ways: dict[Any, str] = {
        Path.FALLBACK: " as a message of its own",
        Path.EXPIRED: " because it ran too long",
        Path.APPLICATION: " as its application wants it",
    }
    ends: dict[Any, str] = {Result.FAILED: ", which fails", Result.ERROR: ", which fails"}
    return (
        f"{who(event)} sends {_message(event)}{_attempt(event)} back{ways.get(path, '')}{asked}{ends.get(result, '')}"
    )


def _store(event: Event) -> str:
    return f"{_message(event)} is stored{_attempt(event)}" + (f" with key {event['key']}" if event.get("key") else "")


def _delay_store(event: Event) -> str:
    due = "" if event.get("due") is None else f", due {clock(event['due'])}"
    topic = event.get("topic") or "an unknown topic"
    return f"a message for {topic}{_attempt(event)} waits at level {_number(event, 'level')}{due}"


def _dead_letter(event: Event) -> str:
    return f"{_message(event)} becomes a dead letter of group {event.get('group') or 'unknown'}{_attempt(event)}"


def _gap(event: Event) -> str:
    lost = "events" if event.get("count") is None else f"{event['count']:,} events"
    since = "" if event.get("due") is None else f" since {clock(event['due'])}"
    return f"the recording has lost {lost}{since}"


_TELLERS: Mapping[str, Callable[[Event], str]] = {
    Kind.CLIENT_START: lambda event: f"{who(event)} starts",
    Kind.CLIENT_STOP: lambda event: f"{who(event)} has stopped in order",
    Kind.CLIENT_CRASH: lambda event: f"{who(event)} dies",
    Kind.HEARTBEAT: _heartbeat,
    Kind.UNREGISTER: lambda event: f"{who(event)} leaves group {event.get('group') or 'unknown'}",
    Kind.BROKER_START: lambda event: f"{who(event)} starts",
    Kind.BROKER_STOP: lambda event: f"{who(event)} stops",
    Kind.BROKER_CRASH: lambda event: f"{who(event)} dies",
    Kind.ROLE_CHANGE: lambda event: f"{who(event)} becomes {event.get('result') or 'master or slave'}",
    Kind.MEMBERS: lambda event: f"{who(event)} lists {listed(event.get('members'), 'member', 'members')}",
    Kind.ROUTE: _route,
    Kind.REBALANCE: _rebalance,
    Kind.ASSIGN: _assign,
    Kind.REVOKE: _revoke,
    Kind.LOCK: _lock,
    Kind.UNLOCK: lambda event: f"{who(event)} unlocks {where(event)}",
    Kind.LOCK_LOST: lambda event: f"{who(event)} finds that it has lost the lock of {where(event)}",
    Kind.OFFSET_QUERY: _offset_query,
    Kind.COMMIT_MEMORY: lambda event: f"{who(event)} notes offset {_number(event)} of {where(event)} in memory",
    Kind.COMMIT: _commit,
    Kind.RESET: lambda event: f"an operator resets the offset of {where(event)} to {_number(event)}",
    Kind.CORRECT: lambda event: f"{who(event)} corrects the pull offset of {where(event)} to {_number(event)}",
    Kind.FILE_LOAD: lambda event: f"{who(event)} loads offsets from a file",
    Kind.FILE_PERSIST: lambda event: f"{who(event)} writes offsets to a file",
    Kind.PULL: lambda event: f"{who(event)} asks for messages of {where(event)} from {_number(event)}",
    Kind.PULL_RESULT: _pull_result,
    Kind.FLOW_CONTROL: lambda event: f"{who(event)} does not pull {where(event)}{_way(event)}",
    Kind.DELIVER: lambda event: f"{who(event)} is given {_message(event)}{_attempt(event)}",
    Kind.RESULT: lambda event: f"{who(event)} ends {_message(event)}: {event.get('result') or 'unknown result'}",
    Kind.REMOVED: lambda event: f"{_message(event)} leaves the window of {who(event)}",
    Kind.DISCARDED: lambda event: f"{who(event)} discards its result of {_message(event)}: the queue was dropped",
    Kind.EXPIRE: lambda event: f"{who(event)} cleans {_message(event)}, whose listener runs too long",
    Kind.SEND_BACK: _send_back,
    Kind.STORE: _store,
    Kind.DELAY_STORE: _delay_store,
    Kind.DELAY_DELIVER: lambda event: f"the waiting message becomes {_message(event)}{_attempt(event)}",
    Kind.DEAD_LETTER: _dead_letter,
    Kind.GAP: _gap,
}
