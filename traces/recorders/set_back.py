"""Clocks that were set back in the middle of a file: what its recorders counted goes on, and their times do not.

Files of agents are put right as they are joined, see :mod:`.stamps`. What somebody else has joined is in the order of
time by then, or should be: where it is not, nobody knows any more what came before what.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from ..clocks.clocks import Step
from ..clocks.view import View
from ..encoding.names import Actor
from ..format.kinds import OF_BROKERS, Kind
from .stamps import in_own_order

COLUMNS = ("time", "micros", "seq", "kind", "client", "incarnation", "broker")
"""Columns that tell."""

_OF_EITHER = (Kind.COMMIT, Kind.RESET, Kind.GAP)
"""Kinds that clients record and brokers, or whoever joins files."""

_MOST = 3
"""A recorder whose times go back more often is not written down in its order."""


def steps_back(batches: Iterable[pa.RecordBatch]) -> list[Step]:
    """A step over all that a recorder did, for each whose clock was set back.

    Args:
        batches: with :data:`COLUMNS`, all of a file whose recorders counted their events.
    """
    codes: dict[Actor, int] = {}
    parts = [np.zeros((3, 0), np.int64)]
    for batch in batches:
        view = View(batch, None)
        by_client, by_broker = view.recorders(lambda actor: codes.setdefault(actor, len(codes)))
        who = np.where(view.is_word("kind", OF_BROKERS) | (by_client < 0), by_broker, by_client)
        known = (who >= 0) & ~view.is_word("kind", _OF_EITHER)
        parts.append(np.stack([who, view.whole("seq"), view.micros])[:, known])
    owner, seq, micros = np.concatenate(parts, axis=1)
    found = []
    for actor, code in codes.items():
        own = np.flatnonzero(owner == code)
        times = micros[own[np.argsort(seq[own], kind="stable")]]
        _, back = in_own_order(times)
        if 0 < len(back) <= _MOST:
            told = tuple(f"it went back by {one.by // 1000:,} ms in the middle of a file" for one in back)
            since, until = int(times.min()), int(times.max()) + 1
            found.append(Step(since=since, until=until, recorders=(actor,), events=told))
    return found
