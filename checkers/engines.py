"""The engines by name, so that an engine is loaded only if it is used."""

from __future__ import annotations

from ..properties.property import Kind

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

OF_RUNS = (Kind.EVENTUALLY, Kind.SETTLES)
"""Kinds of properties about whole runs; the others are about states."""
