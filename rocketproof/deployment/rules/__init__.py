"""All misconfigurations that are looked for, one file for each subject."""

from ..finding import Rule
from . import (
    broadcasting,
    brokers,
    expressions,
    languages,
    listener,
    members,
    orderly,
    queues,
    retry,
    strategies,
)

_SUBJECTS = (
    members,
    expressions,
    languages,
    strategies,
    queues,
    retry,
    orderly,
    listener,
    broadcasting,
    brokers,
)

RULES: tuple[Rule, ...] = tuple(
    rule for subject in _SUBJECTS for rule in vars(subject).values() if isinstance(rule, Rule)
)
"""The rules of all subjects, in the order in which they are written."""

OF_ANY_CLIENT: tuple[Rule, ...] = (expressions.tag_expression, languages.not_judged)
"""Those that also apply to clients which take messages by pop."""

__all__ = ["OF_ANY_CLIENT", "RULES"]
