"""What is known of processes: when and how they ended."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rocketproof.traces.engine.context import CRASHED, STOPPED, ended_between

ENDS = [(1, 10, STOPPED), (1, 30, CRASHED), (3, 20, STOPPED)]
"""Process, when, and how, in their order."""


@pytest.mark.parametrize(
    ("actor", "since", "until", "how"),
    [
        (1, 0, 10, STOPPED),
        (1, 0, 9, 0),
        (1, 10, 29, STOPPED),
        (1, 11, 29, 0),
        (1, 0, 100, CRASHED),
        (0, 0, 100, 0),
        (2, 0, 100, 0),
        (3, 20, 20, STOPPED),
        (4, 0, 100, 0),
    ],
)
def test_how_a_process_last_ended_within_a_time(actor: int, since: int, until: int, how: int) -> None:
    actors, times, hows = (np.array(column) for column in zip(*ENDS, strict=True))
    text: Any = ended_between
    assert text.py_func(actors, times, hows, actor, since, until) == how
