"""The search on Spark of a preset, with all that is claimed of it, counts what the one in memory does.

Larger ones were compared by hand, see docs/command-line.md.
"""

from __future__ import annotations

from typing import Any

import pytest

from rocketproof.checkers.explore import explore
from rocketproof.model.presets import PRESETS
from rocketproof.properties.presets import preset_claims

from ...spark.conftest import spark
from .test_spark_search import compared

__all__ = ["spark"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["assignment"])
def test_a_preset_has_equal_counts(spark: Any, name: str) -> None:
    (preset,) = (one for one in PRESETS if one.name == name)
    properties = [claim.property for claim in preset_claims(preset)]
    found = explore(preset.configuration(), properties, idle_actions_allowed=True, session=spark)
    assert found.states == preset.states
    assert compared(found) == compared(explore(preset.configuration(), properties, idle_actions_allowed=True))
