"""Long polling: why pulling is prompt, what makes it less so, and how queues that share a thread affect each other."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.consume_queue import Message
from ..model.kernel import BoolLike, all_of, any_of, implies, not_, same
from ..model.long_polling import LongPollingState, Request, behind, hold_time, long_polling, wanted
from ..model.route import Queue
from .claim import Claim, Constants, claims_of
from .property import Property, always, eventually
from .verdict import Verdict


@always("message-wakes-held-request", "PL-22")
def wakes(s: LongPollingState, q: Queue) -> BoolLike:
    """A message that arrives while a request is held is pulled at once, not only when the broker checks its requests
    next.
    """
    return any_of(s.late[q] == 0, s.passed[q])


@always("message-never-waits", "PL-22")
def at_once(s: LongPollingState, q: Queue) -> BoolLike:
    """A message that the client wants, and has room for, never has to wait."""
    return s.late[q] == 0


@always("message-waits-one-round-at-most", "PL-22")
def one_round(s: LongPollingState, q: Queue) -> BoolLike:
    """A request is not held for its whole time while there is a message for it: the broker's next check finds it."""
    return s.late[q] <= 1


@always("held-request-is-answered-in-time", "PL-13", "PL-22")
def in_time(s: LongPollingState, q: Queue) -> BoolLike:
    """The broker answers a request that it holds before the client gives up on it."""
    return s.sent[q] < s.patience


@always("request-is-held-for-its-time", "PL-22")
def no_longer(s: LongPollingState, q: Queue) -> BoolLike:
    """A request is held for its time, and for less than one round of checks longer."""
    return s.sent[q] <= hold_time(s.constants) + 1


@always("empty-answer-takes-its-time", "PL-22")
def not_early(s: LongPollingState, q: Queue) -> BoolLike:
    """A broker that has nothing answers when the time of the request is up, and not before: idle clients do not pull in
    a busy loop.
    """
    return implies(s.request[q] == Request.NOTHING, s.held[q] > hold_time(s.constants))


@always("client-holds-what-was-stored", "PL-23")
def pulled_is_stored(s: LongPollingState, q: Queue) -> BoolLike:
    """A client holds messages that were pulled, and has pulled no more than was stored."""
    return all_of(s.window[q] <= s.position[q], s.position[q] <= s.stored[q])


@always("window-exceeds-its-threshold-by-one-pull", "PL-7")
def cache_is_bounded(s: LongPollingState, q: Queue) -> BoolLike:
    """Flow control is checked before a pull, so a window holds at most one pull more than its threshold."""
    return s.window[q] <= s.cache + 1


@always("other-tags-stay-at-the-broker", "PL-23")
def no_other_tags(s: LongPollingState, q: Queue) -> BoolLike:
    """Messages with a tag that the client does not want are stored like others, and never reach it."""
    return all_of(
        s.window[q] <= s.count(Message, lambda m: all_of(m < s.position[q], wanted(s, q, m))),
        s.forall(Message, lambda m: any_of(wanted(s, q, m), m < s.stored[q])),
    )


@always("one-pull-step-at-a-time", "PL-1")
def one_step(s: LongPollingState) -> BoolLike:
    """One thread pulls for all queues, one after the other."""
    return s.count(Queue, lambda q: s.request[q] == Request.STEP) <= 1


@always("thread-hangs-in-a-step", "PL-1")
def hangs_in_a_step(s: LongPollingState) -> BoolLike:
    """The pull thread hangs only while it works on the request of a queue."""
    return implies(s.hung, s.request[0] == Request.STEP)


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


@always("request-goes-from-hand-to-hand", "PL-1", "PL-7", "PL-22")
def handed_on(s: LongPollingState, q: Queue) -> BoolLike:
    """The request of a queue goes from the pull thread to the broker and back, or to a timer and back: only that thread
    sends or postpones it, and the broker holds nothing before it has looked.
    """
    was, now = s.was.request[q], s.request[q]
    handed = [all_of(was == giver, now == taker) for giver, takers in _HANDS.items() for taker in takers]
    return any_of(same(was, now), *handed)


def _holds_elsewhere(s: LongPollingState) -> BoolLike:
    return s.exists(Queue, lambda q: all_of(q > 0, s.request[q] == Request.HELD))


@eventually("held-request-ends", "PL-22", after=_holds_elsewhere)
def held_ends(s: LongPollingState) -> BoolLike:
    """The broker answers what it holds for other queues, whatever hangs at the client."""
    return not_(_holds_elsewhere(s))


@eventually("window-empties", "PL-23", after=lambda s: s.exists(Queue, lambda q: s.window[q] > 0))
def handled(s: LongPollingState) -> BoolLike:
    """What a client has pulled is handled, where listeners end."""
    return s.forall(Queue, lambda q: s.window[q] == 0)


@eventually(
    "stored-message-reaches-the-client",
    "PL-1",
    "PL-22",
    "PL-23",
    after=lambda s: s.exists(Queue, lambda q: behind(s, q)),
)
def arrives(s: LongPollingState) -> BoolLike:
    """A message that is stored reaches the client, or is passed over because of its tag."""
    return s.forall(Queue, lambda q: s.position[q] == s.stored[q])


def _behind_elsewhere(s: LongPollingState) -> BoolLike:
    return s.exists(Queue, lambda q: all_of(q > 0, behind(s, q)))


@eventually("one-queue-delays-no-other", "PL-1", "PL-7", after=_behind_elsewhere)
def others_go_on(s: LongPollingState) -> BoolLike:
    """Messages of other queues reach the client, whatever becomes of the pulls of q0."""
    return s.forall(Queue, lambda q: any_of(q == 0, s.position[q] == s.stored[q]))


TAGS: Constants = {"others": 1}
SHORT: Constants = {"polling": "short"}
SHARED: Constants = {"queues": 2, "messages": 1}
FULL: Constants = {"queues": 2, "messages": 1, "cache": 0, "listener": "hangs-on-q0"}
STUCK: Constants = {"queues": 2, "messages": 1, "hangs": 1}
STUCK_FOR_EVER: Constants = {**STUCK, "hang": "for-ever"}

_CLAIMED: tuple[tuple[Constants, tuple[Property, ...]], ...] = (
    ({}, (wakes, one_round, in_time, no_longer, not_early, pulled_is_stored, arrives, handled)),
    ({"messages": 3, "cache": 1}, (cache_is_bounded, wakes, arrives)),
    ({**TAGS, "cache": 0, "watch_steps": 1}, (handed_on,)),
    (TAGS, (wakes, one_round, in_time, not_early, no_other_tags, arrives)),
    (SHORT, (one_round, in_time, no_longer, not_early, arrives)),
    (SHARED, (one_step, wakes, arrives)),
    (FULL, (others_go_on, cache_is_bounded, wakes)),
    ({**FULL, "messages": 2}, (others_go_on,)),
    (STUCK, (one_step, hangs_in_a_step, wakes, arrives)),
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
        arrives,
        {**FULL, "messages": 2},
        "A listener that hangs stops the pulls of its queue: the window stays full.",
    ),
    (
        others_go_on,
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
    yield Claim(property=held_ends, machine=long_polling, constants=STUCK_FOR_EVER)
    for property, constants, lesson in _FALSE:
        yield Claim(
            property=property, machine=long_polling, constants=constants, expected=Verdict.VIOLATED, lesson=lesson
        )
