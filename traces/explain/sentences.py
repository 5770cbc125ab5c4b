"""One event as a short English sentence, in RocketMQ's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ..engine.context import actor_of
from ..format.kinds import Kind, Path, Result
from ..format.whole_number import whole_number
from ..monitors.groups.subscriptions import NUMBERED, parse_subscription
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
    sentence = _SENTENCES.get((kind, event.get("result"))) or _SENTENCES.get(kind, "{who}: {kind}")
    text = sentence.format_map(_Parts(event))
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


def _subscription(text: str) -> str:
    """A subscription; a version is the time of the ``subscribe`` call, unless versions are numbered."""
    topic, expression, version = parse_subscription(text)
    return f"{topic}={expression} of {clock(version)}" if version and version > NUMBERED else text


def _given(
    field: str, text: str = "{}", otherwise: str = "", show: Callable[[Any], str] = str
) -> Callable[[Event], str]:
    """A part of a sentence with the value of a field, or other words if it is not known."""

    def part(event: Event) -> str:
        value = event.get(field)
        return otherwise if value in (None, "") else text.format(show(value))

    return part


def _one_of(field: str, words: Mapping[Any, str], otherwise: str = "") -> Callable[[Event], str]:
    """A part of a sentence that depends on the word in a field."""
    return lambda event: words.get(event.get(field), otherwise)


def _consumes(event: Event) -> str:
    subscriptions = event.get("subscriptions")
    told = ", ".join(map(_subscription, subscriptions or ()))
    return "" if subscriptions is None else f", consuming {told or 'nothing'}"


def _came(event: Event) -> str:
    count = "some" if event.get("count") is None else event["count"]
    return f"{count} {'message' if count == 1 else 'messages'}"


def _asked(event: Event) -> str:
    level = event.get("level")
    return "" if level is None else " giving up" if level < 0 else f" for level {level}" if level else ""


def _span(event: Event) -> str:
    low, high = (_given(end, otherwise="unknown")(event) for end in ("min", "max"))
    return f" (queue from {low} to {high})" if event.get("max") is not None else ""


def _committed(event: Event) -> str:
    offset = _given("offset", otherwise="unknown")(event)
    if event.get("client"):
        return f"{who(event)} stores offset {offset} of {where(event)}"
    return f"the stored offset of {where(event)} becomes {offset}"


_PARTS: Mapping[str, Callable[[Event], str]] = {
    "who": who,
    "where": where,
    "message": _message,
    "kind": _given("kind"),
    "group": _given("group", otherwise="unknown"),
    "topic": _given("topic", otherwise="a topic"),
    "for": _given("topic", otherwise="an unknown topic"),
    "role": _given("result", otherwise="master or slave"),
    "result": _given("result", otherwise="unknown result"),
    "status": _given("result", otherwise="no status", show=lambda word: word.replace("_", " ")),
    "members": lambda event: listed(event.get("members"), "member", "members"),
    "queues": lambda event: queues_in_words(event.get("queues")),
    "answer": _given("assigned", "gives itself {}", "gets no answer", queues_in_words),
    "strategy": _given("detail", " by {}"),
    "consumes": _consumes,
    "offset": _given("offset", otherwise="unknown"),
    "next": _given("next", otherwise="unknown"),
    "level": _given("level", otherwise="unknown"),
    "start": _given("offset", ", from offset {}"),
    "ends": _given("next", ", next is {}"),
    "came": _came,
    "span": _span,
    "attempt": _given("attempt", " (attempt {})"),
    "key": _given("key", " with key {}"),
    "way": _given("path", " ({})"),
    "committed": _committed,
    "given_up": lambda event: GIVEN_UP.get(event.get("path") or Path.NONE, f"given up ({event.get('path')})"),
    "sent": _one_of(
        "path",
        {
            Path.FALLBACK: " as a message of its own",
            Path.EXPIRED: " because it ran too long",
            Path.APPLICATION: " as its application wants it",
        },
    ),
    "asked": _asked,
    "fails": _one_of("result", {Result.FAILED: ", which fails", Result.ERROR: ", which fails"}),
    "due": _given("due", ", due {}", show=clock),
    "lost": _given("count", "{} events", "events", "{:,}".format),
    "since": _given("due", " since {}", show=clock),
}
"""What stands for the names in braces of :data:`_SENTENCES`."""


class _Parts(dict[str, str]):
    """The parts of a sentence about an event, each made when it is asked for."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self._event = event

    def __missing__(self, name: str) -> str:
        return _PARTS[name](self._event)


