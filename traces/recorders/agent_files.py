"""Files of the agents: how they are distinguished from other traces, and which side wrote them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..io.json_text import read_json

NAME = re.compile(r"(?P<copy>.*?)(?P<side>client|broker)-(?P<pid>\d+)-.+\.jsonl(\.gz|\.zst)?")
"""Names of the files of the agents; a prefix may have been added when they were collected."""

_SOURCE = re.compile(r"rocketproof agent \d+, (?P<side>client|broker)\b[^;]*")
"""The source in the headers of the agents; a joined trace has several of them."""


def side_of(file: str, source: str) -> str:
    """Who wrote a file, ``client`` or ``broker``, by its name or else its header; empty if neither shows it."""
    found = NAME.fullmatch(Path(file).name) or _SOURCE.fullmatch(source)
    return found["side"] if found else ""


def is_recording(file: str, head: bytes) -> bool:
    """Whether a JSONL file with this beginning was written by an agent, and not joined yet."""
    first, second = (_object(line) for line in (*head.split(b"\n", 2), b"", b"")[:2])
    source = first.get("source", "")
    by_name = NAME.fullmatch(Path(file).name) is not None
    by_header = isinstance(source, str) and _SOURCE.fullmatch(source) is not None
    return "recorder" not in second and (by_name + by_header + ("micros" in second)) >= 2


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        value = read_json(line.decode())
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
