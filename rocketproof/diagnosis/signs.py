"""Signs: what is wrong with a recording, in words that are equal for all recordings of the same problem.

A sign is a violated claim, what came last on a queue that stands still, or the form of an event that the model does not
allow. It contains no names, times or offsets.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ..properties.verdict import Verdict
from ..traces.claims.claims import CODE
from ..traces.conformance import SLACK, Conformance, Mismatch, conform
from ..traces.conformance.excerpt import recorded
from ..traces.conformance.streams import Place, Stream
from ..traces.conformance.witness import Witness
from ..traces.engine.findings import Note
from ..traces.engine.result import CheckResult
from ..traces.explain.by_model import place_of
from ..traces.format.kinds import Kind, Path
from ..traces.io import Trace
from ..traces.monitors.groups.subscriptions import Unequal

FOLLOWED_WHOLE = 1_000_000
"""Up to so many events, a trace is followed through the model as a whole; in larger ones, queues with findings are."""

MOST_FINDINGS = 5
"""Number of findings of a claim whose queues are considered."""

_UNEQUAL = "same-subscriptions"
_DIFFERENCES = {Unequal.TOPIC: "topics", Unequal.EXPRESSION: "expressions"}

_ONLY = {"every-queue-gets-an-owner": frozenset({Kind.ASSIGN, Kind.REVOKE})}
"""Kinds after which a claim is broken: a client that gives up a queue sends its offset then, or a little later."""

_PERIODIC = frozenset({Kind.HEARTBEAT, Kind.REBALANCE, Kind.MEMBERS, Kind.PULL, Kind.LOCK, Kind.STORE})
"""Kinds that continue whatever happens, and those of others: they do not show where a client stopped."""


@dataclass(frozen=True, kw_only=True)
class Signs:
    """What is wrong with a recording."""

    words: tuple[str, ...]  # the signs, sorted
    shown_by: Mapping[str, str]  # sign → where it first shows, in words
    # events that the model does not allow, in the order of the trace; if there are many, the first ones
    mismatches: tuple[Mismatch, ...]
    places: tuple[Place, ...]  # queues at which the correct model stops
    follows: bool  # the model allows every event of each queue that was followed, and at least one queue was
    unsure: str  # why the recording is not enough to say that nothing is wrong; empty if it is


def signs_of(trace: Trace, result: CheckResult, witnesses: Mapping[Place, Witness], *, slack: int = SLACK) -> Signs:
    """What is wrong with a recording, given the result of its check, what the model says about queues with findings,
    and the slack of :func:`~rocketproof.conform` (ms). Reads the trace again.
    """
    violated = [answer for answer in result.verdicts if answer.verdict is Verdict.VIOLATED]
    shown: dict[str, str] = {}
    last = _last_steps(trace, result, [answer.claim.id for answer in violated])
    for answer in violated:
        shown[answer.claim.id] = answer.claim.statement
        for sign, where in last.get(answer.claim.id, {}).items():
            shown[sign] = where
    for sign in _differences(result):
        shown.setdefault(sign, "heartbeats of members of one group")
    followed = conform(trace, slack=slack) if result.events <= FOLLOWED_WHOLE else None
    mismatches = _mismatches(followed, witnesses)
    for one in mismatches:
        shown.setdefault(sign_of(one), f"{one.place}: {one.event}: {one.why}")
    return Signs(
        words=tuple(sorted(shown)),
        shown_by=shown,
        mismatches=mismatches,
        places=_places(mismatches, last_places(result)),
        follows=followed is not None and followed.verdict is Verdict.HOLDS,
        unsure=_unsure(result, followed),
    )


def sign_of(mismatch: Mismatch) -> str:
    """The form of an event that the model does not allow: its kind and words, and why, without names and numbers."""
    words = mismatch.event.split()
    told = [word for word in words[2:] if word.startswith(("result=", "path="))]
    why = re.sub(r"\d+", "#", mismatch.why.partition(": ")[0])
    why = re.sub(r"(held by|sent to|the store has|client has) .*", r"\1 …", why)
    if mismatch.place.startswith("message "):
        why = re.sub(r"becomes .*", "becomes …", why)
    retry = " in a retry queue" if "%RETRY%" in mismatch.place else ""
    return f"{' '.join([words[0], *told])}{retry}: {why}"


def last_places(result: CheckResult) -> dict[str, Place]:
    """The queues of findings, by their text."""
    rows = result.rows
    sure = (rows["claim"] >= 0) & (rows["note"] == Note.NONE) & (rows["slot"] >= 0)
    slots = np.unique(rows["slot"][sure]).tolist()
    return {str(place): place for slot in slots if (place := place_of(slot, result.names))}


def _mismatches(followed: Conformance | None, witnesses: Mapping[Place, Witness]) -> tuple[Mismatch, ...]:
    found: Iterable[Mismatch] = (
        followed.mismatches
        if followed is not None
        else (one for witness in witnesses.values() for one in witness.mismatches)
    )
    return tuple(sorted(found, key=lambda one: (one.time, one.seq)))


def _places(mismatches: Iterable[Mismatch], known: Mapping[str, Place]) -> tuple[Place, ...]:
    found: dict[Place, None] = {}
    for one in mismatches:
        place = known.get(one.place) or _place(one.place)
        if place is not None:
            found[place] = None
    return tuple(found)


def _place(text: str) -> Place | None:
    """A queue from its words, ``group topic@broker:queue``; None for other places."""
    told = re.fullmatch(r"(\S+) (\S+)@(\S*):(\d+)", text)
    if told is None:
        return None
    return Place(group=told[1], topic=told[2], broker=told[3], queue=int(told[4]))


def _last_steps(trace: Trace, result: CheckResult, claims: list[str]) -> dict[str, dict[str, str]]:
    """Claim → signs of the queues of its first findings: the kind of queue, and what came last there."""
    rows = result.rows
    first: dict[str, list[tuple[Place, int]]] = {}
    for claim in claims:
        of_claim = rows[(rows["claim"] == CODE[claim]) & (rows["note"] == Note.NONE) & (rows["slot"] >= 0)]
        of_claim = of_claim[np.argsort(of_claim["time"], kind="stable")][:MOST_FINDINGS]
        for row in of_claim:
            place = place_of(int(row["slot"]), result.names)
            if place is not None:
                first.setdefault(claim, []).append((place, int(row["time"])))
    places = {place for found in first.values() for place, _ in found}
    streams = recorded(trace, places) if places and result.events <= FOLLOWED_WHOLE else {}
    signs: dict[str, dict[str, str]] = {}
    for claim, found in first.items():
        for place, time in found:
            where = f"{place}"
            of_claim = signs.setdefault(claim, {})
            if place.topic.startswith("%RETRY%"):
                of_claim.setdefault(f"{claim} in a retry queue", where)
            after = _last_step(streams.get(place), time, kinds=_ONLY.get(claim))
            if after:
                of_claim.setdefault(f"{claim} after {after}", where)
    return signs


def _last_step(stream: Stream | None, time: int, *, kinds: Collection[Kind] | None = None) -> str:
    """The last event of a queue up to a time that is neither routine nor a shutdown; empty if there is none.

    With ``kinds``, it is one of these.
    """
    if stream is None:
        return ""
    for event in sorted(stream.events, key=lambda one: (one.time, one.number), reverse=True):
        ends = event.path is Path.SHUTDOWN
        fits = event.kind not in _PERIODIC if kinds is None else event.kind in kinds
        if event.time <= time and fits and event.queue is not None and not ends:
            return " ".join(filter(None, [str(event.kind), str(event.result), str(event.path)]))
    return ""


def _differences(result: CheckResult) -> list[str]:
    """How members of a group differ: in topics (A2), or in expressions for one topic (A3)."""
    rows = result.rows
    told = rows[(rows["claim"] == CODE[_UNEQUAL]) & (rows["note"] == Note.NONE) & (rows["doubt"] == 0)]["value"]
    return [f"{_UNEQUAL} in {word}" for one, word in _DIFFERENCES.items() if np.any(told & one)]


def _unsure(result: CheckResult, followed: Conformance | None) -> str:
    """Why the absence of findings does not mean that nothing was wrong."""
    doubtful = [answer for answer in result.verdicts if answer.verdict is Verdict.UNKNOWN]
    if doubtful:
        return f"{doubtful[0].claim.id} cannot be judged: {doubtful[0].why}"
    if followed is None:
        return f"with more than {FOLLOWED_WHOLE:,} events only queues with findings are followed through the model"
    if followed.verdict is Verdict.HOLDS:
        return ""
    if followed.verdict is Verdict.NOT_OBSERVABLE:
        return f"no queue can be followed through the model: {followed.why or 'no queue was ever assigned'}"
    if followed.holes:
        return f"something was lost in reading: {followed.holes[0]}"
    return "events of windows are missing, so what those did is not known"
