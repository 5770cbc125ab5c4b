"""Addresses: those of files on this machine, which are read as files, and those of stores, which are not."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ..errors import TraceError

_LOCAL = re.compile(r"file:/", re.IGNORECASE)
_STORE = re.compile(r"((?:s3[an]?|hdfs|gs|abfss?|wasbs?|oss|cosn|https?)):/", re.IGNORECASE)
"""When an address is treated as a path, it loses one of its two slashes."""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


def local_path(name: Path | str) -> Path:
    """The path of a file that is given by its path, or as ``file:///…``.

    Raises:
        TraceError: the address names a host.
    """
    if not _LOCAL.match(str(name)):
        return Path(name)
    told = urlsplit(str(name))
    if told.netloc not in ("", "localhost"):
        raise TraceError(f"{name}: names the machine {told.netloc}; a file of this one is file:///path.")
    return Path(url2pathname(told.path))


def store_of(name: Path | str) -> str:
    """The scheme of the address of a well-known store, such as ``s3a``; empty for a path."""
    found = _STORE.match(str(name))
    return "" if found is None else found[1]


def is_address(name: Path | str) -> bool:
    """Whether this is the address of a store of any kind, recognised by its two slashes, and not a path."""
    return _ADDRESS.match(str(name)) is not None and not _LOCAL.match(str(name))
