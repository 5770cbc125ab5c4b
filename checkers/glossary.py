"""The words of a story: the variables that it changes and the steps that it takes, with the machine's descriptions."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass

from ..model.kernel import Lowered
from ..model.kernel.lowered import Family
from ..model.kernel.plain import StateTuple

WATCHING = "_"
"""Prefixes of the names of variables that only observe a run; stories do not mention them."""


@dataclass(frozen=True)
class Glossary:
    """What a story names."""

    variables: tuple[tuple[str, str], ...]  # name with its indices → what it is, in the order of the story
    steps: tuple[tuple[str, str], ...]  # sentence → the rule behind it, with its Java source, in the order of the story

    def lines(self) -> list[str]:
        """The glossary, one line per word."""
        return [*_table("names", self.variables), *_table("steps", self.steps)]


def glossary(lowered: Lowered, states: Sequence[StateTuple], taken: Sequence[int]) -> Glossary:
    """The words of a run; ``taken`` holds the number of the instance between each two of the ``states``."""
    variables: dict[str, str] = {}
    steps: dict[str, str] = {}
    for number, before, after in zip(taken, states, states[1:], strict=False):
        instance = lowered.instances[number]
        steps.setdefault(_spoken(instance.action.tells or instance.label), _sentence(instance.action.doc))
        for cell, old, new in zip(lowered.cells, before, after, strict=True):
            if old != new and not cell.family.name.startswith(WATCHING):
                variables.setdefault(_indexed(cell.family), _meaning(cell.family))
    return Glossary(tuple(variables.items()), tuple(steps.items()))


def _indexed(family: Family) -> str:
    return f"{family.name}[{', '.join(dim.label for dim in family.dims)}]" if family.dims else family.name


def _meaning(family: Family) -> str:
    if family.name.endswith("_left") and not family.variable.doc:
        return f"how often it may still happen in this run, see --set {family.name.removesuffix('_left')}=…"
    if family.variable.doc or family.enumeration is None:
        return family.variable.doc
    return _sentence(inspect.getdoc(family.enumeration) or "")


def _spoken(tells: str) -> str:
    """The sentence of an action with its parameters as words: ``{c} dies`` as ``c dies``."""
    return tells.replace("{", "").replace("}", "")


def _sentence(doc: str) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(doc.split("\n\n")[0].split()).replace("``", "")


def _table(title: str, rows: tuple[tuple[str, str], ...]) -> list[str]:
    told = [(name, text) for name, text in rows if text]
    width = max((len(name) for name, _ in told), default=0)
    return [f"{title}:", *(f"    {name:{width}}  {text}" for name, text in told)] if told else []
