"""A configuration as data for a browser: cells, straight-line program, actions and properties, with their texts.

The nodes are those of ``model/kernel/program.py``, from which the machine code and the plain Python form are generated
as well; ``script/kernel/machine.mjs`` turns them into JavaScript.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import z3

from ..model.kernel import Configuration, ModelError, Predicate, lower
from ..model.kernel.domains import Elements
from ..model.kernel.lowered import Check, Family, Instance, Lowered
from ..model.kernel.lowering import Spelled
from ..model.kernel.plain import program_of
from ..model.kernel.program import Node, Op, Program
from ..model.kernel.terms import Term
from ..properties.claim import Claim
from ..properties.property import Property
from .picture import drawn, lanes

OPERATIONS = tuple(Op)
"""Operations by their number in the data; ``script/kernel/program.mjs`` has the same list."""

AFTER = "after "
"""Prefix of the name of a lowered predicate that is the ``after`` of a property."""

Data = dict[str, Any]
"""Anything that ``json.dumps`` accepts."""


def traced_with(configuration: Configuration, claims: Sequence[Claim]) -> Lowered:
    """Trace a finite configuration with the predicates of ``claims``.

    Raises:
        ModelError: the configuration is infinite; the message says what makes it so.
    """
    predicates: dict[str, Predicate] = {}
    for claim in claims:
        predicates[claim.property.id] = claim.property.holds
        if claim.property.after is not None:
            predicates[AFTER + claim.property.id] = claim.property.after
    lowered = lower(configuration, predicates)
    reason = lowered.unbounded_reason()
    if reason is not None:
        raise ModelError(
            f"{configuration.machine.name} cannot be stepped through: {reason}; give its constants numbers with --set."
        )
    return lowered


def model_data(
    lowered: Lowered, claims: Sequence[Claim] = (), *, rules: Mapping[str, tuple[str, str]] | None = None
) -> Data:
    """The configuration and its properties, in the form that the page reads.

    Args:
        lowered: from :func:`traced_with`, with the same claims.
        claims: the properties to show, each with its lesson.
        rules: id of a rule → what it says, and where it is in the Java source; rules that nothing names are left out.
    """
    program = program_of(lowered)
    configuration = lowered.configuration
    machine = configuration.machine
    families = list(dict.fromkeys(id(cell.family) for cell in lowered.cells))
    by_id = {id(cell.family): cell.family for cell in lowered.cells}
    actions = list(dict.fromkeys(instance.action.name for instance in lowered.instances))
    instances = [_instance(program, instance, actions.index(instance.action.name)) for instance in lowered.instances]
    on = lanes(lowered)
    for data, instance in zip(instances, lowered.instances, strict=True):
        data["drawn"] = dataclasses.astuple(drawn(instance, on))
    properties = [_property(program, lowered, claim) for claim in claims]
    data = {
        "machine": machine.name,
        "doc": machine.doc,
        "constants": {
            name: {
                "value": value,
                "usual": machine.constants[name].default,
                "doc": machine.constants[name].doc,
                "allowed": machine.constants[name].allowed(),
            }
            for name, value in configuration.constants.items()
        },
        "budgets": sorted(machine.budgets & set(configuration.constants)),
        "families": [_family(by_id[number]) for number in families],
        "cells": [[families.index(id(cell.family)), *_index(cell.index)] for cell in lowered.cells],
        "initial": list(lowered.initial_state()),
        "actions": [_action(machine.actions[name], name) for name in actions],
        "instances": instances,
        "properties": properties,
        "lanes": on,
        "nodes": [_node(node) for node in program.nodes],
    }
    data["rules"] = _named(data, rules or {})
    return data


def _node(node: Node) -> list[int]:
    number = OPERATIONS.index(node.op)
    if node.op is Op.CONST:
        return [number, node.value, int(node.is_bool)]
    return [number, node.value] if node.op is Op.CELL else [number, *node.args]


def _index(index: tuple[int | None, ...]) -> list[int]:
    if None in index:
        raise ModelError("an unbounded index cannot be shown.")
    return [item for item in index if item is not None]


def _family(family: Family) -> Data:
    return {
        "name": family.name,
        "doc": family.variable.doc or _doc_of(family.enumeration),
        "dims": [_dimension(dim) for dim in family.dims],
        "bool": family.is_bool,
        "low": family.low,
        "high": family.high,
        "values": {int(value): value.name for value in family.enumeration} if family.enumeration else None,
        "set": family.member_of is not None,
    }


def _doc_of(enumeration: type[Any] | None) -> str:
    """The docstring of an enumeration: used for a variable that has no text of its own."""
    return (inspect.getdoc(enumeration) or "").split("\n\n")[0].replace("\n", " ") if enumeration else ""


def _dimension(dim: Elements) -> Data:
    return {"name": dim.name, "label": dim.label, "size": dim.size}


def _action(action: Any, name: str) -> Data:
    return {
        "name": name,
        "doc": " ".join((action.doc or "").split()),
        "budget": action.budget,
        "fair": action.fair,
        "parameters": {parameter: kind.__name__ for parameter, kind in action.parameters.items()},
    }


def _instance(program: Program, instance: Instance, action: int) -> Data:
    checks = ((program.add(check.condition), program.add(check.value), check) for check in instance.checks)
    return {
        "action": action,
        "arguments": dict(instance.arguments),
        "label": instance.label,
        "tells": instance.tells,
        "guard": [program.add(part) for part in _parts(instance.guard)],
        "updates": [[cell, program.add(value)] for cell, value in instance.updates.items()],
        "checks": [
            [condition, value, _written(check), check.allowed]
            for condition, value, check in checks
            if program.nodes[condition].low == 0
        ],
    }


def _written(check: Check) -> str:
    """The target of a check; only the family if the index is a term, whose text takes long to make."""
    label = check.label
    if isinstance(label, Spelled) and any(isinstance(item, Term) for item in label.index):
        return f"{label.family.name}[…]"
    return str(label)


def _parts(guard: Any) -> Iterator[Any]:
    """The conditions of which a guard consists, all of which must be true."""
    if z3.is_and(guard):
        for child in guard.children():
            yield from _parts(child)
    elif z3.is_not(guard) and z3.is_or(guard.arg(0)):
        for child in guard.arg(0).children():
            yield from _parts(z3.Not(child))
    elif not z3.is_true(guard):
        yield guard


def _property(program: Program, lowered: Lowered, claim: Claim) -> Data:
    prop: Property = claim.property
    after = lowered.predicates.get(AFTER + prop.id)
    return {
        "id": prop.id,
        "statement": prop.statement,
        "kind": str(prop.kind),
        "expected": str(claim.expected),
        "lesson": claim.lesson,
        "assuming": list(prop.assuming),
        "rules": list(prop.rules),
        "holds": program.add(lowered.predicates[prop.id].term),
        "after": None if after is None else program.add(after.term),
    }


def _named(data: Data, rules: Mapping[str, tuple[str, str]]) -> dict[str, list[str]]:
    """The rules that some text of the page names."""
    texts = [item["doc"] for part in ("families", "actions") for item in data[part]]
    texts += [item["doc"] for item in data["constants"].values()]
    said = " ".join(texts)
    cited: Iterable[str] = {rule for item in data["properties"] for rule in item["rules"]}
    return {name: list(rule) for name, rule in rules.items() if name in cited or name in said}
