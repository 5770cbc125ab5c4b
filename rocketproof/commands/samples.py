"""``rocketproof samples``: check the traces of real runs that come with the kit, and compare the results."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..lab.run import TRACE as RUN_TRACE
from ..lab.scenario import load
from ..lab.table import Checked, as_text, checked
from ..model.kernel import nearest
from ..output.console import console_beside, interrupts, make_console
from ..output.files import write_json
from ..output.progress import Interrupted
from ..traces.explain.report.words import counted
from ..traces.io import open_trace
from ..traces.samples import FOLDER, Sample, conformance_again, keep, measured_again, samples, write_facts
from .preparing import preparing

AS_EXPECTED, DIFFERENT = range(2)


def check_samples(names: Sequence[str], *, to_json: str = "", folder: Path = FOLDER) -> int:
    """Check samples and print a line for each; returns the exit code.

    Names are those of samples or scenarios; without any, all are checked. The numbers are also written to the file
    ``to_json``.

    Raises:
        InputError: there is no such sample.
        TraceError: a sample is damaged.
    """
    console = console_beside(to_json)
    chosen = select(names, folder)
    started = time.perf_counter()
    done: list[Checked] = []
    with interrupts(), preparing("the monitors", "half a minute"):
        try:
            done.extend(checked(chosen))
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted: {len(done)} of {len(chosen)} samples checked") from None
    for line in as_text([one.row for one in done]):
        console.say(line)
    wrong = [one for one in done if one.differences]
    for one in wrong:
        console.say()
        console.say(f"{one.sample.name}: not as expected", "bold red")
        for difference in one.differences:
            console.say(f"  {difference}")
    console.say()
    said = f"{len(wrong)} not as expected" if wrong else "all as expected"
    console.say(f"{counted(len(done), 'real run')} checked: {said}; {time.perf_counter() - started:.1f} s")
    write_json(to_json, as_json(done))
    return DIFFERENT if wrong else AS_EXPECTED


def add(folders: Sequence[str], *, to: Path = FOLDER) -> int:
    """Make runs of the lab samples, each from the folder that ``lab run --out`` has left; returns the exit code.

    Raises:
        InputError: a folder does not contain a run.
        TraceError: its trace cannot be read.
    """
    for given in folders:
        folder = Path(given)
        name, _, release = folder.name.rpartition("-")
        path = folder / RUN_TRACE
        if not (name and path.is_file()):
            raise InputError(f"{given}: no run of the lab: a folder SCENARIO-RELEASE with {RUN_TRACE} is needed.")
        scenario = load(name)
        sample = Sample(
            name=folder.name,
            scenario=name,
            release=release,
            title=scenario.title,
            check=scenario.check,
            measured={},
            conformance={},
            folder=to,
        )
        keep(open_trace([path], strict=True), sample.facts, name=sample.name, folder=to)
        sample = replace(sample, measured=measured_again(sample).as_json(), conformance=conformance_again(sample))
        write_facts(sample.facts, name=sample.name, folder=to)
        make_console(quiet=False).say(f"{sample.path}: {sample.measured['events']:,} events")
    return AS_EXPECTED


def select(names: Sequence[str], folder: Path = FOLDER) -> list[Sample]:
    """The samples with these names, or of these scenarios.

    Raises:
        InputError: there is none.
    """
    every = samples(folder)
    known = [word for one in every for word in (one.name, one.scenario)]
    for name in names:
        if name not in known:
            raise InputError(f"there is no sample {name!r}.{nearest(name, known)} 'samples' without a name takes all.")
    return [one for one in every if not names or one.name in names or one.scenario in names]


def as_json(done: Sequence[Checked]) -> list[dict[str, Any]]:
    """The numbers of samples that were checked."""
    return [
        {
            "sample": one.sample.name,
            "scenario": one.sample.scenario,
            "release": one.sample.release,
            "measured": one.measured,
            "conformance": one.conformance,
            "seconds": round(one.seconds, 3),
            "differences": one.differences,
        }
        for one in done
    ]
