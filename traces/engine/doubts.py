"""Doubts: which findings count if the recording has holes.

Folds record what they see. Whether a possible excuse would have been seen is decided here, once for all claims and all
engines, from the coverage of the recording.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..claims.claim import Monitor, TraceClaim
from ..claims.claims import CLAIMS, CODE
from ..claims.evidence import LISTENERS
from ..claims.presupposed import presupposed
from ..claims.settings import Settings
from ..claims.steps import Misstep
from ..encoding.names import Actor, Names, Slot
from ..format.coverage import ALL_KINDS, EVER, EVIDENCE_BIT, SETTINGS, Coverage, Hole, evidence_mask, missing
from ..format.kinds import CALLS, Kind
from ..format.message_status import MessageStatus
from ..monitors.fold import MOST_KEPT, Outcome
from ..monitors.messages.messages import WITHOUT_ORIGIN
from .findings import Doubt, Note
from .stored_elsewhere import OTHER_KEYS

_CALLS = evidence_mask(CALLS)
_STORES = CODE[Misstep.STORED_ELSEWHERE.step.claim]
_SAVES_A_MESSAGE = evidence_mask(
    (*LISTENERS, Kind.PULL_RESULT, Kind.DELAY_STORE, Kind.DEAD_LETTER, Kind.RESET, Kind.CORRECT)
)
"""Events that may have saved a message that seems lost."""


_NOWHERE = Slot("", "", "", -1)
_ASKED_ONE_BY_ONE = 10_000
"""Number of findings of a claim in holes for which the owner of the hole is checked; those beyond stay in doubt."""


def doubted(outcome: Outcome, names: Names, coverage: Coverage, settings: Settings) -> Outcome:
    """The outcome of folds, with doubts on findings whose excuses may not have been recorded.

    Findings about groups that cannot be judged are left out, and so are the owners of their queues, which only commits
    show, and the fate of their messages. A message that may have been saved unseen is not lost.

    Args:
        outcome: outcome of all folds.
        names: names of the queues and processes in rows.
        coverage: coverage of the recording.
        settings: an excuse may be older than what it excuses by ``rounds``.
    """
    known = coverage.processes or coverage.holes or coverage.of_groups or coverage.not_judged
    lacks = any(missing((*claim.needs, *claim.counts_with), coverage.recorded) for claim in CLAIMS)
    if not (known or outcome.passed_over or lacks):
        return outcome
    rows, statuses = outcome.rows.copy(), outcome.statuses.copy()
    violated, doubtful = outcome.violated.copy(), outcome.doubtful.copy()
    groups = [slot.group for slot in names.slots]
    is_violation = (rows["claim"] >= 0) & (rows["note"] == Note.NONE) & (rows["cause"] == 0)
    left_out = np.zeros(len(rows), np.bool_)
    for code, claim in enumerate(CLAIMS):
        at = np.flatnonzero(is_violation & (rows["claim"] == code))
        if not len(at):
            continue
        found = rows[at]
        doubt = _doubts(claim, found, names, coverage, settings)
        if claim.monitor is Monitor.MESSAGES and {WITHOUT_ORIGIN, OTHER_KEYS} & outcome.passed_over.keys():
            doubt |= int(Doubt.EVIDENCE)  # any message may be the one they are about
        if code == _STORES and OTHER_KEYS in outcome.passed_over:
            doubt[found["value"] == Misstep.STORED_ELSEWHERE] |= int(Doubt.EVIDENCE)
        gone, unexcused = _of_others(claim, found, groups, coverage)
        left_out[at], doubt[unexcused] = gone, doubt[unexcused] | int(Doubt.EVIDENCE)
        certain = found["doubt"] == 0
        now_certain = certain & (doubt == 0)
        kept_all = len(at) < MOST_KEPT
        if kept_all or now_certain[~gone].any():
            violated[code] += np.count_nonzero(now_certain & ~gone) - np.count_nonzero(certain)
            doubtful[code] += np.count_nonzero(~now_certain & ~gone) - np.count_nonzero(~certain)
        else:  # those beyond are not known, and assumed to be like these
            violated[code], doubtful[code] = 0, violated[code] + doubtful[code] - np.count_nonzero(gone)
        rows["doubt"][at] |= doubt
    _save(rows, statuses, names, coverage)
    not_judged = [code for code, group in enumerate(groups) if group in coverage.not_judged]
    statuses[not_judged] = 0
    left_out |= (rows["note"] == Note.OWNERSHIP) & np.isin(rows["slot"], not_judged)
    return replace(outcome, rows=rows[~left_out], violated=violated, doubtful=doubtful, statuses=statuses)


def hole_of(claim: TraceClaim, row: Any, names: Names, coverage: Coverage, settings: Settings) -> Hole | None:
    """The hole in which an excuse of a finding may be, or an action of another member on which it rests."""
    slot = names.slots[row["slot"]] if row["slot"] >= 0 else _NOWHERE
    group, topic, broker = _place(claim, slot)
    since, until = int(row["since"]), int(row["time"] - row["late"])
    in_topic = _excuses_in_topic(claim, slot, int(row["value"]))
    excuse = coverage.lost(
        # A finding about a queue whose broker was lost in reading may be about any other queue: any kind may excuse it.
        SETTINGS
        | (ALL_KINDS if _is_placeless(slot) else evidence_mask(claim.excused_by if in_topic is None else in_topic)),
        group=group,
        topic=topic,
        broker=broker,
        since=int(_since(claim, row["since"], coverage, settings)),
        until=until,
        clients=[one.name for one in _named(row, names)] if presupposed(claim.id, int(row["value"])).of_itself else (),
        living=since - settings.rounds,
        deaths=not claim.by_broker,
    )
    of_others = _needed_of_others(claim, slot, int(row["value"]))
    return excuse or coverage.lost(
        of_others, group=group, topic=topic, broker=broker, since=since, until=until, deaths=not claim.by_broker
    )


def _excuses_in_topic(claim: TraceClaim, slot: Slot, value: int) -> Sequence[Kind] | None:
    """What may excuse a finding about an original in a topic that belongs to no group; None if it is not such a
    finding.
    """
    is_original = bool(slot.topic) and not slot.group and value == 0
    return claim.excused_in_topics if is_original else None


def _needed_of_others(claim: TraceClaim, slot: Slot, value: int) -> int:
    """Mask of what other members must have recorded for a finding to count: nothing if only brokers act."""
    return 0 if _excuses_in_topic(claim, slot, value) is not None else presupposed(claim.id, value).of_others


def _named(row: Any, names: Names) -> list[Actor]:
    """The processes that a finding names."""
    return [names.actors[actor] for actor in (row["actor"], row["other"]) if actor >= 0]


def _is_placeless(slot: Slot) -> bool:
    return slot.queue >= 0 and not slot.broker


def _place(claim: TraceClaim, slot: Slot) -> tuple[str, str, str]:
    """The group, topic and broker of a possible excuse: the copies of a message are in several topics, on any
    broker.
    """
    if claim.monitor is Monitor.MESSAGES:
        return slot.group, "", ""
    return slot.group, slot.topic, "" if claim.by_members else slot.broker


def _since(claim: TraceClaim, since: Any, coverage: Coverage, settings: Settings) -> Any:
    """From when on an excuse counts.

    For lasting states and repeated statements, folds assume that they applied before the recording began as when first
    seen, so no excuse is missed there.
    """
    since = np.full_like(since, EVER) if claim.lasts else since if claim.within else since - settings.rounds
    clipped = claim.lasts or claim.monitor is Monitor.GROUPS
    return np.maximum(since, coverage.begin) if clipped else since


def _doubts(claim: TraceClaim, found: Any, names: Names, coverage: Coverage, settings: Settings) -> Any:
    doubt = np.zeros(len(found), np.uint8)
    needs = {value: presupposed(claim.id, value) for value in np.unique(found["value"]).tolist()}
    mask = evidence_mask(claim.excused_by) | SETTINGS
    for each in needs.values():
        mask |= each.of_others
    lost = coverage.is_lost(
        mask,
        [_place(claim, slot) for slot in names.slots],
        found["slot"],
        np.minimum(_since(claim, found["since"], coverage, settings), found["since"]),
        found["time"] - found["late"],
    )
    lost |= np.array([*map(_is_placeless, names.slots), False])[found["slot"]]
    for place in np.flatnonzero(lost)[:_ASKED_ONE_BY_ONE]:
        lost[place] = hole_of(claim, found[place], names, coverage, settings) is not None
    doubt[lost] |= int(Doubt.GAP)
    if missing((*claim.needs, *claim.counts_with), coverage.recorded):
        doubt |= int(Doubt.EVIDENCE)
    unseen = np.isin(found["value"], [value for value, each in needs.items() if each.excuses & ~coverage.recorded])
    if coverage.processes:
        unseen |= np.array([unrecorded(claim, row, names, coverage) is not None for row in found])
    doubt[unseen] |= int(Doubt.EVIDENCE)
    return doubt


def unrecorded(claim: TraceClaim, row: Any, names: Names, coverage: Coverage) -> tuple[str, list[Kind]] | None:
    """A process on which a finding rests that never recorded what it must have, and the kinds; None if there is
    none.
    """
    needs = presupposed(claim.id, int(row["value"]))
    slot = names.slots[row["slot"]] if row["slot"] >= 0 else _NOWHERE
    asked = [((one.name, one.incarnation), needs.seen, needs.seen_or_told) for one in _named(row, names)]
    asked += [((slot.broker, -1), 0, needs.of_broker)] * bool(slot.broker)
    of_others = _needed_of_others(claim, slot, int(row["value"]))
    asked += [(who, 0, of_others) for who in coverage.clients(slot.group) if of_others]
    for who, seen, seen_or_told in asked:
        unseen = coverage.unseen(slot.group, who, seen, seen_or_told)
        if unseen:
            return who[0], [kind for kind in Kind if EVIDENCE_BIT[kind] & unseen]
    unstored = coverage.unstored(slot.group, slot.broker, needs.at_broker) if slot.broker else 0
    return (slot.broker, [kind for kind in Kind if EVIDENCE_BIT[kind] & unstored]) if unstored else None


def _of_others(claim: TraceClaim, found: Any, groups: Sequence[str], coverage: Coverage) -> tuple[Any, Any]:
    """Which findings are about groups that cannot be judged, and which about groups of which a kind was not recorded
    that may excuse them, and that the folds take as recorded. Where other groups have all excuses, the claim is about
    those, and both are the same.
    """
    needs, excuses = (*claim.needs, *claim.counts_with), evidence_mask(claim.excused_by) & coverage.recorded
    of_groups = coverage.of_groups.items()
    unexcused = {group for group, recorded in of_groups if excuses & ~recorded}
    others = {group for group, recorded in of_groups if missing(needs, recorded)} | coverage.not_judged.keys()
    if not unexcused.issuperset(coverage.groups):
        others |= unexcused

    def about(those: Collection[str]) -> Any:
        return np.array([*(group in those for group in groups), False])[found["slot"]]

    return about(others), about(unexcused)


def _save(rows: Any, statuses: Any, names: Names, coverage: Coverage) -> None:
    """Messages that may have been saved unseen: what became of them is not known."""
    at = np.flatnonzero((rows["note"] == Note.CHAIN) & (rows["value"] == MessageStatus.LOST) & (rows["slot"] >= 0))
    if not len(at):
        return
    found = rows[at]
    ever = np.full(len(at), coverage.end)
    queues = [(slot.group, slot.topic, "") for slot in names.slots]  # a retry of it may be on any broker
    lost = coverage.is_lost(_SAVES_A_MESSAGE, queues, found["slot"], found["since"], ever)
    others = {group for group, recorded in coverage.of_groups.items() if _SAVES_A_MESSAGE & ~recorded}
    others |= coverage.not_judged.keys()
    others |= {
        group
        for group in coverage.groups
        if any(coverage.unseen(group, who, 0, _CALLS) for who in coverage.clients(group))
    }
    lost |= np.array([slot.group in others for slot in names.slots])[found["slot"]]
    # A row about one message has its origin, and in ``until`` the due time of its retry.
    messages = np.where(found["origin"] != 0, 1, np.maximum(found["until"] - found["offset"], 1))
    # What another monitor reports is counted there.
    moved = np.bincount(found["slot"][lost], messages[lost], len(statuses)).astype(np.int64)
    moved = np.minimum(moved, statuses[:, MessageStatus.LOST])
    statuses[:, MessageStatus.LOST] -= moved
    statuses[:, MessageStatus.NOT_OBSERVABLE] += moved
    rows["value"][at[lost]] = MessageStatus.NOT_OBSERVABLE
