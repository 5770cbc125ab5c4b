"""Presets: configurations that answer the usual questions, each exhausted by the search in less than a minute.

A preset is a machine with values for its constants, chosen so that the mechanisms within one scope interact. A test
pins the number of states of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .assignment import assignment
from .consumption import consumption
from .everything import everything
from .kernel import Configuration, Machine


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A named configuration."""

    name: str  # what the user calls it
    machine: Machine  # the machine that it configures
    constants: Mapping[str, int | str]  # where it differs from the defaults
    doc: str  # what happens in it, for users
    states: int  # its exact number of states, which the search must find

    def configuration(self) -> Configuration:
        """The machine in this configuration."""
        return self.machine.configure(**self.constants)


PRESETS = (
    Preset(
        name="assignment",
        machine=assignment,
        constants={
            "consumers": 3,
            "running": 2,
            "brokers": 2,
            "leaves": 1,
            "crashes": 1,
            "broker_restarts": 1,
            "cuts": 1,
        },
        doc="Three consumers and two brokers divide four queues, through a join, a leave, a death, a broker restart "
        "and a cut.",
        states=592_200,
    ),
    Preset(
        name="delivery",
        machine=consumption,
        constants={
            "messages": 2,
            "causes": 1,
            "moves": 1,
            "crashes": 1,
            "failures": 1,
            "refusals": 1,
            "orphans": 1,
            "late_commits": 1,
            "lost_commits": 1,
            "broker_restarts": 1,
        },
        doc="Two concurrent consumers, one queue, two messages: a rebalance, a death, a failing listener, a failing "
        "send-back, late and lost commits, a broker that forgets the last commits.",
        states=15_744_918,
    ),
    Preset(
        name="orderly",
        machine=consumption,
        constants={
            "listener": "orderly",
            "client_window": 1,
            "broker_window": 2,
            "call": 1,
            "unlock_delay": 1,
            "messages": 2,
            "failures": 1,
            "moves": 1,
            "crashes": 1,
            "leaves": 1,
            "causes": 1,
            "orphans": 1,
            "forced_unlock": 1,
            "reallocations": 1,
            "lock_losses": 1,
        },
        doc="Two orderly consumers, one queue, two messages, and the broker's lock, with ticks of 30 s: a suspended "
        "batch, a rebalance, a queue given up by force or allocated again meanwhile, a stop, a death, a broker that "
        "forgets its locks.",
        states=4_302_411,
    ),
    Preset(
        name="retry",
        machine=consumption,
        constants={
            "queues": 2,
            "messages": 3,
            "retry_room": 2,
            "copies": 3,
            "failures": 3,
            "attempts": 1,
            "moves": 1,
            "crashes": 1,
            "orphans": 1,
            "refused": 1,
            "lost_replies": 1,
            "watch_retries": 1,
        },
        doc="Two concurrent consumers, one message and its retries up to the dead letter: a rebalance, a death, a "
        "send-back that is refused, one whose answer is lost.",
        states=7_489_648,
    ),
    Preset(
        name="broadcast",
        machine=consumption,
        constants={
            "mode": "broadcasting",
            "messages": 2,
            "watch_clients": 1,
            "failures": 1,
            "crashes": 1,
            "torn_writes": 1,
            "restarts": 1,
            "leaves": 1,
            "moves": 1,
            "orphans": 1,
        },
        doc="Two broadcasting clients with an offset file each: a failing listener, a queue that is dropped and taken "
        "again, a stop, a death, a death in the middle of a write, and a restart.",
        states=8_915_284,
    ),
    Preset(
        name="everything-small",
        machine=everything,
        constants={
            "consumers": 2,
            "running": 0,
            "brokers": 1,
            "queues": 2,
            "messages": 2,
            "retry_room": 1,
            "copies": 2,
            "failures": 2,
            "attempts": 1,
            "crashes": 1,
            "broker_restarts": 1,
            "lost_replies": 1,
            "orphans": 1,
            "causes": 1,
        },
        doc="Two clients join with real heartbeats and rebalance, and consume one message and its retries up to the "
        "dead letter: a death, a broker restart, failing listeners, a lost answer to a send-back.",
        states=115_822_499,
    ),
)
"""All presets, smallest scope first."""
