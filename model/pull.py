"""Pull: the client asks, the broker answers, and each window has one request under way (section 4 of the rules).

With ``pulls=whole``, asking and answering are one step. With ``pulls=fine``, the request is under way for any length of
time (long polling, PL-22); meanwhile the window may be dropped and opened again, and the answer then belongs to a dead
window (PL-24).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .consume_queue import end, start
from .flow_control import flow_allows, flow_control
from .history import Cause, Regression
from .kernel import (
    BoolLike,
    Constants,
    Int,
    IntLike,
    Machine,
    State,
    all_of,
    any_of,
    constant,
    ite,
    maximum,
    minimum,
    not_,
    same,
    variable,
)
from .membership import PROCESS, Consumer
from .offsets import write_offset
from .process_queue import NO_OFFSET, WINDOW, Stage, may_pull, reaches_broker, window_empty, working
from .queue_table import Leaving, change_table
from .route import Queue, nothing
from .tags import filtered

if TYPE_CHECKING:
    from .group import GroupState

pull_loop = Machine("pull", doc="Pulling: requests, answers, flow control, corrected offsets.").include(flow_control)


def _fine(k: Constants) -> bool:
    return bool(k.pulls == "fine")


def carries(k: Constants) -> bool:
    """Whether commits travel with requests, and may arrive late."""
    return bool(_fine(k) and k.piggyback == 1 and k.mode == "clustering")


@pull_loop.state
class PullState(State):
    """Pull requests, and answers to them."""

    pulls = constant("whole", choices=("whole", "fine"), doc="grain: fine lets a request be under way")
    pull_batch = constant(1, low=1, high=8, doc="pullBatchSize: most messages of one answer")
    lost_pulls = constant(0, high=2, doc="how often a client may lose a pull request for good (PL-2)")
    removals = constant(0, high=2, doc="how often a pull may find that message bytes are gone (PL-19)")
    piggyback = constant(0, high=1, doc="1: requests carry the in-memory offset as a commit (PL-14)")
    corrections = constant(
        "whole", choices=("whole", "steps"), doc="grain: steps follows a correction from answer to removal"
    )
    loop_lost = variable(
        bool,
        Consumer,
        Queue,
        when=lambda k: k.lost_pulls > 0,
        lives_in=WINDOW,
        doc="nobody pulls for this window any more",
    )
    asked = variable(bool, Consumer, Queue, when=_fine, lives_in=WINDOW, doc="a request of this window is under way")
    stale = variable(
        Int(NO_OFFSET, "messages"),
        Consumer,
        Queue,
        when=_fine,
        lives_in=PROCESS,
        doc="position of a dead window's request; -1: none",
    )
    carried = variable(
        Int(NO_OFFSET, "messages"), Consumer, Queue, when=carries, doc="a commit on its way with a request"
    )
    stale_empty = variable(bool, Consumer, Queue, when=_fine, lives_in=PROCESS, doc="that dead window held no message")


def _whole(k: Constants) -> bool:
    return not _fine(k)


def _moves(k: Constants) -> bool:
    """Whether the log can end before the position of a window, or begin after it."""
    return bool(k.retentions + k.truncations + k.recreations > 0)


def _corrects_at_once(k: Constants) -> bool:
    return _moves(k) and k.corrections == "whole"


@pull_loop.definition
def subscription_known(s: GroupState, c: IntLike) -> BoolLike:
    """PL-16: whether the broker answers ``c``; otherwise it refuses with SUBSCRIPTION_NOT_LATEST, and is asked
    again.
    """
    return True


@pull_loop.definition
def may_ask(s: GroupState, c: IntLike) -> BoolLike:
    """PL-6: whether the client is not suspended."""
    return True


@pull_loop.definition
def redirected(s: GroupState, q: IntLike) -> BoolLike:
    """PL-18: whether the broker answers any pull of ``q`` with OFFSET_RESET."""
    return False


def asks(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """PL-3 … PL-10: whether the pull thread sends a request for the window."""
    return all_of(
        working(s, c),
        s.owns[c, q],
        may_pull(s, c, q),
        flow_allows(s, c, q),
        subscription_known(s, c),
        may_ask(s, c),
        not_(s.loop_lost[c, q]) if s.lost_pulls else True,
        reaches_broker(s, c, q),
    )


def answers(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether the broker may answer a request of the window; with ``pulls=whole`` it does so in the same step.

    The commit that a request carries is applied before the answer is decided (PL-21).
    """
    if _whole(s.constants):
        return asks(s, c, q)
    return all_of(working(s, c), s.asked[c, q], s.carried[c, q] == NO_OFFSET if carries(s.constants) else True)


