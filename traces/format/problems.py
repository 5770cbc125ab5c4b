"""Problems with the files of a trace: each is counted and located, and the rest is read."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import TraceError

KEPT = 1000
"""Number of problems that are kept with their place; all are counted."""


class Trouble(enum.StrEnum):
    """The kinds of problems. Words are shown to users."""

    DAMAGED = "damaged line"  # left out
    TRUNCATED = "file breaks off"  # everything before the break is read
    UNREADABLE = "file cannot be read"  # left out
    EMPTY = "no events in a file"
    UNKNOWN_FORMAT = "file of no known form"  # left out, though it looks like a recording
    NO_HEADER = "header missing"  # defaults are used
    HEADER = "header damaged"  # defaults are used for damaged members
    VERSION = "later schema version"  # read as far as possible
    DISAGREE = "headers disagree"  # the first file wins
    NO_TIME = "event without time or kind"  # left out
    STRAY_TIME = "time that its neighbours contradict"  # left out
    IMPOSSIBLE = "impossible value"  # counts as not known; without its client or incarnation, an event is left out
    UNKNOWN_WORD = "unknown word"  # kept, and ignored by checks
    OTHER_NAME = "fields of other names"  # ignored, and their content is not known
    NEAR_NAME = "name near a field's"  # ignored, as another program's own


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One thing that is wrong."""

    file: str  # the file, as it was named
    line: int  # of the file, from 1; the row of a Parquet file; 0 for the file as a whole
    what: str  # in words
    kind: Trouble = Trouble.DAMAGED  # which kind of problem

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.kind}: {self.what}"


class Problems:
    """Collects problems: counts all, keeps the first :data:`KEPT`."""

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict  # whether the first problem raises an error
        self.count = 0  # how many there are
        self.by_kind: Counter[Trouble] = Counter()  # how many of each kind
        self.kept: list[Problem] = []  # the first ones

    def add(
        self, file: str, line: int, what: str, *, kind: Trouble = Trouble.DAMAGED, part: str = "", times: int = 1
    ) -> None:
        """Record a problem that occurs ``times`` times, first at ``line``; only its first place is kept.

        ``part`` is for :class:`Pass`.

        Raises:
            TraceError: with ``strict``.
        """
        problem = Problem(file=file, line=line, what=what, kind=kind)
        if self.strict:
            raise TraceError(f"{problem}.\nWithout --strict this is counted, and the rest of the trace is checked.")
        self.count += times
        self.by_kind[kind] += times
        if len(self.kept) < KEPT:
            self.kept.append(problem)

    def take_back(self, problem: Problem) -> None:
        """Remove a problem that was kept and turned out to be none."""
        self.kept.remove(problem)
        self.count -= 1
        self.by_kind[problem.kind] -= 1

    def where(self, wanted: Callable[[Problem], bool]) -> Problems:
        """The kept problems that satisfy a condition."""
        found = Problems()
        for one in filter(wanted, self.kept):
            found.add(one.file, one.line, one.what, kind=one.kind)
        return found

    def join(self, later: Problems) -> None:
        """Add problems that were found elsewhere.

        Raises:
            TraceError: with ``strict``, if there are any.
        """
        for problem in later.kept:
            if self.strict:
                self.add(problem.file, problem.line, problem.what, kind=problem.kind)
        self.count += later.count
        self.by_kind.update(later.by_kind)
        self.kept += later.kept[: KEPT - len(self.kept)]


class Repeatable:
    """Lets the problems of a file through once, however often the file is read.

    A reader finds the same problems in the same order each time, so the number already let through shows which are new;
    a pass that ends early leaves the rest for the next one. Each part of a file that can be read alone, such as a
    column, is counted separately.
    """

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._told: Counter[str] = Counter()

    def begin(self) -> Pass:
        """The receiver of problems for the next pass over the file."""
        return Pass(self._problems, self._told)


class Pass(Problems):
    """The problems of one pass over a file; see :class:`Repeatable`."""

    def __init__(self, problems: Problems, told: Counter[str]) -> None:
        super().__init__(strict=problems.strict)
        self._problems = problems
        self._told = told
        self._seen: Counter[str] = Counter()

    def add(
        self, file: str, line: int, what: str, *, kind: Trouble = Trouble.DAMAGED, part: str = "", times: int = 1
    ) -> None:
        """Record a problem of a part of the file, unless an earlier pass did."""
        self._seen[part] += times
        self.by_kind[kind] += times
        fresh = self._seen[part] - self._told[part]
        if fresh > 0:
            self._told[part] = self._seen[part]
            self._problems.add(file, line, what, kind=kind, part=part, times=min(fresh, times))
