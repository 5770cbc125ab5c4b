"""The words in which answers to exercises are written: domains, stages and connectives of the model.

``s.exists(Queue, lambda q: …)``, ``s.forall`` and ``s.count`` range over the queues of a state ``s``;
``s.memory[c, q]`` is what its variable ``memory`` says. ``rocketproof verify … --glossary`` names the variables.
"""

from __future__ import annotations

from ..model.consume_queue import Message, end
from ..model.history import Had
from ..model.kernel import all_of, any_of, implies, ite, maximum, minimum, not_, same
from ..model.membership import Consumer, Life
from ..model.orderly import calls
from ..model.process_queue import Orphan, Stage, held
from ..model.route import Queue

__all__ = [
    "Consumer",
    "Had",
    "Life",
    "Message",
    "Orphan",
    "Queue",
    "Stage",
    "all_of",
    "any_of",
    "calls",
    "end",
    "held",
    "implies",
    "ite",
    "maximum",
    "minimum",
    "not_",
    "same",
]
