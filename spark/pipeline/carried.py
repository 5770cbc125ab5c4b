"""State that is carried from run to run: a new hour is mined from where the previous run ended.

A run stores, for each cluster, the state after all events before a moment shortly before its end. The next run
continues from there. If events arrive with earlier times, mining starts from the last stored state before them; the
states of the last few runs are kept for this, older ones are deleted.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...traces.claims.settings import Settings
from ...traces.engine.carried_files import read_carried, write_carried
from ...traces.engine.carrying import Carried, Part, StartOverError, check_on
from ...traces.engine.result import CheckResult
from ...traces.errors import TraceError
from .latest import latest_of
from .recording import Recorded
from .table import RUN, Table, failed, folder_of

CARRIED = "_carried"
"""The folder of a run that contains the states."""

LATENESS = 600_000
"""How much later than others events may come without anything being mined again, ms."""

STATES = 6
"""Maximum number of states of a cluster that are kept, the latest ones."""


@dataclass(frozen=True, kw_only=True)
class Since:
    """From where a cluster was mined.

    Attributes:
        time: ms; None: from its beginning.
        why: why no state was used; empty if one was, or if there was none.
    """

    time: int | None = None
    why: str = ""


def states_of(table: Table, cluster: str, days: tuple[str, str]) -> Iterator[Path]:
    """The states of a cluster stored by runs about these days, the latest first."""
    for path, said in reversed(table.published(RUN)):
        state = path / CARRIED / folder_of(cluster)
        if said["days"] == list(days) and state.is_dir():
            yield state


def fitting(table: Table, cluster: str, trace: Recorded, days: tuple[str, str]) -> tuple[Carried | None, str]:
    """The latest state before everything that arrived since; None, and why, if none fits."""
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
    """Check a cluster from a state on, and store a later one.

    Without a state ``before``, the check starts at the beginning; the new state is ``lateness`` ms before the latest
    event, see :func:`.latest.latest_of`.

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
            write_carried(carried, folder, before=before)
        except OSError as error:
            raise TraceError(failed(folder, error)) from None

    part = Part(whole=trace, between=trace.between, files=trace.ids)
    return check_on(part, settings=settings, before=before, cut=cut, keep=keep)


def forget(table: Table, cluster: str) -> None:
    """Delete the states of a cluster except the latest ones."""
    kept = [path / CARRIED / folder_of(cluster) for path in reversed(table.folders(RUN))]
    for state in [path for path in kept if path.is_dir()][STATES:]:
        shutil.rmtree(state, ignore_errors=True)
