"""The oracle: RocketMQ's own classes of one release in one JVM, asked what they compute.

Differential tests hold the rules of the model against its answers. Questions and answers are lines of JSON; what can be
asked is told by the classes of ``java/oracle``.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

from rocketproof.lab.errors import LabError
from rocketproof.lab.maven import Toolchain
from rocketproof.lab.process import TOLD_LINES, java_command, tail_of

ARTIFACTS = ("rocketmq-broker", "rocketmq-client")
"""What of RocketMQ the oracle loads."""

BATCH = 1_000
"""Cases in one line."""

STOP_SECONDS = 10.0
"""How long the JVM may take to end after its input has."""

_HEAP_MB = 512


class Oracle:
    """A JVM with the real classes of a release; a context manager, and single-threaded as they are asked in turn.

    Attributes:
        release: the one that was asked for.
        loaded: the one whose classes answer, which they tell themselves.
    """

    def __init__(self, release: str, process: subprocess.Popen[str], log: Path) -> None:
        self.release = release
        self._process = process
        self._log = log
        self.loaded = ""

    @classmethod
    def start(cls, toolchain: Toolchain, release: str, *, home: Path) -> Oracle:
        """Start the JVM.

        Args:
            toolchain: of this machine.
            release: one of :data:`~rocketproof.lab.maven.RELEASES`.
            home: a new folder for its log, the files of its broker and those of its clients.

        Raises:
            LabError: the classes cannot be had, or it does not answer.
        """
        home.mkdir(parents=True, exist_ok=True)
        command = java_command(
            toolchain,
            release,
            "rocketproof.oracle.Oracle",
            artifacts=ARTIFACTS,
            heap_mb=_HEAP_MB,
            # The charset is fixed because 4.x hashes ids and writes files in the one of the platform.
            properties={"user.home": str(home), "file.encoding": "UTF-8"},
            arguments=[str(home / "store")],
            jars=[toolchain.jar("oracle")],
        )
        log = home / "oracle.log"
        with log.open("wb") as errors:
            process = subprocess.Popen(
                command,
                cwd=home,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="ascii",
            )
        oracle = cls(release, process, log)
        try:
            oracle.loaded = oracle.answers("release", [{}])[0]["is"]
        except BaseException:
            oracle.stop()
            raise
        return oracle

    def ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one line.

        Raises:
            LabError: it does not understand the question, or ended.
        """
        try:
            self._input().write(json.dumps(question) + "\n")
            self._input().flush()
            line = self._output().readline()
        except (BrokenPipeError, ValueError):
            line = ""
        if not line.endswith("\n"):
            raise LabError(
                f"the oracle of RocketMQ {self.release} ended. The end of its log ({self._log}):\n"
                f"{tail_of(self._log, TOLD_LINES)}"
            )
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise LabError(f"the oracle of RocketMQ {self.release} does not understand: {answer['error']}.")
        return answer

    def answers(self, subject: str, cases: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """What the real classes make of each case: ``is``, or ``raises`` with ``message`` and ``at``.

        Args:
            subject: what is asked about, such as ``allocate``.
            cases: asked in order, many in a line.

        Raises:
            LabError: as :meth:`ask`.
        """
        return list(self._answers(subject, cases))

    def stop(self) -> None:
        """End the JVM, killing it if it does not end by itself."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._output().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def _answers(self, subject: str, cases: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        for start in range(0, len(cases), BATCH):
            yield from self.ask({"ask": subject, "cases": cases[start : start + BATCH]})["answers"]

    def _input(self) -> IO[str]:
        assert self._process.stdin is not None
        return self._process.stdin

    def _output(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout
