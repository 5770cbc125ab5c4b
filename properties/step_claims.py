"""Where properties of single steps are claimed of windows, offsets and clients: small configurations that remember."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.consumption import consumption
from .claim import Claim, claims_of
from .client_steps import ANNOUNCES, STANDS_STILL, STOPPED
from .copy_steps import ARRIVES, AS_IT_IS, BEGINS_THERE, COPIED, GOES_ON, ON_ITS_WAY, SAVED
from .offset_steps import (
    CORRECTED,
    CORRECTED_ONCE,
    FIRST_WRITE,
    HELD_UP,
    IN_THE_FILE,
    LAST_SENT,
    LEARNS,
    ON_DISK,
    RESET_IN_TURN,
    TAKEN_BACK,
    TOLD_ONCE,
    WAS_SENT,
)
from .property import Property
from .window_steps import (
    AGAIN,
    ASKED_FIRST,
    BEGINS,
    FOLLOWS,
    IN_ORDER,
    LATE_ANSWER,
    LATE_RETURNS,
    MOVES,
    NOTHING_LEFT,
    OVERDUE,
    PART_FAILS,
    PASSED,
    PUT,
    REQUEST,
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
_STORED = (ON_ITS_WAY, AS_IT_IS, ARRIVES, GOES_ON)
_ALONE: Constants = {**_ONE, "mode": "broadcasting"}
_TAGS: Constants = {"expression": "Aa", "tags": "Aa,C"}
_WINDOW = (BEGINS, NOTHING_LEFT, MOVES, IN_ORDER, FOLLOWS)
_WINDOWS = (*_WINDOW, WAS_SENT, LAST_SENT)
_REQUESTS = (*_WINDOWS, REQUEST, LATE_ANSWER)


def claims() -> Iterator[Claim]:
    """All claims about steps of windows, offsets and clients."""
    asked: tuple[tuple[Constants, tuple[Property, ...]], ...] = (
        ({**_WATCHED, "pull_batch": 2, "batch": 2, "moves": 1, "failures": 1}, (*_WINDOWS, PART_FAILS)),
        ({**_WATCHED, "pulls": "fine", "moves": 1}, _REQUESTS),
        ({**_WATCHED, "pulls": "fine", "removals": 1}, (*_REQUESTS, PASSED)),
        ({**_WATCHED, "removals": 1, "moves": 1}, (*_WINDOWS, PASSED)),
        ({**_ONE, "pulls": "fine", "moves": 1, "crashes": 1, "restarts": 1}, (*_REQUESTS, STOPPED)),
        ({**_ONE, "pulls": "fine", "leaves": 1, "crashes": 1}, (*_REQUESTS, STOPPED)),
        ({**_ONE, "pulls": "fine", "pauses": 1, "leaves": 1}, (*_REQUESTS, STANDS_STILL, STOPPED)),
        ({**_ONE, "consumers": 2, "moves": 1, "leaves": 1}, (*_WINDOWS, STOPPED)),
        ({**_ONE, "moves": 1, "broker_restarts": 1}, (*_WINDOWS, TAKEN_BACK, ON_DISK)),
        ({**_WATCHED, "pulls": "fine", "piggyback": 1, "moves": 1}, (*_REQUESTS, WITH_A_PULL)),
        ({**_WATCHED, "late_commits": 1, "moves": 1}, (BEGINS, WAS_SENT, HELD_UP)),
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
            (*_WINDOWS, CORRECTED, LEARNS, TOLD_ONCE),
        ),
        ({**_ONE, "resets": 1, "corrections": "steps", "pulls": "fine"}, (*_REQUESTS, CORRECTED, LEARNS, TOLD_ONCE)),
        ({**_ONE, **_OLD, "resets": 1, "pulls": "fine", "moves": 1}, (REQUEST, LATE_ANSWER, RESET_IN_TURN)),
        (
            {**_ONE, "queues": 2, "group": "scaled", "arriving": 1, "head_in_memory": 1, "starts": "steps"},
            (ASKED_FIRST,),
        ),
        ({**_ONE, "group": "new", "starts": "steps", "crashes": 1, "restarts": 1}, (ASKED_FIRST, STOPPED)),
        ({**_WATCHED, "expression": "C", "tags": "C,Aa", "moves": 1}, (*_WINDOWS, PUT)),
        ({**_WATCHED, "expression": "Aa", "tags": "BB,Aa", "moves": 1}, (*_WINDOWS, PUT)),
        ({**_ONE, **_TAGS, "consumers": 2, "other_expression": "C"}, (ANNOUNCES,)),
        (
            {**_ONE, **_TAGS, "consumers": 2, "next_expression": "C", "crashes": 1, "restarts": 1},
            (ANNOUNCES, STOPPED),
        ),
        ({**_CHAIN, "failures": 2, "refusals": 1}, (*_WINDOWS, AGAIN)),
        ({**_CHAIN, "expiries": 1}, (OVERDUE, WAS_SENT)),
        ({**_SENT_BACK, "expiries": 1}, (LATE_RETURNS,)),
        ({**_ALONE, "messages": 2, "moves": 1}, (*_WINDOW, IN_THE_FILE)),
        ({"mode": "broadcasting", "messages": 1, "consumers": 1, "torn_writes": 1}, (FIRST_WRITE,)),
        (
            {**_ALONE, "crashes": 1, "restarts": 1, "leaves": 1, "pauses": 1},
            (*_WINDOW, STOPPED, STANDS_STILL, IN_THE_FILE),
        ),
        (_COPIES, _STORED),
        ({**_COPIES, "messages": 4, "attempts": 1}, _STORED),
        ({**_COPIES, **_OLD, "refused": 2, "attempts": 1}, _STORED),
        ({**_COPIES, "unsure_puts": 1}, _STORED),
        ({**_COPIES, "unreadable": 1}, _STORED),
        ({**_COPIES, "broker_crashes": 1}, (*_STORED, SAVED)),
        ({**_COPIES, "broker_stops": 1}, (*_STORED, SAVED)),
        ({**_COPIES, "power_losses": 1, "watch_retries": 1}, (*_STORED, SAVED)),
        ({**_COPIES, "promotions": 1}, (*_STORED, SAVED, COPIED, BEGINS_THERE)),
        ({**_COPIES, "refused": 1, "lost_replies": 1, "attempts": 1}, _STORED),
    )
    yield from claims_of(consumption, asked)
