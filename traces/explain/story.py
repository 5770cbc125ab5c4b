"""Stories: what a finding rests on, as short sentences in RocketMQ's words, each with its source line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..claims.claim import TraceClaim
from ..claims.claims import CLAIMS
from ..claims.settings import REBALANCE_PERIOD
from ..encoding.names import Names, Slot
from ..engine.findings import Doubt, Note
from ..format.kinds import CONTEXT, Kind
from ..io import Trace
from ..monitors.groups.runs import REPEATED
from .by_model import told_by_model
from .evidence import Found, Question, collect, turning_points
from .sentences import clock, tell
from .source_lines import Place
from .titles import has_offsets, title

if TYPE_CHECKING:
    from ..conformance.streams import Place as QueueOfGroup
    from ..conformance.witness import Witness

MOST_STORIES = 20
"""Default number of findings of one claim that get a story."""

MOST_EVENTS = 24
"""Maximum number of events in one story."""

_AROUND = REBALANCE_PERIOD
_FEW = 3  # of a long range of offsets, only this many at its beginning are searched

CERTAIN = "certain"
"""The certainty of a story without doubt."""

DOUBTS: Mapping[Doubt, str] = {
    Doubt.SKEW: "it rests on two clocks that are closer than the allowed skew, or not compared",
    Doubt.GAP: "the recording has a gap where an explanation may be",
    Doubt.EVIDENCE: "what may explain it was not recorded",
    Doubt.LEVELS: "it goes by a broker's own delay levels, and nobody told those of these brokers",
    Doubt.MODEL: "the model allows all that was recorded of the queue",
}
"""Why a finding may be no violation, in words."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One event of a story."""

    time: int  # ms
    text: str  # what happened, with the time of day
    place: Place  # where the event is

    def __str__(self) -> str:
        return f"{self.text} [{self.place}]"


@dataclass(frozen=True, kw_only=True)
class Story:
    """A finding with its evidence."""

    claim: TraceClaim  # the violated claim
    title: str  # what is wrong, in one sentence
    certainty: str  # CERTAIN, or why the finding may be no violation
    sentences: tuple[Sentence, ...]  # the evidence, by time
    left_out: int  # number of related events without a sentence
    model: str = ""  # what the model says about it; empty if it was not asked
    row: Mapping[str, int]  # the finding, by the columns of ``findings.ROW``
    slot: Slot | None  # the queue, or the slot that stands for a group or topic; None if there is none

    def __str__(self) -> str:
        lines = [self.title if self.certainty == CERTAIN else f"{self.title} ({self.certainty})"]
        lines += [f"  {sentence}" for sentence in self.sentences]
        if self.left_out:
            lines.append(f"  … and {self.left_out:,} more events")
        if self.model:
            lines.append(f"  {self.model}")
        return "\n".join(lines)


def stories(
    trace: Trace,
    rows: Any,
    names: Names,
    *,
    most: int = MOST_STORIES,
    events: int = MOST_EVENTS,
    witnesses: Mapping[QueueOfGroup, Witness] | None = None,
) -> tuple[Story, ...]:
    """The stories of a few violations of each claim, in the order of claims. Reads the trace once.

    Violations without doubt come first. The first violation of each queue comes before any second one, and among these
    the first queue of each group and topic before any second one, as later ones mostly have the same cause.

    ``most`` is the number of stories for each claim, ``events`` the number of events in each; ``witnesses`` hold what
    the model says about queues.
    """
    chosen = _first_of_each_claim(rows, names, most)
    if not chosen:
        return ()
    unowned = [
        at for at, row in enumerate(chosen) if CLAIMS[row["claim"]].id == OWNED and not names.slots[row["slot"]].client
    ]
    asked = [_question(row, names) for row in chosen] + [lists_of(chosen[at], names) for at in unowned]
    answers = collect(trace, asked, names)
    causes = {at: listed_twice(chosen[at], lists) for at, lists in zip(unowned, answers[len(chosen) :], strict=True)}
    return tuple(
        _story(row, answers[at], told_by_model(row, names, witnesses or {}), causes.get(at, ""), names, events)
        for at, row in enumerate(chosen)
    )


