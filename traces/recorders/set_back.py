"""Clocks that were set back in the middle of a file: the count of its recorders continues, but their times do not.

Files of agents are corrected when they are joined, see :mod:`.stamps`. Files joined by others are already in the order
of time, or should be: if they are not, nobody knows any more what came before what.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from ..clocks.clocks import HELD_UP_LONGER, Step
from ..clocks.senders import Senders
from ..clocks.view import IDENTITY, View, clocks_of_commits
from ..encoding.names import Actor
from ..format.kinds import OF_BROKERS, Kind

COLUMNS = (*IDENTITY, "seq", "recorder")
"""Columns that are needed."""

SET_BACK = HELD_UP_LONGER[-1]
"""A larger step back in a joined file is not a delayed thread, ms: joining leaves no recorder's times out of order."""

_OF_NOBODY = (Kind.RESET, Kind.GAP)
"""Kinds whose recorder is not known: clients and brokers record them, as does joining."""

_MILLIS = 1000
_MOST = 3
"""A recorder whose times go back more often than this is not written in its order."""


def steps_back(batches: Iterable[pa.RecordBatch]) -> list[Step]:
    """A step over all events of a recorder, for each whose clock was set back.

    Args:
        batches: with :data:`COLUMNS`, all of a file whose recorders counted their events.
    """
    codes: dict[Actor, int] = {}
    parts, recording, by_recorder = [np.zeros((6, 0), np.int64)], set[int](), Senders()
    clients: dict[str, int] = {}
    for batch in batches:
        view = View(batch, None)
        by_recorder.see(batch)
        whose, if_recorded = view.recorders(lambda actor: codes.setdefault(actor, len(codes)))
        recording.update(np.unique(whose[view.is_word("kind", OF_BROKERS)]).tolist())
        known = (whose >= 0) & ~view.is_word("kind", _OF_NOBODY)
        client = view.codes("client", lambda word: clients.setdefault(word, len(clients)))
        parts.append(np.stack([whose, if_recorded, client, view.whole("seq"), view.micros, known]))
    whose, if_recorded, client, seq, micros, known = np.concatenate(parts, axis=1)
    sends = np.isin(client, [clients[one] for one in by_recorder.ids()])
    owner = clocks_of_commits(whose, if_recorded, recording=sorted(recording - {-1}), sends=sends)
    owner[known == 0] = -1
    found = []
    for actor, code in codes.items():
        own = np.flatnonzero(owner == code)
        times = micros[own[np.argsort(seq[own], kind="stable")]]
        behind = np.maximum.accumulate(times) - times
        is_back = behind > SET_BACK * _MILLIS
        drops = int(np.count_nonzero(is_back & ~np.r_[False, is_back[:-1]])) if len(own) else 0
        if 0 < drops <= _MOST:
            told = f"it went back by {int(behind.max()) // _MILLIS:,} ms in the middle of a file"
            since, until = int(times.min()), int(times.max()) + 1
            found.append(Step(since=since, until=until, recorders=(actor,), events=(told,)))
    return found
