"""What a user of traces can do wrong."""

from __future__ import annotations


class TraceError(Exception):
    """A trace cannot be read or checked as asked: nothing there, no events, a damaged line with ``--strict``.

    The message says what was given, what was possible and what to do.
    """
