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


def peak() -> int:
    """The most bytes of memory this process has held; ``getrusage`` also counts what its parent held."""
    said = Path("/proc/self/status").read_text()
    return int(said.partition("VmHWM:")[2].split()[0]) << 10


def watched(command: Sequence[str]) -> dict[str, Any]:
    """The object of JSON that a process prints last, and of it and all below it ``peak``: the most memory that they
    held together, bytes, and ``worked``: the seconds of processors they used, up to when each was last looked at.

    Raises:
        RuntimeError: the process has failed.
    """
    most, ticks, lines = 0, dict[tuple[int, int], int](), list[str]()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        reader = threading.Thread(target=lambda: lines.extend(process.stdout or ()))
        reader.start()
        try:
            while process.poll() is None:
                held, used = _of_tree(process.pid)
                most, ticks = max(most, held), ticks | used
                time.sleep(SAMPLE)
        except BaseException:
            process.terminate()  # it is in a session of its own, and hears nothing of an interrupt
            raise
        reader.join()
    if process.returncode:
        raise RuntimeError(f"the measured process ended with {process.returncode}")
    answer: dict[str, Any] = json.loads(lines[-1])
    return answer | {"peak": most, "worked": sum(ticks.values()) / os.sysconf("SC_CLK_TCK")}


def _of_tree(root: int) -> tuple[int, dict[tuple[int, int], int]]:
    """Bytes of memory of a process and all below it, where what they share counts once for each; and how long each has
    worked, by its number and start.
    """
    children: dict[int, list[int]] = {}
    found: dict[int, list[str]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(entry.name))
        found[int(entry.name)] = fields
    pages, ticks, waiting = 0, dict[tuple[int, int], int](), [root]
    while waiting:
        process = waiting.pop()
        waiting += children.get(process, [])
        if process in found:
            fields = found[process]
            pages += int(fields[21])
            ticks[process, int(fields[19])] = int(fields[11]) + int(fields[12])
    return pages * os.sysconf("SC_PAGE_SIZE"), ticks
