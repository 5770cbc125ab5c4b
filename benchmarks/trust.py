"""Trust: what is said of a recording does not change with its clocks, its files, or what is missing of it.

Every sample, pairs of samples as one cluster's, and simulated clusters, healthy ones and one with each known bug, are
changed in all the ways of :mod:`.recordings`, and checked. A case is one claim about one changed recording. A claim
that was not violated must not be violated afterwards, and one that was must not hold; it may become unknown or not
observable. Of a pair no claim is violated that is not violated of one of the two, and none holds that is.
``ROCKETPROOF_TRUST_ROUNDS`` repeats everything with other chances. ``python -m benchmarks.trust shifted_clocks steady``
makes one kind of change of the recordings of which a word is in the name.
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
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.recordings import CHANGES, Changed, Recording, merged
from rocketproof.properties.verdict import Verdict
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.errors import TraceError
from rocketproof.traces.generate.simulation import MUTANTS, Plan, simulate
from rocketproof.traces.io import open_trace
from rocketproof.traces.samples import FOLDER, settings_for

SEED = 1

MERGED = "merged"

Answers = Mapping[str, Verdict]


@dataclass(kw_only=True)
class Tally:
    """What came of the changes of one kind.

    Attributes:
        runs: changed recordings that were checked.
        cases: claims about them.
        became: how often a verdict became another one.
        wrong: new violations and violations that hold now, told.
    """

    runs: int = 0
    cases: int = 0
    became: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count what another process has counted."""
        self.runs += other.runs
        self.cases += other.cases
        self.became.update(other.became)
        self.wrong += other.wrong


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


def judge(changed: Changed, before: Answers, tally: Tally, name: str) -> None:
    """Check a changed recording, and compare with what was said before."""
    after = answers_of(changed.files)
    tally.runs += 1
    for claim, verdict in after.items():
        tally.cases += 1
        first = before[claim]
        if first is not verdict:
            tally.became[str(first), str(verdict)] += 1
        new = verdict is Verdict.VIOLATED and first is not Verdict.VIOLATED
        gone = verdict is Verdict.HOLDS and first is Verdict.VIOLATED and not changed.may_hold
        if new or gone:
            tally.wrong.append(f"{name}: {changed.change} ({changed.how}): {claim} {first} -> {verdict}")


def judge_pair(pair: Recording, together: Answers, tally: Tally) -> None:
    """Compare what is said of a pair with what is said of the two."""
    apart = [answers_of({"trace.jsonl": part.text()}) for part in pair.parts]
    tally.runs += 1
    for claim, verdict in together.items():
        tally.cases += 1
        violated = any(answers[claim] is Verdict.VIOLATED for answers in apart)
        if violated != (verdict is Verdict.VIOLATED):
            tally.became[" and ".join(str(answers[claim]) for answers in apart), str(verdict)] += 1
        if (verdict is Verdict.VIOLATED and not violated) or (verdict is Verdict.HOLDS and violated):
            tally.wrong.append(f"{pair.name}: {claim} {verdict} together")


def recordings() -> list[Recording]:
    """All samples, pairs of them as one cluster's, and simulated clusters."""
    samples = [Recording.read(file) for file in sorted(FOLDER.glob("*.jsonl.zst"))]
    alike: dict[str, list[Recording]] = {}
    for sample in samples:
        alike.setdefault(f"{sample.header.get('release')} {sample.header.get('delays')}", []).append(sample)
    pairs = [merged(*two) for several in alike.values() for two in zip(several[::2], several[1::2], strict=False)]
    return [*samples, *pairs, *simulated()]


