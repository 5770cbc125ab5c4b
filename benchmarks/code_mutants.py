"""Mutants of the kit's own code: do its tests notice when a line of a checker, the kernel or the trace side is wrong?

``python -m benchmarks.code_mutants --count 30`` changes one place at a time in a copy of the project and asks the tests
that mirror the file, then those of its folder and of the folders around it, and with ``--all`` everything. One JSON
line for each, survivors included. ``--skip`` goes on with a sample that was interrupted.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
STRATA = ("checkers", "model/kernel", "traces/claims", "traces/monitors", "traces/engine", "traces/clocks", "traces/io")
"""Folders of which equally many changes are taken."""

SWAPS: dict[type[ast.AST], tuple[type[ast.AST], str]] = {
    ast.Lt: (ast.LtE, "< becomes <="),
    ast.LtE: (ast.Lt, "<= becomes <"),
    ast.Gt: (ast.GtE, "> becomes >="),
    ast.GtE: (ast.Gt, ">= becomes >"),
    ast.Eq: (ast.NotEq, "== becomes !="),
    ast.NotEq: (ast.Eq, "!= becomes =="),
    ast.Is: (ast.IsNot, "is becomes is not"),
    ast.IsNot: (ast.Is, "is not becomes is"),
    ast.In: (ast.NotIn, "in becomes not in"),
    ast.NotIn: (ast.In, "not in becomes in"),
    ast.And: (ast.Or, "and becomes or"),
    ast.Or: (ast.And, "or becomes and"),
    ast.Add: (ast.Sub, "+ becomes -"),
    ast.Sub: (ast.Add, "- becomes +"),
}

WITHOUT_EFFECT = ("frozen", "slots", "kw_only", "repr")
"""Arguments of dataclasses that right code does not notice: to change them is no change of what it does."""


NO_END = "no end in time"
"""What is said of a change whose tests did not end: on a busy machine it is neither killed nor a survivor."""


@dataclass(frozen=True)
class Change:
    """One place that is changed.

    Attributes:
        file: relative to the project.
        line: of the place.
        what: what becomes of it.
        number: which of the file's places it is.
    """

    file: Path
    line: int
    what: str
    number: int


class _Changing(ast.NodeTransformer):
    """Goes through all places of a file that can be changed, and changes one of them."""

    def __init__(self, wanted: int | None) -> None:
        self.wanted = wanted
        self.places: list[tuple[int, str]] = []

    def _place(self, line: int, what: str) -> bool:
        self.places.append((line, what))
        return self.wanted == len(self.places) - 1

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        for place, operator in enumerate(node.ops):
            after, what = SWAPS[type(operator)]
            if self._place(node.lineno, what):
                node.ops[place] = after()  # type: ignore[call-overload]
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        after, what = SWAPS[type(node.op)]
        if self._place(node.lineno, what):
            node.op = after()  # type: ignore[assignment]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if type(node.op) in SWAPS and not (_text(node.left) or _text(node.right)):
            after, what = SWAPS[type(node.op)]
            if self._place(node.lineno, what):
                node.op = after()  # type: ignore[assignment]
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and self._place(node.lineno, "not goes"):
            return node.operand
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        typing = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        if not typing and self._place(node.lineno, "if becomes if not"):
            node.test = ast.UnaryOp(ast.Not(), node.test)
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        return node if node.arg in WITHOUT_EFFECT else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool):
            if self._place(node.lineno, f"{node.value} becomes {not node.value}"):
                return ast.Constant(not node.value)
        elif isinstance(node.value, int) and self._place(node.lineno, f"{node.value} becomes {node.value + 1}"):
            return ast.Constant(node.value + 1)
        return node


def _text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def places(file: Path) -> list[Change]:
    """Every change of a file."""
    going = _Changing(None)
    going.visit(ast.parse((ROOT / file).read_text(encoding="utf-8")))
    return [Change(file, line, what, number) for number, (line, what) in enumerate(going.places)]


def changed(change: Change) -> str:
    """The text of a file with one change."""
    going = _Changing(change.number)
    tree = going.visit(ast.parse((ROOT / change.file).read_text(encoding="utf-8")))
    return ast.unparse(ast.fix_missing_locations(tree))


def own_tests(file: Path) -> Path:
    """The test file that mirrors a file, if there is one."""
    return Path("tests") / file.with_name(f"test_{file.stem}.py")


def sample(count: int, seed: int, *, near: bool = False) -> list[Change]:
    """So many changes, equally many of each stratum, files by their number of places.

    Args:
        count: how many.
        seed: which.
        near: only of files that have a test file of their own.
    """
    chance = random.Random(seed)
    per_folder = [
        [
            change
            for path in sorted((ROOT / folder).rglob("*.py"))
            if not near or (ROOT / own_tests(path.relative_to(ROOT))).exists()
            for change in places(path.relative_to(ROOT))
        ]
        for folder in STRATA
    ]
    taken = [chance.sample(found, min(len(found), -(-count // len(STRATA)))) for found in per_folder]
    return [change for turn in zip(*taken, strict=False) for change in turn][:count]


def copied(to: Path) -> dict[str, str]:
    """Copy the project, and give the environment in which its copy is imported."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        target = to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, target)
    links = to / "links" / "rocketproof"
    links.mkdir(parents=True)
    folders = ("model", "properties", "checkers", "traces", "spark", "lab", "explorer")
    for path in (*(to / folder for folder in folders), *(to / "rocketproof").iterdir()):
        (links / path.name).symlink_to(path)
    return {
        **os.environ,
        "PYTHONPATH": f"{links.parent}:{to}",
        "PYTHONSAFEPATH": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "ROCKETPROOF_CACHE": str(to / "cache"),
    }


