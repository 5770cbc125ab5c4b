"""SPIN, run as a second opinion: compiles a Promela text to a verifier, searches exhaustively, reads the statistics.

The search is exact: every state is stored whole, no partial order reduction, no bit-state hashing. A run that a limit
cut short has no counts to compare, so it raises :class:`SpinError`.
"""

from __future__ import annotations

import enum
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from .export import SPIN_OPTIONS

_TOOLS = ("spin", "cc")
# SPIN prints eight significant digits; the counts of a large search need all digits.
_ROUNDED, _WHOLE = '"%9.8g', '"%.0f'


class SpinError(Exception):
    """SPIN could not give an answer: a tool is missing, the text is refused, or a limit was hit.

    Remedy: the message names the limit or shows what the tool said.
    """


@dataclass(frozen=True, kw_only=True)
class SpinRun:
    """What SPIN found."""

    states: int  # distinct states, the initial one included ("states, stored")
    # steps between them, including those that lead back to their own state. SPIN prints "stored+matched", which counts
    # the initial state as stored without a step, so this is one fewer than printed
    transitions: int
    errors: int  # violated assertions and invalid end states; with ``all_errors`` the number of steps that violate one
    complete: bool  # whether the whole state space was searched; otherwise the counts are those at the first error
    violated: str  # text of the first violated assertion, such as ``(inside&&1)``, or of another error; empty if none
    depth: int  # length of the longest path of the depth-first search
    vector_bytes: int  # size of SPIN's state vector
    memory_bytes: int  # all memory SPIN allocated, hash table and search stack included
    seconds: float  # time for searching, as SPIN measures it (in hundredths)
    wall_seconds: float  # run time of the verifier process
    compile_seconds: float  # time for making the verifier, with ``spin`` and the C compiler


class SpinSearch(enum.Enum):
    """How SPIN traverses the states, selected by options of the C compiler."""

    DEPTH_FIRST = ()
    BREADTH_FIRST = ("-DBFS",)
    TWO_CORES = ("-DNCORE=2",)
    """Depth-first, by two processes that hand states to each other."""
    BREADTH_FIRST_TWO_CORES = ("-DBFS_PAR",)
    """Stores hashes of states, not states: two with the same hash would count as one."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments of the verifier."""
        return ("-u2",) if self is SpinSearch.BREADTH_FIRST_TWO_CORES else ()


def spin_available() -> bool:
    """Whether ``spin`` and a C compiler are installed."""
    return all(shutil.which(tool) for tool in _TOOLS)


def run_spin(
    promela_text: str,
    *,
    workdir: Path | None = None,
    max_depth: int = 1_000_000,
    memory_mb: int = 4_096,
    timeout_seconds: float = 600.0,
    hash_bits: int = 20,
    vector_bytes: int = 1_024,
    optimize: str = "-O3",
    all_errors: bool = False,
    search: SpinSearch = SpinSearch.DEPTH_FIRST,
) -> SpinRun:
    """Verify a Promela text exhaustively.

    Args:
        promela_text: the text, as written by :func:`promela`.
        workdir: folder for the files SPIN makes; a temporary one if None.
        max_depth: longest path searched; a longer one is an error (each step takes some 50 bytes at once).
        memory_mb: memory limit in MiB.
        timeout_seconds: for each of the tools.
        hash_bits: the hash table has 2 to this power slots, ideally about the number of states.
        vector_bytes: room for one state.
        optimize: option of the C compiler.
        all_errors: count all errors instead of stopping at the first.
        search: how SPIN traverses the states.

    Raises:
        SpinError: there is no exact answer, see there.
    """
    missing = [tool for tool in _TOOLS if not shutil.which(tool)]
    if missing:
        raise SpinError(
            f"{' and '.join(missing)} not found; a comparison with SPIN needs spin and a C compiler "
            "(Debian and Ubuntu: apt-get install spin gcc libc6-dev)."
        )
    with tempfile.TemporaryDirectory(prefix="spin-") if workdir is None else nullcontext(workdir) as given:
        folder = Path(given)
        folder.mkdir(parents=True, exist_ok=True)
        started = time.perf_counter()
        bounds = [*search.value, f"-DMEMLIM={memory_mb}"]
        _compile(promela_text, folder, bounds, vector_bytes, optimize, timeout_seconds)
        compiled = time.perf_counter()
        count = "-c0" if all_errors else "-c1"
        arguments = [f"-m{max_depth}", f"-w{hash_bits}", count, *search.arguments]
        output = _call(["./pan", *arguments], folder, timeout_seconds, check=False)
        wall = time.perf_counter() - compiled
    return read_statistics(output, wall_seconds=wall, compile_seconds=compiled - started)


