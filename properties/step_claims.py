"""The small configurations, with memory of the last step, in which properties of single steps are claimed."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.consumption import consumption
from .call_steps import (
    counts_during_a_stop,
    counts_for_nothing,
    done_for_nothing,
    failed_for_nothing,
    forgotten,
    handled_by_a_call,
    hangs,
    held_in_turn,
    late_sent_back,
    runs_on,
    sent_back_during_a_stop,
)
from .claim import Claim, Constants, claims_of
from .client_steps import announces, dies_with_its_process, settled, stands_still, stopped
from .copy_steps import (
    after_a_failure,
    arrives,
    as_it_is,
    begins_there,
    copied,
    due_in_order,
    file_catches_up,
    goes_on,
    in_its_turn,
    late_copy,
    lost_with_power,
    on_its_way,
    overtakes,
    replica_catches_up,
    saved,
    saved_at_stop,
)
from .file_steps import (
    copy_catches_up,
    copy_emptied,
    copy_renewed,
    first_write,
    in_the_file,
    left_behind,
    starts_readable,
    torn_in_a_death,
)
from .offset_steps import (
    copied_from_the_master,
    corrected,
    corrected_once,
    excused,
    ghost_in_turn,
    held_up,
    last_sent,
    learns,
    lost_in_a_correction,
    on_disk,
    read_as_none,
    reset_in_turn,
    taken_back,
    told_once,
    was_sent,
)
from .property import Property
from .retry import comes_to_rest
from .window_steps import (
    again,
    asked_first,
    begins,
    first_expires,
    follows,
    in_order,
    late_answer,
    late_answer_comes,
    late_returns,
    leaves_answered,
    matched_nothing,
    moves,
    next_expires,
    nothing_left,
    overdue,
    part_fails,
    passed,
    pulled_is_there,
    put,
    request,
    returns_once,
    with_a_pull,
)

_WATCHED: Constants = {"messages": 2, "consumers": 1, "watch_changes": 1}
_ONE: Constants = {**_WATCHED, "messages": 1}
_OLD: Constants = {"version": "4.9.8"}
_SENT_BACK: Constants = {"messages": 2, "consumers": 1, "queues": 2, "retry_room": 1, "copies": 1, "failures": 1}
_CHAIN: Constants = {**_SENT_BACK, "watch_changes": 1}
_COPIES: Constants = {
    **_SENT_BACK,
    "messages": 3,
    "retry_room": 2,
    "copies": 2,
    "failures": 2,
    "attempts": 2,
    "levels": 3,
    "watch_changes": 1,
}
_STORED = (after_a_failure, on_its_way, as_it_is, arrives, goes_on)
_ALONE: Constants = {**_ONE, "mode": "broadcasting"}
_TAGS: Constants = {"expression": "Aa", "tags": "Aa,C"}
_WINDOW = (begins, nothing_left, moves, in_order, follows)
_WINDOWS = (*_WINDOW, was_sent, last_sent)
_LATE_CALLS = (runs_on, counts_for_nothing, late_sent_back)
_GONE = (stopped, dies_with_its_process)
_REQUESTS = (*_WINDOWS, request, late_answer)


def claims() -> Iterator[Claim]:
    """All claims about steps of windows, offsets and clients."""
    asked: tuple[tuple[Constants, tuple[Property, ...]], ...] = (
        ({**_WATCHED, "pull_batch": 2, "batch": 2, "moves": 1, "failures": 1}, (*_WINDOWS, part_fails)),
        ({**_WATCHED, "pulls": "fine", "moves": 1}, _REQUESTS),
        ({**_WATCHED, "pulls": "fine", "removals": 1}, (*_REQUESTS, passed)),
        ({**_WATCHED, "pulls": "fine", "moves": 1, "broker_restarts": 1}, (late_answer,)),
        ({**_ONE, "pulls": "fine", "truncations": 1}, (*_WINDOW, request, late_answer, leaves_answered)),
        ({**_WATCHED, "removals": 1, "moves": 1}, (*_WINDOWS, passed)),
        ({**_WATCHED, "retentions": 1, "corrections": "steps"}, (pulled_is_there, corrected)),
        ({**_ONE, "pulls": "fine", "moves": 1, "crashes": 1, "restarts": 1}, (*_REQUESTS, *_GONE, late_answer_comes)),
        ({**_ONE, "pulls": "fine", "leaves": 1, "crashes": 1}, (*_REQUESTS, *_GONE)),
        ({**_ONE, "pulls": "fine", "pauses": 1, "leaves": 1}, (*_REQUESTS, stands_still, stopped)),
        ({**_ONE, "consumers": 2, "moves": 1, "leaves": 1}, (*_WINDOWS, stopped)),
        ({**_ONE, "leaves": 1, "moves": 1, "lost_commits": 1}, (stopped,)),
        ({**_ONE, "leaves": 1, "failures": 1}, (stopped, counts_during_a_stop, sent_back_during_a_stop)),
        ({**_ONE, "consumers": 2, "moves": 1, "causes": 1}, (excused,)),
        ({**_ONE, "moves": 1, "broker_restarts": 1}, (*_WINDOWS, taken_back, on_disk)),
        ({**_WATCHED, **_OLD, "failed_queries": 1, "moves": 1}, (moves, in_order, read_as_none)),
        ({**_ONE, "slaves": 1, "fail_overs": 1}, (copied_from_the_master,)),
        ({**_WATCHED, "pulls": "fine", "piggyback": 1, "moves": 1}, (*_REQUESTS, with_a_pull)),
        ({**_WATCHED, "late_commits": 1, "moves": 1}, (begins, was_sent, held_up, last_sent)),
        ({**_WATCHED, "truncations": 1, "corrections": "steps", "moves": 1}, (*_WINDOWS, corrected)),
        (
            {
                **_ONE,
                **_OLD,
                "truncations": 1,
                "corrections": "steps",
                "held_updates": 1,
                "late_commits": 1,
                "moves": 1,
            },
            (was_sent, corrected, corrected_once, held_up),
        ),
        (
            {**_ONE, "resets": 1, "corrections": "steps", "piggyback": 1, "moves": 1},
            (*_WINDOWS, corrected, learns, told_once, lost_in_a_correction),
        ),
        ({**_ONE, "resets": 1, "corrections": "steps", "pulls": "fine"}, (*_REQUESTS, corrected, learns, told_once)),
        (
            {**_ONE, **_OLD, "resets": 1, "pulls": "fine", "moves": 1},
            (request, late_answer, reset_in_turn, ghost_in_turn),
        ),
        (
            {**_ONE, "queues": 2, "group": "scaled", "arriving": 1, "head_in_memory": 1, "starts": "steps"},
            (asked_first,),
        ),
        ({**_ONE, "group": "new", "starts": "steps", "crashes": 1, "restarts": 1}, (asked_first, *_GONE)),
        ({**_WATCHED, "expression": "C", "tags": "C,Aa", "moves": 1}, (*_WINDOWS, put, matched_nothing)),
        ({**_WATCHED, "expression": "Aa", "tags": "BB,Aa", "moves": 1}, (*_WINDOWS, put, matched_nothing)),
        ({**_ONE, **_TAGS, "consumers": 2, "other_expression": "C"}, (announces, settled)),
        (
            {**_ONE, **_TAGS, "consumers": 2, "next_expression": "C", "crashes": 1, "restarts": 1},
            (announces, settled, stopped),
        ),
        ({**_CHAIN, "failures": 2, "refusals": 1}, (*_WINDOWS, again)),
        ({**_CHAIN, "retry_queues": 0}, (nothing_left, in_order)),
        ({**_CHAIN, "expiries": 1, "crashes": 1}, (overdue, returns_once, was_sent, dies_with_its_process)),
        ({**_CHAIN, "messages": 3, "expiries": 1}, (overdue, first_expires)),
        ({**_SENT_BACK, "expiries": 1}, (late_returns,)),
        ({**_ALONE, "messages": 2, "moves": 1}, (*_WINDOW, in_the_file)),
        ({**_ALONE, "messages": 2, "expiries": 1}, (next_expires,)),
        ({"mode": "broadcasting", "messages": 1, "consumers": 1, "torn_writes": 1}, (first_write,)),
        (
            {**_ALONE, "crashes": 1, "restarts": 1, "leaves": 1, "pauses": 1},
            (*_WINDOW, stopped, stands_still, in_the_file),
        ),
        ({**_ALONE, "crashes": 1, "restarts": 1, "lost_files": 1}, (in_the_file, left_behind)),
        (
            {**_ALONE, "restarts": 2, "torn_writes": 2},
            (torn_in_a_death, starts_readable, copy_emptied, copy_renewed, copy_catches_up),
        ),
        (
            {**_ONE, "moves": 1, "orphans": 1, "failures": 1, "crashes": 1},
            (*_LATE_CALLS, handled_by_a_call, done_for_nothing, failed_for_nothing, dies_with_its_process),
        ),
        ({**_CHAIN, "moves": 1, "orphans": 1}, (late_sent_back, late_copy)),
        ({**_ONE, **_OLD, "resets": 1, "held_updates": 1, "crashes": 1}, (ghost_in_turn, dies_with_its_process)),
        ({**_ONE, "moves": 1, "held_updates": 1, "crashes": 1}, (held_in_turn, forgotten, dies_with_its_process)),
        (
            {**_WATCHED, "pull_batch": 2, "batch": 2, "moves": 1, "hangs": 1, "crashes": 1},
            (*_WINDOW, hangs, dies_with_its_process),
        ),
        (_COPIES, _STORED),
        ({**_COPIES, "messages": 4, "attempts": 1, "pull_batch": 2}, (*_STORED, due_in_order)),
        ({**_CHAIN, "listener_level": 1}, (on_its_way, arrives)),
        ({**_SENT_BACK, "listener_level": 1}, (comes_to_rest,)),
        (
            {**_SENT_BACK, "messages": 4, "retry_room": 2, "copies": 3, "failures": 3, "attempts": 2},
            (overtakes,),
        ),
        ({**_COPIES, **_OLD, "refused": 2, "attempts": 1}, _STORED),
        ({**_COPIES, "unsure_puts": 1}, (*_STORED, in_its_turn)),
        ({**_COPIES, "unreadable": 1}, _STORED),
        ({**_COPIES, "broker_crashes": 1, "attempts": 1}, (*_STORED, saved)),
        ({**_COPIES, "broker_stops": 1}, (*_STORED, saved, saved_at_stop)),
        ({**_SENT_BACK, "levels": 3, "broker_stops": 1}, (file_catches_up,)),
        ({**_SENT_BACK, "levels": 3, "promotions": 1}, (replica_catches_up,)),
        ({**_COPIES, "power_losses": 1, "watch_retries": 1}, (*_STORED, saved, lost_with_power)),
        ({**_COPIES, "promotions": 1, "attempts": 1}, (*_STORED, saved, copied, begins_there)),
        ({**_COPIES, "refused": 1, "lost_replies": 1, "attempts": 1, "repeated_fallbacks": 1}, _STORED),
    )
    yield from claims_of(consumption, asked)
