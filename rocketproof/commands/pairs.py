"""Settings as people write them: NAME=VALUE."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import InputError


def read_pairs(option: str, texts: Iterable[str], *, example: str = "", may_be_empty: bool = False) -> dict[str, str]:
    """Settings, NAME=VALUE each; the last one with a name counts.

    Raises:
        InputError: one has no name or, unless it may be empty, no value.
    """
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and (value or may_be_empty)):
            like = f", such as {option} {example}" if example else ""
            raise InputError(f"{option} {text!r} is not NAME=VALUE{like}.")
        pairs[name] = value
    return pairs
