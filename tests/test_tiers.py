"""The longer tier names tests that there are, and what mirrors a change is found."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from .conftest import HERE, LONGER, in_order
from .mirrored import ROOT, mirrored, outermost

pytestmark = [pytest.mark.smoke, pytest.mark.quality]


def test_the_longer_tier_names_tests_that_there_are() -> None:
    for name in LONGER:
        file, function = re.sub(r"\[.*", "", name).split("::")
        assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8"), name


def test_every_folder_keeps_tests_in_the_default_tier() -> None:
    for folder in sorted({Path(name.partition("::")[0]).parent for name in LONGER}):
        texts = [path.read_text(encoding="utf-8") for path in (ROOT / folder).glob("test_*.py")]
        tests = sum(text.count("\ndef test_") for text in texts)
        assert sum(name.startswith(f"{folder}/") for name in LONGER) < tests / 2, folder


def test_what_is_slow_stays_with_its_file() -> None:
    def item(file: str, *marks: str) -> Any:
        return SimpleNamespace(path=HERE / file, marks=marks, get_closest_marker=lambda name: name in marks)

    given = [
        item("model/test_a.py", "slow"),
        item("traces/test_b.py", "slow"),
        item("traces/test_b.py"),
        item("traces/test_b.py", "smoke"),
        item("checkers/test_c.py"),
    ]
    assert [(one.path.stem, *one.marks) for one in in_order(given)] == [
        ("test_b", "smoke"),
        ("test_c",),
        ("test_b",),
        ("test_b", "slow"),
        ("test_a", "slow"),
    ]


@pytest.mark.parametrize(
    ("file", "tests"),
    [
        ("model/kernel/state.py", "tests/model/kernel/test_state.py"),
        ("traces/explain/report/style.css", "tests/traces/explain/report"),
        ("traces/claims/__init__.py", "tests/traces/claims"),
        ("tests/model/test_delay.py", "tests/model/test_delay.py"),
        ("Makefile", None),
    ],
)
def test_what_mirrors_a_file(file: str, tests: str | None) -> None:
    assert mirrored(Path(file)) == (None if tests is None else Path(tests))


def test_a_folder_stands_for_what_is_in_it() -> None:
    assert outermost(map(Path, ["tests/model", "tests/model/test_delay.py", "tests/test_layers.py"])) == [
        Path("tests/model"),
        Path("tests/test_layers.py"),
    ]
