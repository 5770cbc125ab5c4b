"""What a search may use of the machine, or of the container in which it runs: cores and memory."""

from __future__ import annotations

import os
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")


def cores() -> int:
    """Number of cores that this process may use: those it may run on, or fewer if the container has a CPU quota."""
    allowed = len(os.sched_getaffinity(0))
    quota, period = _quota()
    return max(1, min(allowed, quota // period)) if quota else allowed


def half_of_memory() -> int:
    """Half of the memory of the machine, or of the container, in bytes: what a search uses unless told otherwise."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = (_number(_CGROUP / name) for name in ("memory.max", "memory/memory.limit_in_bytes"))
    return min([machine, *filter(None, limits)]) // 2


def _quota() -> tuple[int, int]:
    """The container's CPU quota: microseconds of all cores together in each period, and the period; 0: no quota."""
    try:
        quota, period = (_CGROUP / "cpu.max").read_text().split()
    except (OSError, ValueError):
        return _number(_CGROUP / "cpu/cpu.cfs_quota_us"), _number(_CGROUP / "cpu/cpu.cfs_period_us") or 1
    return (int(quota) if quota.isdigit() else 0), int(period)


def _number(path: Path) -> int:
    """A whole number in a file; 0 if it has none, or there is no file."""
    try:
        text = path.read_text().strip()
    except OSError:
        return 0
    return int(text) if text.isdigit() else 0
