"""The recorder: any run of a machine, be it random or a counterexample, becomes a trace.

So what the machine knows of a run, and what monitors find in its trace, can be compared. :func:`record_run` is the
door; ``actions`` lists who records which action, one file for each concept.
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
