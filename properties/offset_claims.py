"""Offsets, claim by claim: what moves them back, past a message, or to a wrong start, and what undoes a reset.

Each way in which a claim about offsets is false is a row of its own; with that way closed, the claim holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..model.consumption import consumption
from ..model.history import Regression
from .claim import Claim, Constants, claim_about
from .delivery import explained, offset_safe, progress
from .offsets import (
    at_the_end,
    caused,
    copied,
    corrected_kept,
    counted,
    empty_again,
    foreign_forgotten,
    never_back,
    old_copy_serves,
    on_disk,
    one_pull,
    owned_only,
    pinned,
    quiet_once,
    reset_ends,
    reset_lasts,
    reset_pauses,
    retry_from_beginning,
    safe_from_start,
    stored,
    went_back,
    where_chosen,
)
from .property import Property
from .unbounded import mark_kept

WATCH: Constants = {"messages": 2, "watch_offsets": 1}
ALONE: Constants = {**WATCH, "consumers": 1}
OVERLAP: Constants = {**WATCH, "moves": 1}
ONE_OWNER: Constants = {**WATCH, "moves": 1, "crashes": 1, "overlaps": 0, "lost_commits": 1, "leaves": 1, "failures": 1}
LATE: Constants = {**WATCH, "moves": 1, "overlaps": 0, "late_commits": 1}
CARRIED: Constants = {**ALONE, "pulls": "fine", "piggyback": 1}
BROKER_RESTART: Constants = {**ALONE, "broker_restarts": 1}
FAIL_OVER: Constants = {**WATCH, "overlaps": 0, "moves": 1, "slaves": 1, "fail_overs": 1}
SHORTENED: Constants = {**ALONE, "truncations": 1}
SHORTENED_IN_STEPS: Constants = {**SHORTENED, "corrections": "steps", "held_updates": 1, "moves": 1}
CLIENT_RESET: Constants = {**ALONE, "version": "4.9.8", "resets": 1}
SERVER_RESET: Constants = {**ALONE, "resets": 1, "corrections": "steps", "piggyback": 1}
RECREATED: Constants = {
    "messages": 1,
    "arriving": 1,
    "consumers": 1,
    "moves": 1,
    "recreations": 1,
    "from_where": "FIRST_OFFSET",
}
FAILED_QUERY: Constants = {"messages": 2, "consumers": 1, "moves": 1, "failed_queries": 1}
NEW: Constants = {"messages": 2, "crashes": 1, "group": "new", "watch_starts": 1}
RETRY: Constants = {
    "queues": 2,
    "messages": 2,
    "retry_room": 1,
    "copies": 1,
    "failures": 1,
    "group": "new",
    "consumers": 1,
    "watch_starts": 1,
}
ADDED_QUEUE: Constants = {"queues": 2, "group": "scaled", "messages": 1, "arriving": 1, "consumers": 1}
RETENTION: Constants = {"messages": 2, "moves": 1, "crashes": 1, "retentions": 1}
OLD_CORRECTION: Constants = {
    "messages": 2,
    "consumers": 1,
    "truncations": 1,
    "corrections": "steps",
    "version": "4.9.8",
    "held_updates": 1,
}
LATE_UPDATE: Constants = {"messages": 2, "moves": 1, "crashes": 1, "held_updates": 1}
RESET_OLD: Constants = {"messages": 1, "version": "4.9.8", "resets": 1}
RESET_NEW: Constants = {"messages": 1, "resets": 1, "corrections": "steps"}
HUNG: Constants = {"messages": 3, "moves": 1, "overlaps": 0, "hangs": 1}
COUNTERS: Constants = {
    "messages": 3,
    "consumers": 1,
    "moves": 1,
    "counters": 1,
    "threshold": 1,
    "failures": 1,
    "refusals": 1,
    "batch": 2,
    "pull_batch": 2,
}
FINE: Constants = {"messages": 2, "consumers": 1, "moves": 1, "pulls": "fine", "lost_pulls": 1}

_BACK: tuple[tuple[Property, Constants, str], ...] = (
    (
        went_back(Regression.OVERLAP, "Two owners: the slower one's commit takes the offset back.", "OF-20", "RB-32"),
        OVERLAP,
        "Two owners for a moment are enough: the broker takes any commit from anybody, even a smaller one.",
    ),
    (
        went_back(Regression.LATE_COMMIT, "A commit arrives after a later one.", "OF-5", "OF-8"),
        LATE,
        "One owner at a time is not enough: the last commit of the old owner may arrive after the new one's.",
    ),
    (
        went_back(
            Regression.LATE_COMMIT,
            "A commit that came with a pull is applied after a later one.",
            "PL-14",
            "OF-8",
            how="carried-commit",
        ),
        CARRIED,
        (
            "Even a single client's commits may overtake each other: those with pulls and the periodic ones are "
            "served by two thread pools."
        ),
    ),
    (
        went_back(Regression.BROKER_RESTART, "The broker forgets the commits of its last seconds.", "OF-23"),
        BROKER_RESTART,
        "Committed is not on disk: a broker that dies loses the commits of the last 5 s.",
    ),
    (
        went_back(Regression.FAIL_OVER, "A slave answers with its old copy.", "OF-4", "OF-23"),
        FAIL_OVER,
        "A slave's copy is 10 s to 60 s old, and what clients commit to it is lost when the master is back.",
    ),
    (
        went_back(Regression.CORRECTED, "The log is shorter than the offset, which is corrected.", "PL-19", "PL-23"),
        SHORTENED,
        "When a log has lost its tail, the offset goes back to the new end.",
    ),
    (
        went_back(Regression.RESET, "The operator has it reset.", "OF-31"),
        CLIENT_RESET,
        "Taking the offset back is what a reset is for.",
    ),
    (
        went_back(Regression.RECREATED, "The topic is deleted, and its offsets with it.", "OF-20"),
        {**RECREATED, "watch_offsets": 1},
        "A topic that is deleted and created again starts from the beginning, and so does its offset in 5.x.",
    ),
)


_claim = partial(claim_about, consumption)


def claims() -> Iterator[Claim]:
    """All claims about offsets."""
    yield from _back_claims()
    yield from _loss_claims()
    yield from _start_claims()
    yield from _reset_claims()
    yield from _progress_claims()


def _back_claims() -> Iterator[Claim]:
    """G7: what moves an offset back; each way is a witness, and there is no other."""
    yield _claim(never_back, ONE_OWNER)
    yield _claim(never_back, {**ALONE, "moves": 1, "held_updates": 1})
    for witness, constants, lesson in _BACK:
        yield _claim(never_back, constants, lesson)
        yield _claim(witness, constants)
        yield _claim(caused, constants)
        yield _claim(owned_only, constants)
    old_steps: Constants = {**SHORTENED_IN_STEPS, "version": "4.9.8"}
    for constants in (ONE_OWNER, SHORTENED_IN_STEPS, old_steps, SERVER_RESET):
        yield _claim(caused, constants)
        yield _claim(owned_only, constants)
    yield _claim(caused, {**FAILED_QUERY, "watch_offsets": 1})
    yield _claim(
        caused,
        {**FAILED_QUERY, "watch_offsets": 1, "version": "4.9.8", "from_where": "FIRST_OFFSET"},
        "4.9.8 takes any error of the broker for 'no offset': with FIRST_OFFSET the group starts all over again.",
    )


def _loss_claims() -> Iterator[Claim]:
    """G2: what makes an offset pass a message that nobody has handled."""
    harmless: tuple[Constants, ...] = (
        LATE_UPDATE,
        {"messages": 2, "moves": 1, "crashes": 1, "slaves": 1, "fail_overs": 1},
        {"messages": 2, "consumers": 1, "moves": 1, "pulls": "fine", "piggyback": 1, "broker_restarts": 1},
        FAILED_QUERY,
        {**FAILED_QUERY, "version": "4.9.8", "from_where": "FIRST_OFFSET"},
        {**RETENTION, "retentions": 2, "retention": "consumed", "corrections": "steps", "late_commits": 1},
        RECREATED,
    )
    for constants in harmless:
        yield _claim(offset_safe, constants)
    yield _claim(
        offset_safe,
        {**FAILED_QUERY, "version": "4.9.8"},
        "4.9.8 takes any error of the broker for 'no offset', and LAST_OFFSET jumps to the end (G2-2).",
    )
    yield _claim(
        offset_safe, RETENTION, "What retention deletes before it was consumed is silently passed over (G2-3)."
    )
    yield _claim(
        offset_safe,
        {"messages": 2, "consumers": 1, "removals": 1},
        "A pull that finds index entries of deleted messages continues after them (G2-3).",
    )
    yield _claim(
        offset_safe,
        {"messages": 2, "consumers": 1, "truncations": 1},
        (
            "An offset beyond the end of a shortened log is corrected to that end, past what the client had pulled "
            "and not finished (G2-4)."
        ),
    )
    yield _claim(
        offset_safe,
        {"messages": 1, "arriving": 1, "consumers": 1, "truncations": 1},
        "A log that lost its tail and has grown again hides new messages below the committed offset (G2-4).",
    )
    yield _claim(
        offset_safe,
        {**RESET_NEW, "consumers": 1, "reset_to": 1},
        "A reset forward skips everything in between (G2-5).",
    )
    yield _claim(
        offset_safe,
        {**RECREATED, "version": "4.9.8"},
        "4.9.8 keeps the offsets of a deleted topic: the first messages of its next life are below them (G2-5).",
    )
    yield _claim(
        offset_safe,
        {**RECREATED, "from_where": "LAST_OFFSET"},
        "A topic created again is a new one: LAST_OFFSET skips what came before the first start (G2-5).",
    )


def _start_claims() -> Iterator[Claim]:
    """G2-1: where a group starts without a stored offset."""
    for from_where in ("LAST_OFFSET", "FIRST_OFFSET", "TIMESTAMP"):
        for in_memory in (0, 1):
            constants: Constants = {**NEW, "from_where": from_where, "head_in_memory": in_memory}
            if from_where == "TIMESTAMP":
                constants["timestamp_offset"] = 1
            skips = from_where != "FIRST_OFFSET" and not in_memory
            yield _claim(where_chosen, constants)
            yield _claim(safe_from_start, constants)
            yield _claim(
                offset_safe, constants, f"{from_where} skips what is older than the group (G2-1)." if skips else ""
            )
    yield _claim(at_the_end, {**NEW, "from_where": "LAST_OFFSET"})
    yield _claim(
        at_the_end,
        {**NEW, "from_where": "LAST_OFFSET", "head_in_memory": 1},
        "On a young topic, the broker answers 0: the group reads everything although LAST_OFFSET was asked for.",
    )
    yield _claim(retry_from_beginning, {**RETRY, "from_where": "LAST_OFFSET", "head_in_memory": 1})
    yield _claim(retry_from_beginning, {**RETRY, "from_where": "FIRST_OFFSET"})
    yield _claim(
        retry_from_beginning,
        {**RETRY, "from_where": "TIMESTAMP"},
        "With TIMESTAMP a retry queue is started at its end: retries that were stored before are skipped (G2-1).",
    )
    yield _claim(offset_safe, {**ADDED_QUEUE, "head_in_memory": 1})
    for property in (offset_safe, progress):
        yield _claim(property, {**ADDED_QUEUE, "from_where": "FIRST_OFFSET", "starts": "steps"})
    yield _claim(offset_safe, {**ADDED_QUEUE, "head_in_memory": 1, "starts": "steps", "version": "4.9.8"})
    # The other queue has an offset, so nobody asks there what to do without one.
    yield _claim(
        never_back, {**ADDED_QUEUE, "from_where": "FIRST_OFFSET", "starts": "steps", "moves": 1, "watch_offsets": 1}
    )
    yield _claim(
        offset_safe,
        ADDED_QUEUE,
        "A queue added to the topic is started at its end once its head has left the memory: the beginning is skipped.",
    )
    yield _claim(
        offset_safe,
        {**ADDED_QUEUE, "head_in_memory": 1, "starts": "steps"},
        (
            "Since 5.1, the broker does not answer 0 for an empty queue: what is stored before the client asks "
            "for the end is skipped."
        ),
    )


def _reset_claims() -> Iterator[Claim]:
    """G2-9, G2-10: what undoes a reset."""
    yield _claim(reset_lasts, {**RESET_OLD, "messages": 2, "consumers": 1})
    yield _claim(reset_lasts, {**RESET_NEW, "messages": 2, "consumers": 1, "resets": 2, "piggyback": 1})
    yield _claim(reset_pauses, {**RESET_OLD, "messages": 2, "consumers": 1})
    for constants in (RESET_OLD, RESET_NEW):
        yield _claim(reset_ends, {**constants, "consumers": 1})
    old: tuple[tuple[Constants, str], ...] = (
        (
            {"consumers": 2},
            "Clients reset one after the other: a client that takes the queue in between starts at the old offset.",
        ),
        (
            {"messages": 2, "consumers": 1, "resets": 2},
            (
                "A window opened while a reset waits is forgotten, not dropped: it keeps running beside the "
                "next one for ever."
            ),
        ),
        ({"consumers": 1, "moves": 1}, "A queue that nobody owns at that moment is not reset."),
        ({"consumers": 1, "late_commits": 1}, "A commit that was under way undoes the reset."),
        (
            {"consumers": 1, "pulls": "fine"},
            "A pull parked at the broker outlives the reset, and its answer undoes it (G2-9).",
        ),
        ({"consumers": 1, "held_updates": 1}, "A worker that updates the offset late undoes the reset (G2-9)."),
    )
    new: tuple[tuple[Constants, str], ...] = (
        (
            {"consumers": 2, "moves": 1},
            "Only the client that pulls first learns of the reset; a second owner goes on committing.",
        ),
        (
            {"consumers": 2, "crashes": 1, "overlaps": 0, "piggyback": 1},
            (
                "The pull that learns of the reset carries the old offset; if the client then dies, the reset "
                "is lost (G2-10)."
            ),
        ),
        (
            {"consumers": 2, "crashes": 1, "overlaps": 0},
            "So does a periodic commit between that answer and the repair.",
        ),
        (
            {"consumers": 1, "late_commits": 1},
            "The next window's query may overtake the corrected offset: nobody fails, and the reset is lost (G2-10).",
        ),
        (
            {"consumers": 1, "held_updates": 1, "moves": 1},
            "A worker that updates the offset late undoes the reset (G2-9).",
        ),
        ({"consumers": 1, "pulls": "fine", "moves": 1}, "A late answer for a dead window undoes the reset (G2-9)."),
    )
    for constants, lesson in old:
        yield _claim(reset_lasts, {**RESET_OLD, **constants}, lesson)
    for constants, lesson in new:
        yield _claim(reset_lasts, {**RESET_NEW, **constants}, lesson)


def _progress_claims() -> Iterator[Claim]:
    """G10, U4: windows that pull, and what keeps them from pulling."""
    yield _claim(counted, COUNTERS)
    yield _claim(one_pull, COUNTERS)
    yield _claim(one_pull, {**FINE, "piggyback": 1, "truncations": 1, "arriving": 1})
    yield _claim(explained, {**FINE, "messages": 1, "causes": 1})
    yield _claim(progress, COUNTERS)
    yield _claim(progress, FINE)
    yield _claim(
        progress,
        {**FINE, "pulls": "whole", "idle_limit": 0},
        "A lost pull loop is brought back by the limit of 120 s, and by nothing else.",
    )
    yield _claim(pinned, HUNG)
    yield _claim(
        stored,
        {"messages": 2, "consumers": 1, "hangs": 1},
        (
            "One listener call that never returns pins the offset: what is finished above it comes again after "
            "a restart."
        ),
    )
    repaired: tuple[Constants, ...] = (
        LATE_UPDATE,
        {"messages": 2, "consumers": 1, "moves": 1, "retentions": 1, "corrections": "steps"},
        OLD_CORRECTION,
        {"messages": 2, "crashes": 1, "slaves": 1, "fail_overs": 1},
        {"messages": 2, "consumers": 1, "resets": 1, "corrections": "steps", "piggyback": 1},
        {"messages": 2, "consumers": 1, "moves": 1, "resets": 1, "version": "4.9.8"},
        {"messages": 2, "consumers": 1, "moves": 1, "pulls": "fine", "piggyback": 1},
    )
    for constants in repaired:
        yield _claim(stored, constants)
    yield _claim(copied, {"messages": 2, "crashes": 1, "slaves": 1, "fail_overs": 1})
    yield _claim(old_copy_serves, {"messages": 2, "consumers": 1, "slaves": 1, "fail_overs": 1})
    yield _claim(foreign_forgotten, {"messages": 1, "moves": 1, "held_updates": 1, "overlaps": 0})
    yield _claim(corrected_kept, OLD_CORRECTION)
    yield _claim(mark_kept, {**FINE, "lost_pulls": 0, "piggyback": 1, "truncations": 1, "watch_marks": 1})
    yield _claim(empty_again, RECREATED)
    yield _claim(on_disk, {**BROKER_RESTART, "watch_offsets": 0})
    yield _claim(quiet_once, {"messages": 2, "consumers": 1, "causes": 1})
