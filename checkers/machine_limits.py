"""What a search may use of the machine: its cores and memory, or those of the container it runs in."""

from __future__ import annotations

import os
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")


def cores() -> int:
    """How many cores this process may use: those it may run on, or fewer where the container has a quota of time."""
    allowed = len(os.sched_getaffinity(0))
    quota, period = _quota()
    return max(1, min(allowed, quota // period)) if quota else allowed


def half_of_memory() -> int:
    """Half of the memory in bytes that the machine, or the container, has: what a search uses if nobody says more."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = (_number(_CGROUP / name) for name in ("memory.max", "memory/memory.limit_in_bytes"))
    return min([machine, *filter(None, limits)]) // 2


def _quota() -> tuple[int, int]:
    """Microseconds of all cores together in each period, and the period; a quota of 0 is none."""
    try:
        quota, period = (_CGROUP / "cpu.max").read_text().split()
    except (OSError, ValueError):
        return _number(_CGROUP / "cpu/cpu.cfs_quota_us"), _number(_CGROUP / "cpu/cpu.cfs_period_us") or 1
    return (int(quota) if quota.isdigit() else 0), int(period)


def _number(path: Path) -> int:
    """A whole number in a file; 0 where there is none, or no file."""
    try:
        text = path.read_text().strip()
    except OSError:
        return 0
    return int(text) if text.isdigit() else 0
