"""Lines of logs: their layouts, from the logging configurations of RocketMQ and Spring Boot.

A layout may stand behind what a collector of logs puts before a line, or in its JSON. A line without any of the layouts
belongs to the line before it: a stack trace, or a message of several lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from ...format.problems import Problems
from ..compressed import lines_of
from .clock import millis_of, zone_of
from .collected_line import text_in

_SECOND = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d"
_FRACTION = r"(?:[.,]\d{3,9})?"
_ZONE = r"(?:Z|[+-]\d\d:?\d\d)?"
_LEVEL = r"(?P<level>TRACE|DEBUG|INFO|WARN|ERROR)"
_MESSAGE = "(?P<message>.*)"


@dataclass(frozen=True)
class Layout:
    """How one program writes its lines."""

    pattern: re.Pattern[str]  # pattern of a line that begins a message
    zone: str  # zone of its times, unless the user gives one


CLIENT_5 = Layout(  # rmq.client.logback.xml
    re.compile(
        rf"(?P<stamp>{_SECOND}\.\d\d\d) {_LEVEL} +\[(?P<process>\d+)\] \[(?P<thread>.*?)\] \[(?P<logger>[^]]*)\] - "
        rf"{_MESSAGE}"
    ),
    "GMT+8",
)
# LoggingBuilder.DefaultLayout
CLIENT_4 = Layout(re.compile(rf"(?P<stamp>{_SECOND},\d\d\d) {_LEVEL} (?P<logger>\S+) - {_MESSAGE}"), "UTC")
# logback_broker.xml, rmq.broker.logback.xml
BROKER = Layout(re.compile(rf"(?P<stamp>{_SECOND}) {_LEVEL} (?P<thread>.*?) - {_MESSAGE}"), "GMT+8")
SPRING = Layout(  # Spring Boot; since 3.0 with a zone, and with the application's name before the thread
    re.compile(
        rf"(?P<stamp>{_SECOND}{_FRACTION}{_ZONE}) +{_LEVEL} +(?P<process>\d+) +--- +(?:\[[^]]*\] )?"
        rf"\[(?P<thread>[^]]*)\] +(?P<logger>\S+) +: ?{_MESSAGE}"
    ),
    "UTC",
)
LOGBACK = Layout(  # the choice of most applications: date, thread, level, logger
    re.compile(
        rf"(?P<stamp>{_SECOND}{_FRACTION}{_ZONE}) +\[(?P<thread>[^]]*)\] +{_LEVEL} +(?P<logger>\S+) +- {_MESSAGE}"
    ),
    "UTC",
)
PLAIN = Layout(  # the lab's layout, and that of others with a broker's log on standard output: date, level, thread
    re.compile(rf"(?P<stamp>{_SECOND}[.,]\d\d\d) +{_LEVEL} +(?P<thread>(?!\[|\d+ +---)\S+) +- {_MESSAGE}"), "UTC"
)
OWN = Layout(  # any that begins with the date, where one of RocketMQ's loggers is the last thing before the message
    re.compile(
        rf"(?P<stamp>{_SECOND}(?:[.,]\d\d\d)?{_ZONE})(?=.*?\b{_LEVEL}\b)"
        r"(?:.*?\[(?P<thread>[^][]*[A-Za-z][^][]*)\])?.*?"
        r"(?P<logger>\b(?:[\w.]+\.)?(?:Rocketmq(?:Client|Common|Remoting)|DefaultRocketMQListenerContainer))\b"
        rf"[^-:|\w]*[-:|]+ ?{_MESSAGE}"
    ),
    "UTC",
)

NO_LOGGER = Layout(  # any other that begins with the date and names the level
    re.compile(
        rf"(?P<stamp>{_SECOND}(?:[.,]\d\d\d)?{_ZONE})(?=.*?\b{_LEVEL}\b)"
        rf"(?:(?:[^[]*\[(?P<thread>[^][]*[A-Za-z][^][]*)\])?.*? - |[^]]*\] ){_MESSAGE}"
    ),
    "UTC",
)

LAYOUTS = (CLIENT_5, CLIENT_4, BROKER, SPRING, LOGBACK, PLAIN)
"""The layouts of known programs; the first that matches a line is its own. A line of CLIENT_4 may also match PLAIN."""

OTHERS = (OWN, NO_LOGGER)
"""Layouts that are recognised by less; they count for lines that no known program writes."""

_DATE = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:")
_PREFIX = 200  # characters; what collectors put before a line is shorter

CONTINUATION = "continuation"
"""Name under which a line that continues the message before it is counted."""


class LogLine(NamedTuple):
    """One message of a log."""

    number: int  # of its first line in the file, from 1
    time: int  # ms since 1970 UTC
    layout: Layout  # of the line
    level: str  # INFO and so on
    process: str  # id of the process; empty if the layout has none
    thread: str  # name of the thread; empty if the layout has none
    logger: str  # name of the logger; empty if the layout has none
    message: str  # the first line of the message


def layout_of(line: str) -> tuple[Layout, re.Match[str]] | None:
    """The layout of a line, and its parts; None for a line that begins no message."""
    text = text_in(line)
    starts = [found.start() for found in _DATE.finditer(text, 0, _PREFIX)]
    for layouts, places in ((LAYOUTS, starts), (OTHERS, starts[:1])):
        for start in places:
            for layout in layouts:
                if found := layout.pattern.match(text, start):
                    return layout, found
    return None


def log_lines(
    path: Path,
    problems: Problems,
    skipped: Counter[str],
    *,
    zone: str | None = None,
    only: Iterable[int] | None = None,
) -> Iterator[LogLine]:
    """The messages of a log file, in its order. Further lines of a message are counted in ``skipped``.

    With ``zone``, all times are in this zone, otherwise in that of their layout; with ``only``, lines with other
    numbers are passed over. Impossible times, and lines that a crash or a bad disk has overwritten with zero bytes, are
    ``problems``. Zero bytes at the beginning of a file replace nothing: it was emptied while the program wrote on.
    """
    wanted = iter(only) if only is not None else None
    next_wanted = next(wanted, 0) if wanted is not None else 0
    told = zone_of(zone) if zone is not None else None
    zones = {layout: told or zone_of(layout.zone) for layout in (*LAYOUTS, *OTHERS)}
    time = 0
    for number, line in lines_of(path, problems):
        is_passed_over = wanted is not None and number != next_wanted
        if wanted is not None and not is_passed_over:
            next_wanted = next(wanted, 0)
        # In a zone with daylight saving, the line before tells how a time is read.
        if is_passed_over and not isinstance(told, ZoneInfo):
            continue
        if "\0" in line:
            line = line.lstrip("\0") if number == 1 else line
            if "\0" in line:
                problems.add(str(path), number, "zero bytes where text was; left out")
                continue
        found = layout_of(line)
        if found is None:
            skipped[CONTINUATION] += 1
            continue
        layout, parts = found
        try:
            time = millis_of(parts["stamp"], zones[layout], time)
        except ValueError:
            problems.add(str(path), number, f"{parts['stamp']} is no date and time")
            continue
        if is_passed_over:
            continue
        has = parts.groupdict()
        yield LogLine(
            number=number,
            time=time,
            layout=layout,
            level=parts["level"],
            process=has.get("process") or "",
            thread=has.get("thread") or "",
            logger=has.get("logger") or "",
            message=parts["message"],
        )
