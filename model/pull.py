"""Pull: the client asks, the broker answers, and each window has one request under way (section 4 of the rules).

With ``pulls=whole`` asking and answering are one step. With ``pulls=fine`` the request is under way for a while, as
long as the broker pleases (long polling, PL-22); the window may be dropped and opened again meanwhile, and then the
answer belongs to a dead one (PL-24).
"""

from __future__ import annotations

from .consume_queue import Message, end, start
from .history import Cause
from .kernel import BoolLike, Constants, Int, IntLike, Machine, State, all_of, any_of, ite, maximum, minimum, not_, same
from .membership import Consumer
from .process_queue import NO_OFFSET, Stage, held, may_pull, reaches_broker, window_empty, working
from .queue_table import Leaving, change_table, nothing
from .rebalance import Queue
from .tags import filtered

pull_loop = Machine("pull", doc="Pulling: requests, answers, flow control, corrected offsets.")
pull_loop.constant("pulls", "whole", choices=("whole", "fine"), doc="grain: fine lets a request be under way")
pull_loop.constant("pull_batch", 1, low=1, high=8, doc="pullBatchSize: most messages of one answer")
pull_loop.constant("threshold", 0, high=16, doc="pullThresholdForQueue: most messages cached before a pull; 0 is none")
pull_loop.constant("span", 0, high=16, doc="consumeConcurrentlyMaxSpan before a pull; 0 is none")


def _fine(k: Constants) -> bool:
    return bool(k.pulls == "fine")


def _whole(k: Constants) -> bool:
    return not _fine(k)


def _moves(k: Constants) -> bool:
    """Whether the log can end before, or begin after, the position of a window."""
    return bool(k.retentions + k.truncations > 0)


pull_loop.variable("asked", bool, Consumer, Queue, when=_fine, doc="a request of this window is under way")
pull_loop.variable(
    "stale",
    Int(NO_OFFSET, "messages"),
    Consumer,
    Queue,
    when=_fine,
    doc="position of a dead window's request; -1: none",
)
pull_loop.variable("stale_empty", bool, Consumer, Queue, when=_fine, doc="that dead window held no message")


@pull_loop.definition
def cached(s: State, c: IntLike, q: IntLike) -> IntLike:
    """PL-7: the number of messages in the window, as its counter says (PQ-8)."""
    return s.count(Message, lambda m: held(s, c, q, m))


def flow_allows(s: State, c: IntLike, q: IntLike) -> BoolLike:
    """PL-7, PL-9: neither too many messages cached, nor too large a span (``DefaultMQPushConsumerImpl``)."""
    few = cached(s, c, q) <= s.threshold if s.threshold else True
    near = _span(s, c, q) <= s.span if s.span and s.listener == "concurrently" else True
    return all_of(few, near)


def _span(s: State, c: IntLike, q: IntLike) -> IntLike:
    first = s.least(Message, lambda m: held(s, c, q, m), default=0)
    last = s.least(
        Message,
        lambda m: all_of(held(s, c, q, m), s.forall(Message, lambda o: any_of(o <= m, not_(held(s, c, q, o))))),
        default=0,
    )
    return last - first


@pull_loop.definition
def subscription_known(s: State, c: IntLike) -> BoolLike:
    """PL-16: whether the broker answers ``c``, or refuses with SUBSCRIPTION_NOT_LATEST and is asked again."""
    return True


def asks(s: State, c: IntLike, q: IntLike) -> BoolLike:
    """PL-3 … PL-10: whether the pull thread sends a request for the window."""
    return all_of(
        working(s, c),
        s.owns[c, q],
        may_pull(s, c, q),
        flow_allows(s, c, q),
        subscription_known(s, c),
        reaches_broker(s, c, q),
    )


def inside(s: State, q: IntLike, offset: IntLike) -> BoolLike:
    """PL-19: whether there is a message at ``offset``."""
    return all_of(start(s, q) <= offset, offset < end(s, q))


def put(s: State, c: IntLike, q: IntLike) -> None:
    """PL-23 FOUND, PQ-1: the messages from the pull position on go into the window; the position moves behind them."""
    first = s.next_offset[c, q]
    after = minimum(first + s.pull_batch, end(s, q)) if s.pull_batch > 1 else first + 1

    def pulled(m: IntLike) -> BoolLike:
        return all_of(first <= m, m < after)

    s.stage[c, q] = lambda m: ite(pulled(m), Stage.WAITING, s.stage[c, q, m])
    s.next_offset[c, q] = after
    if s.batch > 1:
        s.joined[c, q] = lambda m: ite(pulled(m), (m - first) % s.batch != 0, s.joined[c, q, m])


@pull_loop.definition
def receive(s: State, c: IntLike, q: IntLike) -> None:
    """PL-23 FOUND: what ``c`` does with what the broker found at its position; without tags all of it is put."""
    put(s, c, q)


@pull_loop.definition
def correct_tags_offset(s: State, c: IntLike, q: IntLike, offset: IntLike) -> None:
    """PL-23, FI-3: with nothing to put, an empty window moves its offset up to the pull position.

    ``DefaultMQPushConsumerImpl#correctTagsOffset``.
    """
    s.memory[c, q] = ite(window_empty(s, c, q), maximum(s.memory[c, q], offset), s.memory[c, q])


