"""Processes of the lab: started with a log each, awaited by their answers, signalled, and reliably ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .errors import LabError
from .maven import Toolchain

POLL_SECONDS = 0.02
STOP_SECONDS = 20.0
"""How long a process may take to end after SIGTERM before it is killed, s."""

KILL_SECONDS = 10.0
"""How long the system may take to end a process that was killed, s."""

TOLD_LINES = 20
"""Number of lines of a log in messages."""

_JAVA_17_FLAGS = (
    # RocketMQ and the libraries that it uses (Netty, fastjson, its own freeing of mapped files) access these by
    # reflection.
    *(
        f"--add-opens=java.base/{package}=ALL-UNNAMED"
        for package in (
            "java.io",
            "java.lang",
            "java.lang.reflect",
            "java.math",
            "java.net",
            "java.nio",
            "java.util",
            "java.util.concurrent",
            "jdk.internal.misc",
            "jdk.internal.ref",
            "sun.nio.ch",
        )
    ),
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
)


class Process:
    """A process of the lab with a name, and two files beside each other: ``NAME.log`` and ``NAME.out``.

    Its standard output goes to ``NAME.out``: programs that speak JSON write their answers there, one object a line. Its
    standard error goes to ``NAME.log``; without ``stdin`` its standard output does too.
    """

    def __init__(
        self, name: str, pid: int, command: Sequence[str], folder: Path, popen: subprocess.Popen[bytes] | None
    ) -> None:
        self.name = name  # its name in messages
        self.pid = pid  # its process id, even if it has ended
        self.log = folder / f"{name}.log"
        self.command = tuple(command)  # the command that was run
        self._popen = popen
        self._out = folder / f"{name}.out"
        self._read = 0
        self._answers: list[dict[str, Any]] = []
        self._taken = 0

    @classmethod
    def start(
        cls,
        name: str,
        command: Sequence[str | Path],
        *,
        folder: Path,
        env: Mapping[str, str] | None = None,
        stdin: bool = False,
    ) -> Process:
        """Start a command in its own session, so that Ctrl-C in a terminal reaches only the process that started it.
        Its folder is made if need be; starting it again under the same name appends to the log. Without ``stdin`` its
        input is empty, and nothing can be said to it.

        Raises:
            LabError: there is no such program.
        """
        folder.mkdir(parents=True, exist_ok=True)
        log, out = folder / f"{name}.log", folder / f"{name}.out"
        words = [str(word) for word in command]
        with log.open("ab") as log_file, out.open("wb") if stdin else contextlib.nullcontext(log_file) as out_file:
            try:
                popen = subprocess.Popen(
                    words,
                    cwd=folder,
                    env={**os.environ, **(env or {})},
                    stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                    stdout=out_file,
                    stderr=log_file,
                    start_new_session=True,
                )
            except OSError as error:
                raise LabError(f"{name} cannot be started: {words[0]}: {error.strerror}.") from None
        return cls(name, popen.pid, words, folder, popen)

    @classmethod
    def adopt(cls, name: str, pid: int, command: Sequence[str], *, folder: Path) -> Process:
        """A process that another command started with :meth:`start`; it may have ended, and ``pid`` be reused."""
        return cls(name, pid, command, folder, None)

    def alive(self) -> bool:
        """Whether it has not ended; a paused one is alive."""
        if self._popen is not None:
            return self._popen.poll() is None
        return command_of(self.pid) == self.command

    @property
    def exit_code(self) -> int | None:
        """Its exit code, negative for the number of a signal; None while it lives, and for an adopted one."""
        return self._popen.poll() if self._popen is not None else None

    def tail(self, lines: int = TOLD_LINES) -> str:
        """The end of its log."""
        return tail_of(self.log, lines)

    def told(self) -> str:
        """The end of its log, for messages."""
        return f"The end of its log:\n{self.tail()}"

    def wait_for(self, condition: Callable[[], Any], what: str, timeout: float, *, every: float = POLL_SECONDS) -> Any:
        """Wait until ``condition``, called every so many seconds, returns a true value, and return that;
        otherwise the error says "NAME did not WHAT".

        Raises:
            LabError: the process ended before, or the time is over; the message has the end of its log.
        """
        end = time.monotonic() + timeout
        while True:
            lives = self.alive()
            if found := condition():
                return found
            if not lives:
                raise LabError(f"{self.name} ended ({self.how()}) and did not {what}. {self.told()}")
            if time.monotonic() > end:
                raise LabError(f"{self.name} did not {what} within {timeout:g} s. {self.told()}")
            time.sleep(every)

    def say(self, text: str) -> None:
        """Write a line to its standard input.

        Raises:
            LabError: it no longer reads its input.
        """
        stdin = self._popen.stdin if self._popen is not None else None
        if stdin is None:
            raise LabError(f"{self.name} was started without an input.")
        try:
            stdin.write(f"{text}\n".encode())
            stdin.flush()
        except (BrokenPipeError, ValueError):
            raise LabError(f"{self.name} does not listen ({self.how()}). {self.told()}") from None

    def answers(self) -> list[dict[str, Any]]:
        """All JSON objects that it has written to its standard output so far, one per line; other lines are ignored."""
        with self._out.open("rb") as file:
            file.seek(self._read)
            content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            with contextlib.suppress(ValueError):
                answer = json.loads(line)
                if isinstance(answer, dict):
                    self._answers.append(answer)
        return self._answers

    def said(self, key: str, timeout: float = 30.0) -> dict[str, Any]:
        """Wait for the next answer that has ``key``, and return it; answers before it are not considered again.

        Raises:
            LabError: as for :meth:`wait_for`; also if it answers ``error`` while another answer is awaited.
        """

        def next_one() -> dict[str, Any] | None:
            for place, answer in enumerate(self.answers()[self._taken :], self._taken + 1):
                if key in answer:
                    self._taken = place
                    return answer
                if "error" in answer:
                    self._taken = place
                    raise LabError(f"{self.name}: {answer['error']}. {self.told()}")
            return None

        answer: dict[str, Any] = self.wait_for(next_one, f"answer {key!r}", timeout)
        return answer

    def stop(self, timeout: float = STOP_SECONDS) -> bool:
        """Ask it to end with SIGTERM, and kill it after ``timeout`` seconds; returns whether it ended by itself."""
        if not self.alive():
            self._close()
            return True
        self.resume()
        self._signal(signal.SIGTERM)
        if not self._ended_within(timeout):
            self.kill()
            return False
        self._close()
        return True

    def kill(self) -> None:
        """End it at once with SIGKILL."""
        if self.alive():
            self._signal(signal.SIGKILL)
            self._ended_within(KILL_SECONDS)
        self._close()

    def pause(self) -> None:
        """Pause it with SIGSTOP."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Resume it with SIGCONT."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _ended_within(self, timeout: float) -> bool:
        end = time.monotonic() + timeout
        # An adopted process is tested in another way: its command disappears before its ports are free.
        while self.alive() if self._popen is not None else not has_ended(self.pid):
            if time.monotonic() > end:
                return False
            time.sleep(POLL_SECONDS)
        return True

    def _close(self) -> None:
        if self._popen is not None and self._popen.stdin is not None:
            with contextlib.suppress(OSError):
                self._popen.stdin.close()

    def how(self) -> str:
        """How it ended, such as ``exit code 1``, in words."""
        if self._popen is None and not self.alive():
            return "started by another command"
        return how_it_ended(self.exit_code)


