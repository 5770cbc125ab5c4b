"""``rocketproof lab run`` and ``lab scenarios``: play scenarios on real clusters and compare the results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..lab.errors import LabError
from ..lab.maven import DEFAULT_RELEASE, Toolchain, check_release
from ..lab.outcome import Outcome
from ..lab.run import Runner
from ..lab.scenario import load, names
from ..output.console import SafeConsole, interrupts, make_console
from ..output.files import check_folder_writable
from ..output.progress import Interrupted

MET, NOT_MET = range(2)


def run(wanted: Sequence[str], *, release: str = DEFAULT_RELEASE, out: str = "", keep: bool = False) -> int:
    """Run scenarios one after the other, and print what each showed; returns the exit code.

    See the options of ``rocketproof lab run``; without names, all scenarios of the kit that run on the release are run.

    Raises:
        InputError: the folder cannot be written.
        LabError: a scenario is unknown, or a run did not come to its end.
    """
    check_release(release)
    scenarios = [load(name) for name in wanted or names()]
    if not wanted:
        scenarios = [each for each in scenarios if release in each.releases]
    if keep and not out:
        raise LabError("--keep needs --out DIR, where recordings and logs are kept.")
    if out:
        check_folder_writable(out)
    console = make_console(quiet=False)
    runner = Runner(
        toolchain=Toolchain.find(),
        release=release,
        out=Path(out) if out else None,
        keep=keep,
        say=console.say,
    )
    done: list[Outcome] = []
    with interrupts():
        try:
            for scenario in scenarios:
                done.append(runner.run(scenario))
                _show(console, done[-1])
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted: {len(done)} of {len(scenarios)} scenarios run") from None
    not_met = [outcome.scenario for outcome in done if not outcome.met]
    if len(done) > 1:
        said = f"not as expected: {', '.join(not_met)}" if not_met else "all as expected"
        console.say(f"{len(done)} scenarios on RocketMQ {release}: {said}")
    return NOT_MET if not_met else MET


def list_scenarios() -> int:
    """Print the scenarios of the kit: name, title, and what each shows; returns the exit code."""
    console = make_console(quiet=False)
    for name in names():
        scenario = load(name)
        about = ", ".join([*scenario.bugs, *scenario.rules])
        console.say(f"{name}: {scenario.title} ({about})", style="bold")
        console.say(f"  {scenario.shows}")
    return MET


def _show(console: SafeConsole, outcome: Outcome) -> None:
    style = "green" if outcome.met else "bold red"
    console.say(f"{outcome.scenario}: {'as expected' if outcome.met else 'not as expected'}", style=style)
    for line in outcome.lines():
        console.say(f"  {line}")
