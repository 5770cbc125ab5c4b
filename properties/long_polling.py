"""Long polling: why pulling is prompt, what makes it less so, and how queues that share a thread affect each other."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.consume_queue import Message
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, not_, same
from ..model.long_polling import LongPollingState, Request, behind, hold_time, long_polling, wanted
from ..model.route import Queue
from .claim import Claim, Constants, claims_of
from .of_each import always
from .property import Kind, Property
from .verdict import Verdict

_always = always(Queue)


@_always("message-wakes-held-request", "PL-22")
def wakes(s: LongPollingState, q: IntLike) -> BoolLike:
    """A message that arrives while a request is held is pulled at once, not only when the broker checks its requests
    next.
    """
    return any_of(s.late[q] == 0, s.passed[q])


@_always("message-never-waits", "PL-22")
def at_once(s: LongPollingState, q: IntLike) -> BoolLike:
    """A message that the client wants, and has room for, never has to wait."""
    return s.late[q] == 0


@_always("message-waits-one-round-at-most", "PL-22")
def one_round(s: LongPollingState, q: IntLike) -> BoolLike:
    """A request is not held for its whole time while there is a message for it: the broker's next check finds it."""
    return s.late[q] <= 1


@_always("held-request-is-answered-in-time", "PL-13", "PL-22")
def in_time(s: LongPollingState, q: IntLike) -> BoolLike:
    """The broker answers a request that it holds before the client gives up on it."""
    return s.sent[q] < s.patience


@_always("request-is-held-for-its-time", "PL-22")
def no_longer(s: LongPollingState, q: IntLike) -> BoolLike:
    """A request is held for its time, and for less than one round of checks longer."""
    return s.sent[q] <= hold_time(s.constants) + 1


@_always("empty-answer-takes-its-time", "PL-22")
def not_early(s: LongPollingState, q: IntLike) -> BoolLike:
    """A broker that has nothing answers when the time of the request is up, and not before: idle clients do not pull in
    a busy loop.
    """
    return implies(s.request[q] == Request.NOTHING, s.held[q] > hold_time(s.constants))


@_always("client-holds-what-was-stored", "PL-23")
def pulled_is_stored(s: LongPollingState, q: IntLike) -> BoolLike:
    """A client holds messages that were pulled, and has pulled no more than was stored."""
    return all_of(s.window[q] <= s.position[q], s.position[q] <= s.stored[q])


@_always("window-exceeds-its-threshold-by-one-pull", "PL-7")
def cache_is_bounded(s: LongPollingState, q: IntLike) -> BoolLike:
    """Flow control is checked before a pull, so a window holds at most one pull more than its threshold."""
    return s.window[q] <= s.cache + 1


@_always("other-tags-stay-at-the-broker", "PL-23")
def no_other_tags(s: LongPollingState, q: IntLike) -> BoolLike:
    """Messages with a tag that the client does not want are stored like others, and never reach it."""
    return all_of(
        s.window[q] <= s.count(Message, lambda m: all_of(m < s.position[q], wanted(s, q, m))),
        s.forall(Message, lambda m: any_of(wanted(s, q, m), m < s.stored[q])),
    )


ONE_STEP = Property[LongPollingState](
    id="one-pull-step-at-a-time",
    statement="One thread pulls for all queues, one after the other.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.count(Queue, lambda q: s.request[q] == Request.STEP) <= 1,
    rules=("PL-1",),
)
HANGS_IN_A_STEP = Property[LongPollingState](
    id="thread-hangs-in-a-step",
    statement="The pull thread hangs only while it works on the request of a queue.",
    kind=Kind.ALWAYS,
    holds=lambda s: implies(s.hung, s.request[0] == Request.STEP),
    rules=("PL-1",),
)

_HANDS = {
    Request.WAITING: (Request.STEP,),
    Request.STEP: (Request.SENT, Request.LATER),
    Request.LATER: (Request.WAITING,),
    Request.SENT: (Request.LOOKED, Request.FOUND, Request.FILTERED),
    Request.LOOKED: (Request.HELD,),
    Request.HELD: (Request.WOKEN,),
    Request.WOKEN: (Request.FOUND, Request.FILTERED, Request.NOTHING),
    Request.FOUND: (Request.WAITING,),
    Request.FILTERED: (Request.WAITING,),
    Request.NOTHING: (Request.WAITING,),
}
"""Who may hold a request next."""


@_always("request-goes-from-hand-to-hand", "PL-1", "PL-7", "PL-22")
def handed_on(s: LongPollingState, q: IntLike) -> BoolLike:
    """The request of a queue goes from the pull thread to the broker and back, or to a timer and back: only that thread
    sends or postpones it, and the broker holds nothing before it has looked.
    """
    was, now = s.was.request[q], s.request[q]
    handed = [all_of(was == giver, now == taker) for giver, takers in _HANDS.items() for taker in takers]
    return any_of(same(was, now), *handed)


