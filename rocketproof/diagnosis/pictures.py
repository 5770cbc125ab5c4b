"""Pictures: what each known bug looks like in recordings of the model with the bug in it.

They are learnt once, by ``python -m benchmarks.diagnose``: the shortest counterexample of each bug is recorded, goes on
in a few ways, and walks are taken at random. What they show is kept beside this file. A bug without a picture shows in
no recording: every event of it is one of a right cluster too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..checkers.known_bugs import known_id

FILE = Path(__file__).with_name("pictures.json")


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What one mutant looks like.

    Attributes:
        mutant: its id.
        runs: the signs of recorded runs, each of some; without those that show nothing.
    """

    mutant: str
    runs: tuple[frozenset[str], ...]

    @property
    def bug(self) -> str:
        """The known bug that it is a form of."""
        return known_id(self.mutant)

    @property
    def signs(self) -> frozenset[str]:
        """All signs that it ever shows."""
        return frozenset().union(*self.runs)


@cache
def pictures() -> Mapping[str, Picture]:
    """The pictures of all mutants whose runs can be recorded, by their ids."""
    read: dict[str, list[list[str]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return {
        mutant: Picture(mutant=mutant, runs=tuple(frozenset(signs) for signs in runs)) for mutant, runs in read.items()
    }
