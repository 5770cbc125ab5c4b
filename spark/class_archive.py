"""An archive of the classes of Spark: with it, Java starts in about half of its processor time.

Java writes the archive when a process ends, and maps it into later ones ("class data sharing"). It compares the class
path and its own version with those of the archive, and does without one that does not fit.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from pathlib import Path

from ..machine_code.code_cache import FileCodeCache

MOST = 2
"""Maximum number of archives that are kept, each of 120 to 190 MB: those used last."""

_ENDING = ".jsa"
_QUIET = "-Xlog:cds*=off"
_LONGEST_S = 3_600
_PLAIN = re.compile(r"[\w/.+-]+")
"""Paths that Java's options can name."""


def archive_options(cache: FileCodeCache, *what: str) -> str:
    """Options by which Java uses an archive, or writes one when it ends if there is none yet; empty if the cache cannot
    be used.

    Each process writes a file of its own, and the next session adopts the first that is complete, so that several may
    write at once, and one that is killed does no harm.

    Args:
        cache: where archives are kept.
        what: what an archive depends on: the version of Java, and where Spark is.
    """
    key = hashlib.sha256("\n".join(what).encode()).hexdigest()
    try:
        folder = cache.made()
        if not _PLAIN.fullmatch(str(folder)):
            return ""
        archive = folder / f"{key}{_ENDING}"
        for written in folder.glob(f"{key}-*{_ENDING}"):
            _adopt(written, archive)
        if archive.exists():
            os.utime(archive)  # the last used file is deleted last
            return f"-XX:SharedArchiveFile={archive} {_QUIET}"
        for old in sorted(folder.glob(f"*{_ENDING}"), key=_used)[: 1 - MOST]:
            old.unlink(missing_ok=True)
        return f"-XX:ArchiveClassesAtExit={folder}/{key}-{os.getpid()}{_ENDING} {_QUIET}"
    except OSError:
        return ""


def _adopt(written: Path, archive: Path) -> None:
    """Give a complete archive its name; one that a killed process has begun is deleted after some time."""
    with written.open("rb") as file:
        is_complete = any(file.read(4))  # Java writes the header last
    if is_complete:
        written.replace(archive)
    elif _used(written) < time.time() - _LONGEST_S:
        written.unlink()


def _used(path: Path) -> float:
    return path.stat().st_mtime
