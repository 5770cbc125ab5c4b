"""How long the processes of a session have worked, and how much memory they have held."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SAMPLE = 0.2
"""How often the memory of a watched process is looked at, in seconds."""


def worked() -> float:
    """Seconds of processors that all processes of this session have used, which have ended in it or still run.

    The session should have been started for the measurement: ``start_new_session=True``. Java and the workers of
    Python belong to it.
    """
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == os.getsid(0):
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def peak() -> int:
    """The most bytes of memory this process has held; ``getrusage`` also counts what its parent held."""
    said = Path("/proc/self/status").read_text()
    return int(said.partition("VmHWM:")[2].split()[0]) << 10


def watched(command: Sequence[str]) -> dict[str, Any]:
    """The object of JSON that a process prints last, and ``peak``: the most memory that it and its children held
    together, bytes.

    Raises:
        RuntimeError: the process has failed.
    """
    most, lines = 0, list[str]()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        reader = threading.Thread(target=lambda: lines.extend(process.stdout or ()))
        reader.start()
        try:
            while process.poll() is None:
                most = max(most, resident(process.pid))
                time.sleep(SAMPLE)
        except BaseException:
            process.terminate()  # it is in a session of its own, and hears nothing of an interrupt
            raise
        reader.join()
    if process.returncode:
        raise RuntimeError(f"the measured process ended with {process.returncode}")
    answer: dict[str, Any] = json.loads(lines[-1])
    return answer | {"peak": most}


def resident(root: int) -> int:
    """Bytes of memory of a process and all below it; what they share counts once for each."""
    children: dict[int, list[int]] = {}
    held: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(entry.name))
        held[int(entry.name)] = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    total, waiting = 0, [root]
    while waiting:
        process = waiting.pop()
        total += held.get(process, 0)
        waiting += children.get(process, [])
    return total
