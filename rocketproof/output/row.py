"""One row of any answer: a result of ``verify``, ``check``, ``mutants`` or deployments, for every form of output."""

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
    """Something to look at, with its place."""

    severity: Severity | None  # how bad it is; None if this is not known
    text: str  # the full text
    place: Place  # where
    subject: str  # what is concerned, such as a group or a queue
    identity: str  # what distinguishes it from other remarks of its row and subject, in this run and in later ones
    brief: str = ""  # a short text; the full text if empty
    steps: tuple[Step, ...] = ()  # the events or steps that show it, in order


@dataclass(frozen=True, kw_only=True)
class ReportRow:
    """The answer about one thing that was judged."""

    id: str  # what was judged: a property, a claim, a check, a mutant
    suite: str  # what it belongs to: a machine, a monitor, a file and group
    statement: str  # what should be, in a sentence
    status: RowStatus  # what the answer means
    seconds: float  # how long it took
    configuration: str = ""  # the constants, if there are several rows with one id
    rules: tuple[str, ...] = ()  # rules of RocketMQ on which it rests
    tags: tuple[str, ...] = ()  # its topics, for services that filter
    message: str = ""  # why, in one line; empty if it passed
    text: str = ""  # why, at length: reasons, events, the story of a run
    place: Place | None = None  # its place in the user's file, if it has one
    remarks: tuple[Remark, ...] = ()  # what must be looked at, each with its place
    accepted: str = ""  # why the users accept it

    @property
    def name(self) -> str:
        """Id and configuration."""
        return f"{self.id} {self.configuration}".rstrip()
