"""The engines by name, so that an engine is loaded only if it is used."""

from __future__ import annotations

from collections.abc import Iterable

from ..model.kernel import ModelError
from ..properties.property import Kind, Property

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


def require_kinds(engine: str, properties: Iterable[Property], *kinds: Kind) -> None:
    """Check that an engine judges all of these properties.

    Raises:
        ModelError: one is of another kind.
    """
    for item in properties:
        if item.kind not in kinds:
            possible = " and ".join(f"'{kind}'" for kind in kinds)
            raise ModelError(f"property {item.id} is of kind {item.kind}; {engine} judges {possible} only.")
