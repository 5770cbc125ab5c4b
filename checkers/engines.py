"""The engines by name, so that those which are not asked need not be loaded."""

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
"""Those that can be asked for."""
