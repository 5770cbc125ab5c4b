"""Replicas: recordings of slaves, which have the name of their master's broker, and tables of their own.

While the master is away, clients send their offsets to a slave, and go on so until they learn otherwise; the slave
takes over its master's table again, and what was sent to it is gone (OF-4, OF-23). So the offsets of a queue are those
of the master alone. Of two recordings of a broker at one time, that of the slave is the one in which nobody stores
messages.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from ..format.kinds import Kind
from ..format.schema import ARROW, slave_of
from .recording import Recording

ONLY_A_SLAVE = "commits that only a slave took, whose master's table counts"

_STORES = (Kind.STORE, Kind.DELAY_STORE, Kind.DELAY_DELIVER, Kind.DEAD_LETTER)
_TOGETHER = 1_000_000
"""A broker that is started anew may write its first event before the last one of the process before it, µs."""


def replicas_named(recordings: Sequence[Recording]) -> list[Recording]:
    """The recordings, those of slaves with a name of their own in place of their broker's."""
    return [_renamed(one) if _is_slave(one, recordings) else one for one in recordings]


def _is_slave(recording: Recording, recordings: Sequence[Recording]) -> bool:
    """Whether another one of its broker, which stores messages, ran at the same time, and it stores none."""
    if not recording.broker or len(recording.rows(_STORES)):
        return False
    first, last = int(recording.stamps.min()), int(recording.stamps.max())
    return any(
        other is not recording
        and other.broker == recording.broker
        and min(last, int(other.stamps.max())) - max(first, int(other.stamps.min())) > _TOGETHER
        and len(other.rows(_STORES)) > 0
        for other in recordings
    )


def _renamed(recording: Recording) -> Recording:
    names = pa.array([slave_of(recording.broker)] * len(recording), pa.string()).dictionary_encode()
    table = recording.table.set_column(ARROW.get_field_index("broker"), ARROW.field("broker"), names)
    return Recording(
        file=recording.file,
        table=table,
        stamps=recording.stamps,
        set_back=recording.set_back,
        source=recording.source,
        counted=recording.counted,
        of_slave=True,
    )
