"""Which test notices a change of the code: the nearest tests are asked first, each change in a process of its own."""

from __future__ import annotations

import ast
import gc
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType

import pytest

from tests.asked import Asking

ROOT = Path(__file__).parent.parent
ASKED = (
    "tests/model/kernel",
    "tests/machine_code",
    "tests/checkers",
    "tests/traces",
    "tests/properties",
    "tests/rocketproof",
)
"""Folders whose tests are asked."""


@dataclass(frozen=True)
class Change:
    """One place that is changed.

    Attributes:
        file: relative to the project.
        line: of the place.
        what: what becomes of it.
        number: which of the file's places it is.
        first: first line of the statement.
        function: name and line of the outermost function around it, if it is in one.
    """

    file: Path
    line: int
    what: str
    number: int
    first: int
    function: tuple[str, int] | None


def rings(change: Change) -> Iterator[list[str]]:
    """Files of tests: those that mirror or import the changed file, of its folder, of those around it, all."""
    own = Path("tests") / change.file.with_name(f"test_{change.file.stem}.py")
    module = re.escape(".".join(("rocketproof", *change.file.parent.parts)))
    imports = re.compile(rf"^from {module}(\.{own.stem[5:]} import|\b.* import .*\b{own.stem[5:]}\b)", re.MULTILINE)
    texts = _texts()
    first = [file for file in texts if Path(file).name == own.name or imports.search(texts[file])]
    if first:
        yield sorted(first, key=lambda file: file != str(own))
    before = set(first)
    for near in own.parents:
        found = {file for file in texts if Path(file).is_relative_to(near)} - before
        if found:
            yield sorted(found)
        before |= found


@cache
def _texts() -> dict[str, str]:
    files = (path for folder in ASKED for path in (ROOT / folder).rglob("test_*.py"))
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in sorted(files)}


OUT_OF_TIME = ("SIGXCPU", "stuck")
"""What is said of tests that did not end in time: whether they notice a change is then not known."""


class Judge:
    """Tells which test notices a change.

    Args:
        asking: has the tests.
        changed: gives the text of a file with a change.
        seconds: processor seconds of tests for each change.
    """

    def __init__(self, asking: Asking, changed: Callable[[Change], ast.Module], *, seconds: float) -> None:
        self._asking, self._changed, self._seconds = asking, changed, seconds
        self._passing: dict[str, bool] = {}

    def judging(self, change: Change) -> Iterator[str]:
        """What notices a change; after each ring of files around it nothing, if nothing did."""
        at_import = change.function is None or self._is_imported(change)
        anew = at_import or "@kept(" in (ROOT / change.file).read_text(encoding="utf-8")
        left = self._seconds
        for number, files in enumerate(rings(change)):
            for file in files if number else [files[0], "\n".join(files[1:])]:
                chosen = []
                for seconds, test in self._tests(change, file, everything=anew, mapped=number > 0):
                    if seconds <= left:
                        chosen.append(test)
                        left -= seconds
                by = self._ask(change, chosen, anew=anew)
                while by in chosen and not self._passes(by):
                    chosen = chosen[chosen.index(by) + 1 :]
                    by = self._ask(change, chosen, anew=anew)
                if by not in ("", *chosen, *OUT_OF_TIME) and self._fail_anew(chosen):
                    continue
                if by and by not in OUT_OF_TIME:
                    yield by
                    return
            yield ""

    def _passes(self, test: str) -> bool:
        """Whether a test passes without a change."""
        if test not in self._passing:
            self._passing[test] = not self._asking.ask(self._items([test]), seconds=60)
        return self._passing[test]

    def _fail_anew(self, tests: Iterable[str]) -> bool:
        """Whether tests fail without a change, too, if they are imported anew."""
        return bool(self._asking.ask(self._items(tests), seconds=60, anew=True))

    def _items(self, tests: Iterable[str]) -> list[pytest.Item]:
        items = {test: item for of_file in self._asking.items.values() for test, item in of_file.items()}
        return [items[test] for test in tests]

    def _is_imported(self, change: Change) -> bool:
        return any(change.first <= line <= change.line for line in self._asking.imported.get(str(change.file), ()))

    def _tests(self, change: Change, file: str, *, everything: bool, mapped: bool) -> list[tuple[float, str]]:
        """Tests that run a line, the quickest first; then the others of the file, which may share what these made."""
        if not mapped:
            return [(0.0, test) for each in file.splitlines() for test in self._asking.items.get(each, ())]
        known = self._asking.known(file)
        ran = known.lines.get(str(change.file), {})
        hit = {test for test, lines in ran.items() if any(change.first <= line <= change.line for line in lines)}
        if everything and str(change.file) in known.digests:
            hit = set(known.seconds)
        return sorted((seconds, test) for test, seconds in known.seconds.items() if test in hit) + sorted(
            (seconds, test) for test, seconds in known.seconds.items() if hit and test not in hit
        )

    def _ask(self, change: Change, tests: list[str], *, anew: bool) -> str:
        if not tests:
            return ""
        target, tree = ROOT / change.file, self._changed(change)
        before, stat = target.read_bytes(), target.stat()
        target.write_text(ast.unparse(tree), encoding="utf-8")
        try:
            return self._asking.ask(
                self._items(tests),
                seconds=self._seconds,
                before=None if anew else lambda: _exchange(change, tree),
                anew=anew,
            )
        finally:
            target.write_bytes(before)
            os.utime(target, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def _exchange(change: Change, tree: ast.Module) -> None:
    """Give the functions of a file that are here the changed code; who imports the file only later finds it changed."""
    file = os.path.realpath(ROOT / change.file)
    new = _code(compile(tree, file, "exec", dont_inherit=True), change.function)
    assert new is not None
    exchanged = 0
    for each in gc.get_objects():
        if isinstance(each, FunctionType):
            code = each.__code__
            if (code.co_name, code.co_firstlineno) == change.function and os.path.realpath(code.co_filename) == file:
                each.__code__ = new
                exchanged += 1
    imported = any(os.path.realpath(getattr(each, "__file__", None) or "") == file for each in [*sys.modules.values()])
    assert exchanged or not imported, f"nothing to exchange for {change}"


def _code(code: CodeType, function: tuple[str, int] | None) -> CodeType | None:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            found = each if (each.co_name, each.co_firstlineno) == function else _code(each, function)
            if found:
                return found
    return None
