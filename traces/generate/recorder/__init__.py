"""The recorder: any run of a machine, random or a counterexample, becomes a trace.

What the machine knows about a run can thus be compared with what monitors find in its trace. :func:`record_run` is the
entry point; ``actions`` lists which function records which action, with one file for each concept.
"""

from __future__ import annotations

from .actions import ACTIONS, UNSEEN
from .pace import Pace
from .run import Recording, Run, evidence_of, header_of, record_run
from .truth import Decrease, Repeat, Truth

__all__ = [
    "ACTIONS",
    "UNSEEN",
    "Decrease",
    "Pace",
    "Recording",
    "Repeat",
    "Run",
    "Truth",
    "evidence_of",
    "header_of",
    "record_run",
]
