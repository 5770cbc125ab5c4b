"""What is carried from run to run: a new hour is mined from where the run before it was.

A run keeps for each cluster what is known of all events before a moment, shortly before its end. The next run goes on
from there. Events that come later than that are mined from the last moment before them; states of the last few runs are
kept for that, older ones are taken away.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...traces.claims.settings import Settings
from ...traces.engine.carrying import Carried, Part, StartOverError, check_on, read_carried, write_carried
from ...traces.engine.result import CheckResult
from ...traces.errors import TraceError
from .latest import latest_of
from .recording import Recorded
from .table import RUN, Table, failed, folder_of

CARRIED = "_carried"
"""The folder of a run in which the states are."""

LATENESS = 600_000
"""Events may come so much later than others without anything being mined again, ms."""

STATES = 6
"""So many states of a cluster are kept, the latest ones."""


@dataclass(frozen=True, kw_only=True)
class Since:
    """From where a cluster was mined.

    Attributes:
        time: ms; None: from its beginning.
        why: why nothing was carried; empty where something was, or nothing was there.
    """

    time: int | None = None
    why: str = ""


def states_of(table: Table, cluster: str, days: tuple[str, str]) -> Iterator[Path]:
    """The states of a cluster that runs about these days have kept, the latest first."""
    for path, said in reversed(table.published(RUN)):
        state = path / CARRIED / folder_of(cluster)
        if said["days"] == list(days) and state.is_dir():
            yield state


def fitting(table: Table, cluster: str, trace: Recorded, days: tuple[str, str]) -> tuple[Carried | None, str]:
    """The latest state before all that came since; None and why where none fits."""
    begins, why = trace.begins(), ""
    for path in states_of(table, cluster, days):
        try:
            carried = read_carried(path)
        except StartOverError as error:
            why = str(error)
            continue
        known = set(carried.files)
        if not known <= set(trace.ids):
            why = "a recording has grown, and replaces what was there of it"
        elif any(begin < carried.cut for id_, begin in begins.items() if id_ not in known):
            why = "events came later than all that is kept"
        else:
            return carried, ""
    return None, why


def mine_on(trace: Recorded, settings: Settings, *, before: Carried | None, lateness: int, folder: Path) -> CheckResult:
    """Check a cluster from where a state is, and keep a later one.

    Without a state ``before`` it is from the beginning; the new one is ``lateness`` ms before the latest event, see
    :func:`.latest.latest_of`.

    Raises:
        StartOverError: the state does not fit.
        TraceError: the table cannot be read or written.
    """
    assert trace.time_range is not None
    begin, end = trace.time_range[0], latest_of(trace.live, trace.days)
    cut = max(end - lateness, begin if before is None else before.cut)

    def keep(carried: Carried) -> None:
        try:
            folder.mkdir(parents=True)
            write_carried(carried, folder)
        except OSError as error:
            raise TraceError(failed(folder, error)) from None

    part = Part(whole=trace, between=trace.between, files=trace.ids)
    return check_on(part, settings=settings, before=before, cut=cut, keep=keep)


def forget(table: Table, cluster: str) -> None:
    """Take away the states of a cluster but the latest ones."""
    kept = [path / CARRIED / folder_of(cluster) for path in reversed(table.folders(RUN))]
    for state in [path for path in kept if path.is_dir()][STATES:]:
        shutil.rmtree(state, ignore_errors=True)
