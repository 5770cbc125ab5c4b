"""Events of a small cluster by clocks of the test's choice."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rocketproof.traces.clocks.clocks import Clocks, clocks_of
from rocketproof.traces.clocks.observed import Observed
from rocketproof.traces.encoding.names import Actor
from rocketproof.traces.io.events import batch_of

Event = dict[str, Any]
Offset = Callable[[int], int]

BROKER, ONE, TWO = Actor("b", -1), Actor("one"), Actor("two")
BEGIN = 1_700_000_000_000


def run(
    seconds: int, *, broker: Offset = lambda _: 0, one: Offset = lambda _: 0, two: Offset = lambda _: 0
) -> list[Event]:
    """Ten messages a second: stored, 2 ms later delivered to either client, done, and 2 ms later committed.

    Args:
        seconds: for so long.
        broker: how far its clock is ahead at a time since the beginning, both in ms; so are ``one`` and ``two``.
    """
    events: list[Event] = []
    ahead = {"b": broker, "one": one, "two": two}

    def add(who: str, at: int, kind: str, **more: Any) -> None:
        events.append({"time": BEGIN + at + ahead[who](at), "kind": kind, "topic": "t", "broker": "b", **more})

    for number in range(10 * seconds):
        at, offset, queue = 100 * number, number // 2, number % 2
        client = ("one", "two")[queue]
        who = {"client": client, "group": "g", "queue": queue}
        add("b", at, "store", queue=queue, offset=offset, key=f"K{number}", attempt=0)
        add(client, at + 2, "deliver", **who, offset=offset, key=f"K{number}", attempt=0)
        add(client, at + 5, "commit_memory", **who, offset=offset + 1)
        add(client, at + 5, "result", **who, offset=offset, key=f"K{number}", attempt=0, result="ok")
        add("b", at + 7, "commit", **who, offset=offset + 1, path="periodic")
    return sorted(events, key=lambda event: int(event["time"]))


def seen(events: Iterable[Mapping[str, Any]]) -> Observed:
    """What is seen of events."""
    observed = Observed()
    observed.see(batch_of(list(events)))
    return observed


def clocks(events: Iterable[Mapping[str, Any]]) -> Clocks:
    """The clocks of events."""
    return clocks_of(seen(events))
