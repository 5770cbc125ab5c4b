"""The assignment machine: membership and rebalance of one group on one topic, everything about who owns which queue."""

from __future__ import annotations

from .kernel import Machine
from .membership import membership
from .rebalance import rebalance
from .start_stop import start_stop

assignment = Machine(
    "assignment",
    doc="Who owns which queue: member tables of the brokers, views of the clients, rebalance passes, joins, leaves, "
    "deaths, restarts, route changes.",
).include(membership, start_stop, rebalance)
