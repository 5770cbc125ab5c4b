"""Presets: each can be configured, and has exactly as many states as it says."""

import pytest

from rocketproof.checkers.explore import explore
from rocketproof.model.kernel import lower
from rocketproof.model.presets import PRESETS, Preset

NAMES = ["assignment", "delivery", "orderly", "retry", "broadcast", "everything-small"]
TOO_LARGE_HERE = "everything-small"


def test_the_presets_are_known_by_these_names() -> None:
    assert [preset.name for preset in PRESETS] == NAMES


@pytest.mark.parametrize("preset", PRESETS, ids=NAMES)
def test_a_preset_can_be_traced(preset: Preset) -> None:
    lowered = lower(preset.configuration())
    assert len(lowered.instances) > len(preset.configuration().actions()) // 2


@pytest.mark.slow
@pytest.mark.parametrize("preset", [item for item in PRESETS if item.name != TOO_LARGE_HERE], ids=NAMES[:-1])
def test_a_preset_has_as_many_states_as_it_says(preset: Preset) -> None:
    found = explore(preset.configuration(), idle_actions_allowed=True)
    assert (found.complete, found.states) == (True, preset.states)
