"""JSON from files that anybody may have written: a value may not be nested more deeply than this kit can process."""

from __future__ import annotations

import json
from typing import Any

DEEPEST = 100
"""Maximum number of levels of objects and lists in a value; traces need four."""

_TOO_DEEP = f"nested deeper than {DEEPEST} levels"


def read_json(text: str) -> Any:
    """The value of a text.

    Raises:
        ValueError: it is no JSON, its value is nested too deeply, or it has a number with thousands of digits.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if text.count("{") + text.count("[") > DEEPEST and _is_deep(value):
        raise ValueError(_TOO_DEEP)
    return value


def what_is_wrong(error: ValueError) -> str:
    """Why a text is not JSON, without the line number, which the caller knows better."""
    return error.msg if isinstance(error, json.JSONDecodeError) else str(error)


def _is_deep(value: object) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return any(isinstance(value, dict | list) for value in level)
