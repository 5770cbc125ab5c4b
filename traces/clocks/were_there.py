"""Causes that may have existed before they were observed: in an unrecorded part of the client's run.

A client may set an in-memory offset again that it already has. So the first recorded time need not be the first that
there was, if the recording of a process begins in mid-run, or if another process of the client records none of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ..encoding.names import Actor


def set_before(before: Any) -> Any:
    """Which causes may have existed before, if the recording of a queue begins with one of them.

    The client then had the queue already: it may set the offset again that it has, and received none that is less. A
    recording that begins with its question for the stored offset has all that came after it.

    ``before`` are causes, rows of :mod:`.observed`.
    """
    order = np.lexsort((before["time"], before["queue"], before["client"], before["group"], before["recorder"]))
    whose = before[["recorder", "group", "client", "queue"]][order]
    starts = np.r_[True, whose[1:] != whose[:-1]][: len(order)]
    first = order[np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))]
    found = np.zeros(len(before), bool)
    found[order] = (before["first"][first] == 1) & (before["offset"][order] <= before["offset"][first])
    return found


def may_be_of_another(before: Any, sides: Any, *, recorders: Mapping[Actor, int], whose: Any) -> Any:
    """Which causes another process of the client may have produced before, if none of that pair was recorded for it.

    Args:
        before: causes, rows of :mod:`.observed`.
        sides: all observed sides of the pairs.
        recorders: code of each.
        whose: for each recorder a number, the same one for processes of a client that ran one after another.
    """
    others = {
        code: [other for later, other in several if later > number or whose[other] != whose[code]]
        for several in processes_of(recorders)
        for number, code in several
    }
    found, of_all = np.zeros(len(before), bool), np.unique(_in_groups(sides))
    for pair in np.unique(before["pair"]):
        of_pair = before["pair"] == pair
        lacking = np.setdiff1d(of_all, _in_groups(before[of_pair & (before["first"] == 1)]))
        found |= of_pair & np.isin(
            _in_groups(before),
            [
                (other << 32) + group
                for code, group in zip((lacking >> 32).tolist(), (lacking & 0xFFFFFFFF).tolist(), strict=True)
                for other in others.get(code, ())
            ],
        )
    return found


def processes_of(recorders: Mapping[Actor, int]) -> Collection[list[tuple[int, int]]]:
    """The processes of each client, with their codes, in order."""
    found: dict[str, list[tuple[int, int]]] = {}
    for actor, code in recorders.items():
        if actor.incarnation >= 0:
            found.setdefault(actor.name, []).append((actor.incarnation, code))
    return [sorted(several) for several in found.values()]


def _in_groups(rows: Any) -> Any:
    """A number for the recorder and the group of each row."""
    return (rows["recorder"].astype(np.int64) << 32) + (rows["group"].astype(np.int64) & 0xFFFFFFFF)
