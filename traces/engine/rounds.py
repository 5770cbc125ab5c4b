"""Rounds in which clients store the offsets of their queues, all of them at once.

One timer of a client sends the offsets of all its queues to their brokers (``RemoteBrokerOffsetStore#persistAll``). The
fold by queue sees only one queue, and suspects those whose offset is not stored for some rounds. Whether the client
stored those of other queues at the same broker meanwhile is checked here, for the few suspects, in one more pass over
the trace.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..claims.claims import CODE
from ..claims.settings import Settings
from ..claims.steps import Misstep
from ..clocks.order import Order
from ..encoding.coding import COLUMNS, Coder
from ..encoding.names import Names
from ..format.kinds import Kind, Path, codes
from ..monitors.fold import Outcome
from ..monitors.steps.state import APART
from .context import Context
from .findings import Note
from .reading import Recorded

_CLAIM = CODE[Misstep.PASSED_OVER.step.claim]
_COMMIT, _PERIODIC = codes(Kind)[Kind.COMMIT], codes(Path)[Path.PERIODIC]
_ROUNDS = 3
"""Rounds in which an offset that was set before them must have been stored: one may be under way, or be lost."""


def settle_rounds(outcome: Outcome, trace: Recorded, names: Names, settings: Settings, context: Context) -> Outcome:
    """The outcome without queues whose client stored no offsets of others for some rounds either."""
    rows = outcome.rows
    about = (rows["claim"] == _CLAIM) & (rows["note"] == Note.NONE) & (rows["value"] == Misstep.PASSED_OVER)
    suspects = np.flatnonzero(about)
    if not len(suspects):
        return outcome
    apart = APART + Order(context.clocks, settings.skew).widest
    sent = _sent(trace, names, {int(actor) for actor in rows["actor"][suspects]}, int(rows["since"][suspects].min()))
    explained = []
    for at in suspects.tolist():
        row = rows[at]
        broker = names.slots[row["slot"]].broker
        times = [
            time
            for slot, time in sent.get((int(row["actor"]), broker), ())
            if slot != row["slot"] and row["since"] + apart < time < row["time"] - apart
        ]
        if _rounds(times, settings.persist // 2) < _ROUNDS:
            explained.append(at)
    return outcome.without(explained)


def _rounds(times: list[int], pause: int) -> int:
    """How many rounds there are, with such pauses at least between them."""
    return int(bool(times)) + int((np.diff(np.sort(times)) > pause).sum())


def _sent(trace: Recorded, names: Names, actors: set[int], since: int) -> dict[tuple[int, str], list[tuple[int, int]]]:
    """For clients and brokers, which queues' offsets were stored periodically, and when."""
    found: dict[tuple[int, str], list[tuple[int, int]]] = {}
    coder, wanted = Coder(names), np.array(sorted(actors))
    clients = {names.actors[actor].name for actor in actors}
    for batch in trace.events_of(clients, (Kind.COMMIT,), since, COLUMNS):
        coded: Any = coder.code(batch)
        chosen = (coded.kind == _COMMIT) & (coded.path == _PERIODIC) & np.isin(coded.actor, wanted) & (coded.slot >= 0)
        for at in np.flatnonzero(chosen & (coded.time >= since)).tolist():
            slot = int(coded.slot[at])
            found.setdefault((int(coded.actor[at]), names.slots[slot].broker), []).append((slot, int(coded.time[at])))
    return found
