"""Files that get their name only when they are complete: an interrupted run, or a full disk, leaves no partial file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def partial_name(path: Path) -> Path:
    """The name under which a file is written until it is complete: with a dot, so that readers of folders skip it."""
    return path.with_name(f".{path.name[:100]}.partial")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """The path to write to; the file is renamed to ``path`` if the block ends normally, and removed otherwise.

    A device or a pipe, and a file in a folder that cannot be written to, is written to directly.

    Raises:
        OSError: the file cannot be renamed.
    """
    path = path.resolve()
    if (path.exists() and not path.is_file()) or not os.access(path.parent, os.W_OK):
        yield path
        return
    partial = partial_name(path)
    try:
        yield partial
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
