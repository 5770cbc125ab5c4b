"""What two sides have recorded is kept once: commits, which a client sends and a broker applies, and resets.

What counts is when the broker did it. Who sent a commit, from which process and on which way, the client knows. Of a
reset every client is told, and what it was told is of use only where its broker was not recorded.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..traces.format.kinds import Kind, Path
from .joining import Event, Processes, Recording

LATE = 1_000
"""A client may stamp its sending so long after the broker has stamped the arrival: it notes what it has done, and may
have stood still in between, ms."""

NEVER_APPLIED = "commits that clients sent and no broker applied"
BEFORE_ITS_BROKER = "commits of clients to brokers that were not recorded then, kept as sent"

TOLD_AGAIN = "resets that clients were told of, and that are there already"
ONE_RESET = 10_000
"""Clients are told of a reset one after the other; what they are told within this is one reset, ms."""

_NOT_ASKED = frozenset({str(Path.FILE), str(Path.RESET), str(Path.REPLICA)})
"""Ways on which a broker stores an offset that no client has sent."""

_Key = tuple[str, str, str, int, int, bool]


@dataclass(slots=True)
class _Half:
    """One side's record of a commit: where it stands among all events, when it was, µs, and whose it is.

    A broker does not know the client whose connection it has given up; then ``client`` is empty.
    """

    at: int
    stamp: int
    client: str


def confirmed(
    events: Iterable[tuple[int, Recording, Event]], recordings: Sequence[Recording], processes: Processes
) -> tuple[list[tuple[int, Event]], Counter[str]]:
    """All events with their stamps, and of each commit and reset one.

    A commit that no broker applied is left out, unless its broker was not recorded then. A commit that no client is
    known to have sent stays.

    Args:
        events: of all recordings, by stamp.
        recordings: all of them.
        processes: of the clients.

    Returns:
        The events, and how many were left out, or kept without an answer, in words.
    """
    brokers = _Brokers(recordings)
    counts: Counter[str] = Counter()
    resets: dict[_Key, int] = {}
    kept: list[tuple[int, Event] | None] = []
    sent: defaultdict[_Key, list[_Half]] = defaultdict(list)
    applied: defaultdict[_Key, list[_Half]] = defaultdict(list)
    for stamp, recording, event in events:
        if event["kind"] == Kind.RESET and not recording.of_broker:
            key = _key(event)
            again = stamp - resets.get(key, stamp - ONE_RESET * 1000) < ONE_RESET * 1000
            if again or brokers.recorded(event["broker"], stamp):
                counts[TOLD_AGAIN] += 1
                continue
            resets[key] = stamp
        half = _Half(len(kept), stamp, event.get("client", ""))
        kept.append((stamp, event))
        if event["kind"] != Kind.COMMIT or event.get("path") in _NOT_ASKED:
            continue
        key = _key(event)
        if recording.of_broker:
            other = _latest(sent[key], half.client)
            if other is not None:
                _answer(kept, other.at, half.at)
                continue
            if half.client:
                event.setdefault("incarnation", processes.latest(half.client, stamp))
            applied[key].append(half)
        else:
            other = _latest(applied[key], half.client, since=stamp - LATE * 1000)
            if other is not None:
                _answer(kept, half.at, other.at)
            else:
                sent[key].append(half)
    for one in (one for waiting in sent.values() for one in waiting):
        item = kept[one.at]
        assert item is not None
        if brokers.recorded(item[1]["broker"], one.stamp):
            kept[one.at] = None
            counts[NEVER_APPLIED] += 1
        elif brokers.any:
            counts[BEFORE_ITS_BROKER] += 1
    return [item for item in kept if item is not None], counts


def _latest(halves: list[_Half], client: str, since: int = 0) -> _Half | None:
    """The latest record of a client, or of nobody known, which is taken out; None if there is none."""
    for place in range(len(halves) - 1, -1, -1):
        half = halves[place]
        if half.stamp >= since and (not client or half.client in ("", client)):
            return halves.pop(place)
    return None


def _key(event: Event) -> _Key:
    return (
        event.get("group", ""),
        event.get("topic", ""),
        event.get("broker", ""),
        event.get("queue", -1),
        event.get("offset", -1),
        event.get("path") == Path.PIGGYBACK,
    )


def _answer(kept: list[tuple[int, Event] | None], sent: int, applied: int) -> None:
    """Give the commit that a broker applied the sender and the way of the one that was sent, which goes."""
    one, other = kept[sent], kept[applied]
    assert one is not None
    assert other is not None
    for name in ("client", "incarnation", "path", "epoch"):
        if name in one[1]:
            other[1][name] = one[1][name]
    kept[sent] = None


class _Brokers:
    """From when on each broker was recorded, and where its recordings have gaps."""

    def __init__(self, recordings: Iterable[Recording]) -> None:
        self._since: dict[str, int] = {}
        self._gaps: dict[str, list[tuple[int, int]]] = {}
        for recording in recordings:
            name = recording.broker
            if not name:
                continue
            self._since[name] = min(self._since.get(name, 1 << 62), recording.stamps[0])
            gaps = [event for event in recording.events if event["kind"] == Kind.GAP]
            self._gaps.setdefault(name, []).extend((gap.get("due", 0) * 1000, gap["time"] * 1000) for gap in gaps)

    @property
    def any(self) -> bool:
        return bool(self._since)

    def recorded(self, broker: str, stamp: int) -> bool:
        """Whether what the broker did at a time was recorded."""
        since = self._since.get(broker)
        if since is None or stamp < since:
            return False
        return not any(begin <= stamp <= end for begin, end in self._gaps[broker])
