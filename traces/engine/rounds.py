"""Rounds in which clients store the offsets of their queues, all of them at once.

One timer of a client sends the offsets of all its queues to their brokers (``RemoteBrokerOffsetStore#persistAll``). The
fold by queue sees only one queue, and suspects those whose offset is not stored for some rounds. Whether the client
stored those of other queues at the same broker meanwhile is checked here, for the few suspects, in one more pass over
the trace.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    others: dict[int, list[Any]] = {at: [] for at in suspects.tolist()}
    for slots, actors, times in _sent(trace, names, rows[suspects]):
        for at, found in others.items():
            row = rows[at]
            broker = names.slots[row["slot"]].broker
            beside = [slot for slot in np.unique(slots) if slot != row["slot"] and names.slots[slot].broker == broker]
            chosen = (actors == row["actor"]) & np.isin(slots, beside)
            found.append(times[chosen & (times > row["since"] + apart) & (times < row["time"] - apart)])
    pause = settings.persist // 2
    return outcome.without([at for at, found in others.items() if _rounds(found, pause) < _ROUNDS])


def _rounds(times: list[Any], pause: int) -> int:
    """How many rounds there are, with such pauses at least between them."""
    together = np.sort(np.concatenate(times)) if times else np.empty(0, np.int64)
    return int(len(together) > 0) + int((np.diff(together) > pause).sum())


def _sent(trace: Recorded, names: Names, suspects: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Queues, clients and times of the offsets that suspected clients stored periodically meanwhile."""
    coder, actors = Coder(names), np.unique(suspects["actor"])
    since, until = int(suspects["since"].min()), int(suspects["time"].max())
    clients = {names.actors[actor].name for actor in actors.tolist()}
    for batch in trace.events_of(clients, (Kind.COMMIT,), since, COLUMNS):
        coded: Any = coder.code(batch)
        chosen = (coded.kind == _COMMIT) & (coded.path == _PERIODIC) & np.isin(coded.actor, actors)
        chosen &= (coded.slot >= 0) & (coded.time >= since) & (coded.time <= until)
        yield coded.slot[chosen], coded.actor[chosen], coded.time[chosen]