_SENTENCES: Mapping[Any, str] = {
    Kind.CLIENT_START: "{who} starts",
    Kind.CLIENT_STOP: "{who} has stopped in order",
    Kind.CLIENT_CRASH: "{who} dies",
    Kind.HEARTBEAT: "{who} sends a heartbeat for group {group}{consumes}",
    Kind.UNREGISTER: "{who} leaves group {group}",
    Kind.BROKER_START: "{who} starts",
    Kind.BROKER_STOP: "{who} stops",
    Kind.BROKER_CRASH: "{who} dies",
    Kind.ROLE_CHANGE: "{who} becomes {role}",
    Kind.MEMBERS: "{who} lists {members}",
    Kind.ROUTE: "{who} learns that {topic} has {queues}",
    Kind.REBALANCE: "{who} divides {topic}{strategy}: it sees {members} and {queues}, and {answer}",
    Kind.ASSIGN: "{who} takes {where}{start}",
    Kind.REVOKE: "{where} of {who} is {given_up}",
    Kind.LOCK: "{who} gets the lock of {where}",
    (Kind.LOCK, Result.FAILED): "{who} is refused the lock of {where}",
    (Kind.LOCK, Result.ERROR): "{who} asks for the lock of {where}: the request fails",
    Kind.UNLOCK: "{who} unlocks {where}",
    Kind.LOCK_LOST: "{who} finds that it has lost the lock of {where}",
    Kind.OFFSET_QUERY: "{who} asks for the stored offset of {where}: the answer is {offset}",
    (Kind.OFFSET_QUERY, Result.MISSING): "{who} asks for the stored offset of {where}: nothing is stored",
    (Kind.OFFSET_QUERY, Result.ERROR): "{who} asks for the stored offset of {where}: the query fails",
    Kind.COMMIT_MEMORY: "{who} notes offset {offset} of {where} in memory",
    Kind.COMMIT: "{committed}{way}",
    (Kind.COMMIT, Result.MISSING): "{who} removes the stored offset of {where}",
    Kind.RESET: "an operator resets the offset of {where} to {offset}",
    Kind.CORRECT: "{who} corrects the pull offset of {where} to {offset}",
    Kind.FILE_LOAD: "{who} loads offsets from a file",
    Kind.FILE_PERSIST: "{who} writes offsets to a file",
    Kind.PULL: "{who} asks for messages of {where} from {offset}",
    Kind.PULL_RESULT: "{who} pulls {where} from {offset}: {status}{ends}{span}",
    (Kind.PULL_RESULT, Result.FOUND): "{who} pulls {where} from {offset}: {came}, next is {next}",
    Kind.FLOW_CONTROL: "{who} does not pull {where}{way}",
    Kind.DELIVER: "{who} is given {message}{attempt}",
    Kind.RESULT: "{who} ends {message}: {result}",
    Kind.REMOVED: "{message} leaves the window of {who}",
    Kind.DISCARDED: "{who} discards its result of {message}: the queue was dropped",
    Kind.EXPIRE: "{who} cleans {message}, whose listener runs too long",
    Kind.SEND_BACK: "{who} sends {message}{attempt} back{sent}{asked}{fails}",
    Kind.STORE: "{message} is stored{attempt}{key}",
    Kind.DELAY_STORE: "a message for {for}{attempt} waits at level {level}{due}",
    Kind.DELAY_DELIVER: "the waiting message becomes {message}{attempt}",
    Kind.DEAD_LETTER: "{message} becomes a dead letter of group {group}{attempt}",
    Kind.GAP: "the recording has lost {lost}{since}",
}
"""Kind, or kind and result → the sentence about it."""
