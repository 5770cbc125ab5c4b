"""Claims about recorded runs: the properties of ``properties/``, as far as events can show them.

A claim is judged by one monitor; its code in findings is its position here, and is never stored.
"""

from __future__ import annotations

from collections.abc import Mapping

from .claim import TraceClaim
from .of_groups import OF_GROUPS, OF_TOPICS
from .of_messages import OF_MESSAGES
from .of_queues import OF_QUEUES, OF_REFUSED_PULLS

CLAIMS: tuple[TraceClaim, ...] = (*OF_QUEUES, *OF_MESSAGES, *OF_GROUPS, *OF_REFUSED_PULLS, *OF_TOPICS)
"""All claims."""

CODE: Mapping[str, int] = {claim.id: code for code, claim in enumerate(CLAIMS)}
"""The code of each claim, by id."""


def claim(id: str) -> TraceClaim:
    """The claim with an id; KeyError if there is none."""
    return CLAIMS[CODE[id]]
