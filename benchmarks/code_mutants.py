"""Mutants of the kit's own code: do its tests notice when a line of a checker, the kernel or the trace side is wrong?

``python -m benchmarks.code_mutants --count 300`` changes one place at a time and asks the tests around it, the nearest
first: those that mirror or import the file (``--rings 1`` asks no others), those of its folder, of the folders around
it, all. From the second ring on, only those are asked that run the changed line. Tests that fail without the change are
left out, and so are slow ones. One JSON line for each change and ring; ``killed_by`` is empty if nothing has noticed
the change so far. ``--skip`` and ``--take`` try a part of a sample; ``--again`` asks about survivors once more.

The project is copied to ``build/code_mutants`` and imported once; each change is tried in a forked process
(``tests/asked.py``). There, the function around the place gets the changed code. If the place is in no function, or its
line runs while modules are imported, the forked process imports the project anew.
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
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.asked import Asking
from tests.noticed import Change, Judge, rings

ROOT = Path(__file__).parent.parent
STRATA = (
    "checkers",
    "machine_code",
    "model/kernel",
    *sorted(f"traces/{path.parent.name}" for path in ROOT.glob("traces/*/__init__.py")),
)
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


class _Changing(ast.NodeTransformer):
    """Goes through all places of a file that can be changed, and changes one of them."""

    def __init__(self, wanted: int | None) -> None:
        self.wanted = wanted
        self.places: list[tuple[int, str, int, int, tuple[str, int] | None]] = []
        self._statements: list[ast.stmt] = []

    def visit(self, node: ast.AST) -> Any:
        """Go through a node; which statements it is in is known meanwhile."""
        if not isinstance(node, ast.stmt):
            return super().visit(node)
        self._statements.append(node)
        try:
            return super().visit(node)
        finally:
            self._statements.pop()

    def _place(self, line: int, what: str) -> bool:
        around = [node for node in self._statements[:-1] if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)][
            :1
        ]
        functions = [(node.name, min(each.lineno for each in (node, *node.decorator_list))) for node in around]
        self.places.append((line, what, len(self.places), self._statements[-1].lineno, next(iter(functions), None)))
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
    return [Change(file, *place) for place in going.places]


def changed(change: Change) -> ast.Module:
    """A file with one change."""
    going = _Changing(change.number)
    tree = going.visit(ast.parse((ROOT / change.file).read_text(encoding="utf-8")))
    return ast.fix_missing_locations(tree)


def sample(count: int, seed: int) -> list[Change]:
    """So many changes, equally many of each stratum, files by their number of places."""
    chance = random.Random(seed)
    per_folder = [
        [change for path in sorted((ROOT / folder).rglob("*.py")) for change in places(path.relative_to(ROOT))]
        for folder in STRATA
    ]
    taken = [chance.sample(found, min(len(found), -(-count // len(STRATA)))) for found in per_folder]
    return [change for turn in zip(*taken, strict=False) for change in turn][:count]


def copied(to: Path) -> dict[str, str]:
    """Copy the project, and give the environment in which its copy is imported."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            target.unlink(missing_ok=True)
            target.symlink_to(source.readlink())
        elif source.is_file() and not (target.exists() and target.read_bytes() == source.read_bytes()):
            shutil.copy2(source, target)
    links = to / "links" / "rocketproof"
    links.mkdir(parents=True, exist_ok=True)
    folders = ("model", "properties", "machine_code", "checkers", "traces", "spark", "lab", "explorer")
    for path in (*(to / folder for folder in folders), *(to / "rocketproof").iterdir()):
        if not (links / path.name).exists():
            (links / path.name).symlink_to(path)
    return {
        **os.environ,
        "PYTHONPATH": f"{links.parent}:{to}",
        "PYTHONSAFEPATH": "1",
        "NUMBA_CACHE_DIR": str(to.parent / "numba"),
        "ROCKETPROOF_CACHE": str(to.parent / "cache"),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Try a sample and print what became of each change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=60, help="how many changes")
    parser.add_argument("--seed", type=int, default=0, help="which sample")
    parser.add_argument("--skip", type=int, default=0, help="how many changes of the sample to leave out")
    parser.add_argument("--take", type=int, help="how many changes of the sample to try at most")
    parser.add_argument("--seconds", type=float, default=30.0, help="processor seconds of tests for each change")
    parser.add_argument("--again", type=Path, help="what an earlier run printed: ask about its survivors only")
    parser.add_argument("--rings", type=int, default=9, help="how far around the changed file tests are asked")
    parser.add_argument("--here", action="store_true", help="do not copy the project: this is the copy")
    given = parser.parse_args(arguments)
    folder = ROOT / "build" / "code_mutants"
    if not given.here:
        environment = copied(folder / "project")
        command = [sys.executable, "-m", "benchmarks.code_mutants", "--here", *(arguments or sys.argv[1:])]
        sys.exit(subprocess.run(command, cwd=folder / "project", env=environment, check=False).returncode)
    files = {file for change in _wanted(given) for ring in islice(rings(change), given.rings) for file in ring}
    pytest.main(
        ["-q", "-p", "no:cacheprovider", "--capture=sys", *sorted(files)],
        plugins=[Asking(lambda asking: _try(asking, given), ROOT.parent)],
    )


def _try(asking: Asking, given: argparse.Namespace) -> None:
    from rocketproof.machine_code import compiled

    compiled.PATIENCE = float("inf")  # machine code does not tell which lines it runs
    judge = Judge(asking, changed, seconds=given.seconds)
    waiting = [(change, judge.judging(change)) for change in _wanted(given)]
    for ring in range(1, given.rings + 1):
        following = []
        for change, judging in waiting:
            started = time.perf_counter()
            by = next(judging, None)
            if by is None:
                continue
            told = {"file": str(change.file), "line": change.line, "what": change.what, "ring": ring, "killed_by": by}
            told["seconds"] = round(time.perf_counter() - started, 1)
            print(json.dumps(told), file=sys.__stderr__, flush=True)
            if by == "":
                following.append((change, judging))
        waiting = following


def _wanted(given: argparse.Namespace) -> list[Change]:
    lines = given.again.read_text(encoding="utf-8").splitlines() if given.again else []
    told = [json.loads(line) for line in lines if line.startswith("{")]
    noticed = {(each["file"], each["line"], each["what"]): each["killed_by"] for each in told}
    wanted = sample(given.count, given.seed)[given.skip :][: given.take]
    return [each for each in wanted if not told or noticed.get((str(each.file), each.line, each.what)) == ""]


if __name__ == "__main__":
    main()
