"""Names in docstrings and comments lead to something: a module, a name that a module has, a file, an id."""

import re
from functools import cache
from pathlib import Path

import pytest

from .test_layers import DOOR, FOLDERS, ROOT, sources

pytestmark = [pytest.mark.smoke, pytest.mark.quality]

REFERENCE = re.compile(r":(?:mod|class|func|data|meth|attr|exc):`[~!]?(\.+)([\w.]+)`")
QUOTED = re.compile(r"``([^`\n]+)``")


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


def unknown_names(path: Path) -> list[str]:
    """The names in double backquotes that nothing has: files of the kit, ids, options, and names written Python's way.

    Names written as Java writes them are RocketMQ's, and expressions are examples; neither is looked for.
    """
    lost = []
    for name in QUOTED.findall((ROOT / path).read_text(encoding="utf-8")):
        folder, _, rest = name.partition("/")
        if rest and folder in {*FOLDERS, "docs", "tests", "benchmarks", "examples"}:
            known = (ROOT / name).exists()
        elif re.fullmatch(r"[\w/]+\.(py|mjs)", name):
            known = any(file.as_posix().endswith(f"/{name}") for file in _files(ROOT))
        elif re.fullmatch(r"(--)?[a-z]\w*(-\w+)+|--\w+", name):
            known = name in _written(ROOT)
        elif re.fullmatch(r"[\w.]+(\(\))?", name) and re.search("[a-z0-9]_|_[a-z]", name):
            known = set(re.findall(r"\w+", name)) <= _written(ROOT)
        else:
            known = True
        if not known:
            lost.append(name)
    return lost


@cache
def _files(root: Path) -> tuple[Path, ...]:
    return tuple(path for folder in FOLDERS for path in (root / folder).rglob("*.*"))


@cache
def _written(root: Path) -> frozenset[str]:
    """All words and ids of the sources, but for what stands in double backquotes."""
    names: set[str] = set()
    for path in sources(root):
        text = QUOTED.sub("", (root / path).read_text(encoding="utf-8"))
        names |= {path.stem, *path.parts, *re.findall(r"[\w-]+", text), *re.findall(r"\w+", text)}
    return frozenset(names)


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


def test_names_in_double_backquotes_are_names_of_something() -> None:
    # Built from other names while the kit runs, and log files of RocketMQ.
    built = ["laws-of-AVG", "rm_0", "_ms", "was_x"]
    logs = ["broker_default.log", "rocketmq_client.log"]
    assert {name for path in sources(ROOT) for name in unknown_names(path)} == {*built, *logs}


def test_a_name_that_nothing_has_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "``traces/gone.py``, ``gone.py``, ``no-such-claim``, ``--no-such``, ``errors.no_such()``, ``Java#gone``"
    (tmp_path / "wrong.py").write_text(f'"""{text}"""\n')
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    assert unknown_names(Path("wrong.py")) == [
        "traces/gone.py",
        "gone.py",
        "no-such-claim",
        "--no-such",
        "errors.no_such()",
    ]
