"""The small configurations, with memory of the last step, in which properties of single steps are claimed."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.consumption import consumption
from .call_steps import (
    COUNTS_FOR_NOTHING,
    DONE_FOR_NOTHING,
    FAILED_FOR_NOTHING,
    FORGOTTEN,
    HANDLED_BY_A_CALL,
    HANGS,
    HELD_IN_TURN,
    LATE_SENT_BACK,
    RUNS_ON,
)
from .claim import Claim, claims_of
from .client_steps import ANNOUNCES, DIES_WITH_ITS_PROCESS, SETTLED, STANDS_STILL, STOPPED
from .copy_steps import (
    AFTER_A_FAILURE,
    ARRIVES,
    AS_IT_IS,
    BEGINS_THERE,
    COPIED,
    DUE_IN_ORDER,
    FILE_CATCHES_UP,
    GOES_ON,
    IN_ITS_TURN,
    LOST_WITH_POWER,
    ON_ITS_WAY,
    OVERTAKES,
    REPLICA_CATCHES_UP,
    SAVED,
    SAVED_AT_STOP,
)
from .file_steps import (
    COPY_CATCHES_UP,
    COPY_EMPTIED,
    COPY_RENEWED,
    FIRST_WRITE,
    IN_THE_FILE,
    LEFT_BEHIND,
    STARTS_READABLE,
    TORN_IN_A_DEATH,
)
from .offset_steps import (
    COPIED_FROM_THE_MASTER,
    CORRECTED,
    CORRECTED_ONCE,
    EXCUSED,
    GHOST_IN_TURN,
    HELD_UP,
    LAST_SENT,
    LEARNS,
    LOST_IN_A_CORRECTION,
    ON_DISK,
    READ_AS_NONE,
    RESET_IN_TURN,
    TAKEN_BACK,
    TOLD_ONCE,
    WAS_SENT,
)
from .property import Property
from .retry import COMES_TO_REST
from .window_steps import (
    AGAIN,
    ASKED_FIRST,
    BEGINS,
    FIRST_EXPIRES,
    FOLLOWS,
    IN_ORDER,
    LATE_ANSWER,
    LATE_ANSWER_COMES,
    LATE_RETURNS,
    LEAVES_ANSWERED,
    MATCHED_NOTHING,
    MOVES,
    NOTHING_LEFT,
    OVERDUE,
    PART_FAILS,
    PASSED,
    PULLED_IS_THERE,
    PUT,
    REQUEST,
    RETURNS_ONCE,
    WITH_A_PULL,
)

Constants = dict[str, int | str]

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
_STORED = (AFTER_A_FAILURE, ON_ITS_WAY, AS_IT_IS, ARRIVES, GOES_ON)
_ALONE: Constants = {**_ONE, "mode": "broadcasting"}
_TAGS: Constants = {"expression": "Aa", "tags": "Aa,C"}
_WINDOW = (BEGINS, NOTHING_LEFT, MOVES, IN_ORDER, FOLLOWS)
_WINDOWS = (*_WINDOW, WAS_SENT, LAST_SENT)
_LATE_CALLS = (RUNS_ON, COUNTS_FOR_NOTHING, LATE_SENT_BACK)
_GONE = (STOPPED, DIES_WITH_ITS_PROCESS)
_REQUESTS = (*_WINDOWS, REQUEST, LATE_ANSWER)


def claims() -> Iterator[Claim]:
    """All claims about steps of windows, offsets and clients."""
    asked: tuple[tuple[Constants, tuple[Property, ...]], ...] = (
        ({**_WATCHED, "pull_batch": 2, "batch": 2, "moves": 1, "failures": 1}, (*_WINDOWS, PART_FAILS)),
        ({**_WATCHED, "pulls": "fine", "moves": 1}, _REQUESTS),
        ({**_WATCHED, "pulls": "fine", "removals": 1}, (*_REQUESTS, PASSED)),
        ({**_WATCHED, "pulls": "fine", "moves": 1, "broker_restarts": 1}, (LATE_ANSWER,)),
        ({**_ONE, "pulls": "fine", "truncations": 1}, (*_WINDOW, REQUEST, LATE_ANSWER, LEAVES_ANSWERED)),
        ({**_WATCHED, "removals": 1, "moves": 1}, (*_WINDOWS, PASSED)),
        ({**_WATCHED, "retentions": 1, "corrections": "steps"}, (PULLED_IS_THERE, CORRECTED)),
        ({**_ONE, "pulls": "fine", "moves": 1, "crashes": 1, "restarts": 1}, (*_REQUESTS, *_GONE, LATE_ANSWER_COMES)),
        ({**_ONE, "pulls": "fine", "leaves": 1, "crashes": 1}, (*_REQUESTS, *_GONE)),
        ({**_ONE, "pulls": "fine", "pauses": 1, "leaves": 1}, (*_REQUESTS, STANDS_STILL, STOPPED)),
        ({**_ONE, "consumers": 2, "moves": 1, "leaves": 1}, (*_WINDOWS, STOPPED)),
        ({**_ONE, "consumers": 2, "moves": 1, "causes": 1}, (EXCUSED,)),
        ({**_ONE, "moves": 1, "broker_restarts": 1}, (*_WINDOWS, TAKEN_BACK, ON_DISK)),
        ({**_WATCHED, **_OLD, "failed_queries": 1, "moves": 1}, (MOVES, IN_ORDER, READ_AS_NONE)),
        ({**_ONE, "slaves": 1, "fail_overs": 1}, (COPIED_FROM_THE_MASTER,)),
        ({**_WATCHED, "pulls": "fine", "piggyback": 1, "moves": 1}, (*_REQUESTS, WITH_A_PULL)),
        ({**_WATCHED, "late_commits": 1, "moves": 1}, (BEGINS, WAS_SENT, HELD_UP, LAST_SENT)),
        ({**_WATCHED, "truncations": 1, "corrections": "steps", "moves": 1}, (*_WINDOWS, CORRECTED)),
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
            (WAS_SENT, CORRECTED, CORRECTED_ONCE, HELD_UP),
        ),
        (
            {**_ONE, "resets": 1, "corrections": "steps", "piggyback": 1, "moves": 1},
            (*_WINDOWS, CORRECTED, LEARNS, TOLD_ONCE, LOST_IN_A_CORRECTION),
        ),
        ({**_ONE, "resets": 1, "corrections": "steps", "pulls": "fine"}, (*_REQUESTS, CORRECTED, LEARNS, TOLD_ONCE)),
        (
            {**_ONE, **_OLD, "resets": 1, "pulls": "fine", "moves": 1},
            (REQUEST, LATE_ANSWER, RESET_IN_TURN, GHOST_IN_TURN),
        ),
        (
            {**_ONE, "queues": 2, "group": "scaled", "arriving": 1, "head_in_memory": 1, "starts": "steps"},
            (ASKED_FIRST,),
        ),
        ({**_ONE, "group": "new", "starts": "steps", "crashes": 1, "restarts": 1}, (ASKED_FIRST, *_GONE)),
        ({**_WATCHED, "expression": "C", "tags": "C,Aa", "moves": 1}, (*_WINDOWS, PUT, MATCHED_NOTHING)),
        ({**_WATCHED, "expression": "Aa", "tags": "BB,Aa", "moves": 1}, (*_WINDOWS, PUT, MATCHED_NOTHING)),
        ({**_ONE, **_TAGS, "consumers": 2, "other_expression": "C"}, (ANNOUNCES, SETTLED)),
        (
            {**_ONE, **_TAGS, "consumers": 2, "next_expression": "C", "crashes": 1, "restarts": 1},
            (ANNOUNCES, SETTLED, STOPPED),
        ),
        ({**_CHAIN, "failures": 2, "refusals": 1}, (*_WINDOWS, AGAIN)),
        ({**_CHAIN, "retry_queues": 0}, (NOTHING_LEFT, IN_ORDER)),
        ({**_CHAIN, "expiries": 1, "crashes": 1}, (OVERDUE, RETURNS_ONCE, WAS_SENT, DIES_WITH_ITS_PROCESS)),
        ({**_CHAIN, "messages": 3, "expiries": 1}, (OVERDUE, FIRST_EXPIRES)),
        ({**_SENT_BACK, "expiries": 1}, (LATE_RETURNS,)),
        ({**_ALONE, "messages": 2, "moves": 1}, (*_WINDOW, IN_THE_FILE)),
        ({"mode": "broadcasting", "messages": 1, "consumers": 1, "torn_writes": 1}, (FIRST_WRITE,)),
        (
            {**_ALONE, "crashes": 1, "restarts": 1, "leaves": 1, "pauses": 1},
            (*_WINDOW, STOPPED, STANDS_STILL, IN_THE_FILE),
        ),
        ({**_ALONE, "crashes": 1, "restarts": 1, "lost_files": 1}, (IN_THE_FILE, LEFT_BEHIND)),
        (
            {**_ALONE, "restarts": 2, "torn_writes": 2},
            (TORN_IN_A_DEATH, STARTS_READABLE, COPY_EMPTIED, COPY_RENEWED, COPY_CATCHES_UP),
        ),
        (
            {**_ONE, "moves": 1, "orphans": 1, "failures": 1, "crashes": 1},
            (*_LATE_CALLS, HANDLED_BY_A_CALL, DONE_FOR_NOTHING, FAILED_FOR_NOTHING, DIES_WITH_ITS_PROCESS),
        ),
        ({**_SENT_BACK, "moves": 1, "orphans": 1}, (LATE_SENT_BACK,)),
        ({**_ONE, **_OLD, "resets": 1, "held_updates": 1, "crashes": 1}, (GHOST_IN_TURN, DIES_WITH_ITS_PROCESS)),
        ({**_ONE, "moves": 1, "held_updates": 1, "crashes": 1}, (HELD_IN_TURN, FORGOTTEN, DIES_WITH_ITS_PROCESS)),
        (
            {**_WATCHED, "pull_batch": 2, "batch": 2, "moves": 1, "hangs": 1, "crashes": 1},
            (*_WINDOW, HANGS, DIES_WITH_ITS_PROCESS),
        ),
        (_COPIES, _STORED),
        ({**_COPIES, "messages": 4, "attempts": 1, "pull_batch": 2}, (*_STORED, DUE_IN_ORDER)),
        ({**_CHAIN, "listener_level": 1}, (ON_ITS_WAY, ARRIVES)),
        ({**_SENT_BACK, "listener_level": 1}, (COMES_TO_REST,)),
        (
            {**_SENT_BACK, "messages": 4, "retry_room": 2, "copies": 3, "failures": 3, "attempts": 2},
            (OVERTAKES,),
        ),
        ({**_COPIES, **_OLD, "refused": 2, "attempts": 1}, _STORED),
        ({**_COPIES, "unsure_puts": 1}, (*_STORED, IN_ITS_TURN)),
        ({**_COPIES, "unreadable": 1}, _STORED),
        ({**_COPIES, "broker_crashes": 1, "attempts": 1}, (*_STORED, SAVED)),
        ({**_COPIES, "broker_stops": 1}, (*_STORED, SAVED, SAVED_AT_STOP)),
        ({**_SENT_BACK, "levels": 3, "broker_stops": 1}, (FILE_CATCHES_UP,)),
        ({**_SENT_BACK, "levels": 3, "promotions": 1}, (REPLICA_CATCHES_UP,)),
        ({**_COPIES, "power_losses": 1, "watch_retries": 1}, (*_STORED, SAVED, LOST_WITH_POWER)),
        ({**_COPIES, "promotions": 1, "attempts": 1}, (*_STORED, SAVED, COPIED, BEGINS_THERE)),
        ({**_COPIES, "refused": 1, "lost_replies": 1, "attempts": 1, "repeated_fallbacks": 1}, _STORED),
    )
    yield from claims_of(consumption, asked)