def sentences(found: Sequence[Found]) -> tuple[Sentence, ...]:
    """Events as sentences; an event that is repeated with nothing in between becomes one sentence with a count."""
    return tuple(_sentence(run) for run in _runs(found))


def certainty(doubt: Doubt) -> str:
    """Why a finding may be no violation, in words."""
    return "; ".join(text for flag, text in DOUBTS.items() if doubt & flag) or CERTAIN


def _first_of_each_claim(rows: Any, names: Names, most: int) -> list[dict[str, int]]:
    violations = rows[(rows["claim"] >= 0) & (rows["note"] == Note.NONE) & (rows["cause"] == 0)]
    chosen = []
    for code in range(len(CLAIMS)):
        of_claim = violations[violations["claim"] == code]
        sure = of_claim["doubt"] == 0
        in_order = np.concatenate([_by_turns(of_claim[sure], names), _by_turns(of_claim[~sure], names)])
        chosen += [{name: int(row[name]) for name in violations.dtype.names} for row in in_order[:most]]
    return chosen


def _by_turns(rows: Any, names: Names) -> Any:
    """The first of each queue by time, then the second of each, and so on; of those, by turns of group and topic."""
    in_time = rows[np.argsort(rows["time"], kind="stable")]
    turn = _occurrences(in_time["slot"].tolist())
    slots = [names.slots[slot] if slot >= 0 else None for slot in in_time["slot"].tolist()]
    subjects = [(once, slot and (slot.group, slot.topic)) for once, slot in zip(turn, slots, strict=True)]
    return in_time[np.lexsort([_occurrences(subjects), turn])]


def _occurrences(values: Sequence[Hashable]) -> list[int]:
    """How often each value occurred before."""
    seen: Counter[Hashable] = Counter()
    before = []
    for value in values:
        before.append(seen[value])
        seen[value] += 1
    return before


def _runs(found: Sequence[Found]) -> list[list[tuple[Found, str]]]:
    """Events with their words; adjacent events with the same words are grouped."""
    runs: list[list[tuple[Found, str]]] = []
    for each in found:
        text = tell(each.event)
        if runs and runs[-1][-1][1] == text:
            runs[-1].append((each, text))
        else:
            runs.append([(each, text)])
    return runs


def _sentence(run: Sequence[tuple[Found, str]]) -> Sentence:
    (first, text), (last, _) = run[0], run[-1]
    again = f" ({len(run)} times until {clock(last.event['time'])})" if len(run) > 1 else ""
    return Sentence(first.event["time"], f"{clock(first.event['time'])} {text}{again}", first.place)


def _question(row: Mapping[str, int], names: Names) -> Question:
    slot = names.slots[row["slot"]] if row["slot"] >= 0 else None
    first, last = row["offset"], max(row["until"], row["offset"] + 1)
    offsets = ((first, min(last, first + _FEW)), (max(last - 1, first), last))
    claim = CLAIMS[row["claim"]].id
    periods = tuple((time - _AROUND, time + _AROUND) for time in sorted({row["since"], row["time"]}))
    whole = slot is not None and slot.queue < 0
    return Question(
        slot=None if whole else slot,
        offsets=offsets if slot is not None and first >= 0 and not whole and has_offsets(claim) else (),
        periods=periods,
        origin=row["origin"],
        actors=tuple(names.actors[row[role]] for role in ("actor", "other") if row[role] >= 0),
        group=slot.group if slot is not None else "",
        topic=slot.topic if slot is not None else "",
        kinds=CONTEXT - _BESIDE.get(claim, frozenset()),
        broker=slot.broker if slot is not None else "",
    )


def _story(row: Mapping[str, int], found: Sequence[Found], model: str, cause: str, names: Names, events: int) -> Story:
    slot = names.slots[row["slot"]] if row["slot"] >= 0 else None
    claim = CLAIMS[row["claim"]]
    passed = row["offset"] if row["offset"] >= 0 and has_offsets(claim.id) else None
    of_queue = slot is not None and slot.queue >= 0
    found = turning_points(found, passed, (row["since"], row["time"]), versions=not of_queue)
    if of_queue:
        found = _without_earlier_passes(found, row)
    kept = _nearest(row, _runs(found), events)
    return Story(
        claim=claim,
        title=title(claim, row, names, found, cause=cause),
        certainty=certainty(Doubt(row["doubt"])),
        sentences=tuple(_sentence(run) for run in kept),
        left_out=len(found) - sum(len(run) for run in kept),
        model=model,
        row=row,
        slot=slot,
    )


