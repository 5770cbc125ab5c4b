"""Simulation: traces of any size whose truth is known, of a correct cluster or of one with a known bug.

Reading order: ``plan`` (what can be configured), ``run`` (from the plan to the files), ``tables`` (the tables of the
world), ``cluster`` (processes and how they share queues), ``world``, ``loop``, ``window`` and ``broker`` (what happens
by itself), ``outside`` (what is done to it), ``catalogue`` and ``intruder`` (known bugs), ``truth``.
"""

from .catalogue import MUTANTS, Mutant
from .plan import Plan
from .run import Summary, simulate

__all__ = ["MUTANTS", "Mutant", "Plan", "Summary", "simulate"]
