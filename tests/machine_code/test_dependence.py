"""What kept machine code depends on: a change of it, wherever it is, makes another key."""

from __future__ import annotations

import importlib
import pkgutil
import shutil
import subprocess
import sys
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import rocketproof.traces
from rocketproof.checkers.search import loop as search
from rocketproof.checkers.search.native_calls import call_properties, call_successors
from rocketproof.machine_code import compiled
from rocketproof.machine_code.code_cache import FileCodeCache
from rocketproof.machine_code.compiled import Entry, entry, hot, part
from rocketproof.machine_code.dependence import dependence_of
from rocketproof.machine_code.functions import Compiled, Instruction
from rocketproof.traces.monitors.messages import message_table

SOURCE = """
LIMIT = 3
TABLE = np.arange(4)
ORDER = (1, LIMIT)

class Word(IntEnum):
    ONE = 1

class Pair(NamedTuple):
    left: int
    right: int

@part
def far(number):
    'What it says.'
    return number * LIMIT + Word.ONE

@part
def near(number):
    return far(number) + TABLE[number] + ORDER[0]

def top(number):
    return Pair(near(number), np.int64(number)).left
"""


def made(*changes: tuple[str, str]) -> bytes:
    """What ``top`` depends on after some changes."""
    text = SOURCE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    space: dict[str, Any] = {"np": np, "IntEnum": IntEnum, "NamedTuple": NamedTuple, "part": part, "hot": hot}
    exec(text, space)
    return dependence_of(Compiled(space["top"])).digest


@pytest.mark.parametrize(
    "change",
    [
        ("LIMIT = 3", "LIMIT = 4"),
        ("LIMIT = 3", "LIMIT = np.int64(3)"),
        ("arange(4)", "arange(1, 5)"),
        ("arange(4)", "arange(4, dtype=np.int32)"),
        ("(1, LIMIT)", "(2, LIMIT)"),
        ("(1, LIMIT)", "[1, LIMIT]"),
        ("ONE = 1", "ONE = 2"),
        ("left: int\n    right: int", "right: int\n    left: int"),
        ("number * LIMIT +", "number * LIMIT -"),
        ("@part\ndef far", "@hot\ndef far"),
    ],
    ids=str,
)
def test_a_change_of_anything_it_refers_to_counts(change: tuple[str, str]) -> None:
    assert made(change) != made()


def test_what_the_machine_code_does_not_depend_on_does_not_count() -> None:
    assert made(("What it says.", "It says more."), ("ORDER =", "OTHER = 1\n# More.\nORDER =")) == made()


def test_what_cannot_be_told_is_refused() -> None:
    with pytest.raises(TypeError, match=r"far refers to \{3\}, and nobody could tell"):
        made(("LIMIT = 3", "LIMIT = {3}"), ("(1, LIMIT)", "(1, 3)"))


def test_an_instruction_counts_with_the_text_of_its_file() -> None:
    one, other = Instruction(call_successors.typed), Instruction(call_properties.typed)

    def digest(instruction: Instruction) -> bytes:
        space: dict[str, Any] = {"instruction": instruction}
        exec("def function(number): return instruction(number)", space)
        return dependence_of(Compiled(space["function"])).digest

    assert digest(one) == digest(call_successors)
    assert digest(one) != digest(other)


def test_it_is_told_how_much_is_compiled() -> None:
    assert dependence_of(Compiled(lambda number: number)).functions == 1
    assert dependence_of(message_table.find).functions == 6  # type: ignore[arg-type]
    assert dependence_of(search.advance).functions == 16  # type: ignore[arg-type]


def test_many_names() -> None:
    """More than a byte can number."""
    text = "def function(): return " + " + ".join(f"name_{number}" for number in range(300))
    told = []
    for last in (0, 1):
        space: dict[str, Any] = {f"name_{number}": number for number in range(300)} | {"name_299": last}
        exec(text, space)
        told.append(dependence_of(Compiled(space["function"])))
    assert told[0] != told[1]


def test_of_all_entries_it_can_be_told() -> None:
    found = {}
    for module in pkgutil.walk_packages(rocketproof.traces.__path__, "rocketproof.traces."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, Entry):
                found[name] = dependence_of(value)
    assert len(found) > 20
    assert len(set(found.values())) == len(found)


def test_code_of_another_constant_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_kept", lambda: FileCodeCache(tmp_path))
    monkeypatch.setattr(compiled, "PATIENCE", 0)
    for limit in (3, 5):
        space = {"LIMIT": limit}
        exec("def times(number: int) -> int:\n    return number * LIMIT", space)
        times: Any = space["times"]
        assert entry(times)(2) == 2 * limit
    assert len(list(tmp_path.glob("*.code"))) == 2


PROGRAM = """
import numpy as np
from rocketproof.machine_code import compiled
compiled.PATIENCE = 0
from rocketproof.traces.encoding.names import Names, Slot
from rocketproof.traces.encoding.store_counts import StoreCounts, note_stores
from rocketproof.traces.format.kinds import Kind, codes
names, stores = Names(), StoreCounts()
slot = names.slot(Slot("", "t", "b", 0))
note_stores(np.full(3, codes(Kind)[Kind.STORE], np.uint8), np.full(3, slot, np.int32), np.arange(3), np.arange(3),
            names=names, stores=stores)
print(codes(Kind)[Kind.STORE], list(stores.values()))
"""


def test_with_a_new_first_kind_the_counts_stay_right(tmp_path: Path) -> None:
    source = Path(rocketproof.traces.__path__[0]).parent
    for package in ("model", "machine_code", "traces"):
        shutil.copytree(
            source / package, tmp_path / "rocketproof" / package, ignore=shutil.ignore_patterns("*.zst", "*.pyc")
        )
    (tmp_path / "rocketproof" / "__init__.py").touch()
    environment = {"PYTHONPATH": str(tmp_path), "PYTHONSAFEPATH": "1", "ROCKETPROOF_CACHE": str(tmp_path / "cache")}

    def told() -> str:
        done = subprocess.run(
            [sys.executable, "-B", "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert told().endswith(" [Stored(messages=3, last=2, until=2, first=0, since=0)]")
    kinds = tmp_path / "rocketproof" / "traces" / "format" / "kinds.py"
    text = kinds.read_text()
    begin = text.index("class Kind(")
    at = text.index("\n    ", text.index('"""', text.index('"""', begin) + 3))
    kinds.write_text(f"{text[:at]}\n    NEW = 'new'\n{text[at:]}")
    assert told().endswith(" [Stored(messages=3, last=2, until=2, first=0, since=0)]")
