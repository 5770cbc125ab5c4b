"""Candidates: the known bugs that explain what the correct model cannot, best first, and what would distinguish
them.

Two things support a bug. Its machine allows events that the correct machine does not: this is an explanation, event by
event. And the recording shows what recordings of the bug show: signs that few bugs have say more than signs of many. A
bug for another mode, another kind of listener, or for filters that nobody has, is no candidate.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..checkers.known_bugs import known_id
from ..checkers.mutants import MachineMutant
from ..traces.claims.claims import CLAIMS
from ..traces.conformance.suspects import Explained, possible
from ..traces.format.kinds import Kind
from ..traces.format.schema import Group
from .known import Advice, advice
from .pictures import Picture

EXPLAINS = 2.0
"""Score for a bug whose machine allows what the correct one does not; signs are worth 1 at most."""

SAID = 0.5
"""Maximum score for claims that a bug is documented to break, if no recording of the bug shows it."""

ELSEWHERE = 0.5
"""Factor for a similarity if the recording stands still after another step than the bug does."""

ALL = 0.9
"""Minimum similarity at which a recording shows what a bug shows, and nothing else."""

LEAST = 0.1
"""Minimum share of the recording's signs that must be known of a bug for it to be named."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A known bug that may be the cause."""

    bug: str  # id of the known bug
    entries: tuple[MachineMutant, ...]  # its mutants that fit, best first
    score: float  # how well it fits, from 0 to 3
    explains: tuple[str, ...]  # queues, in words, for which the model with the bug allows what the correct one does not
    wholly: bool  # whether it allows all of their events
    shared: tuple[str, ...]  # signs of the recording that the bug is known to show
    missing: tuple[str, ...]  # signs that runs of the bug show sooner or later, but this recording does not
    advice: Advice  # what to do

    @property
    def explains_it(self) -> bool:
        """Whether it explains an event that the correct model does not allow, or all signs of the recording."""
        return bool(self.explains) or self.score >= ALL


def candidates(
    signs: Iterable[str],
    explained: Sequence[Explained],
    pictures: Mapping[str, Picture],
    known: Mapping[str, MachineMutant],
    groups: Iterable[Group],
    *,
    filtered: bool,
) -> tuple[Candidate, ...]:
    """The known bugs that may explain a recording, best first, given its signs, the queues at which the correct model
    stops, and whether some pull passes over messages; empty if nothing is wrong with it.
    """
    shown = frozenset(signs)
    if not shown:
        return ()
    weights = _weights(pictures.values())
    told = list(groups)
    scored: dict[str, list[tuple[float, str, frozenset[str], frozenset[str]]]] = defaultdict(list)
    for id, entry in known.items():
        if not any(possible(entry.mutant, group, filtered=filtered) for group in told or [Group()]):
            continue
        alike, best = _alike(shown, pictures.get(id), weights)
        if not alike:
            alike, best = _said(shown, known_id(id), weights)
        explains = sum(1.0 * (id in one.wholly) + 0.5 * (id in one.further) for one in explained)
        score = alike + (EXPLAINS * explains / len(explained) if explained else 0.0)
        if alike >= LEAST or explains:
            picture = pictures.get(id)
            scored[known_id(id)].append((score, id, shown & best, (picture.signs if picture else frozenset()) - shown))
    found = []
    for bug, forms in scored.items():
        forms.sort(key=lambda form: (-form[0], form[1]))
        ids = {form[1] for form in forms}
        queues = [one for one in explained if ids & {*one.wholly, *one.further}]
        score, _, shared, missing = forms[0]
        found.append(
            Candidate(
                bug=bug,
                entries=tuple(known[form[1]] for form in forms),
                score=round(score, 3),
                explains=tuple(str(one.place) for one in queues),
                wholly=bool(queues) and all(ids & {*one.wholly} for one in queues),
                shared=tuple(sorted(shared)),
                missing=tuple(sorted(missing)),
                advice=advice(bug),
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.score, _rank(one.bug))))


def _rank(bug: str) -> tuple[str, int]:
    return bug[:1], int(bug[1:])


def _weights(pictures: Iterable[Picture]) -> dict[str, float]:
    """Sign → its weight: the fewer bugs show it, the larger."""
    bugs: dict[str, set[str]] = defaultdict(set)
    everyone = set()
    for picture in pictures:
        everyone.add(picture.bug)
        for sign in picture.signs:
            bugs[sign].add(picture.bug)
    return {sign: math.log(1 + len(everyone) / len(those)) for sign, those in bugs.items()}


def _alike(
    shown: frozenset[str], picture: Picture | None, weights: Mapping[str, float]
) -> tuple[float, frozenset[str]]:
    """The similarity of a recording to the most similar run of a bug, from 0 to 1, and what that run shows.

    Half of it is how much of the recording the bug accounts for, half how much of the bug the recording shows. Signs
    that no known bug has count as those of one.
    """
    most = max(weights.values(), default=1.0)

    def weight(signs: Iterable[str]) -> float:
        return sum(weights.get(sign, most) for sign in sorted(signs))

    best: tuple[float, frozenset[str]] = (0.0, frozenset())
    for run in picture.runs if picture is not None else ():
        both = weight(shown & run)
        if both:
            alike = (both / weight(shown) + both / weight(run)) / 2
            best = max(
                best, (alike * ELSEWHERE if _stops_elsewhere(shown, run) else alike, run), key=lambda one: one[0]
            )
    return best


def _stops_elsewhere(shown: frozenset[str], run: frozenset[str]) -> bool:
    """Whether both state what came last before something did not continue, and differ in it."""

    def last(signs: frozenset[str]) -> set[str]:
        return {sign for sign in signs if " after " in sign}

    claims = {sign.partition(" after ")[0] for sign in last(shown)} & {
        sign.partition(" after ")[0] for sign in last(run)
    }
    return bool(claims) and not last(shown) & last(run)


def _said(shown: frozenset[str], bug: str, weights: Mapping[str, float]) -> tuple[float, frozenset[str]]:
    """The same for a bug without suitable recordings of the model: by the claims that it is documented to break."""
    told = shown & {claim.id for claim in CLAIMS if bug in claim.bugs}
    if not told:
        return 0.0, frozenset()
    most = max(weights.values(), default=1.0)
    of = sum(weights.get(sign, most) for sign in sorted(told))
    return SAID * of / sum(weights.get(sign, most) for sign in sorted(shown)), told


def apart(first: Candidate, other: Candidate, evidence: Iterable[Kind]) -> str:
    """Which recording would distinguish two candidates."""
    there = frozenset(evidence)
    by_id = {claim.id: claim for claim in CLAIMS}
    for one in (first, other):
        for sign in one.missing:
            claim = by_id.get(sign.partition(" ")[0])
            if claim is None:
                continue
            needed = [kinds for kinds in claim.needs if there and not there.intersection(kinds)]
            if needed:
                kinds = ", ".join(str(kinds[0]) for kinds in needed)
                return f"record {kinds} ({claim.settled_by}): with {one.bug} {claim.id} would be violated"
    for one in (first, other):
        if one.missing:
            return f"record on: with {one.bug} this shows sooner or later: {one.missing[0]}"
    softwares = {first.advice.where, other.advice.where}
    if len(softwares) > 1:
        return f"no recording: which software it is, {first.advice.where} or {other.advice.where}"
    return "no recording tells them apart: compare releases and configuration with each"
