"""JSON as fastjson writes it: keys of maps may be whole numbers, or objects, without quotes around them."""

from __future__ import annotations

import json
import re
from typing import Any

from ..json_text import read_json

# A string, to skip it; an object that is a key; a number, and what makes it a key. Nothing is scanned twice: a string
# without end is skipped as well, as is a number that is no key.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z|\\)|(\{[^{}\[\]]*\})(?=\s*:)|(-?\d++)(\s*+:)?', re.DOTALL)


def loads(text: str) -> Any:
    """The value of a text. Keys that are numbers or objects become strings: digits, and JSON.

    Raises:
        ValueError: as for :func:`~..json_text.read_json`.
    """
    return read_json(_TOKEN.sub(_quoted, text))


def _quoted(found: re.Match[str]) -> str:
    if found[1] is not None:
        return json.dumps(json.dumps(loads(found[1])))
    return f'"{found[2]}"{found[3]}' if found[3] is not None else found[0]
