"""Files the command line writes."""

from __future__ import annotations

import sys
from pathlib import Path

from .errors import InputError

STANDARD_OUTPUT = "-"


def write(where: str, text: str) -> None:
    """Write ``text`` to a file, or to standard output for ``-``.

    Raises:
        InputError: the file cannot be written.
    """
    if where == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    try:
        Path(where).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {where}: {error.strerror}.") from None
