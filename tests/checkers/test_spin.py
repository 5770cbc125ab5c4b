"""Running SPIN: exact counts or a clear error, never a count of half a search."""

import os
from pathlib import Path

import pytest

from rocketproof.checkers.spin import SpinError, read_statistics, run_spin, spin_available

# In CI spin must be there: then a missing one fails the tests in place of skipping them.
with_spin = pytest.mark.skipif(
    not spin_available() and os.environ.get("CI") != "true",
    reason="spin or a C compiler is not installed (apt-get install spin gcc libc6-dev)",
)

COUNTER = """
byte count;
active proctype machine() {
end:
  do
  :: d_step { count < 100 -> count = count + 1 }
  :: d_step { count == 100 -> skip }
  od
}
"""

STATISTICS = """
State-vector 20 byte, depth reached 64, errors: 0
  3916533 states, stored
 26085160 states, matched
 30001693 transitions (= stored+matched)
        0 atomic steps

Stats on memory usage (in Megabytes):
  197.406	total actual memory usage

pan: elapsed time 3.52 seconds
"""


def test_statistics_are_read() -> None:
    run = read_statistics(STATISTICS, wall_seconds=3.6, compile_seconds=1.5)
    assert (run.states, run.transitions, run.errors, run.complete, run.violated) == (3916533, 30001692, 0, True, "")
    assert (run.depth, run.vector_bytes, run.memory_bytes) == (64, 20, 206995194)
    assert (run.seconds, run.wall_seconds, run.compile_seconds) == (3.52, 3.6, 1.5)


def test_a_violation_is_read() -> None:
    first = "pan:1: assertion violated holds_safe_0 (at depth 7)\nWarning: Search not completed\n"
    run = read_statistics(first + STATISTICS.replace("errors: 0", "errors: 1"))
    assert (run.errors, run.complete, run.violated) == (1, False, "holds_safe_0")


def test_a_rounded_count_is_refused() -> None:
    with pytest.raises(SpinError, match=r"rounded count, 2.3800012e\+08"):
        read_statistics(STATISTICS.replace("30001693", "2.3800012e+08"))


def test_an_unfinished_output_is_refused() -> None:
    with pytest.raises(SpinError, match=r"no statistics of a finished search\.\n  Depth= 64 States= 1e"):
        read_statistics("Depth= 64 States= 1e+06\n")


@pytest.mark.parametrize(
    ("sign", "remedy"),
    [
        ("error: max search depth too small", "larger max_depth"),
        ("pan: reached -DMEMLIM bound", "larger memory_mb"),
        ("pan: out of memory", "smaller hash_bits"),
    ],
)
def test_a_limit_is_no_count(sign: str, remedy: str) -> None:
    with pytest.raises(SpinError, match=remedy):
        read_statistics(f"{sign}\n{STATISTICS}")


@with_spin
def test_a_step_that_changes_nothing_is_a_transition(tmp_path: Path) -> None:
    run = run_spin(COUNTER, workdir=tmp_path / "new", optimize="-O0", hash_bits=10)
    assert (run.states, run.transitions, run.errors, run.complete, run.depth) == (101, 101, 0, True, 100)
    assert '"%.0f states, stored' in (tmp_path / "new" / "pan.c").read_text(encoding="latin-1")


@with_spin
def test_a_search_cut_at_its_depth_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SpinError, match=r"max search depth too small.*larger max_depth"):
        run_spin(COUNTER, workdir=tmp_path, optimize="-O0", max_depth=50)


@with_spin
def test_a_search_out_of_memory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SpinError, match=r"reached -DMEMLIM bound.*larger memory_mb"):
        run_spin(COUNTER, workdir=tmp_path, optimize="-O0", memory_mb=1, hash_bits=20)


@with_spin
def test_a_state_too_large_is_an_error(tmp_path: Path) -> None:
    text = COUNTER.replace("byte count;", "byte count; int wide[50];")
    with pytest.raises(SpinError, match="larger vector_bytes"):
        run_spin(text, workdir=tmp_path, optimize="-O0", vector_bytes=64)


@with_spin
def test_a_text_that_is_no_promela_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SpinError, match=r"(?s)spin .*failed with exit code 1.*syntax error"):
        run_spin("active proctype {", workdir=tmp_path)


@with_spin
def test_a_tool_that_takes_too_long_is_an_error() -> None:
    with pytest.raises(SpinError, match=r"spin did not finish in 0.0001 s"):
        run_spin(COUNTER, timeout_seconds=0.0001)


def test_a_tool_that_is_ended_by_a_signal_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "spin"
    tool.write_text("#!/bin/sh\necho half a search\nkill -9 $$\n", encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(SpinError, match=r"^spin was ended by signal 9 \(memory\?\)\.\n  half a search$"):
        run_spin(COUNTER)


def test_missing_tools_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not spin_available()
    with pytest.raises(SpinError, match=r"spin and cc not found.*apt-get install spin"):
        run_spin(COUNTER)
