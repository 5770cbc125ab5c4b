"""The door: the names that programs import, what they cost, and that documents import nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import rocketproof
from rocketproof import api

ROOT = Path(__file__).parents[2]
OPEN = {"rocketproof", "rocketproof.terms", "rocketproof.spark", "rocketproof.explorer", "rocketproof.learn.words"}
"""Modules that users import from."""


def test_every_name_of_the_door_is_there_and_typed() -> None:
    assert [name for name in rocketproof.__all__ if getattr(rocketproof, name) is None] == []
    text = Path(rocketproof.__file__).read_text(encoding="utf-8")
    assert set(re.findall(r"import \w+ as (\w+)", text)) == set(rocketproof.__all__)


def test_a_name_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'exlore'; it has .*explore"):
        _ = rocketproof.exlore


def test_importing_it_loads_nothing() -> None:
    program = (
        "import sys, rocketproof; "
        "print([m for m in sys.modules if m.split('.')[0] in ('numpy', 'z3', 'pyarrow', 'numba', 'rich', 'pydantic')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_documents_and_examples_import_from_the_door_only() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]}
    texts |= {path: path.read_text(encoding="utf-8") for path in ROOT.glob("examples/**/*.py")}
    assert len(texts) > 15
    inside = [
        f"{path.relative_to(ROOT)}: {module}"
        for path, text in texts.items()
        for module in re.findall(r"^ *(?:from|import) (rocketproof[\w.]*)", text, re.MULTILINE)
        if module not in OPEN
    ]
    assert inside == []


def test_the_page_names_all_of_it() -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    assert [name for name in rocketproof.__all__ if f"`{name}`" not in page] == []


def test_a_recording_is_checked_and_followed_as_the_commands_do() -> None:
    sample = ROOT / "traces" / "samples" / "steady-5.3.3.jsonl.zst"
    trace = rocketproof.open_trace([sample])
    for source in (trace, sample, [sample]):
        result = api.check(source)
        assert {answer.verdict for answer in result.verdicts} <= {
            rocketproof.Verdict.HOLDS,
            rocketproof.Verdict.NOT_OBSERVABLE,
        }
    assert api.conform(sample).mismatch_count == 0
