"""How long the processes of a session have worked, and how much memory they have held."""

from __future__ import annotations

import os
from pathlib import Path


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
