"""Liveness: what must happen sooner or later, on every fair run of a finite configuration.

Reading order: ``eventually`` (the verdicts), ``lasso`` (fair runs that never end), ``fair_components`` (in which they
can go on for ever), ``components`` (strongly connected ones), ``graph`` (the reachable states as arrays).
"""

from .eventually import check_all_eventually, check_eventually, require_counterexample, violating_lasso

__all__ = ["check_all_eventually", "check_eventually", "require_counterexample", "violating_lasso"]
