"""The engines by name, so that an engine is loaded only if it is used."""

from __future__ import annotations

EXPLORE = "explore"
PROVE = "prove"
SIMULATE = "simulate"
STATEFUL = "stateful"
LIVENESS = "liveness"
GROUPS = "groups"
REFINE = "refine"
SPARK = "spark"
STRATEGIES = "strategies"

ENGINES = (EXPLORE, PROVE, SIMULATE, STATEFUL, LIVENESS, GROUPS, REFINE, SPARK)
"""Names of the engines that can be selected."""
