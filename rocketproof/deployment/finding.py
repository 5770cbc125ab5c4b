"""Findings: known mistakes in a deployment, with the consequence and the fix."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..output.row import Severity
from .description import Description
from .facts import GroupFacts
from .lines import Path


@dataclass(frozen=True)
class Finding:
    """A mistake in a deployment."""

    path: Path  # the part of the file that it is about
    text: str  # what is wrong and what follows from it, with the names and numbers of the file
    fix: str  # what to do
    severity: Severity | None = None  # how bad it is; None for the usual severity of its rule


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A mistake to look for."""

    id: str  # short id; for a known mistake, its id in the list of known bugs
    name: str  # short name with dashes
    statement: str  # what should be, in a sentence
    severity: Severity  # how bad the mistake usually is
    rules: tuple[str, ...]  # rules of RocketMQ on which it rests
    # finds it in a group; None for a rule about topics and brokers
    look: Callable[[GroupFacts], Iterator[Finding]] | None = None
    look_around: Callable[[Description], Iterator[Finding]] | None = None  # finds it in topics and brokers

    @property
    def key(self) -> str:
        """Id and name, as in tests and reports."""
        return f"{self.id}-{self.name}"


def group_rule(
    id: str, name: str, severity: Severity, *rules: str
) -> Callable[[Callable[[GroupFacts], Iterator[Finding]]], Rule]:
    """Make a rule about a group from the function that looks for the mistake; its docstring begins with it."""

    def decorate(look: Callable[[GroupFacts], Iterator[Finding]]) -> Rule:
        return Rule(id=id, name=name, statement=_statement(look), severity=severity, rules=rules, look=look)

    return decorate


def cluster_rule(
    id: str, name: str, severity: Severity, *rules: str
) -> Callable[[Callable[[Description], Iterator[Finding]]], Rule]:
    """Make a rule about topics and brokers, as :func:`group_rule` does about a group."""

    def decorate(look: Callable[[Description], Iterator[Finding]]) -> Rule:
        return Rule(id=id, name=name, statement=_statement(look), severity=severity, rules=rules, look_around=look)

    return decorate


def _statement(look: Callable[..., object]) -> str:
    return (inspect.getdoc(look) or "").partition("\n\n")[0]


def duplicates(facts: GroupFacts) -> Severity:
    """How bad a repeated delivery is: an error for a listener that cannot tolerate one."""
    return Severity.ERROR if facts.any("idempotent", False) else Severity.NOTE