def read_statistics(output: str, *, wall_seconds: float = 0.0, compile_seconds: float = 0.0) -> SpinRun:
    """Read what a verifier printed.

    Raises:
        SpinError: the search was cut short by a limit, or the text is not that of a finished search.
    """
    for sign, remedy in (
        ("max search depth too small", "give a larger max_depth"),
        ("reached -DMEMLIM bound", "give a larger memory_mb"),
        ("exceeds memory limit", "give a larger memory_mb"),
        ("out of memory", "give a smaller hash_bits or max_depth, or take a smaller configuration"),
        ("VECTORSZ", "give a larger vector_bytes"),
    ):
        if sign in output:
            raise SpinError(f"SPIN did not search everything ({sign}); {remedy}.")
    states = _count(r"([\d.e+]+) states, stored", output)
    vector, depth, errors = (
        _count(pattern, output) for pattern in (r"State-vector (\d+) byte", r"depth reached (\d+)", r"errors: (\d+)")
    )
    violated = re.search(r"^(?:cpu\d+: )?pan:\d+: (?:assertion violated )?(.*) \(at depth", output, re.MULTILINE)
    memory = re.search(r"([\d.]+)\s+total actual memory usage", output)
    elapsed = re.search(r"elapsed time ([\d.e+-]+) seconds", output)
    return SpinRun(
        states=states,
        transitions=_count(r"([\d.e+]+) transitions \(= stored\+matched\)", output) - 1,
        errors=errors,
        complete="Search not completed" not in output,
        violated=violated.group(1).strip() if violated else "",
        depth=depth,
        vector_bytes=vector,
        memory_bytes=round(float(memory.group(1)) * 2**20) if memory else 0,
        seconds=float(elapsed.group(1)) if elapsed else wall_seconds,
        wall_seconds=wall_seconds,
        compile_seconds=compile_seconds,
    )


def _compile(
    text: str, workdir: Path, search: Sequence[str], vector_bytes: int, optimize: str, timeout_seconds: float
) -> None:
    (workdir / "machine.pml").write_text(text, encoding="utf-8")
    _call(["spin", *SPIN_OPTIONS, "-a", "machine.pml"], workdir, timeout_seconds)
    verifier = workdir / "pan.c"
    if not verifier.exists():
        raise SpinError("spin wrote no verifier for this text; run 'spin -a' on it to see why.")
    source = verifier.read_text(encoding="latin-1")
    verifier.write_text(source.replace(_ROUNDED, _WHOLE), encoding="latin-1")
    options = ["-DSAFETY", "-DNOREDUCE", f"-DVECTORSZ={vector_bytes}", *search]
    _call(["cc", optimize, "-w", *options, "-o", "pan", "pan.c"], workdir, timeout_seconds)


def _call(command: Sequence[str], workdir: Path, timeout_seconds: float, *, check: bool = True) -> str:
    # In a group of its own: spin starts a preprocessor, which would continue to write files after spin itself was
    # ended.
    tool = subprocess.Popen(
        command,
        cwd=workdir,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = tool.communicate(timeout=timeout_seconds)
    except BaseException as error:
        os.killpg(tool.pid, signal.SIGKILL)
        tool.communicate()  # ends once the whole group has closed the pipe
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        raise SpinError(
            f"{command[0]} did not finish in {timeout_seconds:g} s; give a larger timeout_seconds."
        ) from None
    if tool.returncode < 0:
        raise SpinError(f"{command[0]} was ended by signal {-tool.returncode} (memory?).{_tail(output)}")
    if check and tool.returncode:
        raise SpinError(f"{' '.join(command)} failed with exit code {tool.returncode}.{_tail(output)}")
    return output


def _tail(output: str) -> str:
    lines = output.strip().splitlines()[-10:]
    return "".join(f"\n  {line}" for line in lines)


def _count(pattern: str, output: str) -> int:
    found = re.search(pattern, output)
    if found is None:
        raise SpinError(f"SPIN printed no statistics of a finished search.{_tail(output)}")
    if not found.group(1).isdigit():
        raise SpinError(f"SPIN printed a rounded count, {found.group(1)}, which cannot be compared exactly.")
    return int(found.group(1))
