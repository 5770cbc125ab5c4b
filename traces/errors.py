"""What a user of traces can do wrong."""

from __future__ import annotations

from collections.abc import Sequence


class TraceError(Exception):
    """A trace cannot be read or checked as requested: nothing there, no events, a damaged line with ``--strict``.

    The message says what was given, what was possible and what to do.
    """


def named(files: Sequence[str]) -> str:
    """Files in words: up to three of them, and the number of further ones."""
    shown = ", ".join(files[:3])
    return shown if len(files) <= 3 else f"{shown} and {len(files) - 3} more"