@pull_loop.mutant(
    "B8",
    "filtered-messages-never-committed",
    of=correct_tags_offset,
    killed_by="filtered-offset-committed",
    constants={"messages": 2, "expression": "C", "tags": "C,Aa"},
)
def no_correction(s: State, c: IntLike, q: IntLike, offset: IntLike) -> None:
    """The position moves, the offset does not: lag grows, and a restart scans everything again. Source: Go #732."""


@pull_loop.mutant(
    "B8-busy",
    "correction-passes-held-messages",
    of=correct_tags_offset,
    killed_by="offset-never-past-wanted",
    constants={"messages": 2, "expression": "C", "tags": "C,Aa"},
)
def correct_anyway(s: State, c: IntLike, q: IntLike, offset: IntLike) -> None:
    """The offset follows the position although the window still holds messages below it."""
    s.memory[c, q] = offset


@pull_loop.action(fair=True, tells="{c} pulls from {q}", when=_whole)
def pull(s: State, c: Consumer, q: Queue) -> None:
    """PL-23: request and answer in one step."""
    s.require(asks(s, c, q), inside(s, q, s.next_offset[c, q]))
    receive(s, c, q)


def _leaves_gaps(k: Constants) -> bool:
    """Whether messages can leave a window, or be passed over, without the offset following."""
    return _whole(k) and (filtered(k) or k.get("expiries", 0) != 0)


@pull_loop.action(fair=True, tells="{c} pulls at the end of {q}", when=_leaves_gaps)
def pull_nothing(s: State, c: Consumer, q: Queue) -> None:
    """PL-23 NO_NEW_MSG, as far as it changes anything."""
    s.require(asks(s, c, q), s.next_offset[c, q] == end(s, q))
    s.require(window_empty(s, c, q), s.memory[c, q] < s.next_offset[c, q])
    correct_tags_offset(s, c, q, s.next_offset[c, q])


@pull_loop.action(fair=True, tells="{c} sends a pull request for {q}", when=_fine)
def send_pull(s: State, c: Consumer, q: Queue) -> None:
    """PL-1: one request for each window, sent again by whoever finishes with it."""
    s.require(asks(s, c, q), not_(s.asked[c, q]))
    s.asked[c, q] = True


@pull_loop.action(fair=True, tells="the broker answers {c} with messages of {q}", when=_fine)
def answer_found(s: State, c: Consumer, q: Queue) -> None:
    """PL-23 FOUND."""
    s.require(working(s, c), s.asked[c, q], inside(s, q, s.next_offset[c, q]))
    receive(s, c, q)
    s.asked[c, q] = False


@pull_loop.action(tells="the broker has nothing new in {q} for {c}", when=_fine)
def answer_nothing(s: State, c: Consumer, q: Queue) -> None:
    """PL-23 NO_NEW_MSG."""
    s.require(working(s, c), s.asked[c, q], s.next_offset[c, q] == end(s, q))
    correct_tags_offset(s, c, q, s.next_offset[c, q])
    s.asked[c, q] = False


@pull_loop.definition
def accept_stale(s: State, c: IntLike, q: IntLike) -> None:
    """PL-24: an answer for a dead window: messages go into the dead window, which nobody consumes (CC-3).

    ``DefaultMQPushConsumerImpl#pullMessage``, the callback, which does not ask whether the window was dropped.
    """


@pull_loop.action(tells="a late answer reaches {c} for its old window of {q}", when=_fine)
def answer_stale(s: State, c: Consumer, q: Queue) -> None:
    """PL-24, G2-9: nothing new in an empty dead window moves the offset of whatever window there is now."""
    s.require(working(s, c), s.stale[c, q] != NO_OFFSET)
    accept_stale(s, c, q)
    nothing_new = all_of(s.owns[c, q], s.stale_empty[c, q], s.stale[c, q] == end(s, q))
    with s.when(nothing_new):
        s.memory[c, q] = maximum(s.memory[c, q], s.stale[c, q])
    s.stale[c, q] = NO_OFFSET
    s.stale_empty[c, q] = False


@pull_loop.definition
def corrected_offset(s: State, q: IntLike, offset: IntLike) -> IntLike:
    """PL-19: where the broker sends a pull that is outside the queue: to the nearer end."""
    return ite(offset < start(s, q), start(s, q), end(s, q))


@pull_loop.action(fair=True, tells="{c} pulls outside {q}; its window is dropped and its offset corrected", when=_moves)
def correct_offset(s: State, c: Consumer, q: Queue) -> None:
    """PL-23 OFFSET_ILLEGAL: drop, commit the corrected offset, remove; a later pass adds the queue again (PL-25)."""
    offset = s.next_offset[c, q]
    s.require(asks(s, c, q), any_of(offset < start(s, q), offset > end(s, q)))
    leaving = Leaving(cause=Cause.OFFSET_CORRECTED, offset=lambda p: corrected_offset(s, p, s.next_offset[c, p]))
    change_table(s, c, lost=lambda p: same(p, q), won=nothing, leaving=leaving)
