"""Shared client ids: an unrecorded process that has the client id of a recorded one (A1, EN-7).

Lists of members do not show this: a client that reconnects is also listed twice for a while. But brokers receive
offsets that no recorded process has sent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import pyarrow as pa

from ..format.kinds import Kind
from .confirming import NOT_ASKED
from .recording import Recording

_Who = tuple[str, str]

MANY = 20
"""This many offsets that nobody has sent are not explained by a killed recorder, which loses only a few."""

_PLACE = ("topic", "broker", "queue", "offset")


def sharing(recordings: Sequence[Recording]) -> Iterator[_Who]:
    """Clients, each with its group, for which brokers received many offsets that no recorded process of that id has
    sent.

    Args:
        recordings: all of them, their time stamps by clocks that agree.
    """
    sent: defaultdict[_Who, Counter[tuple[object, ...]]] = defaultdict(Counter)
    spans: dict[_Who, tuple[int, int]] = {}
    for one in (one for one in recordings if not one.of_broker):
        for who, place, _ in _commits(one):
            sent[who][place] += 1
        for who in one.clients:
            first, last = spans.get(who, (int(one.stamps[0]), int(one.stamps[-1])))
            spans[who] = min(first, int(one.stamps[0])), max(last, int(one.stamps[-1]))
    taken: defaultdict[_Who, Counter[tuple[object, ...]]] = defaultdict(Counter)
    for one in (one for one in recordings if one.of_broker):
        for who, place, stamp in _commits(one):
            if who in sent and spans[who][0] < stamp < spans[who][1]:
                taken[who][place] += 1
    for who, of_broker in sorted(taken.items()):
        if (of_broker - sent[who]).total() >= MANY:
            yield who


def _commits(recording: Recording) -> Iterator[tuple[_Who, tuple[object, ...], int]]:
    """Offsets that clients send: client, queue and offset, and when, µs; those received by a slave are left out."""
    rows = recording.rows((Kind.COMMIT,))
    rows = rows[~recording.as_slave[rows]]
    told = recording.table.select(["client", "group", "path", *_PLACE]).take(pa.array(rows))
    columns = (column.to_pylist() for column in told.columns)
    for stamp, client, group, path, *place in zip(recording.stamps[rows].tolist(), *columns, strict=True):
        if client and path not in NOT_ASKED:
            yield (client, group or ""), tuple(place), stamp
