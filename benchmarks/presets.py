"""How long each preset takes to exhaust, with everything that is claimed of it, and in how much memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from rocketproof.checkers.explore import explore
from rocketproof.checkers.search.machine_limits import cores
from rocketproof.model.presets import PRESETS
from rocketproof.properties.presets import preset_claims
from rocketproof.properties.verdict import Verdict

SECONDS = {"everything-small": 600}
"""How long a preset may take, where it is not 60 s."""


def measure() -> Iterator[dict[str, Any]]:
    """One figure for each preset: lowering, compiling and searching on one core without any cache; then on all."""
    for preset in PRESETS:
        properties = [claim.property for claim in preset_claims(preset)]
        started = time.perf_counter()
        found = explore(preset.configuration(), properties, idle_actions_allowed=True, threads=1)
        seconds = time.perf_counter() - started
        together = explore(preset.configuration(), properties, idle_actions_allowed=True, threads=cores())
        yield {
            "figure": "a preset, exhausted",
            "preset": preset.name,
            "seconds": round(seconds, 1),
            "target": f"< {SECONDS.get(preset.name, 60)} s",
            "states": found.states,
            "as_documented": found.states == preset.states,
            "transitions": found.transitions,
            "properties": len(properties),
            "holding": sum(result.verdict is Verdict.HOLDS for result in found.results),
            "states_per_second": round(found.states / found.seconds),
            "cores": cores(),
            "times_as_fast_on_all": round(found.seconds / together.seconds, 2),
            "equal": (together.states, together.transitions, together.depth, together.taken)
            == (found.states, found.transitions, found.depth, found.taken),
            "bytes_per_state": round(found.bytes_per_state, 1),
            "memory_mib": round(found.states * found.bytes_per_state / 2**20),
        }
