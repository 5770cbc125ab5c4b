"""Cross references in docstrings and comments lead to something: a module, or a name that a module has."""

import re
from pathlib import Path

import pytest

from .test_layers import DOOR, ROOT, sources

pytestmark = [pytest.mark.smoke, pytest.mark.quality]

REFERENCE = re.compile(r":(?:mod|class|func|data|meth|attr|exc):`[~!]?(\.+)([\w.]+)`")


def leads_nowhere(path: Path) -> list[str]:
    """The relative references of a file to modules that are not there, or have no such name."""
    lost = []
    for dots, name in REFERENCE.findall((ROOT / path).read_text(encoding="utf-8")):
        folder, parts = (ROOT / path).parents[len(dots) - 1], name.split(".")
        # What is beside the door in this tree is below it where it is installed.
        folders = [folder, ROOT] if folder == ROOT / DOOR else [folder]
        places = ((one.joinpath(*parts[:end]), parts[end:]) for one in folders for end in range(1, len(parts) + 1))
        if not any(_has(module, names) for module, names in places):
            lost.append(f"{path}: {dots}{name}")
    return lost


def _has(module: Path, names: list[str]) -> bool:
    files = [file for file in (module.with_suffix(".py"), module / "__init__.py") if file.exists()]
    words = {word for file in files for word in re.findall(r"\w+", file.read_text(encoding="utf-8"))}
    return bool(files) and set(names) <= words


def test_references_lead_to_something() -> None:
    assert [lost for path in sources(ROOT) for lost in leads_nowhere(path)] == []


def test_a_reference_that_leads_nowhere_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rules.py").write_text("LIMIT = 3\n")
    (tmp_path / "wrong.py").write_text('""":mod:`.rules`, :data:`.rules.LIMIT`, :mod:`.gone`, :data:`.rules.MOST`"""\n')
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    assert leads_nowhere(Path("wrong.py")) == ["wrong.py: .gone", "wrong.py: .rules.MOST"]
