"""Pictures: what each known bug looks like in recordings of the model with the bug in it.

They are computed once, by ``python -m benchmarks.diagnose``: the shortest counterexample of each bug is recorded and
continued in a few ways, and random walks are taken. The signs that they show are stored beside this file. A bug without
a picture is not visible in recordings: every event of it also occurs in a correct cluster.
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
    """What one mutant looks like."""

    mutant: str  # its id
    runs: tuple[frozenset[str], ...]  # the sets of signs of recorded runs; without runs that show nothing

    @property
    def bug(self) -> str:
        """The known bug of which it is a form."""
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
