"""Reductions: searches that leave out states which no verdict depends on.

``symmetry`` keeps one of all the states that differ by an exchange of interchangeable elements; ``equivariance`` proves
for each text that they are interchangeable. ``partial_order`` takes, of steps that do not influence each other, only
those that can decide a property; ``conditions`` says what is false in a state, and ``dependence`` which steps could
change that, and which steps disturb each other.
"""

import enum


class Reduction(enum.Flag):
    """Which reductions a search uses; ``Reduction.SYMMETRY | Reduction.PARTIAL_ORDER`` means both."""

    NONE = 0
    SYMMETRY = enum.auto()
    PARTIAL_ORDER = enum.auto()

    def __str__(self) -> str:
        return " and ".join(item.name.lower().replace("_", "-") for item in Reduction if item in self and item.name)
