"""What the tests of this folder share: the real classes of a release, and seeded cases."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from .oracle import Oracle

SEED = 20_250_701


@dataclass(frozen=True)
class Real:
    """The real classes of one release."""

    oracle: Oracle

    @property
    def release(self) -> str:
        return self.oracle.release

    @property
    def rules(self) -> str:
        """The release whose rules the model knows."""
        return "4.9.8" if self.release.startswith("4.") else "5.3.3"

    def ask(self, subject: str, cases: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return self.oracle.answers(subject, cases)


def seeded(name: str) -> Random:
    """Random numbers that are the same in every run; the seed is printed where a test fails."""
    seed = SEED ^ zlib.crc32(name.encode())
    print(f"seed {seed} ({name})")
    return Random(seed)
