"""The settings of a check, and what a recording contains, in the form that compiled folds read."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...machine_code.compiled import constant
from ..claims.settings import IDLE_LIMIT, Settings
from ..clocks.order import Order
from ..engine.context import Context
from ..format.coverage import EVIDENCE_BIT, evidence_mask
from ..format.kinds import BROKER_RUNS, Kind

NEVER = constant(-(2**60))
"""The time of something that has not happened."""

QUERY_LIMIT = 5_000
"""OF-3: how long a client waits for the answer to its offset query, ms."""

SHORTEST_TIMEOUT = 60_000
"""PQ-9: ``consumeTimeout`` counts whole minutes, and a client whose timeout is 0 does not start; ms."""

_FROM_SETTINGS = ("rounds", "stuck", "flaps", "silent_death", "offsets_kept", "lock_life", "late", "persist", "skew")

TERMS = np.dtype(
    [
        *((name, np.int64) for name in _FROM_SETTINGS),
        ("widest", np.int64),  # how far any two clocks may be apart, ms
        ("short", np.int64),  # for how long before a queue is taken its start position may have been asked for, ms
        ("heartbeat_limit", np.int64),  # how long pulls may be refused, ms
        ("timeout", np.int64),  # how long a listener may run at least, ms; NEVER if nothing is stated
        ("idle", np.int64),  # how long a queue may not be pulled before it is dropped, ms
        ("begin", np.int64),  # of the recording, ms
        ("end", np.int64),
        ("step", np.int64),  # at most once in this time, the stored offset of a queue is told, ms
        ("complete", np.bool_),  # whether the recording begins with the first event of its groups
        ("lock_life_told", np.bool_),  # whether the life of a lock is stated
        ("levels_told", np.bool_),  # whether the delays of the levels are stated for these brokers
        ("leaving", np.bool_),  # whether what leaves a window is recorded
        ("restarts", np.bool_),  # whether any start, end or change of role of a broker is
        *((kind.value, np.bool_) for kind in Kind),  # whether the kind is
    ]
)
"""The settings of a check, and what was recorded."""


def terms_of(settings: Settings, context: Context) -> Any:
    """The settings of a check of a recording: one entry of :data:`TERMS`."""
    evidence = context.evidence
    terms = np.zeros(1, TERMS)
    for name in (*_FROM_SETTINGS, "lock_life_told"):
        terms[name] = getattr(settings, name)
    for kind in Kind:
        terms[kind.value] = bool(evidence & EVIDENCE_BIT[kind])
    terms["widest"] = Order(context.clocks, settings.skew).widest
    # Without the query, a start position may be older than what is stored when the queue is taken.
    terms["short"] = terms["widest"] if terms[Kind.OFFSET_QUERY.value] else max(terms["widest"][0], QUERY_LIMIT)
    terms["heartbeat_limit"] = settings.refusals
    terms["timeout"] = min(settings.consume_timeout, SHORTEST_TIMEOUT) if settings.consume_timeout_told else NEVER
    terms["idle"] = min(settings.stuck, IDLE_LIMIT)
    terms["begin"], terms["end"], terms["complete"] = context.begin, context.end, context.complete
    terms["step"] = max(1, (context.end - context.begin) // 1000)
    terms["levels_told"] = settings.delays_told
    leaving = evidence_mask((Kind.DELIVER, Kind.RESULT, Kind.REMOVED))
    terms["leaving"] = evidence & leaving == leaving
    terms["restarts"] = bool(evidence & evidence_mask(BROKER_RUNS))
    return terms
