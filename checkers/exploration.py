"""What an exhaustive search reports: its progress, what it found, and its verdicts with their runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from ..model.kernel import ModelError
from ..model.kernel.layout import Layout
from ..model.kernel.plain import PlainMachine
from ..properties.property import Kind, Property
from ..properties.verdict import Verdict
from .engines import EXPLORE
from .reduction import Reduction
from .result import Result
from .run import Run, counted, holds, replay, steps_in_words
from .search.machine_limits import half_of_memory

if TYPE_CHECKING:
    from .reduction.symmetry import Symmetry

NO_DEADLOCK = "no-deadlock"
"""Id of the built-in property that every state has a successor, or is one in which a run may end."""


@dataclass(frozen=True)
class Progress:
    """Progress of a running search: distinct states, transitions, depth, states still to expand, seconds so far."""

    states: int
    transitions: int
    depth: int
    waiting: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Exploration:
    """What a search found.

    Attributes:
        results: one for each property to be judged, in their order (deadlock last).
        complete: whether all reachable states were seen.
        limit: which limit ended the search, in words, if it did not end by itself.
        states: distinct states.
        transitions: (state, enabled instance) pairs of the expanded states.
        depth: steps to the farthest state expanded so far.
        taken: instance label → number of its transitions.
        idle_actions: names of actions never enabled (known only when complete).
        seconds: time for searching; ``compile_seconds``: for lowering, compiling and preparing reductions before it.
        bytes_per_state: memory of table, parents and index divided by ``states``.
        reduction: the reductions in use; all counts are of states and transitions that were not left out.
    """

    results: tuple[Result, ...]
    complete: bool
    limit: str
    states: int
    transitions: int
    depth: int
    taken: Mapping[str, int] = field(repr=False)
    idle_actions: tuple[str, ...]
    seconds: float
    compile_seconds: float
    bytes_per_state: float
    reduction: Reduction = Reduction.NONE

    @property
    def bounds(self) -> str:
        """What was covered, in words."""
        seen = f"{counted(self.states, 'state')}, {counted(self.transitions, 'transition')}, depth {self.depth}"
        if self.reduction:
            seen += f" (with {self.reduction} reduction)"
        memory = self.states * self.bytes_per_state
        if memory >= 2**30:
            seen += f", {memory / 2**30:.1f} GiB"
        return f"all {seen}" if self.complete else f"{self.limit}: {seen}"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When a search gives up with UNKNOWN."""

    states: int | None = None  # number of distinct states; None for as many as the memory allows
    seconds: float | None = None  # time for searching
    bytes: int | None = None  # memory for table, parents and index; None means half of the machine's memory

    def memory(self) -> int:
        """The memory limit in bytes."""
        if self.bytes is not None:
            return self.bytes
        return half_of_memory()


NO_LIMITS = Limits()


def judged(item: Property, run: Run | None, exploration: Exploration, plain: PlainMachine) -> Result:
    """The verdict on a property, given the run to the first state that decides it, or None without one."""
    always = item.kind is Kind.ALWAYS
    if run is not None:
        if holds(plain, item.id, run.states[-1]) == always:
            raise ModelError(f"property {item.id}: replay does not confirm what the search found; this is a defect.")
        verdict = Verdict.VIOLATED if always else Verdict.HOLDS
    elif exploration.complete:
        verdict = Verdict.HOLDS if always else Verdict.VIOLATED
    else:
        verdict = Verdict.UNKNOWN
    never = verdict is Verdict.VIOLATED and run is None
    return _result(item.id, verdict, run, exploration, "It holds in no reachable state." if never else "")


def judged_deadlock(run: Run | None, exploration: Exploration, plain: PlainMachine) -> Result:
    """The verdict on ``no-deadlock``, given the run to the first state without a successor, or None without one."""
    if run is not None:
        if plain.enabled(run.states[-1]):
            raise ModelError("replay does not confirm the deadlock the search found; this is a defect.")
        return _result(NO_DEADLOCK, Verdict.VIOLATED, run, exploration)
    verdict = Verdict.HOLDS if exploration.complete else Verdict.UNKNOWN
    return _result(NO_DEADLOCK, verdict, None, exploration)


def _result(name: str, verdict: Verdict, run: Run | None, exploration: Exploration, explanation: str = "") -> Result:
    figures = {
        "states": exploration.states,
        "transitions": exploration.transitions,
        "depth": exploration.depth,
        "complete": exploration.complete,
    }
    bounds = exploration.bounds
    if run is not None:
        searched = "searched " if exploration.complete else ""
        bounds = f"{steps_in_words(run)}; {searched}{bounds}"
    return Result(
        property=name,
        verdict=verdict,
        engine=EXPLORE,
        bounds=bounds,
        seconds=exploration.seconds,
        run=run,
        explanation=explanation,
        figures=figures,
    )


def run_through(
    plain: PlainMachine, path: Sequence[tuple[int, ...]], layout: Layout, symmetry: Symmetry | None = None
) -> Run:
    """A run through packed states, or their representatives if there is a symmetry, the first of which is the initial
    one, replayed.

    Raises:
        ModelError: there is no such run.
    """
    state = plain.initial
    steps = []
    for wanted in path[1:]:
        for number, following in plain.successors(state):
            words = layout.pack(following) or (0,)
            if wanted == (words if symmetry is None else symmetry.representative(words)):
                steps.append(number)
                state = following
                break
        else:
            raise ModelError("replay does not know a step that the search took; the two forms of the machine disagree.")
    return replay(plain, steps)


def raise_wrong_write(plain: PlainMachine, run: Run, number: int) -> NoReturn:
    """Report an instance that writes outside a domain in the last state of a run.

    Raises:
        ModelError: always.
    """
    for instance in plain.lowered.instances:  # the state may have the elements of symmetric domains exchanged
        plain.step(run.states[-1], instance.number)
    raise ModelError(
        f"{plain.lowered.instances[number].label} writes outside a domain in compiled code, but not when replayed; "
        "this is a defect."
    )
