"""Runs: finite paths and lassos of a machine, replayed by its texts, and written as a story."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..model.kernel import Instance, Lowered, ModelError
from ..model.kernel.direct import Direct
from ..model.kernel.plain import PlainMachine, StateTuple
from .glossary import WATCHING, glossary

_CHANGE = re.compile(r" {4,}.*: .+ → ")
"""A line of a story that says what a step changed."""


@dataclass(frozen=True)
class Run:
    """A path through a machine."""

    lowered: Lowered  # the configuration it belongs to
    states: tuple[StateTuple, ...]  # the states passed, the initial one first
    steps: tuple[int, ...]  # number of the instance taken between two states (one fewer than states)
    # for a run that never ends: the position in ``states`` of the state that equals the last one; if this is the last
    # position itself, the run stays there for ever
    loop: int | None = None

    def __len__(self) -> int:
        return len(self.steps)

    def __bool__(self) -> bool:
        return True  # a run without steps, which only looks at the initial state, is a run as well


@dataclass(frozen=True)
class Told:
    """A run that was found, replayed and put into words in another process."""

    steps: tuple[tuple[str, tuple[str, ...]], ...]  # for each step, a sentence, and what it changed
    text: str  # the whole story
    glossary: tuple[str, ...] = ()  # the words of the story, as lines
    labels: tuple[str, ...] = ()  # for each step, its label, such as ``pull(c0, q1)``
    loop: int | None = None  # as in Run

    def __len__(self) -> int:
        return len(self.steps)

    def __bool__(self) -> bool:
        return True


def told(run: Run | Told) -> Told:
    """The run in words alone."""
    if isinstance(run, Told):
        return run
    pairs = zip(run.states, run.states[1:], strict=False)
    steps = (
        (run.lowered.instances[number].tells, tuple(differences(run.lowered, before, after)))
        for number, (before, after) in zip(run.steps, pairs, strict=True)
    )
    labels = tuple(run.lowered.instances[number].label for number in run.steps)
    return Told(tuple(steps), story(run), tuple(glossary_lines(run)), labels, run.loop)


def glossary_lines(run: Run | Told) -> Sequence[str]:
    """The words that the story of a run uses, with the machine's descriptions, as lines."""
    if isinstance(run, Told):
        return run.glossary
    return glossary(run.lowered, run.states, run.steps).lines()


def replay(machine: PlainMachine, steps: Sequence[int], *, loop: int | None = None) -> Run:
    """Take ``steps`` from the initial state; the result is what really happens.

    This is done twice: in the plain Python form, which is generated from the terms that engines use, and by the texts
    themselves, run with plain numbers and without terms. After each step both must be in the same state.

    Raises:
        ModelError: a step is not enabled where it is taken, or the loop does not close: the engine that found the path
            disagrees with the machine; or terms and texts disagree.
    """
    direct = Direct(machine.lowered.configuration)
    states = [machine.initial]
    if direct.flat() != machine.initial:
        raise ModelError("replay: the texts begin in another state than the terms; this is a defect.")
    for position, number in enumerate(steps):
        following = machine.step(states[-1], number)
        instance = machine.lowered.instances[number]
        if following is None:
            raise ModelError(
                f"replay: step {position + 1}, {instance.label}, is not enabled; the engine that found it is wrong."
            )
        if not direct.step(instance.action.name, varied=None, **_known(instance)) or direct.flat() != following:
            raise ModelError(
                f"replay: texts and terms disagree about step {position + 1}, {instance.label}; this is a defect."
            )
        states.append(following)
    if loop is not None and states[loop] != states[-1]:
        raise ModelError(f"replay: the run does not return to state {loop}; the engine that found the loop is wrong.")
    return Run(machine.lowered, tuple(states), tuple(steps), loop)


def holds(machine: PlainMachine, name: str, state: StateTuple) -> bool:
    """Whether the predicate ``name`` holds in a state, according to both its terms and its text.

    Raises:
        ModelError: they disagree.
    """
    direct = Direct(machine.lowered.configuration)
    direct.become(state)
    by_text = bool(direct.ask(machine.lowered.predicates[name].text))
    if machine.holds(name, state) is not by_text:
        raise ModelError(f"replay: text and terms disagree about {name!r}; this is a defect.")
    return by_text


def _known(instance: Instance) -> dict[str, int]:
    """The arguments of an instance of a finite configuration: none of them is open."""
    return {name: value for name, value in instance.arguments.items() if value is not None}


def story(run: Run | Told) -> str:
    """A run step by step, with what each step changed."""
    if isinstance(run, Told):
        return run.text
    initial = _initial(run)
    lines = ["start:" if initial else "start: everything at its lowest value", *initial]
    width = len(str(len(run.steps)))
    for position, number in enumerate(run.steps):
        if run.loop == position:
            lines.append("from here on the run repeats for ever:")
        before, after = run.states[position], run.states[position + 1]
        lines.append(f"{position + 1:>{width}}. {run.lowered.instances[number].tells}")
        lines.extend(f"{'':{width}}    {change}" for change in differences(run.lowered, before, after))
    if run.loop is not None and run.loop == len(run.steps):
        lines.append("and nothing that must happen can: the run stays here for ever.")
    return "\n".join(lines)


def brief_story(run: Run | Told) -> str:
    """A run step by step, without what each step changed."""
    return "\n".join(line for line in story(run).splitlines() if not _CHANGE.match(line))


def steps_in_words(run: Run | Told) -> str:
    """Number of steps of a run, as a phrase."""
    return counted(len(run), "step")


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural where it belongs: ``1 state``, ``1,145 states``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def differences(lowered: Lowered, before: StateTuple, after: StateTuple) -> list[str]:
    """One line for each variable that changed: ``label: old → new``."""
    return [
        f"{cell.label}: {cell.family.show(old)} → {cell.family.show(new)}"
        for cell, old, new in zip(lowered.cells, before, after, strict=True)
        if old != new and not cell.family.name.startswith(WATCHING)
    ]


def _initial(run: Run) -> list[str]:
    """What is not at its lowest value in the first state, one line per family of variables."""
    shown: dict[str, list[str]] = {}
    for cell, value in zip(run.lowered.cells, run.states[0], strict=True):
        if value != cell.family.low and not cell.family.name.startswith(WATCHING):
            labels = zip(cell.family.dims, cell.index, strict=True)
            index = " ".join(f"{dim.label}{item}" for dim, item in labels)
            told = "" if cell.family.is_bool else cell.family.show(value)
            shown.setdefault(cell.family.name, []).append("=".join(filter(None, [index, told])) or "true")
    return [f"    {name}: {', '.join(items)}" for name, items in shown.items()]