def _holds_elsewhere(s: LongPollingState) -> BoolLike:
    return s.exists(Queue, lambda q: all_of(q > 0, s.request[q] == Request.HELD))


HELD_ENDS = Property[LongPollingState](
    id="held-request-ends",
    statement="The broker answers what it holds for other queues, whatever hangs at the client.",
    kind=Kind.EVENTUALLY,
    after=_holds_elsewhere,
    holds=lambda s: not_(_holds_elsewhere(s)),
    rules=("PL-22",),
)
HANDLED = Property[LongPollingState](
    id="window-empties",
    statement="What a client has pulled is handled, where listeners end.",
    kind=Kind.EVENTUALLY,
    after=lambda s: s.exists(Queue, lambda q: s.window[q] > 0),
    holds=lambda s: s.forall(Queue, lambda q: s.window[q] == 0),
    rules=("PL-23",),
)
ARRIVES = Property[LongPollingState](
    id="stored-message-reaches-the-client",
    statement="A message that is stored reaches the client, or is passed over because of its tag.",
    kind=Kind.EVENTUALLY,
    after=lambda s: s.exists(Queue, lambda q: behind(s, q)),
    holds=lambda s: s.forall(Queue, lambda q: s.position[q] == s.stored[q]),
    rules=("PL-1", "PL-22", "PL-23"),
)


def _behind_elsewhere(s: LongPollingState) -> BoolLike:
    return s.exists(Queue, lambda q: all_of(q > 0, behind(s, q)))


OTHERS_GO_ON = Property[LongPollingState](
    id="one-queue-delays-no-other",
    statement="Messages of other queues reach the client, whatever becomes of the pulls of q0.",
    kind=Kind.EVENTUALLY,
    after=_behind_elsewhere,
    holds=lambda s: s.forall(Queue, lambda q: any_of(q == 0, s.position[q] == s.stored[q])),
    rules=("PL-1", "PL-7"),
)

TAGS: Constants = {"others": 1}
SHORT: Constants = {"polling": "short"}
SHARED: Constants = {"queues": 2, "messages": 1}
FULL: Constants = {"queues": 2, "messages": 1, "cache": 0, "listener": "hangs-on-q0"}
STUCK: Constants = {"queues": 2, "messages": 1, "hangs": 1}
STUCK_FOR_EVER: Constants = {**STUCK, "hang": "for-ever"}

_CLAIMED: tuple[tuple[Constants, tuple[Property, ...]], ...] = (
    ({}, (wakes, one_round, in_time, no_longer, not_early, pulled_is_stored, ARRIVES, HANDLED)),
    ({"messages": 3, "cache": 1}, (cache_is_bounded, wakes, ARRIVES)),
    ({**TAGS, "cache": 0, "watch_steps": 1}, (handed_on,)),
    (TAGS, (wakes, one_round, in_time, not_early, no_other_tags, ARRIVES)),
    (SHORT, (one_round, in_time, no_longer, not_early, ARRIVES)),
    (SHARED, (ONE_STEP, wakes, ARRIVES)),
    (FULL, (OTHERS_GO_ON, cache_is_bounded, wakes)),
    ({**FULL, "messages": 2}, (OTHERS_GO_ON,)),
    (STUCK, (ONE_STEP, HANGS_IN_A_STEP, wakes, ARRIVES)),
)
_FALSE: tuple[tuple[Property, Constants, str], ...] = (
    (
        at_once,
        {},
        (
            "A message that arrives after the broker has looked, and before it holds the request, wakes nobody: it "
            "waits for the next check, up to 5 s."
        ),
    ),
    (wakes, SHORT, "With short polling, a message wakes nobody: it waits for the next check, up to a second."),
    (
        ARRIVES,
        {**FULL, "messages": 2},
        "A listener that hangs stops the pulls of its queue: the window stays full.",
    ),
    (
        OTHERS_GO_ON,
        STUCK_FOR_EVER,
        (
            "One thread sends the pulls of all queues: a step that hangs for one queue holds up all of them, which "
            "a full window does not."
        ),
    ),
)


def claims() -> Iterator[Claim]:
    """All claims about long polling, naive ones last."""
    yield from claims_of(long_polling, _CLAIMED)
    yield Claim(property=HELD_ENDS, machine=long_polling, constants=STUCK_FOR_EVER)
    for property, constants, lesson in _FALSE:
        yield Claim(
            property=property, machine=long_polling, constants=constants, expected=Verdict.VIOLATED, lesson=lesson
        )
