"""The exercise of each lesson, by the name of the lesson."""

from __future__ import annotations

from ..model.consumption import consumption
from ..model.group import GroupState
from ..model.kernel import BoolLike, IntLike, all_of, not_
from ..properties.broadcast import was_called
from ..properties.delivery import claims as delivery_claims
from ..properties.delivery import waits_at_broker
from ..properties.filtering import claims as filtering_claims
from ..properties.orderly import one_orderly_listener
from ..properties.retry import claims as retry_claims
from ..properties.verdict import Verdict
from .exercises import Change, Constants, Exercise, Killer, Situation, Strategy, property_of
from .words import Consumer, Message, Queue, Stage

_DELIVERY = tuple(delivery_claims())
_RETRY = tuple(retry_claims())
_FILTERING = tuple(filtering_claims())

_RETRIES: Constants = {"consumers": 1, "queues": 2, "messages": 3, "retry_room": 2, "copies": 3, "failures": 3}


def _twice_at_work(s: GroupState) -> BoolLike:
    topic, retry = 0, 1
    overdue = s.exists(Consumer, lambda c: s.exists(Message, lambda m: s.overdue[c, topic, m]))
    copy = s.exists(Consumer, lambda c: s.exists(Message, lambda m: s.stage[c, retry, m] == Stage.RUNNING))
    return all_of(overdue, copy)


def _done_again(s: GroupState) -> BoolLike:
    def runs(q: IntLike, m: IntLike) -> BoolLike:
        return s.exists(Consumer, lambda c: s.stage[c, q, m] == Stage.RUNNING)

    return s.exists(Queue, lambda q: s.exists(Message, lambda m: all_of(s.handled[q, m], runs(q, m))))


def _would_go_back(s: GroupState) -> BoolLike:
    return s.exists(
        Consumer,
        lambda c: s.exists(Queue, lambda q: all_of(s.owns[c, q], 0 <= s.memory[c, q], s.memory[c, q] < s.committed[q])),
    )


def _left_out(s: GroupState) -> BoolLike:
    def passed(c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
        return all_of(m < s.file[c, q], not_(was_called(s, c, q, m)))

    return s.exists(Consumer, lambda c: s.exists(Queue, lambda q: s.exists(Message, lambda m: passed(c, q, m))))


EXERCISES: dict[str, Exercise] = {
    "push-is-pull": Situation(
        name="parked",
        machine=consumption,
        constants={"pulls": "fine", "messages": 1, "arriving": 1, "consumers": 1, "moves": 1},
        larger=({"consumers": 2, "queues": 2, "moves": 0},),
        meant=waits_at_broker.holds,
    ),
    "slow-listener": Situation(
        name="twice_at_work",
        machine=consumption,
        constants={**_RETRIES, "attempts": 2, "expiries": 1},
        larger=({"consumers": 2, "failures": 1},),
        meant=_twice_at_work,
    ),
    "success-or-later": Change(
        name="sent_back",
        machine=consumption,
        constants={"consumers": 1, "failures": 1, "pull_batch": 2, "causes": 1},
        larger={"queues": 2},
        expected=(
            (property_of(_DELIVERY, "sent-back-only-after-failing"), Verdict.VIOLATED),
            (property_of(_DELIVERY, "at-least-once"), Verdict.HOLDS),
        ),
        meant=lambda s, c, q, first, m: s.stage[c, q, m] != Stage.ABSENT,
    ),
    "idempotence": Situation(
        name="done_again",
        machine=consumption,
        constants={"messages": 1, "moves": 1, "crashes": 1},
        larger=({"messages": 2, "queues": 2, "crashes": 0},),
        meant=_done_again,
    ),
    "retry-and-dead-letter": Change(
        name="dead_letter_level",
        machine=consumption,
        constants={**_RETRIES, "watch_retries": 1},
        larger={"attempts": 2, "levels": 6},
        expected=(
            (property_of(_RETRY, "dead-letter-at-once"), Verdict.VIOLATED),
            (property_of(_RETRY, "attempts-exactly-the-maximum"), Verdict.HOLDS),
        ),
        meant=lambda s, level: level,
    ),
    "sorted-views": Strategy(),
    "low-water-mark": Change(
        name="low_water_mark",
        machine=consumption,
        constants={"messages": 2, "consumers": 1, "causes": 1},
        larger={"queues": 2},
        expected=((property_of(_DELIVERY, "offset-never-past-unfinished"), Verdict.VIOLATED),),
        meant=lambda s, c, q, finished: s.next_offset[c, q],
    ),
    "scaling": Strategy(laws=("joiner-only-takes",), everybody=True),
    "orderly": Situation(
        name="two_listeners",
        machine=consumption,
        constants={
            "listener": "orderly",
            "client_window": 1,
            "broker_window": 2,
            "call": 1,
            "unlock_delay": 1,
            "messages": 1,
            "orphans": 1,
            "lock_losses": 1,
        },
        larger=({"queues": 2, "orphans": 0}, {"consumers": 3, "orphans": 0}),
        meant=lambda s: not_(one_orderly_listener.holds(s)),
    ),
    "offsets": Situation(
        name="would_go_back",
        machine=consumption,
        constants={"messages": 2, "moves": 1, "held_updates": 1},
        larger=({"messages": 1, "queues": 2},),
        meant=_would_go_back,
    ),
    "broadcasting": Situation(
        name="left_out",
        machine=consumption,
        constants={
            "mode": "broadcasting",
            "messages": 2,
            "watch_clients": 1,
            "consumers": 1,
            "arriving": 2,
            "group": "new",
            "failures": 1,
            "crashes": 1,
            "restarts": 1,
        },
        larger=({"consumers": 2, "queues": 2, "messages": 1, "arriving": 1, "crashes": 0, "restarts": 0},),
        meant=_left_out,
    ),
    "tags": Change(
        name="client_keeps",
        machine=consumption,
        constants={"messages": 2, "expression": "Aa", "tags": "Aa,BB"},
        larger={"queues": 2, "consumers": 1},
        expected=((property_of(_FILTERING, "unasked-never-delivered"), Verdict.VIOLATED),),
        meant=lambda s, c, q, m: True,
    ),
    "incident": Killer(
        name="safe",
        machine=consumption,
        constants={"listener": "orderly", "pulls": "fine", "messages": 1, "consumers": 1},
        larger={"messages": 2, "queues": 2},
        mutant="B7",
    ),
    "property-and-mutant": Killer(
        name="nothing_lost",
        machine=consumption,
        constants={"consumers": 1, "failures": 1, "refusals": 1, "messages": 2},
        larger={"queues": 2},
        mutant="D1",
    ),
}
