"""Known bugs from an operator's point of view: whose software has them, which release fixes them, and what helps
now.

How a bug works is described beside the text of the model that it breaks; sources are the trackers and histories named
there.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..checkers.known_bugs import known_id
from ..checkers.mutants import MachineMutant


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What an operator needs to know about a known bug."""

    where: str  # whose software has it, or ``configuration``
    mended: str = ""  # the release that fixes it; empty if none does, or none is needed
    remedy: str  # what helps, now and permanently


ADVICE: Mapping[str, Advice] = {
    bug: Advice(**told)
    for bug, told in tomllib.loads(Path(__file__).with_name("advice.toml").read_text(encoding="utf-8")).items()
}
"""Known bug → what to do about it."""


def how(entry: MachineMutant) -> str:
    """How the bug works, with its source, as one line."""
    return " ".join(entry.mutant.doc.replace("``", "").split())


def sources(entry: MachineMutant) -> tuple[str, ...]:
    """Where it was seen: issues and commits that its text names."""
    found = re.findall(
        r"(?:[\w/.-]*(?:rocketmq|client|Go|flink|RocketMQ)[\w/-]*,?\s?(?:PR )?)?#\d+|commit [0-9a-f]{8,}|ROCKETMQ-\d+",
        how(entry),
    )
    return tuple(dict.fromkeys(found))


def advice(mutant: str) -> Advice:
    """What to do about a mutant."""
    return ADVICE[known_id(mutant)]
