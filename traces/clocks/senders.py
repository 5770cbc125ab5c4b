"""Senders: clients that stamp their commits themselves, although brokers were recorded.

A commit is by its broker's clock if that broker was recorded, unless the event names a recorder that recorded what
only clients do: a client wrote down what it sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from ..format.kinds import OF_BROKERS, Kind
from .view import words_of

_OF_ANYONE = (Kind.COMMIT, Kind.RESET, Kind.GAP)
"""Clients and brokers record these."""


@dataclass
class Senders:
    """Recorders by what they recorded, as far as events name them.

    Attributes:
        clients: recorders of what only clients record; ``brokers``: of what only brokers record.
        commits: clients of commits, each with the recorder that a commit names; "" if one names none.
    """

    clients: set[str] = field(default_factory=set)
    brokers: set[str] = field(default_factory=set)
    commits: set[tuple[str, str]] = field(default_factory=set)

    def see(self, batch: pa.RecordBatch) -> None:
        """Take in events."""
        if "recorder" not in batch.schema.names or batch.column("recorder").null_count == len(batch):
            return
        (kind, kinds), (at, names), (client, clients) = (words_of(batch, it) for it in ("kind", "recorder", "client"))
        for pair in np.flatnonzero(np.bincount(kind * len(names) + at)).tolist():
            word, name = kinds[pair // len(names)], names[pair % len(names)]
            if name and word in OF_BROKERS:
                self.brokers.add(name)
            elif name and word and word not in _OF_ANYONE:
                self.clients.add(name)
        sent = np.flatnonzero(np.array([word == Kind.COMMIT for word in kinds])[kind])
        for pair in np.unique(client[sent].astype(np.int64) * len(names) + at[sent]).tolist():
            self.commits.add((clients[pair // len(names)], names[pair % len(names)]))

    def join(self, later: Senders) -> None:
        """Take in what others have seen."""
        self.clients |= later.clients
        self.brokers |= later.brokers
        self.commits |= later.commits

    def carried(self) -> dict[str, Any]:
        """What was seen, as a value that JSON can express."""
        return {"of_clients": sorted(self.clients), "of_brokers": sorted(self.brokers), "commits": sorted(self.commits)}

    @classmethod
    def carrying(cls, said: Mapping[str, Any]) -> Senders:
        """An object restored from the result of :meth:`carried`."""
        commits = {(client, name) for client, name in said["commits"]}
        return cls(clients=set(said["of_clients"]), brokers=set(said["of_brokers"]), commits=commits)

    def ids(self) -> frozenset[str]:
        """The ids of clients that stamp all their commits themselves."""
        own = self.clients - self.brokers
        told = {client for client, name in self.commits if name in own}
        return frozenset(told - {client for client, name in self.commits if name not in own} - {""})
