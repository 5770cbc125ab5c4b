"""Compiled code kept between runs, as files in a folder that nobody but the user can write to.

Code that is loaded from there is executed. The folder and each file must therefore belong to the user and must not be
writable by others, and a file is bound to the key under which it was stored; anything else is ignored, and the code is
compiled anew.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import pwd
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

MAX_FILES = 500

LOG = logging.getLogger(__name__)
"""Logs, at level WARNING, each folder or file that is not used, once, and why."""

_DIGEST_BYTES = hashlib.sha256().digest_size
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class FileCodeCache:
    """Stores object code; if there are too many files, those whose last use is longest ago are deleted first.

    A folder that cannot be written to is no error: the code is then compiled each time. The same is true of one that
    belongs to another user, or that others can write to: a warning reports it.
    """

    folder: Path  # the cache folder; it is made with its part when something is stored
    part: str = "."  # its subfolder that contains the files

    def load(self, key: str) -> bytes | None:
        """The object code stored under ``key``, if any; a damaged file counts as none, as does one of somebody else."""
        try:
            folder = self._opened()
            try:
                file = os.open(_name(key), _FILE, dir_fd=folder)
            finally:
                os.close(folder)
            with os.fdopen(file, "rb") as opened:
                _require_own(self.folder / self.part / _name(key), file, stat.S_IFREG)
                content = opened.read()
                os.utime(file)  # the last used file is deleted last
        except OSError:
            return None
        code = content[_DIGEST_BYTES:]
        return code if _digest(key, code) == content[:_DIGEST_BYTES] else None

    def store(self, key: str, code: bytes) -> None:
        """Store object code; a reader never sees a half-written file."""
        try:
            folder = self.made()
            # Whoever could replace the folder at this moment gets the code, but gains nothing by it.
            descriptor, name = tempfile.mkstemp(dir=folder, suffix=".tmp")
            with os.fdopen(descriptor, "wb") as file:
                file.write(_digest(key, code) + code)
            Path(name).replace(folder / _name(key))
            _prune(folder)
        except OSError:
            return

    @contextmanager
    def alone(self, key: str) -> Iterator[None]:
        """Wait until no other process works here with this key: its code is stored afterwards.

        If nothing can be stored, this does not wait.
        """
        with ExitStack() as held:
            try:
                path = self.made() / f"{key}.lock"
                file = os.open(path, os.O_CREAT | _FILE, 0o600)
                held.callback(os.close, file)
                fcntl.flock(file, fcntl.LOCK_EX)
                held.callback(fcntl.flock, file, fcntl.LOCK_UN)  # a process that was forked meanwhile has the lock too
                held.callback(path.unlink, missing_ok=True)  # whoever waits for this file has found the code by then
            except OSError:
                held.close()
            yield

    def made(self) -> Path:
        """The folder of the files, which is made if it does not exist.

        Raises:
            OSError: it cannot be made, or is not safe.
        """
        folder = self.folder / self.part
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        for each in (self.folder, folder):
            each.mkdir(mode=0o700, exist_ok=True)
        os.close(self._opened())
        return folder

    def _opened(self) -> int:
        """The folder of the files, as a descriptor that stays valid if it is renamed.

        Raises:
            OSError: it does not exist, or is not safe.
        """
        outer = os.open(self.folder, _FOLDER)
        try:
            _require_own(self.folder, outer, stat.S_IFDIR)
            inner = os.open(self.part, _FOLDER | os.O_NOFOLLOW, dir_fd=outer)
        finally:
            os.close(outer)
        try:
            _require_own(self.folder / self.part, inner, stat.S_IFDIR)
        except OSError:
            os.close(inner)
            raise
        return inner


def user_cache(part: str = "searches") -> FileCodeCache:
    """A part of the cache in ``$ROCKETPROOF_CACHE``, otherwise in the user's cache folder, such as ``~/.cache``.

    ``sudo`` may keep an environment variable of another user: the folder is then below the home of the user who runs.
    """
    named = os.environ.get("ROCKETPROOF_CACHE")
    return FileCodeCache(Path(named) if named else _cache_folder() / "rocketproof", part)


def _cache_folder() -> Path:
    named = os.environ.get("XDG_CACHE_HOME")
    try:
        folder = Path(named) if named else Path.home() / ".cache"
        there = next(each for each in (folder, *folder.parents) if each.exists())
        if there.stat().st_uid != os.geteuid():
            folder = Path(pwd.getpwuid(os.geteuid()).pw_dir) / ".cache"
    except (OSError, RuntimeError, KeyError, StopIteration):
        # A user without a name or a home.
        folder = Path(tempfile.gettempdir()) / f"cache-{os.geteuid()}"
    return folder


def _require_own(path: Path, opened: int, kind: int) -> None:
    """Raise PermissionError unless an opened file is of this kind, belongs to the user, and others cannot write it."""
    status = os.fstat(opened)
    wrong = None
    if stat.S_IFMT(status.st_mode) != kind:
        wrong = "is no regular file" if kind == stat.S_IFREG else "is no folder"
    elif status.st_uid != os.geteuid():
        wrong = f"belongs to user {status.st_uid}, not to user {os.geteuid()} who runs this"
    elif status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        wrong = f"can be written to by others (mode {stat.S_IMODE(status.st_mode):04o}; chmod go-w would mend it)"
    if wrong is not None:
        _warn(path, wrong)
        raise PermissionError(wrong)


@cache
def _warn(path: Path, wrong: str) -> None:
    LOG.warning("%s %s: compiled code that is kept there is not used", path, wrong)


def _name(key: str) -> str:
    return f"{key}.code"


def _digest(key: str, code: bytes) -> bytes:
    return hashlib.sha256(f"{key}\n".encode() + code).digest()


def _prune(folder: Path) -> None:
    files = sorted(folder.glob("*.code"), key=lambda path: path.stat().st_mtime)
    for path in files[: max(0, len(files) - MAX_FILES)]:
        path.unlink(missing_ok=True)
