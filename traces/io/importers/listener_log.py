"""Logs of applications whose listeners run in the container of RocketMQ's Spring starter.

``DefaultRocketMQListenerContainer`` logs each failed call with message id, topic and count (WARN) and, with DEBUG on,
the message that it got and the duration of a successful call. Failures are therefore always logged, successes only with
DEBUG. Documents that quote such a log, in Markdown fences for example, are read too: lines of no known layout are
skipped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...format.kinds import Kind, Result
from ...format.problems import Problems
from ...format.schema import Header
from ...format.whole_number import whole_number
from .log_line import LogLine, log_lines
from .message_text import messages_in
from .protocol import Event, Imported, Importer

_FAILED = re.compile(r"consume message failed\. messageId:([^,\s]+), ?topic:([^,\s]+), ?reconsumeTimes:(\d+)")
_RECEIVED = "received msg: MessageExt ["
_SUCCEEDED = re.compile(r"consume (\S+) cost: (\d+) ms")

OWN_LINE = 5_000
"""A line that its thread wrote at most this long before a failure (ms) counts as one of the same listener call."""


@dataclass(frozen=True, kw_only=True)
class ListenerLog(Importer):
    """Reads logs of listeners."""

    name: str = "listener-log"
    zone: str | None = None  # time zone if lines have none; None is UTC
    group: str | None = None  # consumer group of the listeners, which is not in the log
    client: str | None = None  # client id; the id of the process if None

    def detects(self, head: str, name: str) -> bool:
        """Whether a failure of the container, or its DEBUG lines, are among the first lines."""
        return bool(_FAILED.search(head)) or _RECEIVED in head

    def read(self, path: Path, problems: Problems) -> Imported:
        """Read a file."""
        skipped: Counter[str] = Counter()
        return Imported(
            header=Header(source=f"listener log ({path.name})", evidence=frozenset({Kind.DELIVER, Kind.RESULT})),
            events=self._events(path, problems, skipped),
            skipped=skipped,
        )

    def _events(self, path: Path, problems: Problems, skipped: Counter[str]) -> Iterator[Event]:
        threads: dict[tuple[str, str], _Thread] = {}
        for line in log_lines(path, problems, skipped, zone=self.zone):
            thread = threads.setdefault((line.process, line.thread), _Thread())
            base: Event = {"group": self.group, "client": self.client or line.process or path.name}
            failed = _FAILED.search(line.message)
            if failed:
                yield from self._failure(base, line, thread, failed)
                thread.line = thread.call = None
            elif _RECEIVED in line.message:
                for message in messages_in(line.message, group=self.group):
                    thread.call = base | message | {"time": line.time, "kind": Kind.DELIVER}
                    yield thread.call
            elif done := _SUCCEEDED.search(line.message):
                yield from self._success(base, line, thread, done)
                thread.line = thread.call = None
            else:
                thread.line = line
                skipped["other message"] += 1
                if "consume message failed" in line.message:
                    problems.add(str(path), line.number, "consume message failed, but not of which message")

    def _failure(self, base: Event, line: LogLine, thread: _Thread, found: re.Match[str]) -> Iterator[Event]:
        key, topic, attempt = found[1], found[2], whole_number(found[3])
        call = base | {"topic": topic, "key": key, "attempt": attempt}
        if thread.call is not None and thread.call.get("key") == key:
            call |= {name: thread.call[name] for name in ("broker", "queue", "offset") if name in thread.call}
        else:
            own = thread.line is not None and line.time - thread.line.time <= OWN_LINE
            began = thread.line.time if thread.line is not None and own else line.time
            yield call | {"time": began, "kind": Kind.DELIVER}
        yield call | {"time": line.time, "kind": Kind.RESULT, "result": Result.EXCEPTION}

    def _success(self, base: Event, line: LogLine, thread: _Thread, found: re.Match[str]) -> Iterator[Event]:
        call = base | {"key": found[1]}
        if thread.call is not None and thread.call.get("key") == found[1]:
            call = {name: value for name, value in thread.call.items() if name not in ("time", "kind")}
        else:
            yield call | {"time": line.time - whole_number(found[2]), "kind": Kind.DELIVER}
        yield call | {"time": line.time, "kind": Kind.RESULT, "result": Result.OK}


@dataclass
class _Thread:
    """A thread of the application: its last line of its own, and the call whose beginning it logged."""

    line: LogLine | None = None
    call: Event | None = None
