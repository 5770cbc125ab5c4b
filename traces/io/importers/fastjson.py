"""JSON as fastjson writes it: keys of maps may be whole numbers, or objects, without quotes around them."""

from __future__ import annotations

import json
import re
from typing import Any

# A string, to pass over it; an object that is a key; a number that is a key.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|(\{[^{}\[\]]*\})(?=\s*:)|(-?\d+)(?=\s*:)')


def loads(text: str) -> Any:
    """The value of a text. Keys that are numbers or objects become strings: digits, and JSON.

    Raises:
        ValueError: it is no JSON otherwise either.
    """
    return json.loads(_TOKEN.sub(_quoted, text))


def _quoted(found: re.Match[str]) -> str:
    if found[1] is not None:
        return json.dumps(json.dumps(loads(found[1])))
    return f'"{found[2]}"' if found[2] is not None else found[0]