def inside(s: GroupState, q: IntLike, offset: IntLike) -> BoolLike:
    """PL-19: whether there is a message at ``offset``."""
    return all_of(start(s, q) <= offset, offset < end(s, q))


def put(s: GroupState, c: IntLike, q: IntLike) -> None:
    """PL-23 FOUND, PQ-1: the messages from the pull position on go into the window, and the position moves past
    them.
    """
    first = s.next_offset[c, q]
    after = minimum(first + s.pull_batch, end(s, q)) if s.pull_batch > 1 else first + 1

    def pulled(m: IntLike) -> BoolLike:
        return all_of(first <= m, m < after)

    s.stage[c, q] = lambda m: ite(pulled(m), Stage.WAITING, s.stage[c, q, m])
    s.next_offset[c, q] = after
    if s.counters:
        s.counted[c, q] = s.counted[c, q] + (after - first)
    if s.batch > 1:
        s.joined[c, q] = lambda m: ite(pulled(m), (m - first) % s.batch != 0, s.joined[c, q, m])


@pull_loop.definition
def receive(s: GroupState, c: IntLike, q: IntLike) -> None:
    """PL-23 FOUND: what ``c`` does with the messages that the broker found at its position; without tags it puts all of
    them.
    """
    put(s, c, q)


@pull_loop.definition
def correct_tags_offset(s: GroupState, c: IntLike, q: IntLike, offset: IntLike) -> None:
    """PL-23, FI-3: if there is nothing to put, an empty window moves its offset up to the pull position.

    ``DefaultMQPushConsumerImpl#correctTagsOffset``.
    """
    s.memory[c, q] = ite(window_empty(s, c, q), maximum(s.memory[c, q], offset), s.memory[c, q])


@pull_loop.action(fair=True, tells="{c} pulls from {q}", when=_whole)
def pull(s: GroupState, c: Consumer, q: Queue) -> None:
    """PL-23: request and answer in one step."""
    s.require(asks(s, c, q), inside(s, q, s.next_offset[c, q]), not_(redirected(s, q)))
    receive(s, c, q)


@pull_loop.action(budget="removals", tells="{c} pulls from {q}, and the message it asks for has been removed")
def pull_removed(s: GroupState, c: Consumer, q: Queue) -> None:
    """PL-19 MESSAGE_WAS_REMOVING: the message is in the index, but no longer in the log; the client moves past it
    (G2-3).
    """
    after = s.next_offset[c, q] + 1
    s.require(answers(s, c, q), inside(s, q, s.next_offset[c, q]), not_(redirected(s, q)))
    s.next_offset[c, q] = after
    correct_tags_offset(s, c, q, after)
    if _fine(s.constants):
        s.asked[c, q] = False


def _leaves_gaps(k: Constants) -> bool:
    """Whether messages can leave a window, or be passed over, without the offset following."""
    return _whole(k) and (filtered(k) or k.get("expiries", 0) != 0)


@pull_loop.action(fair=True, tells="{c} pulls at the end of {q}", when=_leaves_gaps)
def pull_nothing(s: GroupState, c: Consumer, q: Queue) -> None:
    """PL-23 NO_NEW_MSG, if it changes anything."""
    s.require(asks(s, c, q), s.next_offset[c, q] == end(s, q), not_(redirected(s, q)))
    s.require(window_empty(s, c, q), s.memory[c, q] < s.next_offset[c, q])
    correct_tags_offset(s, c, q, s.next_offset[c, q])


