"""``rocketproof record``: a run of the model, written as recorders at a real cluster would have done."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ..checkers.catalogue import all_rows
from ..checkers.mutants import MachineMutant, Trials, entries
from ..checkers.run import Run
from ..checkers.simulate import random_run
from ..errors import InputError
from ..explorer.run_svg import run_svg
from ..model.assignment import assignment
from ..model.consumption import consumption
from ..model.everything import everything
from ..model.kernel import Machine, lower, nearest
from ..model.kernel.plain import PlainMachine
from ..output.console import make_console, print_columns
from ..output.files import check_writable, write
from ..traces.generate.recorder import Recording, record_run
from ..traces.io.writing import write_jsonl
from .simulate import emptied_unless_complete, new_folder

RECORDABLE = (assignment, consumption, everything)
"""Machines whose runs can be written by recorders."""


@dataclass(frozen=True, kw_only=True)
class RecordRequest:
    """Which run is to be recorded; see the options of ``rocketproof record``."""

    machine: str = "consumption"
    constants: Mapping[str, int | str] = field(default_factory=dict)
    steps: int = 100
    seed: int = 0
    mutant: str = ""


def record(request: RecordRequest, out: str, *, picture: str = "") -> int:
    """Record a run into ``trace.jsonl`` and ``truth.json`` of a new folder; returns the exit code.

    Raises:
        InputError: an unknown machine or mutant, or the folder is not empty or cannot be written.
    """
    folder = new_folder(out)
    if picture:
        check_writable(picture)
    run, what = _shortest(request.mutant) if request.mutant else _random(request)
    recording = record_run(run)
    trace = folder / "trace.jsonl"
    try:
        with emptied_unless_complete(folder):
            folder.mkdir(parents=True, exist_ok=True)
            write_jsonl(trace, recording.header, recording.events)
            (folder / "truth.json").write_text(json.dumps(_truth(recording), indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write to {out}: {error.strerror}.") from None
    if picture:
        write(picture, run_svg(run, title=what) + "\n")
    console = make_console(quiet=False)
    console.say(f"{what}: {len(run.steps)} steps, {len(recording.events)} events: {trace}")
    console.say(f"check it: rocketproof check {trace}")
    return 0


def list_mutants() -> None:
    """Print the known bugs whose counterexamples can be recorded, one per line: id, machine, and what they do."""
    lines = [(name, entry.machine.name, entry.mutant.slug) for name, entry in recordable_mutants().items()]
    print_columns(make_console(quiet=False), ("", lines), indent="")


def recordable_mutants() -> dict[str, MachineMutant]:
    """The known bugs whose runs can be recorded, by id."""
    mutants = (item for item in entries(all_rows()) if isinstance(item, MachineMutant))
    return {mutant.id: mutant for mutant in mutants if mutant.machine.name in {machine.name for machine in RECORDABLE}}


def _random(request: RecordRequest) -> tuple[Run, str]:
    machine = _machine(request.machine)
    # The machine everything takes no other value, and its default is that of the machine assignment.
    constants = {"running": 0, **request.constants} if machine is everything else request.constants
    run = random_run(PlainMachine(lower(machine.configure(**constants))), request.seed, request.steps)
    return run, f"a random run of {request.machine}, seed {request.seed}"


def counterexample(mutant: str) -> tuple[Run, MachineMutant]:
    """The shortest run of a machine with a known bug in it that violates the property which notices the bug.

    Raises:
        InputError: there is no such bug, or it has no run.
    """
    known = recordable_mutants()
    entry = known.get(mutant)
    if entry is None:
        raise InputError(f"there is no mutant {mutant!r} of a machine.{nearest(mutant, known)}")
    machine = entry.machine.mutated(entry.id)
    (result,) = Trials().check(machine, entry.mutant.wrong_constants, [entry.killer], stop_early=True)
    if not isinstance(result.run, Run):
        raise InputError(f"mutant {mutant} has no counterexample to record: {result.verdict}, {result.bounds}.")
    return result.run, entry


def _shortest(mutant: str) -> tuple[Run, str]:
    run, entry = counterexample(mutant)
    return run, f"{mutant}: the shortest run that violates {entry.killer.id}"


def _machine(name: str) -> Machine:
    machines = {machine.name: machine for machine in RECORDABLE}
    if name not in machines:
        raise InputError(f"runs of a machine {name!r} cannot be recorded.{nearest(name, machines)}")
    return machines[name]


def _truth(recording: Recording) -> dict[str, Any]:
    """What the machine knows about the run; only if its constants switch on the history (causes, watch_offsets)."""
    truth = recording.truth
    return {
        "came again": [asdict(item) | {"causes": sorted(c.name for c in item.causes)} for item in truth.repeats],
        "offset went back": [asdict(item) | {"reason": item.reason.name} for item in truth.decreases],
    }
