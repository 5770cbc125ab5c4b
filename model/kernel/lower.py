"""Lowering a configuration: its texts run once with symbolic state, and the Z3 terms they build are collected."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeAlias

import z3

from .beginning import need_declared_beginning
from .declarations import Action
from .domains import Domain, Elements
from .errors import ModelError
from .frame import Frame
from .lowered import CellKey, Instance, Lowered, LoweredPredicate
from .lowering import Lowering
from .machine import Configuration
from .state import State
from .terms import BoolLike, Term, all_of, as_bool

Predicate: TypeAlias = Callable[[Any], BoolLike]
"""A text about one state."""


def lower(configuration: Configuration, predicates: Mapping[str, Predicate] | None = None) -> Lowered:
    """Lower all actions of ``configuration``, and the named ``predicates``, to Z3 terms.

    Raises:
        ModelError: the machine is written wrongly; the message names action, variable and value.
        ConfigurationError: the constants contradict each other (an empty range, for instance).
    """
    frame = Frame(configuration)
    lowering = Lowering(frame)
    instances = list(_lower_actions(lowering))
    need_declared_beginning(frame, instances)
    lowered = {name: lower_predicate(lowering, name, text) for name, text in (predicates or {}).items()}
    return Lowered(configuration, tuple(frame.cells.values()), tuple(instances), lowered, tuple(frame.assumptions))


def readable(configuration: Configuration, predicates: Mapping[str, Predicate]) -> set[str]:
    """Names of the ``predicates`` that apply to this configuration: everything that they read exists in it."""
    lowering = Lowering(Frame(configuration))
    names = set()
    for name, text in predicates.items():
        try:
            lower_predicate(lowering, name, text)
        except ModelError:
            continue
        names.add(name)
    return names


def _lower_actions(lowering: Lowering) -> Iterator[Instance]:
    frame = lowering.frame
    count = itertools.count()
    for action in frame.configuration.machine.actions.values():
        if not exists(frame, action):
            continue
        found = False
        for instance in lower_action(lowering, action):
            found = True
            yield replace(instance, number=next(count))
        # A mutant may make an action impossible; this is noticed by a property about whole runs.
        if not found and not frame.configuration.machine.mutation:
            raise ModelError(
                f"machine {frame.configuration.machine.name}, action {action.name}: its guard is false for every "
                f"parameter in {frame.configuration}; mend the guard, or switch the action off with when=…."
            )


def exists(frame: Frame, action: Action) -> bool:
    """Whether an action exists in a configuration, and can happen at all."""
    return bool(action.when(frame.constants)) and not (action.budget and frame.constants[action.budget] == 0)


def lower_action(lowering: Lowering, action: Action) -> Iterator[Instance]:
    """The instances of one action whose guards are not constantly false, all of them numbered 0."""
    numbers: dict[CellKey, int] = {cell.key: number for number, cell in enumerate(lowering.frame.cells.values())}
    for arguments, choice in _choices(lowering, action):
        instance = _lower_instance(lowering, action, arguments, choice, numbers)
        if instance is not None:
            yield instance


def lower_predicate(lowering: Lowering, name: str, text: Predicate) -> LoweredPredicate:
    """One property of states."""
    recording = lowering.record(f"property {name}", read_only=True)
    with _saying_where(lowering):
        term = as_bool(text(State(lowering)))
    return LoweredPredicate(name, term, text, tuple(recording.symbols), tuple(recording.definitions))


def _choices(lowering: Lowering, action: Action) -> Iterator[tuple[dict[str, Any], tuple[Any, ...]]]:
    kinds: list[Any] = []
    values: list[Any] = []
    for kind in action.parameters.values():
        if issubclass(kind, Domain):
            elements = lowering.frame.elements(kind)
            kinds.append(elements)
            values.append(range(elements.size) if elements.bounded else (None,))
        else:
            kinds.append(kind)
            values.append((False, True) if kind is bool else list(kind))
    for choice in itertools.product(*values):
        yield dict(zip(action.parameters, choice, strict=True)), tuple(kinds)


def _lower_instance(
    lowering: Lowering,
    action: Action,
    arguments: dict[str, Any],
    kinds: tuple[Any, ...],
    numbers: Mapping[CellKey, int],
) -> Instance | None:
    spelled = {name: _spell_argument(kind, value) for (name, value), kind in zip(arguments.items(), kinds, strict=True)}
    label = f"{action.name}({', '.join(spelled.values())})" if spelled else action.name
    recording = lowering.record(f"action {label}", read_only=False)
    given = {}
    for (name, value), kind in zip(arguments.items(), kinds, strict=True):
        if value is None:
            symbol = lowering.fresh(name)
            recording.symbols.append(symbol)
            recording.guards.append(kind.contains(Term(symbol, False)))
            given[name] = Term(symbol, False)
        else:
            given[name] = value
    state = State(lowering)
    if action.budget is not None and action.budget not in lowering.frame.configuration.unlimited:
        left = f"{action.budget}_left"
        lowering.require([getattr(state, left) > 0])
        lowering.assign(left, (), getattr(state, left) - 1)
    with _saying_where(lowering):
        machine = lowering.frame.configuration.machine
        machine.begin_step(state, action)
        action.function(state, **given)
        machine.end_step(state, machine.remembers(state.constants))
        guard = as_bool(all_of(*recording.guards))
    simple = z3.simplify(guard, sort_disjunctions=False)  # Sorted, they would depend on what the process built before.
    if z3.is_false(simple):
        return None
    updates = {
        numbers[key]: value
        for key, value in recording.next_values.items()
        if not value.eq(lowering.frame.cells[key].symbol)
    }
    return Instance(
        number=0,
        action=action,
        arguments=dict(arguments),
        label=label,
        tells=action.tells.format(**spelled) if action.tells else label,
        guard=simple,
        updates=updates,
        checks=tuple(recording.checks),
        symbols=tuple(recording.symbols),
        definitions=tuple(recording.definitions),
    )


@contextmanager
def _saying_where(lowering: Lowering) -> Iterator[None]:
    """Let the errors of the operators, which do not know in which text they stand, name the text too."""
    try:
        yield
    except ModelError as error:
        where = f"{lowering.where()}: "
        if str(error).startswith(where):
            raise
        raise ModelError(f"{where}{error}") from error


def _spell_argument(kind: Any, value: Any) -> str:
    if isinstance(kind, Elements):
        return f"any {kind.label}" if value is None else f"{kind.label}{value}"
    return value.name if isinstance(value, enum.IntEnum) else str(value).lower()
