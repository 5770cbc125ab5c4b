"""Checks of a deployment, and claims of a user's own module, as tests: ``pytest rocketproof.toml``.

A ``.toml`` file becomes tests if pytest is given its path, on the command line or in ``testpaths``. With the option
``rocketproof = true`` in pytest's configuration, every ``rocketproof.toml`` and ``NAME.rocketproof.toml`` in the
collected folders does. Otherwise nothing happens: no other part of the kit is even imported.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .checkers.suite import Outcome, Row
    from .commands.request import Request
    from .deployment.judge import Answer, Check, Judge

OPTION = "rocketproof"
FILE = "rocketproof.toml"


class RocketproofWarning(UserWarning):
    """A finding that does not fail the test; ``[verify] fail_on`` says which findings do."""


class CheckFailedError(Exception):
    """A check of a deployment failed; its text says why."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of pytest's configuration."""
    parser.addini(
        OPTION, "collect every rocketproof.toml as tests of the deployment it describes", "bool", default=False
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark that all checks carry."""
    config.addinivalue_line("markers", "rocketproof: a check of a deployment, from a rocketproof.toml")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> DeploymentTests | None:
    """Collect a deployment file that was requested."""
    if parent.session.isinitpath(file_path):
        requested = file_path.suffix == ".toml"
    else:
        requested = f".{file_path.name}".endswith(f".{FILE}") and parent.config.getini(OPTION)
    return DeploymentTests.from_parent(parent, path=file_path) if requested else None


class DeploymentTests(pytest.File):
    """A file: a collector for each group of a deployment, or a test for each claim of the module that it names."""

    def collect(self) -> Iterable[pytest.Collector | pytest.Item]:
        """One collector for topics and brokers, one for each group; or the tests of a module.

        Raises:
            CollectError: the file is broken; the text has a line for each mistake.
        """
        from .commands.verify import options_of
        from .deployment.judge import Judge
        from .deployment.reading import describes_deployment, read
        from .deployment.verify import select
        from .errors import InputError
        from .output.files import read_text, read_toml

        try:
            asked_for = self.session.isinitpath(self.path)
            text = read_text(self.path, name=self.nodeid)
            content = read_toml(text, name=self.nodeid)
            if not describes_deployment(content):
                table = content.get("verify")
                if isinstance(table, dict) and (table.get("module") or table.get("engine") == "stateful"):
                    yield from self._claims()
                    return
                if not asked_for:
                    return  # it only has options of the command line
            file = read(self.path, name=self.nodeid)
        except InputError as error:
            raise self.CollectError(str(error)) from None
        judge = Judge(file, options_of(file.verify.limit))
        try:
            checks = select(judge.checks, file.verify.properties)
        except InputError as error:
            raise self.CollectError(f"{file.name}:{file.lines.of(('verify', 'properties'))}: {error}") from None
        subjects: dict[str, list[Check]] = {}
        for check in checks:
            subjects.setdefault(check.subject, []).append(check)
        for subject, checks in subjects.items():
            yield GroupTests.from_parent(self, name=subject, judge=judge, checks=checks)

    def _claims(self) -> Iterator[ClaimTest]:
        """A test for each claim; they share their searches."""
        from .commands.request import Request
        from .commands.verify import select

        request = Request().with_texts(config=self.path)
        suite = Suite(request, select(request))
        for row in suite.rows:
            configuration = f"[{row.configuration}]" if row.configuration else ""
            name = f"{row.machine}::{row.id}{configuration}"
            yield ClaimTest.from_parent(self, name=name, suite=suite, row=row)


class Suite:
    """The claims of a module, checked together when the first of them is needed."""

    def __init__(self, request: Request, rows: list[Row]) -> None:
        self.rows = rows
        self._request = request
        self._outcomes: list[Outcome] = []

    def outcome(self, row: Row) -> Outcome:
        """The answer about a claim."""
        if not self._outcomes:
            from .checkers.suite import run_suite
            from .commands.verify import options

            self._outcomes = list(run_suite(self.rows, replace(options(self._request), jobs=1)))
        return next(outcome for outcome in self._outcomes if outcome.row is row)


def report_command(file: Path, name: str) -> str:
    """The command that shows the run of a failed test in the explorer."""
    return f"Look at the run: rocketproof verify {name} --config {file} --report {name.rpartition('::')[2]}.html"


class ClaimTest(pytest.Item):
    """One claim as a test: it fails with the story of the run that was found."""

    def __init__(self, *, suite: Suite, row: Row, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._suite = suite
        self._row = row
        self.add_marker(pytest.mark.rocketproof)

    def runtest(self) -> None:
        """Check the claim.

        Raises:
            CheckFailedError: the verdict differs from the claim's.
        """
        outcome = self._suite.outcome(self._row)
        if outcome.as_expected:
            return
        if outcome.unviolated:
            self.add_report_section("call", "stateful", f"{outcome.result.bounds}: that is no proof")
            return
        from io import StringIO

        from .output.console import SafeConsole
        from .output.report import print_story

        text = StringIO()
        print_story(SafeConsole(file=text, highlight=False, width=120), outcome)
        look = [report_command(self.path, self._row.id)] if outcome.result.run else []
        said = f"{outcome.result.verdict}, and {outcome.row.expected} was expected ({outcome.result.bounds})"
        raise CheckFailedError("\n".join([said, text.getvalue().rstrip(), *look]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The story, or what is wrong with the machine; a traceback only for a defect of the kit."""
        from .model.kernel import ConfigurationError, ModelError

        if isinstance(excinfo.value, CheckFailedError | ConfigurationError | ModelError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The file that names the module."""
        return self.path, None, self.name


class GroupTests(pytest.Collector):
    """The checks of a group."""

    def __init__(self, *, judge: Judge, checks: list[Check], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._judge = judge
        self._checks = checks

    def collect(self) -> Iterator[CheckTest]:
        """One test for each check."""
        for check in self._checks:
            yield CheckTest.from_parent(self, name=check.id, judge=self._judge, check=check)


class CheckTest(pytest.Item):
    """One check as a test: its failure is reported in the words of the check, without a traceback."""

    def __init__(self, *, judge: Judge, check: Check, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._judge = judge
        self._check = check
        self._line = judge.file.lines.of(check.path)
        self.add_marker(pytest.mark.rocketproof)

    def runtest(self) -> None:
        """Answer the check.

        Raises:
            CheckFailedError: it fails, or it is unknown.
        """
        from .deployment.judge import Level
        from .deployment.report import explanation, first_text
        from .output.row import Severity

        answer: Answer = self._judge.answer(self._check)
        self._line = answer.line
        text = explanation(answer, self._judge.file.name) if answer.level is not Level.OK else ""
        if answer.accepted:
            pytest.skip(f"accepted: {answer.accepted}")
        if answer.fails(Severity[self._judge.file.verify.fail_on.upper()]):
            look = f"\n{report_command(self.path, f'{self._check.subject}::{self._check.id}')}" if answer.story else ""
            raise CheckFailedError(text + look)
        if answer.level is Level.WARNING:
            warnings.warn_explicit(first_text(answer), RocketproofWarning, str(self.path), answer.line)
        if text:
            self.add_report_section("call", str(answer.level), text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The text of the check; a traceback only for a defect of the kit itself."""
        if isinstance(excinfo.value, CheckFailedError | RocketproofWarning):  # -W error raises the warning
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The line of the file that the check is about."""
        return self.path, self._line - 1, f"{self._check.subject}::{self._check.id}"
