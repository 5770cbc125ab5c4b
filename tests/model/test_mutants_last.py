"""A file of the model says first what RocketMQ does, and at its end what may be broken."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

MODEL = Path(__file__).parents[2] / "model"
BREAKING = {"mutant", "misconfiguration", "explanation"}
FILES = [path for path in sorted(MODEL.rglob("*.py")) if path.parent.name != "kernel"]


def breaks(statement: ast.stmt) -> bool:
    """Whether a statement at the top of a file declares a mutant, or what stands for one."""
    calls: list[ast.expr] = list(getattr(statement, "decorator_list", []))
    if isinstance(statement, ast.Expr):
        calls.append(statement.value)
    made = [call.func for call in calls if isinstance(call, ast.Call)]
    return any(isinstance(function, ast.Attribute) and function.attr in BREAKING for function in made)


def too_early(text: str) -> list[int]:
    """The lines of mutants with semantics below them: an action, a definition, a part."""
    statements = ast.parse(text).body
    last = max((at for at, one in enumerate(statements) if says(one)), default=-1)
    return [one.lineno for one in statements[:last] if breaks(one)]


def says(statement: ast.stmt) -> bool:
    """Whether a statement is semantics: a function or class that is no mutant; constants may be those of mutants."""
    return isinstance(statement, (ast.FunctionDef, ast.ClassDef)) and not breaks(statement)


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(MODEL)) for path in FILES])
def test_semantics_come_before_what_breaks_them(path: Path) -> None:
    assert too_early(path.read_text(encoding="utf-8")) == []


def test_a_mutant_in_the_middle_is_found() -> None:
    text = "@m.mutant('A1', 'x')\ndef wrong(s): ...\n\n@m.action\ndef right(s): ...\n"
    assert too_early(text) == [2]
    assert sum(breaks(one) for path in FILES for one in ast.parse(path.read_text(encoding="utf-8")).body) == 90