def command_of(pid: int) -> tuple[str, ...]:
    """The program and arguments of a process; empty if there is none, or if it has ended and was not waited for."""
    try:
        content = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ()
    return tuple(word.decode(errors="surrogateescape") for word in content.split(b"\0")[:-1])


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or is a zombie; its files and ports are then free."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    return text.rpartition(")")[2].split()[0] in ("Z", "X")


def processes_with(word: str) -> list[int]:
    """The ids of all processes that have ``word`` as an argument, whoever started them."""
    pids = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal())
    return sorted(pid for pid in pids if word in command_of(pid))


def end_all(pids: Sequence[int], *, timeout: float) -> None:
    """End processes together: with SIGTERM, even if they are paused, and with SIGKILL after ``timeout`` seconds.

    Children of this process that end this way must be waited for by the owner of their :class:`Process`.
    """
    first = (signal.SIGCONT, signal.SIGTERM) if timeout else ()
    for numbers, patience in ((first, timeout), ((signal.SIGKILL,), KILL_SECONDS)):
        end = time.monotonic() + patience
        for pid in pids:
            for number in numbers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
        while (pids := [pid for pid in pids if not has_ended(pid)]) and time.monotonic() < end:
            time.sleep(POLL_SECONDS)


def how_it_ended(code: int | None) -> str:
    """An exit code in words, such as ``exit code 1`` or ``SIGKILL``."""
    if code is None:
        return "still alive"
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def tail_of(log: Path, lines: int = TOLD_LINES) -> str:
    """The last lines of a file, ``(empty)`` if there are none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 400 * lines))
            text = file.read().decode(errors="replace")
    except OSError:
        return "(empty)"
    return "\n".join(text.splitlines()[-lines:]) or "(empty)"


def java_command(
    toolchain: Toolchain,
    release: str,
    main: str,
    *,
    artifacts: Sequence[str],
    heap_mb: int,
    properties: Mapping[str, str] | None = None,
    agent: Path | None = None,
    agent_options: str = "",
    arguments: Sequence[str] = (),
    jars: Sequence[Path] = (),
) -> list[str]:
    """The command that runs a class of RocketMQ, or of the lab, on the class path of a release, behind ``jars``, such
    as the driver's.

    Raises:
        LabError: the class path cannot be resolved.
    """
    classpath = os.pathsep.join(map(str, [*jars, *toolchain.classpath(release, *artifacts)]))
    with_agent = [f"-javaagent:{agent}{'=' + agent_options if agent_options else ''}"] if agent else []
    return [
        str(toolchain.java),
        f"-Xmx{heap_mb}m",
        "-XX:+UseSerialGC",
        "-XX:-UsePerfData",  # would leave files in the temporary folder of the system
        "-XX:TieredStopAtLevel=1",  # small and short-lived: the second compiler would cost more than it saves
        "-Djava.net.preferIPv4Stack=true",
        *_JAVA_17_FLAGS,
        *(f"-D{name}={value}" for name, value in (properties or {}).items()),
        *with_agent,
        "-cp",
        classpath,
        main,
        *arguments,
    ]
