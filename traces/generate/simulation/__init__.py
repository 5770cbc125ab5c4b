"""Simulation: traces of any size whose truth is known, of a correct cluster or of one with a known bug.

Reading order: ``plan`` (what can be asked for), ``run`` (from the plan to the files), ``tables`` (what there is),
``cluster`` (processes and how they share queues), ``world``, ``loop``, ``window`` and ``broker`` (what happens by
itself), ``outside`` (what happens to it), ``catalogue`` and ``intruder`` (known bugs), ``truth``.
"""

from .catalogue import MUTANTS, Mutant
from .plan import Plan
from .run import Summary, simulate

__all__ = ["MUTANTS", "Mutant", "Plan", "Summary", "simulate"]
