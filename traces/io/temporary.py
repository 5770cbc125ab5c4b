"""The temporary folder, for data that does not fit into memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import TraceError


@contextmanager
def in_temporary_folder() -> Iterator[None]:
    """A context for everything that is written there.

    Raises:
        TraceError: it cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise TraceError(
            f"what does not fit in memory cannot be kept in {tempfile.gettempdir()}: {error.strerror or error}. "
            "Make room there, or name another folder in TMPDIR."
        ) from None
