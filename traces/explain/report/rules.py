"""The glossary of a report: the rules of RocketMQ that claims rest on, from ``docs/rules.md``."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources

_ROW = re.compile(r"^\| ([A-Z]{2}-\d+) \| (.*) \| (.*) \|$", re.MULTILINE)


@dataclass(frozen=True)
class Rule:
    """A rule."""

    id: str  # such as ``RB-30``
    text: str  # what it says; parts in backquotes are names of RocketMQ
    source: str  # where it is in the Java source


@functools.cache
def all_rules() -> Mapping[str, Rule]:
    """Every rule, by id, in the order of the document."""
    text = resources.files(__package__).joinpath("rules.md").read_text(encoding="utf-8")
    return {match[1]: Rule(*match.groups()) for match in _ROW.finditer(text)}


@functools.cache
def rule_texts() -> Mapping[str, tuple[str, str]]:
    """Every rule by id: what it says, and where it is in the Java source."""
    return {rule.id: (rule.text, rule.source) for rule in all_rules().values()}


def glossary(ids: Iterable[str]) -> list[Rule]:
    """The rules of some ids, in the order of the document; an id without a text is left out."""
    wanted = set(ids)
    return [rule for rule in all_rules().values() if rule.id in wanted]
