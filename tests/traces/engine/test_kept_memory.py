"""What a process may do to its own memory, and the library to no process."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest

from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.kept_memory import keep_freed_memory
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.samples import samples

NAMES = "import pyarrow; print(pyarrow.default_memory_pool().backend_name)"


def test_a_check_leaves_the_allocator_as_it_was() -> None:
    usual, seen = pa.default_memory_pool().backend_name, set[str]()
    check_locally(
        samples()[0].open(),
        settings=Settings(),
        progress=lambda _what, _events: seen.add(pa.default_memory_pool().backend_name),
    )
    assert seen == {usual}


def test_the_process_of_the_command_may_keep_what_it_frees() -> None:
    program = f"from rocketproof.traces.engine.kept_memory import keep_freed_memory; keep_freed_memory(); {NAMES}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "system\n"


def test_without_the_c_library_of_gnu_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda _name: object())
    usual = pa.default_memory_pool().backend_name
    keep_freed_memory()
    assert pa.default_memory_pool().backend_name == usual