def stages(change: Change, *, near: bool, whole: bool) -> Iterator[list[str]]:
    """Which tests are asked, one after the other: those of the file, of its folder, of each folder around it, all."""
    asked = [own_tests(change.file)]
    if not near:
        asked += [folder for folder in (Path("tests") / change.file).parents if folder.parent != Path()]
    if whole:
        asked.append(Path("tests"))
    before: list[str] = []
    for tests in asked:
        if (ROOT / tests).exists():
            yield [str(tests), *before, *(["-m", "not lab"] if tests == Path("tests") else [])]
            before += ["--ignore", str(tests)]


def judged(change: Change, project: Path, environment: dict[str, str], given: argparse.Namespace) -> str:
    """Which tests noticed a change; nothing if none did, :data:`NO_END` if that is not known."""
    target = project / change.file
    before = target.read_text(encoding="utf-8")
    target.write_text(changed(change), encoding="utf-8")
    try:
        for tests in stages(change, near=given.near, whole=given.all):
            command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
            try:
                run = subprocess.run(
                    command,
                    cwd=project,
                    env=environment,
                    capture_output=True,
                    text=True,
                    timeout=given.seconds,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return NO_END
            if run.returncode not in (0, 5):
                failed = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
                return failed[0][:120] if failed else f"{tests[0]}: exit code {run.returncode}"
    finally:
        target.write_text(before, encoding="utf-8")
    return ""


def main(arguments: Sequence[str] | None = None) -> None:
    """Try a sample and print what became of each change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=28, help="how many changes")
    parser.add_argument("--seed", type=int, default=0, help="which sample")
    parser.add_argument("--skip", type=int, default=0, help="how many changes of the sample to leave out")
    parser.add_argument("--near", action="store_true", help="ask only the test file of a file's own")
    parser.add_argument("--all", action="store_true", help="ask every test about what its folder does not notice")
    parser.add_argument("--seconds", type=float, default=600.0, help="time for each run of tests")
    given = parser.parse_args(arguments)
    killed = undecided = tried = 0
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        environment = copied(project)
        for change in sample(given.count, given.seed, near=given.near)[given.skip :]:
            started = time.perf_counter()
            by = judged(change, project, environment, given)
            tried, killed, undecided = tried + 1, killed + (by not in ("", NO_END)), undecided + (by == NO_END)
            told = {"file": str(change.file), "line": change.line, "what": change.what, "killed_by": by}
            print(json.dumps(told | {"seconds": round(time.perf_counter() - started, 1)}), flush=True)
    print(
        json.dumps(
            {"figure": "code mutants", "seed": given.seed, "tried": tried, "killed": killed, "undecided": undecided}
        )
    )


if __name__ == "__main__":
    main()
