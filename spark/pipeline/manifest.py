"""The manifest of a batch: the recordings in it, their headers and clocks, and their problems."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ...traces.clocks.as_json import clocks_as_json, clocks_of_json
from ...traces.clocks.clocks import Clocks
from ...traces.format.coverage import Hole
from ...traces.format.header import Stated, header_json, read_header
from ...traces.format.problems import Problem, Problems, Trouble


@dataclass(frozen=True, kw_only=True)
class File:
    """A file that was ingested.

    Attributes:
        path: the path as it was given.
        size: bytes; ``changed``: when it was last written, ns since 1970; ``content``: SHA-256 of its bytes.
    """

    path: str
    size: int
    changed: int
    content: str


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A file of the table: events of one day and group.

    Attributes:
        path: path within the folder of the batch.
        day: the day of all its events, UTC.
        rows: number of events; ``begin``: time of the earliest, ms; ``end``: of the latest.
    """

    path: str
    day: str
    rows: int
    begin: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Source:
    """A recording that was ingested: a file, or files that were read as one.

    Attributes:
        id: digest of its files, by path and content.
        file: its name in messages.
        files: the files from which it was read.
        joined: whether a further file of the same kind would have been read together with these.
        stated: its header.
        parts: the pieces of each part that was read separately.
        counted: whether ``seq`` comes from its recorder.
        skipped: what was neither event nor damage.
        clocks: the clocks by which its times are already corrected.
        problems: its problems; ``holes``: the evidence that these take away.
        replaces: ids of recordings whose whole content, and more, is in this one.
        at: when it was ingested, ms.
    """

    id: str
    file: str
    files: Sequence[File]
    joined: bool
    stated: Stated
    parts: Sequence[Sequence[Piece]]
    counted: bool
    skipped: Counter[str]
    clocks: Clocks | None
    problems: Problems
    holes: Sequence[Hole]
    replaces: Sequence[str] = ()
    at: int = sys.maxsize

    @property
    def rows(self) -> int:
        """Number of events."""
        return sum(piece.rows for part in self.parts for piece in part)


@dataclass(frozen=True, kw_only=True)
class Batch:
    """What was ingested and published together.

    Attributes:
        cluster: name of the cluster, given by the user.
        sources: the recordings.
        problems: problems of files that are no part of a recording, and those too many to be kept; ``holes``: the
            evidence that these take away.
        left_out: files that are not recordings, each with the reason.
        passed: those files.
    """

    cluster: str
    sources: Sequence[Source]
    problems: Problems = field(default_factory=Problems)
    holes: Sequence[Hole] = ()
    left_out: Sequence[str] = ()
    passed: Sequence[File] = ()


def batch_as_json(batch: Batch) -> dict[str, Any]:
    """A batch as a JSON object."""
    return {
        "cluster": batch.cluster,
        "sources": [_source_as_json(source) for source in batch.sources],
        "problems": _problems_as_json(batch.problems),
        "holes": [asdict(hole) for hole in batch.holes],
        "left_out": list(batch.left_out),
        "passed": [asdict(file) for file in batch.passed],
    }


def batch_of(said: Mapping[str, Any]) -> Batch:
    """The batch, from the result of :func:`batch_as_json`."""
    return Batch(
        cluster=said["cluster"],
        sources=[_source_of(source) for source in said["sources"]],
        problems=_problems_of(said["problems"]),
        holes=[Hole(**hole) for hole in said["holes"]],
        left_out=said["left_out"],
        passed=[File(**file) for file in said["passed"]],
    )


def _source_as_json(source: Source) -> dict[str, Any]:
    return {
        **{name: getattr(source, name) for name in _AS_THEY_ARE},
        "files": [asdict(file) for file in source.files],
        "header": header_json(source.stated.header),
        "members": sorted(source.stated.members),
        "of_groups": {name: sorted(source.stated.said_of(name)) for name in source.stated.header.groups},
        "parts": [[asdict(piece) for piece in part] for part in source.parts],
        "skipped": dict(source.skipped),
        "clocks": None if source.clocks is None else clocks_as_json(source.clocks),
        "problems": _problems_as_json(source.problems),
        "holes": [asdict(hole) for hole in source.holes],
    }


_AS_THEY_ARE = ("id", "file", "joined", "counted", "replaces", "at")
"""Attributes of a source that are the same in JSON."""


def _source_of(said: Mapping[str, Any]) -> Source:
    stated = read_header(said["header"], file=said["file"], line=0, problems=Problems())
    of_groups = {name: frozenset(members) for name, members in said.get("of_groups", stated.of_groups).items()}
    return Source(
        **{name: said[name] for name in _AS_THEY_ARE if name in said},  # the time of ingestion was not always recorded
        files=[File(**file) for file in said["files"]],
        stated=replace(stated, members=frozenset(said["members"]), of_groups=of_groups),
        parts=[[Piece(**piece) for piece in part] for part in said["parts"]],
        skipped=Counter(said["skipped"]),
        clocks=None if said["clocks"] is None else clocks_of_json(said["clocks"]),
        problems=_problems_of(said["problems"]),
        holes=[Hole(**hole) for hole in said["holes"]],
    )


def _problems_as_json(problems: Problems) -> dict[str, Any] | None:
    if not problems.count:
        return None
    kept = [[problem.file, problem.line, problem.what, problem.kind] for problem in problems.kept]
    return {"by_kind": problems.by_kind, "kept": kept}


def _problems_of(said: Mapping[str, Any] | None) -> Problems:
    problems = Problems()
    if said:
        problems.by_kind = Counter({Trouble(kind): count for kind, count in said["by_kind"].items()})
        problems.count = problems.by_kind.total()
        kept = said["kept"]
        problems.kept = [Problem(file=f, line=line, what=what, kind=Trouble(kind)) for f, line, what, kind in kept]
    return problems
