"""Lines of logs as JSON: of collectors, which put each line of a program into an object, and of encoders.

Docker and Fluent Bit put a line into ``log``, journald into ``MESSAGE``. Encoders, such as logstash-logback-encoder and
those of the Elastic Common Schema, write the parts of a message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..json_text import read_json

_PARTS = (
    ("log", "MESSAGE", "message", "msg"),
    ("@timestamp", "timestamp", "time"),
    ("level", "log.level"),
    ("logger_name", "log.logger", "loggerName", "logger"),
    ("thread_name", "process.thread.name", "threadName", "thread"),
    ("process.pid", "pid"),
)
"""Names of a message's text, time, level, logger, thread and process."""

_OBJECT = re.compile(r"[^{]{0,200}(?P<object>\{\s*\".*\})\s*$")


def text_in(line: str) -> str:
    """The line that the program wrote, or its parts in the layout of Spring Boot or Logback; without one, the line."""
    found = _OBJECT.match(line)
    try:
        value = read_json(found["object"]) if found else None
    except ValueError:
        value = None
    told = dict(_members(value, "")) if isinstance(value, dict) else {}
    text, stamp, level, logger, thread, process = (
        next((str(told[name]) for name in names if told.get(name)), "") for names in _PARTS
    )
    if not text:
        return line
    if not (stamp and level and logger):
        return text_in(text)
    if process:
        return f"{stamp} {level} {process} --- [{thread}] {logger} : {text}"
    return f"{stamp} [{thread}] {level} {logger} - {text}"


def _members(value: dict[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    """The members of an object and of those in it: ``{"log": {"level": "INFO"}}`` has ``log.level``."""
    for name, member in value.items():
        if isinstance(member, dict):
            yield from _members(member, f"{before}{name}.")
        else:
            yield before + name, member
