"""Trust: what is said of a recording does not change with its clocks, its files, or what is missing of it.

All recordings of :mod:`.recordings` are changed in all the ways of :mod:`.changes`, and checked. A case is one claim
about one changed recording. A claim that was not violated must not be violated afterwards, and one that was must not
hold; it may become unknown or not observable, and how many verdicts stay decided is counted. Of a pair no claim is
violated that is not violated of one of the two, and none holds that is.

``ROCKETPROOF_TRUST_FOLDER`` says where is kept what is done; a later run tries again what went wrong, and goes on with
the rest. ``ROCKETPROOF_TRUST_ROUNDS`` repeats everything with other chances, ``ROCKETPROOF_TRUST_SEED`` begins with
other simulated clusters, walks and chances: each seed wants a folder of its own. ``python -m benchmarks.trust
shifted_clocks steady`` makes one kind of change of the recordings of which a word is in the name.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.errors import TraceError
from rocketproof.traces.io import open_trace
from rocketproof.traces.samples import settings_for

from . import recordings
from .changed import Changed
from .changes import CHANGES, Change
from .recordings import SEED, Recording

MERGED = "merged"
KINDS = (MERGED, *(change.__name__ for change in CHANGES))
"""Kinds of changes; putting two together is one."""

Answers = Mapping[str, Verdict]

DECIDED = (Verdict.HOLDS, Verdict.VIOLATED)
"""Verdicts that tell something: a check that leaves everything unknown would never be wrong."""


@dataclass(kw_only=True)
class Tally:
    """What came of the changes of one kind."""

    runs: int = 0  # changed recordings that were checked
    cases: int = 0  # claims about them
    decided: int = 0  # claims that held, or were violated, before the change; ``still``: that do, or are, afterwards
    still: int = 0
    became: Counter[str] = field(default_factory=Counter)  # how often a verdict became another one: the two in words
    violated: list[str] = field(default_factory=list)  # new violations, told; ``hold``: violations that hold now
    hold: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count what was counted elsewhere."""
        self.runs += other.runs
        self.cases += other.cases
        self.decided += other.decided
        self.still += other.still
        self.became.update(other.became)
        self.violated += other.violated
        self.hold += other.hold

    def figure(self, name: str) -> dict[str, Any]:
        """As a line of the benchmark."""
        return {
            "figure": name.replace("_", " "),
            "recordings": self.runs,
            "cases": self.cases,
            "decided before": self.decided,
            "decided still": self.still,
            "new VIOLATED": len(self.violated),
            "VIOLATED to HOLDS": len(self.hold),
            "became": dict(sorted(self.became.items())),
            "target": "0 new VIOLATED, 0 VIOLATED to HOLDS",
        }


@dataclass(frozen=True, kw_only=True)
class Part:
    """What is done at a time: one kind of change of one recording, with the chances of one round."""

    recording: str
    change: str
    round: int


def answers_of(files: Mapping[str, str]) -> Answers:
    """The verdict about each claim of a trace in files; empty where nothing can be read."""
    with tempfile.TemporaryDirectory(prefix="rocketproof-trust-") as folder:
        for name, text in files.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        try:
            trace = open_trace([folder])
            result = check_locally(trace, settings=settings_for(trace, {}))
        except TraceError:
            return {}
        return {answer.claim.id: answer.verdict for answer in result.verdicts}


def judge(changed: Changed, before: Answers, tally: Tally, name: str, *, has_bug: bool = False) -> None:
    """Check a changed recording, and compare with what was said before.

    Where a known bug struck, and less is seen of it, it may be another claim that says so.
    """
    may_be_another = has_bug and changed.is_less and Verdict.VIOLATED in before.values()
    after = answers_of(changed.files)
    tally.runs += 1
    for claim, verdict in after.items():
        tally.cases += 1
        first = before[claim]
        tally.decided += first in DECIDED
        tally.still += first in DECIDED and verdict in DECIDED
        if first is verdict:
            continue
        tally.became[f"{first} to {verdict}"] += 1
        told = f"{name}: {changed.change} ({changed.how}): {claim} {first} -> {verdict}"
        if verdict is Verdict.VIOLATED:
            tally.violated += [] if may_be_another else [told]
        elif verdict is Verdict.HOLDS and first is Verdict.VIOLATED and not changed.may_hold:
            tally.hold.append(told)


