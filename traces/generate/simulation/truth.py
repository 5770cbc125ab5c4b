"""Truth: what was injected into a simulated trace, and what the trace must therefore show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ....model.history import Cause, Regression
from ...format.message_status import MessageStatus
from ...format.schema import ABSENT, origin_of
from .catalogue import MUTANTS, PLACE, Bug, Claim
from .cluster import Cluster
from .rows import key_of
from .tables import GROUP
from .world import DECREASED, DIED, FACT, FACTS, GIVEN_UP, HANGS, JUMPED, VIOLATION

TRUTH = pa.schema(
    [
        pa.field("what", pa.string()),
        pa.field("mutant", pa.string()),
        pa.field("claim", pa.string()),
        pa.field("cause", pa.string()),
        pa.field("group", pa.string()),
        pa.field("topic", pa.string()),
        pa.field("broker", pa.string()),
        pa.field("queue", pa.int32()),
        pa.field("client", pa.string()),
        pa.field("incarnation", pa.int32()),
        pa.field("offset", pa.int64()),
        pa.field("until", pa.int64()),
        pa.field("origin", pa.int64()),
        pa.field("attempt", pa.int32()),
        pa.field("time", pa.int64()),
    ]
)
"""Form of the truth file: one row for each fact, with null for fields that the fact does not have.

``what`` is one of ``world.FACTS``; ``cause`` is a name of Cause, of Regression if the stored offset decreased, or of
MessageStatus if the row says what became of a message. ``until`` is the end of a range of offsets if there is an
offset, otherwise a time.
"""

_STATUS = len(FACTS) - 1


def truth_of(cluster: Cluster, facts: Any) -> pa.Table:
    """Facts of a run as a table, in the order in which they arose, followed by the statuses of messages."""
    # A decrease without an explanation is what one claim forbids.
    unexplained = (facts["what"] == DECREASED) & (facts["cause"] == Regression.UNEXPLAINED)
    facts["what"][unexplained] = VIOLATION
    facts["claim"][unexplained] = PLACE[Claim.BACK]
    facts = np.concatenate([facts, _statuses(cluster, facts)])
    what, start = facts["what"], cluster.plan.start
    violated = what == VIOLATION
    queues, processes = cluster.queues, cluster.world.processes
    clients = np.append(processes["client"], -1)[facts["process"]]
    causes = np.where(violated, 0, facts["cause"])
    cause = np.where(
        what == DECREASED,
        _words([str(why.name) for why in Regression], np.where(what == DECREASED, causes, 0)),
        _words([str(why.name) for why in Cause], np.where(what == _STATUS, 0, causes)),
    )
    cause[causes == 0] = None
    status = what == _STATUS
    cause[status] = _words([str(one.name) for one in MessageStatus], facts["cause"][status])
    origins = np.where(facts["origin"] == ABSENT, 0, facts["origin"])
    if cluster.plan.keys:
        of_key = {int(origin): origin_of(key_of(int(origin))) for origin in np.unique(origins) if origin}
        origins = np.array([of_key.get(int(origin), 0) for origin in origins], np.int64)
    offset, until = facts["offset"], facts["until"]
    is_time = (offset < 0) & (until >= 0)
    return pa.table(
        [
            pa.array(_words(FACTS, what)),
            pa.array(_words([cluster.plan.mutant], np.where(violated, 0, -1)), pa.string()),
            pa.array(_words(map(str, Claim), facts["claim"]), pa.string()),
            pa.array(cause, pa.string()),
            pa.array(np.full(len(facts), GROUP, object), pa.string()),
            pa.array(_words([queue.topic for queue in queues], facts["queue"]), pa.string()),
            pa.array(_words([queue.broker_name for queue in queues], facts["queue"]), pa.string()),
            _whole(np.array([*(queue.queue_id for queue in queues), -1])[facts["queue"]], pa.int32()),
            pa.array(_words(cluster.clients, clients), pa.string()),
            _whole(np.append(processes["incarnation"], -1)[facts["process"]], pa.int32()),
            _whole(offset, pa.int64()),
            _whole(np.where(is_time, until + start, until), pa.int64()),
            pa.array(origins, mask=origins == 0),
            pa.array(facts["attempt"], pa.int32()),
            pa.array(facts["time"] + start),
        ],
        schema=TRUTH,
    )


def _statuses(cluster: Cluster, facts: Any) -> Any:
    """What became of messages that were not simply acknowledged, one row for a message or a range of offsets."""
    mutant = MUTANTS[cluster.plan.mutant].code if cluster.plan.mutant else 0
    what, claim = facts["what"], facts["claim"]
    violated = what == VIOLATION
    found = [
        _status(facts[what == DIED], MessageStatus.DEAD_LETTERED),
        _status(facts[what == JUMPED], MessageStatus.SKIPPED),
        _status(facts[what == GIVEN_UP], MessageStatus.DROPPED),
        _status(facts[what == HANGS], MessageStatus.IN_LISTENER),
        _status(facts[violated & (claim == PLACE[Claim.LATE])], MessageStatus.PENDING_RETRY),
    ]
    if mutant in (Bug.D1, Bug.E6):
        found.append(_status(facts[violated & (claim == PLACE[Claim.FAILED])], MessageStatus.LOST))
    for (_, queue), c in cluster.cells():
        cell, end = cluster.world.cells[c], int(cluster.world.queues[queue]["end"])
        if mutant and cell["reached"] < end and not cluster.plan.filtered_rate:
            waiting = np.zeros(1, FACT)
            waiting["process"] = -1
            waiting["queue"], waiting["offset"], waiting["until"] = queue, cell["reached"], end
            waiting["time"] = cluster.now
            found.append(_status(waiting, MessageStatus.FILTERED if mutant == Bug.B8 else MessageStatus.WAITING))
    return np.concatenate(found)


def _status(facts: Any, status: MessageStatus) -> Any:
    statuses = facts.copy()
    statuses["what"] = _STATUS
    statuses["claim"] = -1
    statuses["cause"] = status
    return statuses


def _words(words: Any, codes: Any) -> Any:
    """The words of codes; None for -1."""
    return np.array([*words, None], object)[codes]


def _whole(values: Any, type_: pa.DataType) -> pa.Array:
    return pa.array(values, type_, mask=values < 0)
