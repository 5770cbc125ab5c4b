"""One row of any answer: what ``verify``, ``check``, ``mutants`` and deployments say, for every form of output."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class RowStatus(enum.Enum):
    """What a row means to who runs the command.

    FAILED: somebody must act. UNKNOWN: neither shown nor refuted, no pass. SKIPPED: not asked here, or accepted.
    NOTED: worth saying, and does not fail. PASSED: fine.
    """

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"
    NOTED = "noted"


class Severity(enum.IntEnum):
    """How bad a remark is.

    NOTE: works as designed, and surprises people. WARNING: goes wrong under conditions that come up sooner or later.
    ERROR: goes wrong as it stands.
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
    """One of the events that show something, or of the steps of a run, with where it stands."""

    text: str
    place: Place


@dataclass(frozen=True, kw_only=True)
class Remark:
    """Something to look at, at its place.

    Attributes:
        severity: how bad it is; None where nobody knows.
        text: what is to be said, at length.
        place: where.
        brief: the same where there is little room; the text if empty.
        subject: what is concerned, such as a group or a queue.
        identity: what tells it from other remarks of its row and subject, in this run and in later ones.
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
    """The answer to one thing that was asked.

    Attributes:
        id: what was asked: a property, a claim, a check, a mutant.
        suite: what it belongs to: a machine, a monitor, a file and group.
        configuration: under which constants, if there are several rows of one id.
        statement: what should be, in a sentence.
        rules: rules of RocketMQ that it rests on.
        tags: what it is about, for services that filter.
        status: what the answer means.
        message: why, in one line; empty for what passed.
        text: why, at length: reasons, events, the story of a run.
        seconds: how long it took.
        place: where it stands in the user's file, if it does.
        remarks: what must be looked at, each at its place.
        accepted: why the users live with it.
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
