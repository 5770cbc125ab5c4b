"""One row of any answer: the results of ``verify``, ``check``, ``mutants`` and deployments, for every form of
output.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class RowStatus(enum.Enum):
    """What a row means to the user of the command.

    FAILED: somebody must act. UNKNOWN: neither shown nor refuted, not a pass. SKIPPED: not judged here, or accepted.
        NOTED: worth saying, but does not fail. PASSED: fine.
    """

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"
    NOTED = "noted"


class Severity(enum.IntEnum):
    """How bad a remark is.

    NOTE: works as designed, but surprises people. WARNING: goes wrong under conditions that occur sooner or later.
        ERROR: goes wrong as it is.
    """

    NOTE = 1
    WARNING = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True)
class Place:
    """A line of a file; the first is 1."""

    file: str
    line: int = 1


@dataclass(frozen=True)
class Step:
    """One of the events that show something, or of the steps of a run, with its place."""

    text: str
    place: Place


@dataclass(frozen=True, kw_only=True)
class Remark:
    """Something to look at, with its place.

    Attributes:
        severity: how bad it is; None if this is not known.
        text: the full text.
        place: where.
        brief: a short text; the full text if empty.
        subject: what is concerned, such as a group or a queue.
        identity: what distinguishes it from other remarks of its row and subject, in this run and in later ones.
        steps: the events or steps that show it, in order.
    """

    severity: Severity | None
    text: str
    place: Place
    subject: str
    identity: str
    brief: str = ""
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReportRow:
    """The answer about one thing that was judged.

    Attributes:
        id: what was judged: a property, a claim, a check, a mutant.
        suite: what it belongs to: a machine, a monitor, a file and group.
        configuration: the constants, if there are several rows with one id.
        statement: what should be, in a sentence.
        rules: rules of RocketMQ on which it rests.
        tags: its topics, for services that filter.
        status: what the answer means.
        message: why, in one line; empty if it passed.
        text: why, at length: reasons, events, the story of a run.
        seconds: how long it took.
        place: its place in the user's file, if it has one.
        remarks: what must be looked at, each with its place.
        accepted: why the users accept it.
    """

    id: str
    suite: str
    statement: str
    status: RowStatus
    seconds: float
    configuration: str = ""
    rules: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    message: str = ""
    text: str = ""
    place: Place | None = None
    remarks: tuple[Remark, ...] = ()
    accepted: str = ""

    @property
    def name(self) -> str:
        """Id and configuration."""
        return f"{self.id} {self.configuration}".rstrip()