@pull_loop.action(fair=True, tells="{c} sends a pull request for {q}", when=_fine)
def send_pull(s: GroupState, c: Consumer, q: Queue) -> None:
    """PL-1: one request for each window; whoever finishes with it sends the next."""
    s.require(asks(s, c, q), not_(s.asked[c, q]))
    s.asked[c, q] = True
    if carries(s.constants):
        s.require(s.carried[c, q] == NO_OFFSET)
        s.carried[c, q] = ite(s.memory[c, q] > 0, s.memory[c, q], NO_OFFSET)


@pull_loop.action(fair=True, tells="the commit that came with {c}'s request for {q} is applied", when=carries)
def apply_carried(s: GroupState, c: Consumer, q: Queue) -> None:
    """PL-14, PL-21: applied when the request is first looked at, even for a window that no longer exists; never an
    offset of 0.

    Periodic commits are handled by another thread pool, so the order of the two is open (OF-8). A pending reset does
    not prevent it (OF-30).
    """
    s.require(s.carried[c, q] != NO_OFFSET)
    write_offset(s, c, q, s.carried[c, q], because=Regression.LATE_COMMIT, checked=False)
    s.carried[c, q] = NO_OFFSET


@pull_loop.action(fair=True, tells="the broker answers {c} with messages of {q}", when=_fine)
def answer_found(s: GroupState, c: Consumer, q: Queue) -> None:
    """PL-23 FOUND."""
    s.require(answers(s, c, q), inside(s, q, s.next_offset[c, q]), not_(redirected(s, q)))
    receive(s, c, q)
    s.asked[c, q] = False


@pull_loop.action(fair=True, tells="the broker has nothing new in {q} for {c}", when=_fine)
def answer_nothing(s: GroupState, c: Consumer, q: Queue) -> None:
    """PL-23 NO_NEW_MSG."""
    s.require(answers(s, c, q), s.next_offset[c, q] == end(s, q), not_(redirected(s, q)))
    correct_tags_offset(s, c, q, s.next_offset[c, q])
    s.asked[c, q] = False


@pull_loop.definition
def accept_stale(s: GroupState, c: IntLike, q: IntLike) -> None:
    """PL-24: an answer for a dead window: its messages go into the dead window, from which nothing is consumed (CC-3).

    ``DefaultMQPushConsumerImpl#pullMessage``, the callback, which does not ask whether the window was dropped.
    """


@pull_loop.action(tells="a late answer reaches {c} for its old window of {q}", when=_fine)
def answer_stale(s: GroupState, c: Consumer, q: Queue) -> None:
    """PL-24, G2-9: the answer "nothing new" for an empty dead window moves the offset of whichever window exists
    now.
    """
    s.require(working(s, c), s.stale[c, q] != NO_OFFSET)
    accept_stale(s, c, q)
    nothing_new = all_of(s.owns[c, q], s.stale_empty[c, q], s.stale[c, q] == end(s, q))
    with s.when(nothing_new):
        s.memory[c, q] = maximum(s.memory[c, q], s.stale[c, q])
    s.stale[c, q] = NO_OFFSET
    s.stale_empty[c, q] = False


@pull_loop.definition
def corrected_offset(s: GroupState, q: IntLike, offset: IntLike) -> IntLike:
    """PL-19: the offset to which the broker sends a pull that is outside the queue: the nearer end."""
    return ite(offset < start(s, q), start(s, q), end(s, q))


def outside(s: GroupState, q: IntLike, offset: IntLike) -> BoolLike:
    """PL-19: whether a pull at ``offset`` is answered with OFFSET_ILLEGAL."""
    return any_of(offset < start(s, q), offset > end(s, q))


