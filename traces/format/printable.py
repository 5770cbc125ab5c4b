r"""Text of a trace in a form that is safe to show: names, keys and details come from strangers, and must not have any
effect.

A terminal obeys control characters, a reader is misled by direction marks and zero-width characters, a CI server obeys
lines such as ``::error::`` and ``##[error]``, and half of a surrogate pair cannot be written at all. All output of the
kit goes through one of these functions, which escape such characters as ``\x1b`` or ``\u202e``.
"""

from __future__ import annotations

import json
import re

# C0 and C1, zero-width characters and direction marks, line separators, tags, surrogate halves, non-characters.
_ACTING = (
    "\\x00-\\x1f\\x7f-\\x9f\\xad\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f"
    "\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\ufffe\\uffff\\ud800-\\udfff\\U000e0000-\\U000e0fff"
)
_IN_LINE = re.compile(f"[{_ACTING}]")
_IN_LINES = re.compile(f"(?![\n\t])[{_ACTING}]")
_AT_BEGIN = re.compile(r"^(\s*):(?=:)", re.MULTILINE)
_MARKED = re.compile(r"#(?=#\w*\[)")


def printable(text: str) -> str:
    """One line: line feeds are escaped as well."""
    return _without_commands(_IN_LINE.sub(_spelled, text))


def printable_lines(text: str) -> str:
    """Several lines."""
    return _without_commands(_IN_LINES.sub(_spelled, text))


def printable_document(text: str) -> str:
    """A document, such as a page, that no CI server reads as a log: commands to CI servers are left as they are."""
    return _IN_LINES.sub(_spelled, text)


def json_text(value: object, *, indent: int | None = 1) -> str:
    """A value as JSON in ASCII. It reads back unchanged; ``##`` is escaped, as some CI servers look for it anywhere."""
    return json.dumps(value, indent=indent).replace("##", "#\\u0023")


def _without_commands(text: str) -> str:
    r"""The text without commands to CI servers: the first character of ``::error::`` and ``##[error]`` is escaped."""
    return _MARKED.sub(r"\\x23", _AT_BEGIN.sub(r"\1\\x3a", text))


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(found[0], f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
