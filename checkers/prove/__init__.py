"""Prove: properties for all runs by Z3, through induction or up to a printed depth.

Reading order: ``methods`` (the entry points), ``problem`` (claims and answers), ``transition`` (a machine as formulas),
``induction`` and ``bounded_search`` (the two ways), ``witness`` (from a solver's model to a replayed run), ``solving``
(solvers and their limits).
"""

from .methods import bounded, k_induction, prove, prove_inductive, prove_together
from .solving import WORK

__all__ = ["WORK", "bounded", "k_induction", "prove", "prove_inductive", "prove_together"]
