"""The journal: what is known about each mutant in each configuration, kept in a file, so that a long judgement can be
resumed.

Each line is one finding. The first line identifies the texts; if these change, everything is judged anew. A line that
was torn when the process ended is ignored and judged again, and so is a finding that reached a lower limit than the
present one.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from ...model.kernel import ModelError

THEOREMS = "theorems"
"""Stands for the configuration when rules are judged without a machine."""

_ASKED = ("model", "properties", "checkers")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What is known about one mutant in one configuration."""

    used: int = 0  # whether its text is used there
    refused: str = ""  # why it cannot be lowered there
    compared: int = 0  # number of states in which its steps were compared with the original ones
    differs: int = 0  # whether a step observably differs in one of them
    kills: tuple[tuple[str, str], ...] = ()  # rows that change: id, and how
    limit: str = ""  # which limit was reached before a row changed
    states: int = 0  # the limit that was given
    # length of the shortest run that distinguishes it from the original machine; None if none was searched
    steps: int | None = None
    run: str = ""  # that run, and what differs after it
    never: tuple[str, ...] = ()  # actions that happen only in the original machine
    proved: bool = False  # whether Z3 proves a rule equal
    seconds: float = 0.0  # processor time


class Journal:
    """Findings in a file, or in no file at all; several processes may write to one file."""

    def __init__(self, path: Path | None = None) -> None:
        """Read the findings about the same texts, or begin anew.

        Raises:
            ModelError: the file is no journal.
        """
        self.found: dict[tuple[str, str], Finding] = {}
        self._path = path
        if path is None:
            return
        head = json.dumps({"texts": _fingerprint()})
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        if any(lines) and not lines[0].startswith('{"texts"'):
            raise ModelError(f"{path} is not a file of --keep, and would be overwritten; name another.")
        if lines[:1] != [head]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{head}\n", encoding="utf-8")
            return
        for line in lines[1:]:
            try:
                mutant, where, found = json.loads(line)
                kills = tuple((row, how) for row, how in found.pop("kills"))
                self.found[mutant, where] = Finding(kills=kills, never=tuple(found.pop("never")), **found)
            except (ValueError, TypeError, KeyError):
                continue

    def known(self, mutant: str, where: str, states: int) -> Finding | None:
        """What is known about a mutant in a configuration; None if nothing, or if its limit was below ``states``."""
        found = self.found.get((mutant, where))
        return None if found is None or (found.limit and found.states < states) else found

    def add(self, mutant: str, where: str, finding: Finding) -> None:
        """Keep a finding."""
        self.found[mutant, where] = finding
        if self._path is not None:
            line = json.dumps([mutant, where, asdict(finding)])
            # One write to the end of the file, so that lines of several processes do not mix; a torn line stays by
            # itself.
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND)
            try:
                os.write(file, f"\n{line}\n".encode())
            finally:
                os.close(file)


def _fingerprint() -> str:
    """A digest of all texts that findings depend on."""
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for folder in _ASKED:
        for path in sorted((root / folder).rglob("*.py")):
            digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