def _without_earlier_passes(found: Sequence[Found], row: Mapping[str, int]) -> list[Found]:
    """The events without the first statement of each member before the finding, unless the member had just started.

    Changes are of interest; the state before them is not, for a single queue.
    """
    since, time = row["since"], row["time"]
    until = max(since, time - _AROUND) if since < time else since - _AROUND
    said: set[tuple[Any, ...]] = set()
    started: set[int] = set()
    kept = []
    for each in found:
        event = each.event
        if event["kind"] == Kind.CLIENT_START:
            started.add(each.actor)
        about = event["kind"], each.actor, event.get("group"), event.get("topic")
        earlier = event["time"] < until and each.actor not in started
        if not (event["kind"] in REPEATED and earlier and about not in said):
            kept.append(each)
        said.add(about)
    return kept


def _nearest(
    row: Mapping[str, int], runs: Sequence[list[tuple[Found, str]]], events: int
) -> list[list[tuple[Found, str]]]:
    """The events to show: those about the message itself first, and then those nearest in time."""

    def rank(found: Found) -> tuple[int, int]:
        event = found.event
        at_offset = has_offsets(CLAIMS[row["claim"]].id) and event.get("offset") == row["offset"]
        own = at_offset or (row["origin"] != 0 and found.origin == row["origin"])
        passing = event["kind"] in (Kind.PULL_RESULT, Kind.REMOVED, Kind.HEARTBEAT)
        away = min(abs(event["time"] - row["since"]), abs(event["time"] - row["time"]))
        return (0 if own and not passing else 2 if passing else 1), away

    nearest = sorted(range(len(runs)), key=lambda at: (min(rank(found) for found, _ in runs[at]), at))
    return [runs[at] for at in sorted(nearest[:events])]


_BESIDE: Mapping[str, frozenset[Kind]] = {
    "same-subscriptions": frozenset({Kind.REBALANCE, Kind.ROUTE, Kind.MEMBERS}),
    "views-agree": frozenset({Kind.HEARTBEAT}),
    "allocation-as-the-strategy-says": frozenset({Kind.HEARTBEAT}),
}
"""Kinds that are irrelevant to a claim."""


OWNED = "every-queue-gets-an-owner"


def lists_of(row: Mapping[str, int], names: Names) -> Question:
    """The lists by which all members of the group divided its queues, around the time of a finding."""
    slot = names.slots[row["slot"]]
    return Question(
        periods=((row["since"] - REBALANCE_PERIOD, row["time"] + REBALANCE_PERIOD),),
        actors=tuple(actor for actor in names.actors if actor.incarnation >= 0),
        group=slot.group,
        topic=slot.topic,
        kinds=frozenset({Kind.REBALANCE}),
    )


def listed_twice(row: Mapping[str, int], lists: Sequence[Found]) -> str:
    """The members that were listed twice for more than half of the time without an owner, as the end of a sentence;
    empty if none.

    When a client reconnects, a broker keeps its old connection until it finds it dead, and lists the client once for
    each connection (ST-6, ``ConsumerGroupInfo#getAllClientId``). Strategies divide among as many members as the list
    has, and a client takes the share of its first position (RB-21), so nobody gets the other share.

    Broadcasting clients on one host have one name, and divide nothing.
    """
    times: dict[str, list[int]] = {}
    for each in lists:
        members = each.event.get("members") or []
        for name in {name for name in members if members.count(name) > 1}:
            times.setdefault(name, []).append(each.event["time"])
    for name, seen in sorted(times.items()):
        covered = min(seen[-1], row["time"]) - max(seen[0], row["since"])
        if 2 * covered > row["time"] - row["since"]:
            return f": lists of members had {name} twice from {clock(seen[0])} to {clock(seen[-1])}"
    return ""
