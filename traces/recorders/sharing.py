"""Shared client ids: an unrecorded process that has the client id of a recorded one, beside it, before or after it
(A1, EN-7).

Beside it, lists of members do not show this: a client that reconnects is also listed twice for a while. But brokers
receive offsets that no recorded process has sent. While no process of the id was recorded, one offset is enough, and so
is a list that names the client again after one that did not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from ..format.kinds import Kind
from .confirming import LATE, NOT_ASKED
from .processes import lists_of_members
from .recording import Recording

_Who = tuple[str, str]
_Place = tuple[object, ...]
_Offsets = dict[_Place, list[int]]

MANY = 20
"""This many offsets that nobody has sent are not explained by a killed recorder, which loses only a few."""

UNDER_WAY = 5_000_000
"""What was sent before a recording ended has arrived, and shows in lists, within this time, µs."""

_PLACE = ("topic", "broker", "queue", "offset")


def sharing(recordings: Sequence[Recording]) -> Iterator[_Who]:
    """Clients, each with its group, for which brokers received many offsets that no recorded process of that id has
    sent. What a broker stores instead of what was sent, be it for another queue, is none of these.

    Args:
        recordings: all of them, their time stamps by clocks that agree.
    """
    sent, spans = _sent(recordings), _spans(recordings)
    taken: defaultdict[_Who, _Offsets] = defaultdict(lambda: defaultdict(list))
    for one in (one for one in recordings if one.of_broker):
        for who, place, stamp in _commits(one):
            if who in sent and any(first < stamp < last for first, last in spans[who]):
                taken[who][place].append(stamp)
    for who, of_broker in sorted(taken.items()):
        unsent, lost = _without(of_broker, sent[who]), _without(sent[who], of_broker)
        others = sum(len(stamps) - _instead(stamps, lost.get(broker, ())) for broker, stamps in unsent.items())
        if others >= MANY:
            yield who


def _without(some: _Offsets, others: _Offsets) -> Mapping[object, list[int]]:
    """When one side has recorded offsets that the other has not, by broker, in order, µs."""
    left: defaultdict[object, list[int]] = defaultdict(list)
    for place, stamps in some.items():
        left[place[_PLACE.index("broker")]] += stamps[len(others.get(place, ())) :]
    return {broker: sorted(stamps) for broker, stamps in left.items()}


def _instead(unsent: Sequence[int], lost: Sequence[int]) -> int:
    """How many offsets a broker stored when another one was sent that it did not store: the fault is its own."""
    found, at = 0, 0
    for stamp in unsent:
        while at < len(lost) and lost[at] < stamp - LATE * 1000:
            at += 1
        if at < len(lost) and lost[at] <= stamp + LATE * 1000:
            found, at = found + 1, at + 1
    return found


def continuing(recordings: Sequence[Recording]) -> Iterator[tuple[_Who, int, int]]:
    """Clients, each with its group, that went on or came back unrecorded after a recording of them, and from when to
    when that was: from the end of this recording to the beginning of their next one, or to the end of all, ms; if only
    offsets that the client never sent, shortly after the end, show it, to the last of these.

    Args:
        recordings: all of them, their time stamps by clocks that agree.
    """
    sent = _sent(recordings)
    acts: defaultdict[_Who, list[tuple[int, bool]]] = defaultdict(list)
    lists: defaultdict[str, list[list[tuple[int, frozenset[str]]]]] = defaultdict(list)
    for one in recordings:
        of_group: defaultdict[str, list[tuple[int, frozenset[str]]]] = defaultdict(list)
        for time, group, members in lists_of_members([one]):
            of_group[group].append((time * 1000, members))
        for group, listed in of_group.items():
            lists[group].append(listed)
        for who, place, stamp in _commits(one) if one.of_broker else ():
            if who in sent:
                acts[who].append((stamp, place in sent[who]))
    end = max(int(one.stamps.max()) for one in recordings)
    for who, own in sorted(_spans(recordings).items()):
        begins = [*(first for first, _ in own[1:]), end]
        for (_, last), begin in zip(own, begins, strict=True):
            again = (stamp for listed in lists[who[1]] for stamp in _named_again(listed, who[0], last))
            if any(last + UNDER_WAY < stamp <= begin for stamp in (*(stamp for stamp, _ in acts[who]), *again)):
                yield who, last // 1000, begin // 1000
                continue
            unsent = [stamp for stamp, was_sent in acts[who] if last < stamp <= begin and not was_sent]
            if unsent:
                yield who, last // 1000, -(-max(unsent) // 1000)


def _named_again(lists: Sequence[tuple[int, frozenset[str]]], client: str, since: int) -> Iterator[int]:
    """When one recorder's lists name a client again after one that left it out, both later than a time, µs."""
    left_out = False
    for stamp, members in lists:
        if stamp > since and left_out and client in members:
            yield stamp
        left_out = left_out or (stamp > since and client not in members)


def _spans(recordings: Sequence[Recording]) -> dict[_Who, list[tuple[int, int]]]:
    """From when to when processes of a client id were recorded in a group, in order, those at one time as one, µs."""
    spans: defaultdict[_Who, list[tuple[int, int]]] = defaultdict(list)
    recorded = [(int(one.stamps[0]), int(one.stamps[-1]), one.clients) for one in recordings if not one.of_broker]
    for first, last, clients in sorted(recorded, key=lambda one: one[:2]):
        for own in (spans[who] for who in clients):
            if own and first <= own[-1][1]:
                own[-1] = own[-1][0], max(own[-1][1], last)
            else:
                own.append((first, last))
    return spans


def _sent(recordings: Sequence[Recording]) -> Mapping[_Who, _Offsets]:
    """When each client sent which offset of which queue, µs."""
    sent: defaultdict[_Who, _Offsets] = defaultdict(lambda: defaultdict(list))
    for who, place, stamp in (commit for one in recordings if not one.of_broker for commit in _commits(one)):
        sent[who][place].append(stamp)
    return sent


def _commits(recording: Recording) -> Iterator[tuple[_Who, _Place, int]]:
    """Offsets that clients send: client, queue and offset, and when, µs; those received by a slave are left out."""
    rows = recording.rows((Kind.COMMIT,))
    rows = rows[~recording.as_slave[rows]]
    told = recording.table.select(["client", "group", "path", *_PLACE]).take(pa.array(rows))
    columns = (column.to_pylist() for column in told.columns)
    for stamp, client, group, path, *place in zip(recording.stamps[rows].tolist(), *columns, strict=True):
        if client and path not in NOT_ASKED:
            yield (client, group or ""), tuple(place), stamp
