"""Every block of the documents says what it is; every command in one is run here or in a console, or says why not."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from .console import ROOT
from .shell import BLOCK, DOCUMENTS, ENDS, LANGUAGES, MORE, NOT_HERE, prepare, run_all, typed

ON_SPARK = {"spark.md", "pipeline.md"}
PROGRAMS = r"(?:rocketproof|python|make|pytest|java|mvn|jcmd|apt-get|pip) "

with_commands = pytest.mark.parametrize(
    "document",
    [
        pytest.param(path, id=path.name, marks=[pytest.mark.slow] if path.name in ON_SPARK else [])
        for path in DOCUMENTS
        if any(command.text not in NOT_HERE for command in typed(path))
    ],
)


@with_commands
def test_every_command_that_is_told_to_type_runs(document: Path, tmp_path: Path) -> None:
    for command, code, output in run_all(document, tmp_path):
        assert code == ENDS.get(command.text, 0), f"{document.name}:{command.line}: {command.text}\n{output}"


PYTHON_ELSEWHERE = {
    "importing.md": "traces/io/importers/test_document.py",
    "spark.md": "spark/test_document.py",
    "writing-a-machine.md": "docs/test_writing_a_machine.py",
}
"""Documents whose Python is run by tests of their own, below ``tests/``."""
EXCERPTS = {"mutants.md"}
"""Documents that show texts of the model."""


def python_in(document: Path) -> list[str]:
    """The Python of a document, but for files, which its commands are about."""
    text = document.read_text(encoding="utf-8")
    found = [block for block in BLOCK.finditer(text) if block[0].lstrip().startswith("```python\n")]
    return [textwrap.dedent(block["body"]) for block in found]


with_python = [path for path in DOCUMENTS if python_in(path)]


@pytest.mark.parametrize(
    "document",
    [path for path in with_python if path.name not in (*PYTHON_ELSEWHERE, *EXCERPTS)],
    ids=lambda path: path.name,
)
def test_the_python_of_a_document_runs(document: Path, tmp_path: Path) -> None:
    prepare(document, tmp_path)
    outbox = {**os.environ, "PYTHONPATH": str(ROOT / "examples" / "outbox")}
    command = [sys.executable, "-c", "\n".join(python_in(document))]
    done = subprocess.run(command, cwd=tmp_path, env=outbox, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def test_python_that_is_run_elsewhere_has_its_test() -> None:
    assert {*PYTHON_ELSEWHERE, *EXCERPTS} <= {path.name for path in with_python}
    assert all((ROOT / "tests" / path).exists() for path in PYTHON_ELSEWHERE.values())


def test_excerpts_of_the_model_are_in_it() -> None:
    model = " ".join("".join(path.read_text(encoding="utf-8") for path in (ROOT / "model").rglob("*.py")).split())
    for document in (path for path in with_python if path.name in EXCERPTS):
        for excerpt in python_in(document):
            parts = [" ".join(part.split()) for part in excerpt.split("…")]
            assert [part for part in parts if part not in model] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_block_says_what_it_is(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    assert len(re.findall(r"^ *```", text, re.MULTILINE)) == 2 * len(blocks)
    assert {block["language"] for block in blocks} <= LANGUAGES
    hidden = [block["body"] for block in blocks if block["language"] == "text" and re.match(PROGRAMS, block["body"])]
    assert hidden == [], "a command that nobody runs; its language is sh, or console with its output"


def test_what_cannot_run_or_ends_otherwise_is_still_told() -> None:
    told = {command.text for document in DOCUMENTS for command in typed(document)}
    assert {*NOT_HERE, *ENDS, *MORE} <= told


def test_reasons_name_tests_that_there_are() -> None:
    for reason in NOT_HERE.values():
        for path in re.findall(r"tests/[\w/.]*\w|\.ci/run", reason):
            assert (ROOT / path).exists(), reason


def test_what_ci_runs_are_the_steps_of_ci() -> None:
    steps = re.findall(r"^make ([a-z-]+)$", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE)
    named = {command.removeprefix("make ") for command in NOT_HERE if command.startswith("make ")}
    assert named - {"setup", "test", "test-quick"} <= set(steps)
