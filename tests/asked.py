"""Asks some of the tests, again and again, without importing anything twice: all are collected once, and each time a
forked process runs those that are wanted. Which test runs which line is found out when a file of tests is first asked,
and kept until a text changes that it ran.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import coverage
import pytest

HERE = Path(__file__).parent.parent
SLOW, PATIENCE = 1.0, 5.0
"""Processor seconds after which a test is left out, and the rest of its file; folds are interpreted meanwhile."""

MEMORY = 4 << 30
"""Bytes that a forked process may take beyond what it has."""


@dataclass
class Known:
    """What is known of a file of tests.

    Attributes:
        digests: of each text that it ran, its own included.
        seconds: processor seconds of each test that passes.
        lines: by file, which lines each test runs.
    """

    digests: dict[str, str]
    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, dict[str, list[int]]] = field(default_factory=dict)


class Failing:
    """A plugin of pytest which remembers what failed first."""

    failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid


class Asking(Failing):
    """A plugin of pytest which hands the collected tests to a function instead of running them.

    Attributes:
        items: the tests by file.
        imported: by file, the lines that ran while tests were collected.
    """

    def __init__(self, then: Callable[[Asking], None], folder: Path) -> None:
        self._then, self._folder = then, folder
        self._kept = folder / "lines"
        self._kept.mkdir(parents=True, exist_ok=True)
        self._known: dict[str, Known] = {}
        self._coverage = _coverage()
        self._coverage.start()
        self.items: dict[str, dict[str, pytest.Item]] = {}
        self.imported: dict[str, set[int]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if self.failed:
            raise pytest.UsageError(f"{self.failed} cannot be collected, and every change would seem to be noticed.")
        self._coverage.stop()
        data = self._coverage.get_data()
        self.imported = {_relative(name): set(data.lines(name) or ()) for name in data.measured_files()}
        for item in session.items:
            self.items.setdefault(_relative(str(item.path)), {})[item.nodeid] = item
        self._then(self)
        return True

    def known(self, file: str) -> Known:
        """What is known of a file of tests; it is run if nothing is, or a text has changed."""
        kept = self._kept / f"{file.replace('/', '.')}.json"
        if file not in self._known and kept.exists():
            self._known[file] = Known(**json.loads(kept.read_text()))
        found = self._known.get(file)
        if found is None or any(digest(name) != was for name, was in found.digests.items()):
            found = self._known[file] = Known({file: digest(file)})
            items = list(self.items[file].values())
            while items:
                told = self.ask(items, seconds=300, watched=True)
                tried, seconds, lines = json.loads(told) if told else (1, {}, {})
                items = items[tried:]
                found.seconds.update(seconds)
                for name, by_test in lines.items():
                    found.digests[name] = digest(name)
                    found.lines.setdefault(name, {}).update(by_test)
            kept.write_text(json.dumps(vars(found)))
        return found

    def ask(
        self,
        items: Iterable[pytest.Item],
        *,
        seconds: float,
        before: Callable[[], None] | None = None,
        anew: bool = False,
        watched: bool = False,
    ) -> str:
        """Run tests one after the other in a forked process, until one fails.

        Args:
            items: the tests.
            seconds: of the processor; after ten times as many by the clock it is ended as well.
            before: called in the forked process.
            anew: import the project and collect the tests again.
            watched: go on after a failure, and tell what each test that passes ran.

        Returns:
            Which test failed, or what was told.
        """
        reading, writing = os.pipe()
        basetemp = Path(tempfile.mkdtemp(prefix="asked-"))
        run = self._watch if watched else self._run_anew if anew else self._run
        child = os.fork()
        if not child:
            os.close(reading)
            os.setsid()
            try:
                if before:
                    before()
                _limit(seconds)
                nothing = os.open(os.devnull, os.O_RDWR)
                for descriptor in (0, 1):
                    os.dup2(nothing, descriptor)
                os.environ["TMPDIR"] = tempfile.tempdir = str(basetemp)
                run(list(items), writing)
            except BaseException:
                traceback.print_exc(file=sys.__stderr__)
                os._exit(1)
            os._exit(0)
        os.close(writing)
        told, end = b"", time.monotonic() + 10 * seconds + 60
        while True:
            ready, _, _ = select.select([reading], [], [], max(0.0, end - time.monotonic()))
            part = os.read(reading, 1 << 16) if ready else b""
            if not part:
                break
            told += part
        if not ready:
            os.killpg(child, signal.SIGKILL)
        os.close(reading)
        _, status = os.waitpid(child, 0)
        shutil.rmtree(basetemp, ignore_errors=True)
        if watched or told:
            return told.decode()
        if not ready:
            return "stuck"
        if status and not os.WIFSIGNALED(status):
            raise RuntimeError("asking failed; see above")
        return signal.Signals(os.WTERMSIG(status)).name if status else ""

    def _run(self, items: list[pytest.Item], writing: int) -> None:
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                os.write(writing, self.failed.encode())
                return

    def _run_anew(self, items: list[pytest.Item], writing: int) -> None:
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(f"{HERE}/"):
                del sys.modules[name]
        tests = [item.nodeid for item in items]
        failing = Failing()
        code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--capture=sys", *tests], plugins=[failing])
        if code:
            os.write(writing, (failing.failed or f"exit code {code}").encode())

    def _watch(self, items: list[pytest.Item], writing: int) -> NoReturn:
        """Run all tests, up to the first slow one, and tell how many ran, for how long, and which lines."""
        watching, seconds, tried = _coverage(), dict[str, float](), 0

        def end(*_: object) -> NoReturn:
            watching.stop()
            with os.fdopen(writing, "w") as out:
                json.dump([tried, seconds, _lines_by_test(watching, seconds)], out)
            os._exit(0)

        signal.signal(signal.SIGVTALRM, end)
        watching.start()
        for item, following in zip(items, [*items[1:], None], strict=True):
            tried += 1
            started = time.process_time()
            watching.switch_context(item.nodeid)
            signal.setitimer(signal.ITIMER_VIRTUAL, SLOW)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if not self.failed:
                seconds[item.nodeid] = round(time.process_time() - started, 3)
            self.failed = ""
            if sum(seconds.values()) > PATIENCE:
                tried = len(items)
                break
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        end()


def _lines_by_test(watching: coverage.Coverage, tests: Iterable[str]) -> dict[str, dict[str, list[int]]]:
    data = watching.get_data()
    found: dict[str, dict[str, list[int]]] = {}
    for test in tests:
        data.set_query_context(test)
        for name in data.measured_files():
            lines = data.lines(name)
            if lines:
                found.setdefault(_relative(name), {})[test] = sorted(lines)
    return found


@cache
def digest(name: str) -> str:
    """Of a text of the project."""
    path = HERE / name
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.exists() else ""


def _relative(name: str) -> str:
    return os.path.relpath(os.path.realpath(name), HERE)


def _coverage() -> coverage.Coverage:
    sources = [str(HERE / folder) for folder in ("checkers", "machine_code", "model/kernel", "traces")]
    return coverage.Coverage(data_file=None, config_file=False, include=[f"{folder}/*" for folder in sources])


def _limit(seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most: Any = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
