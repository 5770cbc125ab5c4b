"""Incidents: findings that begin with one another, so that a reader sees what went wrong first and not what it led to.

A broker that comes back without its offsets answers 65 queries wrongly; 67 stored offsets decrease then, and 4,250
messages come again. These are thousands of findings about three claims, and one incident: the wrong answers, with the
rest as what followed on the same queues.

*Followed* means later, at the same place, and of a kind that the first may lead to (:data:`LEADS_TO`). It is not proof
of a cause: all findings stay in their claims and are counted there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..claims.claim import Monitor
from ..claims.claims import CLAIMS, CODE
from ..encoding.names import Names, Slot
from ..engine.result import CheckResult
from ..format.kinds import BROKER_RUNS, CLIENT_ENDS, Kind
from .report.words import counted, utc
from .sentences import tell
from .titles import has_kinds, title

if TYPE_CHECKING:
    from .story import Story

_TO_QUEUES = ("every-queue-gets-an-owner", "overlaps-are-short", "every-queue-moves")
_TO_OFFSETS = ("offset-never-back-without-cause", "nothing-skipped", "every-duplicate-has-a-cause")
_TO_MESSAGES = ("offset-never-past-unfinished", "failed-message-comes-again", "orderly-in-order", *_TO_OFFSETS)

LEADS_TO: Mapping[str, tuple[str, ...]] = {
    # Members and their views decide who has a queue.
    "one-process-for-each-client-id": ("same-subscriptions", "views-agree", "only-owners-commit", *_TO_QUEUES),
    "same-subscriptions": ("views-agree", "subscription-is-current", *_TO_QUEUES),
    "processes-act-in-order": ("every-topic-is-balanced", "views-agree", "shares-are-taken", *_TO_QUEUES),
    "every-topic-is-balanced": ("views-agree", *_TO_QUEUES),
    "views-agree": _TO_QUEUES,
    "allocation-as-the-strategy-says": ("shares-are-taken", *_TO_QUEUES),
    "shares-are-taken": _TO_QUEUES,
    # Who has a queue decides what is pulled and stored.
    "every-queue-gets-an-owner": ("every-queue-moves",),
    "subscription-is-current": ("every-queue-moves",),
    "orderly-lock-is-renewed": ("overlaps-are-short", "orderly-one-listener", "orderly-in-order"),
    "overlaps-are-short": ("only-owners-commit", "orderly-one-listener", *_TO_MESSAGES),
    "nothing-after-revoke": ("only-owners-commit", "orderly-one-listener", *_TO_MESSAGES),
    "orderly-one-listener": ("orderly-in-order",),
    # A wrong offset decides what comes again, or never.
    "nothing-without-its-cause": (
        "steps-follow-each-other",
        "events-fit-each-other",
        "every-queue-moves",
        *_TO_MESSAGES,
    ),
    "steps-follow-each-other": ("every-queue-moves", *_TO_MESSAGES),
    "events-fit-each-other": ("every-queue-moves", *_TO_MESSAGES),
    "query-answers-what-is-stored": _TO_OFFSETS,
    "reset-is-followed": _TO_OFFSETS,
    "illegal-offset-is-corrected": ("every-queue-moves", *_TO_OFFSETS),
    "only-owners-commit": _TO_MESSAGES,
    "offset-never-back-without-cause": ("every-duplicate-has-a-cause",),
    # A wrong count, maximum or level decides when a message comes again, and how often.
    "maximum-as-configured": ("attempts-within-the-maximum", "dead-letter-exactly-at-the-maximum"),
    "attempts-follow-each-other": (
        "level-as-the-count-says",
        "attempts-within-the-maximum",
        "dead-letter-exactly-at-the-maximum",
    ),
    "level-as-the-count-says": ("retry-waits-as-its-level-says",),
    "only-failed-messages-are-sent-back": ("every-copy-has-a-cause",),
    "dead-letter-exactly-at-the-maximum": ("nothing-after-the-dead-letter",),
}
"""What violations of a claim may lead to, in an order in which no claim leads to one before it."""

_LASTING = frozenset(
    {
        "every-queue-gets-an-owner",
        "every-queue-moves",
        "every-topic-is-balanced",
        "orderly-lock-is-renewed",
        "overlaps-are-short",
        "same-subscriptions",
        "subscription-is-current",
        "views-agree",
    }
)
"""Claims whose findings began at ``since``, and were established at ``time``."""

TOGETHER = 60_000
"""Maximum time, in ms, between two findings about one claim that belong together: three rounds of rebalance."""

_BEFORE = 60_000


@dataclass(frozen=True, kw_only=True)
class Incident:
    """What went wrong first, and what followed."""

    claim: str  # id of the claim that was violated first
    title: str  # the first of these findings, in a sentence
    first: int  # time of the first of them, ms since 1970; ``last``: of the last
    last: int
    count: int  # number of these findings
    queues: int  # number of queues that they are about, counted for each group; 0 if they are about none
    # the group and the broker of these queues, or how many there are, in words; empty if they are about none
    where: str
    after: tuple[int, str] | None  # what happened there shortly before, as (time in ms, sentence); None if nothing did
    # ids of the claims that were violated later at the same places, each with the number of findings
    followed: Mapping[str, int]


def incidents(result: CheckResult, told: Sequence[Story] = ()) -> tuple[Incident, ...]:
    """The incidents of a check, by time. Findings in doubt belong to none.

    A check keeps a limited number of rows for each claim; findings beyond it are not counted here. Titles are those of
    the stories that were told, as far as these are about the same findings.
    """
    rows = result.violations
    rows = rows[rows["doubt"] == 0]
    lasting = np.isin(rows["claim"], [CODE[id] for id in _LASTING])
    begins = np.where(lasting, rows["since"], rows["time"])
    numbers, decisive = _numbered(rows, begins, result.names)
    found = [
        _incident(rows[part], begins[part], claim, result, told)
        for part, claim in zip(_parts(numbers, by=begins), decisive, strict=True)
    ]
    return tuple(sorted(found, key=lambda incident: (incident.first, CODE[incident.claim])))


def in_words(incident: Incident) -> list[str]:
    """How far an incident reached, and what followed, in a line each."""
    lines = []
    if incident.count > 1:
        about = f" about {counted(incident.queues, 'queue')}" if incident.queues else ""
        where = f" {incident.where}" if incident.where else ""
        until = f", until {utc(incident.last)}" if incident.last > incident.first else ""
        lines.append(f"{incident.count:,} findings of this kind{about}{where}{until}")
    if incident.followed:
        led_to = ", ".join(f"{count:,} × {claim}" for claim, count in incident.followed.items())
        lines.append(f"followed by {led_to}")
    return lines


def findings_in(found: Sequence[Incident]) -> int:
    """The number of findings in incidents."""
    return sum(each.count + sum(each.followed.values()) for each in found)


def _numbered(rows: Any, begins: Any, names: Names) -> tuple[Any, list[int]]:
    """The number of the incident of each finding; and for each incident, the code of the claim violated first."""
    places = _Places(names)
    numbers = np.full(len(rows), -1, np.int64)
    decisive: list[int] = []
    for id in (*LEADS_TO, *(claim.id for claim in CLAIMS if claim.id not in LEADS_TO)):
        own = np.flatnonzero(rows["claim"] == CODE[id])
        for leading in (other for other, led in LEADS_TO.items() if id in led):
            roots = np.flatnonzero(rows["claim"] == CODE[leading])
            left = own[numbers[own] < 0]
            root = places.latest(rows, begins, roots, left)
            numbers[left] = np.where(root >= 0, numbers[root], -1)
        heads = own[numbers[own] < 0]
        kinds = rows["value"][heads] if has_kinds(id) else np.zeros(len(heads), np.int64)
        in_order = np.lexsort([begins[heads], kinds])
        apart = (np.diff(begins[heads][in_order]) > TOGETHER) | (np.diff(kinds[in_order]) != 0)
        numbers[heads[in_order]] = len(decisive) + np.concatenate([[0], np.cumsum(apart)])[: len(heads)]
        decisive += [CODE[id]] * (int(numbers.max(initial=-1)) + 1 - len(decisive))
    return numbers, decisive


class _Places:
    """Where findings are: numbers of queues, their topics, and their groups."""

    def __init__(self, names: Names) -> None:
        number: dict[tuple[Any, ...], int] = {}
        within = [[number.setdefault(place, len(number)) for place in _places(slot)] for slot in names.slots]
        self._within = np.array(within, np.int64).reshape(-1, 3)
        self._level = np.array([0 if slot.queue >= 0 else 1 if slot.topic else 2 for slot in names.slots], np.int64)

    def latest(self, rows: Any, begins: Any, roots: Any, later: Any) -> Any:
        """For each finding of ``later``, the last of ``roots`` that began before it was seen, about the same message
        or at a place that contains its own; -1 if there is none. All are positions in ``rows``.
        """
        best = np.full(len(later), -1, np.int64)
        roots = roots[np.argsort(begins[roots], kind="stable")]
        if not len(roots) or not len(later):
            return best
        if CLAIMS[rows["claim"][roots[0]]].monitor is Monitor.MESSAGES:
            pairs = [(roots, rows["origin"][roots], rows["origin"][later])]
        else:
            level = np.where(rows["slot"][roots] >= 0, self._level[rows["slot"][roots]], -1)
            pairs = [
                (roots[level == at], self._at(at, rows["slot"][roots[level == at]]), self._at(at, rows["slot"][later]))
                for at in range(3)
            ]
        for of_level, places, own in pairs:
            found = _last_before(places, begins[of_level], own, rows["time"][later])
            found = np.where(found >= 0, of_level[found] if len(of_level) else -1, -1)
            best = np.where((found >= 0) & ((best < 0) | (begins[found] > begins[best])), found, best)
        return best

    def _at(self, level: int, slots: Any) -> Any:
        return np.where(slots >= 0, self._within[slots, level], -1)


def _places(slot: Slot) -> tuple[tuple[Any, ...], ...]:
    """A queue, its topic and its group; each contains the one before."""
    topic = slot.group, slot.topic, slot.client, slot.member
    return (*topic, slot.broker, slot.queue), topic, (slot.group,)


def _last_before(places: Any, begins: Any, own: Any, until: Any) -> Any:
    """For each of ``own``, the position of the last equal one in ``places`` whose beginning is not after ``until``; -1
    if there is none. ``begins`` belong to ``places``, and increase.
    """
    all_places, all_begins = np.unique(places), np.unique(begins)
    if not len(all_places):
        return np.full(len(own), -1, np.int64)
    codes = np.searchsorted(all_places, places) * (len(all_begins) + 1) + np.searchsorted(all_begins, begins) + 1
    order = np.argsort(codes, kind="stable")
    which = np.minimum(np.searchsorted(all_places, own), len(all_places) - 1)
    asked = which * (len(all_begins) + 1) + np.searchsorted(all_begins, until, side="right")
    found = order[np.searchsorted(codes[order], asked, side="right") - 1]
    return np.where((all_places[which] == own) & (places[found] == own) & (begins[found] <= until), found, -1)


def _parts(numbers: Any, *, by: Any) -> list[Any]:
    """The positions of each number, in the order of ``by``."""
    order = np.lexsort([by, numbers])
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1) if len(order) else []


def _incident(rows: Any, begins: Any, decisive: int, result: CheckResult, told: Sequence[Story]) -> Incident:
    """One incident from its findings, which are sorted by their beginning."""
    at_first = rows["claim"] == decisive
    heads, head_begins = rows[at_first], begins[at_first]
    slots = [result.names.slots[slot] for slot in np.unique(heads["slot"]).tolist() if slot >= 0]
    followed = Counter(rows["claim"][~at_first].tolist())
    first = {name: int(heads[name][0]) for name in rows.dtype.names}
    return Incident(
        claim=CLAIMS[decisive].id,
        title=next((story.title for story in told if story.row == first), title(CLAIMS[decisive], first, result.names)),
        first=int(head_begins[0]),
        last=int(head_begins[-1]),
        count=len(heads),
        queues=sum(slot.queue >= 0 for slot in slots),
        where=_where(slots),
        after=_before(result, slots, int(head_begins[0])),
        followed={
            CLAIMS[code].id: count for code, count in sorted(followed.items(), key=lambda item: (-item[1], item[0]))
        },
    )


def _where(slots: Sequence[Slot]) -> str:
    groups = sorted({slot.group for slot in slots if slot.group})
    brokers = sorted({slot.broker for slot in slots if slot.broker})
    parts = [f"in group {groups[0]}" if len(groups) == 1 else f"in {len(groups)} groups"] if groups else []
    parts += [f"at {brokers[0]}" if len(brokers) == 1 else f"at {len(brokers)} brokers"] if brokers else []
    return " ".join(parts)


def _before(result: CheckResult, slots: Sequence[Slot], first: int) -> tuple[int, str] | None:
    """What the only broker did last before a time, or a member of the only group, if it was within a minute."""
    groups, brokers = {slot.group for slot in slots}, {slot.broker for slot in slots}
    events = result.context.events
    low, high = np.searchsorted(events.times, [first - _BEFORE, first]).tolist()
    seen = [
        event
        for kinds, field, named in (
            (BROKER_RUNS, "broker", brokers),
            ((Kind.CLIENT_START, *CLIENT_ENDS), "group", groups),
        )
        if len(named) == 1
        for event in events.of_kinds(*kinds, span=(low, high))
        if event.get(field) in named
    ]
    last = max(seen, key=lambda event: int(event["time"]), default=None)
    return None if last is None else (int(last["time"]), tell(last))
