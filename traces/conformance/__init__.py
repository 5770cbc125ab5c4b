"""Conformance: recorded events must be a behaviour of the model, event by event.

:func:`conform` is the entry point. ``streams`` sorts a trace by queue, ``machine`` makes the machine of a queue,
``behaviour`` takes its steps, ``follow`` goes through the events, ``words`` describes the state at a mismatch. The
functions that follow events are in one file for each concept, as in the recorder, which does the opposite. ``rules`` is
about what concerns several queues.
"""

from __future__ import annotations

from .conform import SLACK, conform
from .result import Conformance, Mismatch

__all__ = ["SLACK", "Conformance", "Mismatch", "conform"]
