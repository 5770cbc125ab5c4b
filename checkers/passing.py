"""Runs that pass through given situations, in their order: the most instructive run is not always the shortest."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..model.kernel import BoolLike, ConfigurationError, Machine, State, all_of, any_of, ite, lower, nearest, not_, same
from ..model.kernel.declarations import Action, Variable, always
from ..model.kernel.domains import Int
from ..properties.claim import Claim
from ..properties.property import Kind, Property
from .glossary import WATCHING

PASSED = f"{WATCHING}passed"
"""The variable that counts the situations a run has passed through."""

OWED = f"{WATCHING}owed"
"""The variable that records whether the goal of a property of runs was due before."""

_Awaited = dict[tuple[Any, ...], list[int]]
"""Arguments of an action → the situations to which this step belongs."""


def passing(claim: Claim, situations: Sequence[str], constants: Mapping[str, int | str]) -> Claim:
    """The ``claim``, restricted to runs that have passed through ``situations``, one after the other.

    A situation is a step, worded as in stories, or a part of it: ``c0 dies``. Each must be another step than the one
    before. For a property of states, the deciding state must come with the last situation or later; for a property of
    whole runs, all situations must be somewhere in the run, and the goal may have become due before.

    Args:
        claim: about runs of a machine.
        situations: parts of sentences; upper and lower case are not distinguished.
        constants: where the configuration differs from the defaults.

    Raises:
        ConfigurationError: no step of this configuration is worded like this.
    """
    asked = claim.property
    matching = _matching(claim.machine, situations, constants)
    machine = _counting(claim.machine, len(situations), matching)
    if asked.kind is Kind.EVENTUALLY:
        machine = _owing(machine, asked)
    return replace(claim, property=_after(asked, len(situations)), machine=machine)


def _matching(machine: Machine, situations: Sequence[str], constants: Mapping[str, int | str]) -> dict[str, _Awaited]:
    """For each action that matches a situation: which situation it is with which arguments."""
    configuration = machine.configure(**constants)
    lowered = lower(configuration)
    lowered.require_finite("a run through given situations")
    matching: dict[str, _Awaited] = {}
    for position, situation in enumerate(situations):
        told = re.compile(rf"(?<!\w){re.escape(' '.join(situation.split()))}(?!\w)", re.IGNORECASE)
        found = [instance for instance in lowered.instances if told.search(instance.tells)]
        if not found:
            sentences = dict.fromkeys(instance.tells for instance in lowered.instances)
            raise ConfigurationError(
                f"no step of {configuration.machine.name} is {situation!r}.{nearest(situation, sentences)}"
            )
        for instance in found:
            awaited = matching.setdefault(instance.action.name, {})
            awaited.setdefault(tuple(instance.arguments.values()), []).append(position)
    return matching


def _counting(machine: Machine, number: int, matching: Mapping[str, _Awaited]) -> Machine:
    counter = Variable(name=PASSED, kind=Int(0, number), domains=(), init=0, when=always, doc="")
    actions = dict(machine.actions)
    for name, awaited in matching.items():
        actions[name] = replace(actions[name], function=_noting(actions[name], awaited))
    return replace(machine, variables={**machine.variables, PASSED: counter}, actions=actions)


def _noting(action: Action, awaited: _Awaited) -> Callable[..., None]:
    def text(s: State, **given: Any) -> None:
        action.function(s, **given)
        positions = awaited.get(tuple(given.values()), ())
        passed = getattr(s, PASSED)
        setattr(s, PASSED, ite(any_of(*(same(passed, position) for position in positions)), passed + 1, passed))

    return text


def _owing(machine: Machine, asked: Property) -> Machine:
    """The machine that remembers whether the goal was due before this state, and has not been reached since."""

    def noting(action: Action) -> Callable[..., None]:
        def text(s: State, **given: Any) -> None:
            still = all_of(any_of(getattr(s, OWED), _owes(asked, s)), not_(asked.holds(s)))
            action.function(s, **given)
            setattr(s, OWED, still)

        return text

    owed = Variable(name=OWED, kind=bool, domains=(), init=asked.after is None, when=always, doc="")
    actions = {name: replace(action, function=noting(action)) for name, action in machine.actions.items()}
    return replace(machine, variables={**machine.variables, OWED: owed}, actions=actions)


def _owes(asked: Property, s: State) -> BoolLike:
    return False if asked.after is None else asked.after(s)


def _after(asked: Property, number: int) -> Property:
    """The property, restricted to states after that many situations have been passed."""
    if asked.kind is Kind.SOMETIMES:
        return replace(asked, holds=lambda s: all_of(same(getattr(s, PASSED), number), asked.holds(s)))
    if asked.kind is Kind.EVENTUALLY:
        return replace(
            asked,
            after=lambda s: all_of(same(getattr(s, PASSED), number), any_of(getattr(s, OWED), _owes(asked, s))),
        )
    return replace(asked, holds=lambda s: any_of(getattr(s, PASSED) < number, asked.holds(s)))
