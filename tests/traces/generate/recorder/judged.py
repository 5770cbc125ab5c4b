"""Recorded runs and what the monitors say of them."""

from __future__ import annotations

import random
from pathlib import Path

from rocketproof.checkers.run import Run
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.properties.verdict import Verdict
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.generate.recorder import Recording
from rocketproof.traces.io import open_trace
from rocketproof.traces.io.writing import write_jsonl
from rocketproof.traces.samples import settings_of

AGAIN_AND_AGAIN = {"every-queue-moves", "every-topic-is-balanced", "orderly-lock-is-renewed"}
"""Claims about what a live client does all the time. The model has no timers: at rest it pulls and balances nothing."""


def judged(recording: Recording, folder: Path) -> CheckResult:
    """What the monitors find in a recording, by way of a file in ``folder``."""
    path = folder / "run.jsonl"
    write_jsonl(path, recording.header, recording.events)
    return check_locally(open_trace([path]), settings=settings_of(recording.header))


def violated(result: CheckResult) -> set[str]:
    """Claims that are violated, or would be but for clocks and gaps."""
    wrong = (Verdict.VIOLATED, Verdict.UNKNOWN)
    return {answer.claim.id for answer in result.verdicts if answer.verdict in wrong}


def continued(machine: PlainMachine, run: Run, seed: int, *, steps: int, to_rest: bool = False) -> Run:
    """``run`` of ``machine``, and up to ``steps`` more steps that have to happen some time.

    ``seed`` decides in which order. With ``to_rest`` nothing happens any more for a long time afterwards.
    """
    chance = random.Random(seed)
    fair = {instance.number for instance in run.lowered.instances if instance.action.fair}
    states, taken = list(run.states), list(run.steps)
    for _ in range(steps):
        possible = [(n, state) for n, state in machine.successors(states[-1]) if n in fair and state != states[-1]]
        if not possible:
            break
        number, state = chance.choice(possible)
        taken.append(number)
        states.append(state)
    return Run(run.lowered, tuple(states), tuple(taken), len(taken) if to_rest else None)