def judge_pair(pair: Recording, together: Answers, tally: Tally) -> None:
    """Compare what is said of a pair with what is said of the two."""
    apart = [answers_of({"trace.jsonl": part.text()}) for part in pair.parts]
    tally.runs += 1
    for claim, verdict in together.items():
        tally.cases += 1
        violated = any(answers[claim] is Verdict.VIOLATED for answers in apart)
        if violated == (verdict is Verdict.VIOLATED):
            continue
        tally.became[f"{' and '.join(str(answers[claim]) for answers in apart)} to {verdict}"] += 1
        if not violated:
            tally.violated.append(f"{pair.name}: {claim} {verdict} together")
        elif verdict is Verdict.HOLDS:
            tally.hold.append(f"{pair.name}: {claim} {verdict} together")


def chances(recording: Recording, change: Change, *, round: int = 0) -> random.Random:
    """What chance gives for a change of a recording, in every round something else."""
    return random.Random(zlib.crc32(f"{SEED + round} {recording.name} {change.__name__}".encode()))


def tallies(recording: Recording, kinds: Sequence[str], *, round: int = 0) -> Iterator[tuple[str, Tally]]:
    """What comes of some kinds of changes of a recording."""
    before = answers_of({"trace.jsonl": recording.text()})
    for change in CHANGES:
        if change.__name__ not in kinds:
            continue
        tally = Tally()
        for changed in change(recording, chances(recording, change, round=round)):
            judge(changed, before, tally, recording.name, has_bug=recording.has_bug)
        yield change.__name__, tally
    if MERGED in kinds and recording.parts:
        tally = Tally()
        judge_pair(recording, before, tally)
        yield MERGED, tally


def _work(name: str, kinds: Sequence[str], round: int) -> list[tuple[Part, Tally]]:
    found = dict(tallies(recordings.recording(name), kinds, round=round))
    return [(Part(recording=name, change=kind, round=round), found.get(kind, Tally())) for kind in kinds]


def run(parts: Sequence[Part], *, jobs: int) -> Iterator[tuple[Part, Tally]]:
    """What comes of parts, in the order in which they are done."""
    work: dict[tuple[str, int], list[str]] = {}
    for part in parts:
        work.setdefault((part.recording, part.round), []).append(part.change)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        pending = [pool.submit(_work, name, kinds, round) for (name, round), kinds in work.items()]
        for done in as_completed(pending):
            yield from done.result()


def table(
    parts: Sequence[Part], *, folder: Path | None = None, jobs: int | None = None
) -> tuple[dict[str, Tally], list[str]]:
    """What came of parts by kind of change, and all that went wrong, in words. A part that is kept in ``folder`` is not
    done again, unless something went wrong with it.
    """
    done = _known(folder / DONE) if folder is not None else {}
    done = {part: tally for part, tally in done.items() if not tally.violated and not tally.hold}
    jobs = jobs or len(os.sched_getaffinity(0))
    for part, tally in run([part for part in parts if part not in done], jobs=jobs):
        done[part] = tally
        if folder is not None:
            with (folder / DONE).open("a", encoding="utf-8") as file:
                file.write(json.dumps([vars(part), vars(tally)], ensure_ascii=False) + "\n")
    by_kind: dict[str, Tally] = {}
    for part in parts:
        by_kind.setdefault(part.change, Tally()).add(done[part])
    return by_kind, [line for tally in by_kind.values() for line in (*tally.violated, *tally.hold)]


DONE = "done.jsonl"
"""The file of what is done: a part and its tally a line; of several lines about a part the last one counts."""


def _known(path: Path) -> dict[Part, Tally]:
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        return {}
    found = {}
    for line in path.read_text("utf-8").splitlines():
        part, tally = json.loads(line)
        found[Part(**part)] = Tally(**{**tally, "became": Counter(tally["became"])})
    return found


def measure(words: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """One line for each kind of change, and one for all of them; what went wrong goes to stderr."""
    kinds = [word for word in words if word in KINDS] or KINDS
    wanted = [word for word in words if word not in KINDS]
    names = [name for name in recordings.names() if not wanted or any(word in name for word in wanted)]
    rounds = range(int(os.environ.get("ROCKETPROOF_TRUST_ROUNDS", "1")))
    parts = [Part(recording=name, change=kind, round=round) for round in rounds for name in names for kind in kinds]
    by_kind, wrong = table(parts, folder=Path(os.environ.get("ROCKETPROOF_TRUST_FOLDER", "build/trust")))
    for line in wrong:
        print(line, file=sys.stderr)
    whole = Tally()
    for kind, tally in by_kind.items():
        whole.add(tally)
        yield tally.figure(kind)
    yield whole.figure(f"all changes of {len(names)} recordings")


if __name__ == "__main__":
    for line in measure(sys.argv[1:]):
        print(json.dumps(line, ensure_ascii=False), flush=True)