@pull_loop.action(
    fair=True, tells="{c} pulls outside {q}; its window is dropped and its offset corrected", when=_corrects_at_once
)
def correct_offset(s: GroupState, c: Consumer, q: Queue) -> None:
    """PL-23 OFFSET_ILLEGAL: drop, commit the corrected offset, remove; a later pass adds the queue again (PL-25).

    The committed offset may decrease to the end of the log, or to its beginning, which others have already passed.
    """
    s.require(answers(s, c, q), outside(s, q, s.next_offset[c, q]), not_(redirected(s, q)))

    def corrected(p: IntLike) -> IntLike:
        return corrected_offset(s, p, s.next_offset[c, p])

    def because(p: IntLike) -> IntLike:
        known = any_of(corrected(p) == end(s, p), s.next_offset[c, p] < start(s, p))
        return ite(known, Regression.CORRECTED, Regression.UNEXPLAINED)

    leaving = Leaving(cause=Cause.OFFSET_CORRECTED, offset=corrected, because=because)
    change_table(s, c, lost=lambda p: same(p, q), won=nothing, leaving=leaving)


@pull_loop.mutant(
    "F7",
    "callback-bound-to-dead-request",
    of=receive,
    killed_by="every-message-is-handled",
    constants={"consumers": 1, "messages": 1, "moves": 1},
)
def received_by_the_first_window(s: GroupState, c: IntLike, q: IntLike) -> None:
    """The callback keeps the request of the first window, so after a drop all answers go to a window that is dead.

    apache/rocketmq-client-cpp#293.
    """
    with s.when(s.moves_left == s.moves):
        put(s, c, q)


@pull_loop.mutant(
    "B8",
    "filtered-messages-never-committed",
    of=correct_tags_offset,
    killed_by="filtered-offset-committed",
    constants={"messages": 2, "expression": "C", "tags": "C,Aa"},
)
def no_correction(s: GroupState, c: IntLike, q: IntLike, offset: IntLike) -> None:
    """The position moves, the offset does not: lag grows, and a restart scans everything again. Source: Go #732."""


@pull_loop.mutant(
    "B8-busy",
    "correction-passes-held-messages",
    of=correct_tags_offset,
    killed_by="offset-never-past-wanted",
    constants={"messages": 2, "expression": "C", "tags": "C,Aa"},
)
def correct_anyway(s: GroupState, c: IntLike, q: IntLike, offset: IntLike) -> None:
    """The offset follows the position although the window still holds messages below it."""
    s.memory[c, q] = offset


@pull_loop.mutant(
    "B9",
    "stale-pull-result-after-reassign",
    of=accept_stale,
    killed_by="offset-never-past-unfinished",
    constants={"messages": 2, "consumers": 1, "moves": 1, "pulls": "fine"},
)
def position_of_dead_window(s: GroupState, c: IntLike, q: IntLike) -> None:
    """State is kept by queue, not by window: the answer's messages die with the old window, its position lives on.

    apache/rocketmq#2732, fixed in 4.9.0 (lite pull).
    """
    with s.when(all_of(s.owns[c, q], inside(s, q, s.stale[c, q]))):
        s.next_offset[c, q] = s.stale[c, q] + 1


@pull_loop.mutant(
    "C5",
    "late-pull-response-accepted",
    of=accept_stale,
    killed_by="every-duplicate-has-a-cause",
    constants={"messages": 1, "consumers": 1, "moves": 1, "pulls": "fine", "causes": 1},
)
def messages_of_dead_window(s: GroupState, c: IntLike, q: IntLike) -> None:
    """The answer is matched to the new window: two loops feed one window, and messages run twice.

    rocketmq-client-cpp#43, fixed in 1.2.1.
    """
    with s.when(all_of(s.owns[c, q], inside(s, q, s.stale[c, q]))):
        s.stage[c, q] = lambda m: ite(same(m, s.stale[c, q]), Stage.WAITING, s.stage[c, q, m])


@pull_loop.mutant(
    "B2",
    "too-large-offset-rewinds-to-min",
    of=corrected_offset,
    killed_by="every-regression-has-a-cause",
    constants={"messages": 2, "consumers": 1, "truncations": 1, "watch_offsets": 1},
)
def corrected_to_min(s: GroupState, q: IntLike, offset: IntLike) -> IntLike:
    """Beyond the end the broker corrected to the minimum when that is 0: days of messages again.

    apache/rocketmq#4215, fixed in 4.9.4.
    """
    return ite(any_of(offset < start(s, q), start(s, q) == 0), start(s, q), end(s, q))
