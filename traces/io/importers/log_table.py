"""Tables of log messages: which of them are events, and of what kind.

A row is a literal that its messages contain, a pattern whose named groups are fields of the event, and the kind of the
event. Rows without a kind are known messages without further meaning. The tables of clients and brokers differ only in
rows; anything that a row cannot express is done by a function in it.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path as File

from ...format.kinds import Kind, Path, Result
from ...format.problems import Problems
from ...format.schema import BY_NAME, PULLED, Group
from .log_line import LogLine, log_lines
from .message_text import consumers_in, fields_in, text_pattern
from .protocol import Event

More = Callable[[re.Match[str], LogLine], Iterable[Event]]
"""Makes the events of a message that a row cannot express in its pattern; the values of the row are added to each."""

_FIELDS = {Kind: "kind", Result: "result", Path: "path"}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One kind of message."""

    contains: str  # a literal part of it, case-sensitive, which is searched before the pattern is tried
    pattern: re.Pattern[str]  # searched in the message; its named groups are fields of the event
    fixed: Event  # kind, result and path of its events; empty for a message without events
    more: More | None = None  # makes the events instead, if the row is not enough
    says: str = ""  # the content of a message without an event


class Table:
    """The rows of one program: the first that fits a message determines its meaning."""

    def __init__(self, *rows: Row) -> None:
        self.rows = rows  # the rows, in their order
        # the literals that they require in messages, each once
        self.literals = tuple(sorted({each.contains for each in rows}))


@dataclass(frozen=True, kw_only=True)
class Told:
    """The meaning of a message."""

    row: Row  # the row that fits it
    fields: Event  # the named groups of the row's pattern
    events: list[Event]  # its events; none for rows without a kind


def row(contains: str, pattern: str, *words: Kind | Result | Path, more: More | None = None, says: str = "") -> Row:
    """A row; see :class:`Row`. ``words`` are the kind, result and path of its events.

    The pattern is one of :func:`.message_text.text_pattern`.

    Raises:
        ValueError: a named group of the pattern is no field.
    """
    compiled = text_pattern(pattern)
    unknown = set(compiled.groupindex) - set(BY_NAME)
    if unknown:
        raise ValueError(f"{sorted(unknown)} of {pattern!r} are no fields")
    fixed = {_FIELDS[type(word)]: word for word in words}
    return Row(contains=contains, pattern=compiled, fixed=fixed, more=more, says=says)


def consumers(found: re.Match[str], line: LogLine) -> Iterator[Event]:
    """An event for each group of a printed heartbeat; its mode is the detail, unless the pattern has one."""
    for told in consumers_in(line.message):
        yield {"detail": told.mode, **fields_in(found), "group": told.group, "subscriptions": told.subscriptions}


@dataclass(kw_only=True)
class Groups:
    """What the messages of a log say about its groups."""

    modes: dict[str, str] = field(default_factory=dict)
    strategies: dict[str, str] = field(default_factory=dict)
    orderly: set[str] = field(default_factory=set)  # those with locks
    pulled: set[str] = field(default_factory=set)  # those whose applications pull

    def see(self, event: Event, line: LogLine) -> None:
        """Take an event of a message into account."""
        if event["kind"] == Kind.HEARTBEAT:
            for consumer in consumers_in(line.message):
                self.modes[consumer.group] = consumer.mode
                if consumer.pulls:
                    self.pulled.add(consumer.group)
        elif event["kind"] == Kind.REBALANCE:
            self.strategies[event["group"]] = event["detail"]
        elif event["kind"] in (Kind.LOCK, Kind.UNLOCK):
            self.orderly.add(event["group"])

    def known(self) -> dict[str, Group]:
        """The groups whose mode, strategy or locks are stated."""
        return {
            name: Group(
                mode=self.modes.get(name, "clustering"),
                listener=PULLED if name in self.pulled else "orderly" if name in self.orderly else "concurrently",
                strategy=self.strategies.get(name, "AVG"),
            )
            for name in sorted({*self.modes, *self.strategies, *self.orderly})
        }


Note = Callable[[LogLine, Told | None], None]
"""Receives a message, and its meaning, if it has any."""


def told_lines(
    path: File, table: Table, problems: Problems, skipped: Counter[str], *, zone: str | None, note: Note
) -> array[int]:
    """The numbers of the lines of a log that fit some row; all other lines are counted in ``skipped``.

    ``note`` is called with each message of the file, and its meaning; the rest is as for :func:`.log_line.log_lines`.
    """
    numbers = array("q")
    for line in log_lines(path, problems, skipped, zone=zone):
        is_named = _is_named(line.message, table)
        told = told_by(line, table) if is_named else None
        note(line, told)
        if told is not None:
            numbers.append(line.number)
        else:
            # A line that contains a literal but fits no row is cut off, or of another release.
            skipped["message in an unknown form" if is_named else "other message"] += 1
    return numbers


def told_again(path: File, table: Table, numbers: Iterable[int], *, zone: str | None) -> Iterator[tuple[LogLine, Told]]:
    """The messages of a log with these line numbers, each with its meaning; see :func:`told_lines`."""
    for line in log_lines(path, Problems(), Counter(), zone=zone, only=numbers):
        told = told_by(line, table)
        if told is not None:
            yield line, told


def _is_named(message: str, table: Table) -> bool:
    """Whether a message contains a literal of some row, in whichever form."""
    for literal in table.literals:  # noqa: SIM110  a generator takes twice the time for each line of a log
        if literal in message:
            return True
    return False


def told_by(line: LogLine, table: Table) -> Told | None:
    """The meaning of a message by the first row that fits it; None if no row does."""
    for candidate in table.rows:
        if candidate.contains not in line.message:
            continue
        found = candidate.pattern.search(line.message)
        if found is None:
            continue
        fields = fields_in(found)
        if not candidate.fixed:
            return Told(row=candidate, fields=fields, events=[])
        told = candidate.more(found, line) if candidate.more is not None else [fields]
        events = [{"time": line.time, **candidate.fixed, **event} for event in told]
        return Told(row=candidate, fields=fields, events=events)
    return None
