"""Small classical machines: examples of how to write one, and the common test bed of all engines.

The docstring of each module says what holds; the catalogue here gives the exact sizes. The properties that docstrings
name are in ``properties/examples.py``, with their expected verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..kernel import Configuration, Machine
from . import bounded_buffer, dining_philosophers, peterson, two_phase_commit


@dataclass(frozen=True, kw_only=True)
class Sized:
    """A configuration of an example with its exact size."""

    configuration: Configuration
    states: int  # number of reachable states
    transitions: int  # number of pairs of a reachable state and an action instance enabled there
    depth: int  # number of steps to the farthest state
    stuck: int  # number of reachable states where nothing can happen


@dataclass(frozen=True)
class Example:
    """A machine and the configurations of it whose size is known, by short name."""

    machine: Machine
    configurations: Mapping[str, Sized]


def _sized(
    machine: Machine, *, states: int, transitions: int, depth: int, stuck: int = 0, **constants: int | str
) -> Sized:
    configuration = machine.configure(**constants)
    return Sized(configuration=configuration, states=states, transitions=transitions, depth=depth, stuck=stuck)


def _two_phase_commit() -> Example:
    machine = two_phase_commit.machine
    return Example(
        machine,
        {
            "one": _sized(machine, managers=1, states=12, transitions=19, depth=4),
            "two": _sized(machine, managers=2, states=56, transitions=153, depth=7),
            "three": _sized(machine, managers=3, states=288, transitions=1145, depth=10),
            "five": _sized(machine, managers=5, states=8832, transitions=58145, depth=16),
            "impatient": _sized(machine, managers=3, impatient=1, states=459, transitions=2276, depth=10),
        },
    )


def _peterson() -> Example:
    machine = peterson.machine
    return Example(
        machine,
        {
            "right": _sized(machine, order="flag_first", states=20, transitions=34, depth=6),
            "swapped": _sized(machine, order="turn_first", states=32, transitions=60, depth=7),
        },
    )


def _dining_philosophers() -> Example:
    machine = dining_philosophers.machine
    turned = "last_reversed"
    return Example(
        machine,
        {
            "two": _sized(machine, philosophers=2, states=13, transitions=22, depth=4, stuck=1),
            "three": _sized(machine, philosophers=3, states=45, transitions=111, depth=6, stuck=1),
            "three-reversed": _sized(machine, philosophers=3, order=turned, states=42, transitions=103, depth=6),
            "five": _sized(machine, philosophers=5, states=573, transitions=2365, depth=10, stuck=1),
            "five-reversed": _sized(machine, philosophers=5, order=turned, states=534, transitions=2195, depth=10),
        },
    )


def _bounded_buffer() -> Example:
    machine = bounded_buffer.machine
    both: dict[str, int | str] = {"when_full": "overwrite", "average": "kept"}
    return Example(
        machine,
        {
            "small": _sized(machine, states=12, transitions=14, depth=8, stuck=1),
            "long": _sized(machine, slots=3, goods=7, states=26, transitions=36, depth=14, stuck=1),
            "losing": _sized(machine, losses=1, states=37, transitions=53, depth=9, stuck=3),
            "overwriting": _sized(machine, when_full="overwrite", states=15, transitions=20, depth=6, stuck=1),
            "everything": _sized(
                machine, **both, slots=3, goods=6, losses=2, states=616, transitions=1090, depth=14, stuck=76
            ),
        },
    )


EXAMPLES: Mapping[str, Example] = {
    example.machine.name: example
    for example in (_two_phase_commit(), _peterson(), _dining_philosophers(), _bounded_buffer())
}
"""Every example by the name of its machine."""
