"""Compiled code kept between runs, as files in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

MAX_FILES = 500
_DIGEST_BYTES = hashlib.sha256().digest_size


@dataclass(frozen=True)
class FileCodeCache:
    """Keeps object code in ``folder``, the oldest files going first when there are too many.

    A folder that cannot be written to is no error: the code is then compiled each time.
    """

    folder: Path

    def load(self, key: str) -> bytes | None:
        """The object code stored under ``key``, if any; a damaged file counts as none."""
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        digest, code = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        return code if hashlib.sha256(code).digest() == digest else None

    def store(self, key: str, code: bytes) -> None:
        """Keep object code; a reader never sees a half-written file."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=self.folder, suffix=".tmp")
            with os.fdopen(descriptor, "wb") as file:
                file.write(hashlib.sha256(code).digest() + code)
            Path(name).replace(self._path(key))
            self._prune()
        except OSError:
            return

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.code"

    def _prune(self) -> None:
        files = sorted(self.folder.glob("*.code"), key=lambda path: path.stat().st_mtime)
        for path in files[: max(0, len(files) - MAX_FILES)]:
            path.unlink(missing_ok=True)


def user_cache() -> FileCodeCache:
    """The cache in ``$ROCKETPROOF_CACHE``, else in the user's cache folder (``$XDG_CACHE_HOME`` or ``~/.cache``)."""
    named = os.environ.get("ROCKETPROOF_CACHE")
    if named:
        return FileCodeCache(Path(named))
    base = os.environ.get("XDG_CACHE_HOME")
    return FileCodeCache((Path(base) if base else Path.home() / ".cache") / "rocketproof")
