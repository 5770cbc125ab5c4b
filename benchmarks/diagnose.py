"""Diagnosis: how often the right bug is among the first three, and how often a bug is named where there is none.

``python -m benchmarks.diagnose`` learns the pictures of the known bugs anew; ``python -m benchmarks diagnose`` scores
what is made of them on other recordings.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.recordings import SIMULATED, recording
from rocketproof.checkers.known_bugs import known_id
from rocketproof.checkers.mutants import MachineMutant
from rocketproof.checkers.run import Run
from rocketproof.checkers.simulate import random_run
from rocketproof.commands.record import counterexample, recordable_mutants
from rocketproof.diagnosis.diagnosis import Diagnosis, diagnosed
from rocketproof.diagnosis.look import looked_at
from rocketproof.diagnosis.pictures import FILE
from rocketproof.model.kernel import lower
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.traces.generate.recorder import record_run
from rocketproof.traces.io.writing import write_jsonl
from rocketproof.traces.samples import samples

LEARNT = (1, 2, 3)
"""Seeds of the ways in which a counterexample goes on, and of the walks, from which pictures are learnt."""

SCORED = (11, 12, 13)
"""Seeds of those that are scored."""

AT_REST = frozenset({"every-queue-moves", "every-topic-is-balanced", "orderly-lock-is-renewed", "overlaps-are-short"})
"""Claims about what a live client does all the time."""

STEPS_ON, STEPS_TO_REST, STEPS_OF_WALKS = 12, 200, 60


def on(run: Run, seed: int, *, steps: int = STEPS_ON, rests: bool = False) -> Run:
    """A run, and more steps that have to happen some time; one that rests then stays as it is for a long time."""
    chance, machine = random.Random(seed), PlainMachine(run.lowered)
    fair = {instance.number for instance in run.lowered.instances if instance.action.fair}
    states, taken = list(run.states), list(run.steps)
    for _ in range(steps):
        possible = [(n, state) for n, state in machine.successors(states[-1]) if n in fair and state != states[-1]]
        if not possible:
            break
        number, state = chance.choice(possible)
        taken.append(number)
        states.append(state)
    return Run(run.lowered, tuple(states), tuple(taken), len(taken) if rests else None)


def runs_of(entry: MachineMutant, shortest: Run, seeds: tuple[int, ...]) -> Iterator[tuple[str, Run]]:
    """Runs of a machine with a known bug in it."""
    if shortest.loop is None:
        for seed in seeds:
            yield f"goes on {seed}", on(shortest, seed)
        yield "rests", on(shortest, seeds[0], steps=STEPS_TO_REST, rests=True)
    machine = PlainMachine(lower(entry.machine.mutated(entry.id).configure(**entry.mutant.wrong_constants)))
    for seed in seeds:
        yield f"walk {seed}", random_run(machine, seed, STEPS_OF_WALKS)


def right_walks(entry: MachineMutant, seeds: tuple[int, ...]) -> Iterator[Run]:
    """Walks of the right machine in the configuration of a bug."""
    machine = PlainMachine(lower(entry.machine.configure(**entry.mutant.constants)))
    for seed in seeds:
        yield random_run(machine, seed, STEPS_OF_WALKS)


def signs(run: Run, folder: Path) -> tuple[str, ...]:
    """The signs of a recorded run."""
    return looked_at([written(run, folder)]).signs.words


def written(run: Run, folder: Path) -> str:
    """A run as a trace."""
    recording = record_run(run)
    path = folder / "trace.jsonl"
    write_jsonl(path, recording.header, recording.events)
    return str(path)


def picture(name: str, entry: MachineMutant, folder: Path) -> list[list[str]]:
    """What a bug looks like: the signs of its runs that have some, without those that right runs have too.

    Machines have no clock, so right ones that rest do not pull either: what that looks like is no sign of a bug.
    """
    shortest, _ = counterexample(name)
    usual = {sign for run in right_walks(entry, LEARNT) for sign in signs(run, folder)}
    walk = next(right_walks(entry, LEARNT))
    at_rest = set(signs(on(walk, 0, steps=STEPS_TO_REST, rests=True), folder)) | AT_REST
    found = {tuple(sorted(set(signs(shortest, folder)) - usual))}
    for what, run in runs_of(entry, shortest, LEARNT):
        shown = set(signs(run, folder)) - usual
        if what == "rests":
            shown = {sign for sign in shown if sign.partition(" ")[0] not in at_rest}
        found.add(tuple(sorted(shown)))
    return [list(item) for item in sorted(found) if item]


def scored(name: str, entry: MachineMutant, folder: Path) -> Iterator[tuple[str, Diagnosis]]:
    """Diagnoses of the shortest recording of a bug, as ``record`` writes it, and of others it was not learnt from."""
    shortest, _ = counterexample(name)
    yield "shortest", diagnosed(looked_at([written(shortest, folder)]))
    for what, run in runs_of(entry, shortest, SCORED):
        yield what, diagnosed(looked_at([written(run, folder)]))


def placed(bug: str, found: Diagnosis) -> int:
    """The place of a bug among the candidates, from 1; 0 if it is not named."""
    return next((rank for rank, one in enumerate(found.candidates, 1) if one.bug == bug), 0)


def measure(names: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """A line for each bug, one for all, and one for right recordings: samples and walks of the right machine."""
    known = recordable_mutants()
    ranks: Counter[str] = Counter()
    right_named: list[str] = []
    right = 0
    with tempfile.TemporaryDirectory(prefix="rocketproof-") as temporary:
        folder = Path(temporary)
        for name in names or known:
            of_bug: Counter[str] = Counter()
            for what, found in scored(name, known[name], folder):
                shows = bool(found.looked.signs.words)
                rank = placed(known_id(name), found)
                kind = "shortest" if what == "shortest" else "others"
                fate = (
                    ("first" if rank == 1 else "first three" if 1 < rank <= 3 else "missed")
                    if shows
                    else "nothing shows"
                )
                of_bug[f"{kind}: {fate}"] += 1
            ranks += of_bug
            yield {"bug": name, "slug": known[name].mutant.slug, **dict(sorted(of_bug.items()))}
            for run in right_walks(known[name], SCORED[:1]):
                right += 1
                found = diagnosed(looked_at([written(run, folder)]))
                right_named += [f"{name}: {one.bug}" for one in found.candidates[:1]]
    yield {"bugs": len(names or known), **dict(sorted(ranks.items()))}
    yield {"right walks": right, "with a bug named": len(right_named), "which": right_named}
    if not names:
        yield from of_simulated()
        yield from of_samples()


def of_simulated() -> Iterator[dict[str, Any]]:
    """What is said of simulated clusters, right ones and such with a bug of the simulator, which no picture knows."""
    with tempfile.TemporaryDirectory(prefix="rocketproof-") as folder:
        for name in SIMULATED:
            path = Path(folder, "trace.jsonl")
            path.write_text(recording(f"simulated {name}").text(), encoding="utf-8")
            found = diagnosed(looked_at([str(path)]))
            named = [one.bug for one in found.candidates[:3]]
            yield {"simulated": name, "answer": str(found.answer), "named": named, "place": placed(name, found)}


def of_samples() -> Iterator[dict[str, Any]]:
    """What is said of real runs: those in which nothing is wrong, and those in which a mistake was made on purpose."""
    for sample in samples():
        found = diagnosed(looked_at([str(sample.path)]))
        violated = list(sample.measured["violated"])
        yield {
            "sample": sample.name,
            "made wrong": violated,
            "answer": str(found.answer),
            "named": [one.bug for one in found.candidates[:3]],
        }


def main(names: list[str]) -> int:
    """Learn the pictures of some bugs, or of all."""
    known = recordable_mutants()
    told: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    with tempfile.TemporaryDirectory(prefix="rocketproof-") as folder:
        for name in names or known:
            told[name] = picture(name, known[name], Path(folder))
            print(name, *told[name], sep="\n  ", flush=True)
            FILE.write_text(json.dumps({k: told[k] for k in known if k in told}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
