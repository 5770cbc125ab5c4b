"""Strategies of a user's own: a Python function, or an external program that answers JSON lines.

A Python function is called as ``function(own_id, queues, ids)``: a client id, the queues of the topic as
:class:`MessageQueue` objects and the client ids of the group, both sorted as RocketMQ sorts them. It returns a list of
some of these queues. It may raise any exception to refuse its input.

An external program is started once. It reads one JSON object a line from standard input and answers each with one line
on standard output, flushed at once::

    {"group": "g", "clientId": "c0", "queues": [{"topic": "T", "brokerName": "b", "queueId": 0}], "clientIds": ["c0"]}
    {"queues": [{"topic": "T", "brokerName": "b", "queueId": 0}]}

The answer may also be the plain list of queues, or ``{"error": "why"}`` to refuse the input. Standard error may be used
for logging; if something goes wrong, its last lines are shown.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import selectors
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NoReturn, Self

from ..model.allocation import AllocationError, MessageQueue
from ..model.kernel import nearest
from .user_modules import UserModuleError, import_user_module


class StrategyError(Exception):
    """A strategy cannot be loaded or started, or its answer cannot be read; the message says what to fix."""


class StrategyGoneError(StrategyError):
    """An external program cannot answer any more: it ended, did not answer in time, or its answers no longer match."""


@dataclass(frozen=True)
class FunctionStrategy:
    """A Python function as a strategy."""

    name: str  # where it comes from
    # called with own id, queues and ids; returns the list of queues that it takes
    function: Callable[[str, list[MessageQueue], list[str]], Sequence[MessageQueue]]

    def allocate(self, own_id: str, queues: Sequence[MessageQueue], ids: Sequence[str]) -> list[MessageQueue]:
        """What the function returns; it gets copies of the lists.

        Raises:
            StrategyError: it returned something other than a list of queues. Its own exceptions pass through.
        """
        answer: object = self.function(own_id, list(queues), list(ids))
        if not isinstance(answer, list | tuple):
            raise StrategyError(f"it returned {_short(answer)}; return a list of MessageQueue objects.")
        strange = [item for item in answer if not isinstance(item, MessageQueue)]
        if strange:
            raise StrategyError(f"its list holds {_short(strange[0])}; return MessageQueue objects of the list given.")
        return list(answer)


def load_strategy(where: str) -> FunctionStrategy:
    """The function named as ``package.module:function``, looked up in the current directory first.

    Raises:
        StrategyError: there is no such module or function, the module fails to import, it is no function, or it
            takes other arguments.
    """
    module_name, colon, name = where.partition(":")
    if not (module_name and colon and name):
        raise StrategyError(f"{where!r} does not name a strategy; write package.module:function.")
    try:
        module = import_user_module(module_name, folder=os.getcwd(), meant=f"of the strategy {where!r}")
    except UserModuleError as error:
        raise StrategyError(str(error)) from error
    if not hasattr(module, name):
        functions = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise StrategyError(f"module {module_name!r} has no function {name!r}.{nearest(name, functions)}")
    function = getattr(module, name)
    if not callable(function):
        raise StrategyError(f"{where!r} is {_short(function)}, no function; write one: f(own_id, queues, ids) -> list.")
    with contextlib.suppress(ValueError):  # functions written in C have no signature
        signature = inspect.signature(function)
        try:
            signature.bind("c0", [], [])
        except TypeError as error:
            raise StrategyError(
                f"{where!r} takes {signature}, and cannot be asked with (own_id, queues, ids): {error}; write "
                f"def {name}(own_id, queues, ids)."
            ) from None
    return FunctionStrategy(where, function)


class CommandStrategy:
    """An external program as a strategy; use it in a ``with`` statement, which ends the program."""

    def __init__(self, command: str, *, group: str = "rocketproof", answer_seconds: float = 10.0) -> None:
        """Start the program.

        Args:
            command: program and arguments, quoted as for a shell; no shell is started.
            group: consumer group named in every question.
            answer_seconds: how long an answer may take.

        Raises:
            StrategyError: the command is empty or wrongly quoted, or the program cannot be started.
        """
        self.name = command  # the command line
        self._group = group
        self._answer_seconds = answer_seconds
        self._unread = b""
        self._errors = b""
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise StrategyError(f"cannot read the command {command!r}: {error}; check its quotes.") from None
        if not words:
            raise StrategyError("the command of the strategy is empty; give a program and its arguments.")
        try:
            # A session of its own, so that a wrapper script can be ended together with what it started.
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise StrategyError(f"cannot start {words[0]!r}: {error.strerror}; give the path of a program.") from None
        for pipe in self._pipes():
            os.set_blocking(pipe.fileno(), False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def allocate(self, own_id: str, queues: Sequence[MessageQueue], ids: Sequence[str]) -> list[MessageQueue]:
        """Ask the program.

        Raises:
            AllocationError: the program answers that it refuses the input.
            StrategyError: its answer cannot be read.
            StrategyGoneError: there is no answer, and there will be none to further questions.
        """
        question = {
            "group": self._group,
            "clientId": own_id,
            "queues": [
                {"topic": queue.topic, "brokerName": queue.broker_name, "queueId": queue.queue_id} for queue in queues
            ],
            "clientIds": list(ids),
        }
        return self._read(self._exchange(json.dumps(question).encode() + b"\n"))

    def close(self) -> None:
        """End the program: by closing its input and, if it does not react, by signals. May be called again."""
        for end in (None, signal.SIGTERM, signal.SIGKILL):
            if self._process.poll() is None:
                if end is None:
                    self._stdin.close()
                else:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(self._process.pid, end)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(timeout=1.0)
        for pipe in self._pipes():
            pipe.close()

    def _exchange(self, question: bytes) -> bytes:
        if self._process.stdin is None or self._stdin.closed:
            raise StrategyGoneError("the program has been ended.")
        if self._unread:
            self._gone(f"it printed more than one line for a question, {_short_bytes(self._unread)} is left over")
        deadline = time.monotonic() + self._answer_seconds
        stdin, stdout, stderr = self._pipes()
        with selectors.DefaultSelector() as selector:
            selector.register(stdin, selectors.EVENT_WRITE)
            selector.register(stdout, selectors.EVENT_READ)
            selector.register(stderr, selectors.EVENT_READ)
            while b"\n" not in self._unread:
                left = deadline - time.monotonic()
                if left <= 0:
                    self._gone(f"it gave no answer within {self._answer_seconds:g} s")
                for key, _ in selector.select(left):
                    if key.fileobj is stdin:
                        question = question[self._write(question) :]
                        if not question:
                            selector.unregister(stdin)
                        continue
                    chunk = os.read(key.fd, 65536)
                    if not chunk:
                        selector.unregister(key.fileobj)
                    if key.fileobj is stderr:
                        self._errors = (self._errors + chunk)[-2000:]
                    elif chunk:
                        self._unread += chunk
                    else:
                        self._gone(self._end())
        answer, _, self._unread = self._unread.partition(b"\n")
        return answer

    def _write(self, data: bytes) -> int:
        """Write what the pipe accepts; if a program no longer reads, the rest is discarded."""
        try:
            return os.write(self._stdin.fileno(), data[:65536])
        except BrokenPipeError:
            return len(data)

    def _end(self) -> str:
        try:
            status = self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return "it closed its output without an answer"
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        return f"it {how} without an answer" + (f" but printed {_short_bytes(self._unread)}" if self._unread else "")

    def _gone(self, reason: str) -> NoReturn:
        with contextlib.suppress(OSError):
            self._errors = (self._errors + (os.read(self._pipes()[2].fileno(), 65536) or b""))[-2000:]
        self.close()
        raise StrategyGoneError(f"{reason}; {self._last_errors()}.")

    def _read(self, line: bytes) -> list[MessageQueue]:
        try:
            answer = json.loads(line)
        except ValueError:
            raise StrategyError(f"it printed {_short_bytes(line)}, which is not JSON; {self._last_errors()}.") from None
        if isinstance(answer, dict) and "error" in answer:
            raise AllocationError(str(answer["error"]))
        listed = answer.get("queues") if isinstance(answer, dict) else answer
        if not isinstance(listed, list):
            raise StrategyError(f'it printed {_short_bytes(line)}; answer {{"queues": […]}} or a plain list of queues.')
        return [_queue(item) for item in listed]

    def _last_errors(self) -> str:
        lines = self._errors.decode(errors="replace").strip().splitlines()[-3:]
        return f"its standard error ends with: {' / '.join(lines)}" if lines else "it printed nothing on standard error"

    @property
    def _stdin(self) -> Any:
        return self._process.stdin

    def _pipes(self) -> tuple[Any, Any, Any]:
        return self._process.stdin, self._process.stdout, self._process.stderr


def _queue(item: Any) -> MessageQueue:
    kinds = {"topic": str, "brokerName": str, "queueId": int}
    for name, kind in kinds.items():
        if not isinstance(item, dict) or not isinstance(item.get(name), kind):
            raise StrategyError(f"its answer holds {_short(item)}; a queue has topic, brokerName (texts) and queueId.")
    return MessageQueue(item["topic"], item["brokerName"], item["queueId"])


def _short(value: object) -> str:
    text = repr(value)
    return f"{text if len(text) <= 80 else text[:79] + '…'} ({type(value).__name__})"


def _short_bytes(data: bytes) -> str:
    text = data.decode(errors="replace").rstrip("\n")
    return repr(text if len(text) <= 80 else text[:79] + "…")