def simulated() -> list[Recording]:
    """Small clusters: healthy ones with clients that come and go, and one with each known bug."""
    plans: dict[str, dict[str, Any]] = {
        "simulated-churn": {"churn": 6, "failure_rate": 0.05},
        "simulated-faults": {"churn": 3, "broker_restarts": 2, "resets": 2, "corrections": 2, "failure_rate": 0.05},
        "simulated-orderly": {"churn": 6, "group_kind": "orderly", "failure_rate": 0.02},
        "simulated-broadcasting": {"churn": 6, "group_kind": "broadcasting"},
    }
    plans |= {
        f"simulated-{mutant.id}": {"mutant": mutant.id, "group_kind": mutant.kinds[0], "mutant_places": 2}
        for mutant in MUTANTS.values()
    }
    found = []
    for name, plan in plans.items():
        with tempfile.TemporaryDirectory(prefix="rocketproof-trust-") as folder:
            size = {"messages": 300, "consumers": 3, "queues": 4, "format": "jsonl", "seed": SEED}
            made = simulate(Plan(out=Path(folder, "out"), **{**size, **plan}))
            found.append(replace(Recording.read(Path(made.trace)), name=name))
    return found


def run(recording: Recording, *, seed: int, changes: Sequence[str] = ()) -> dict[str, Tally]:
    """All changes of a recording, or those of given names."""
    before = answers_of({"trace.jsonl": recording.text()})
    tallies: dict[str, Tally] = {}
    if recording.parts and (not changes or MERGED in changes):
        judge_pair(recording, before, tallies.setdefault(MERGED, Tally()))
    for change in CHANGES:
        if changes and change.__name__ not in changes:
            continue
        chance = random.Random(zlib.crc32(f"{seed} {recording.name} {change.__name__}".encode()))
        for changed in change(recording, chance):
            judge(changed, before, tallies.setdefault(changed.change, Tally()), recording.name)
    return tallies


def _run(given: tuple[Recording, int, Sequence[str]]) -> dict[str, Tally]:
    recording, seed, changes = given
    return run(recording, seed=seed, changes=changes)


def table(given: Sequence[Recording], *, rounds: int = 1, changes: Sequence[str] = (), jobs: int) -> dict[str, Tally]:
    """What came of all changes of all recordings, by change."""
    tallies: dict[str, Tally] = {}
    work = [(recording, SEED + number, changes) for number in range(rounds) for recording in given]
    with ProcessPoolExecutor(jobs) as pool:
        for found in pool.map(_run, work):
            for name, tally in found.items():
                tallies.setdefault(name, Tally()).add(tally)
    return tallies


def measure() -> Iterator[dict[str, Any]]:
    """One line for each kind of change, and one for all of them."""
    rounds = int(os.environ.get("ROCKETPROOF_TRUST_ROUNDS", "1"))
    tallies = table(recordings(), rounds=rounds, jobs=os.cpu_count() or 1)
    whole = Tally()
    for name, tally in tallies.items():
        whole.add(tally)
        yield _figure(name, tally)
    yield _figure("all changes", whole)


def _figure(name: str, tally: Tally) -> dict[str, Any]:
    new = sum(count for (_, after), count in tally.became.items() if after == Verdict.VIOLATED)
    for line in tally.wrong:
        print(line, file=sys.stderr)
    return {
        "figure": name,
        "recordings": tally.runs,
        "cases": tally.cases,
        "new VIOLATED": new,
        "VIOLATED to HOLDS": len(tally.wrong) - new,
        "became": {f"{first} to {after}": count for (first, after), count in sorted(tally.became.items())},
        "target": "0 new VIOLATED, 0 VIOLATED to HOLDS",
    }


if __name__ == "__main__":
    names = {MERGED, *(change.__name__ for change in CHANGES)}
    chosen = [word for word in sys.argv[1:] if word in names]
    wanted = [word for word in sys.argv[1:] if word not in names]
    these = [each for each in recordings() if not wanted or any(word in each.name for word in wanted)]
    for kind, found in table(these, changes=chosen, jobs=os.cpu_count() or 1).items():
        print(json.dumps(_figure(kind, found), ensure_ascii=False), flush=True)
