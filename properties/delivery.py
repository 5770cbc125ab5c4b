"""What can be relied on about the delivery of messages, and what cannot (guarantees G2 and G3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from ..model.consume_queue import Message, end
from ..model.consumption import consumption
from ..model.group import GroupState
from ..model.history import Cause
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, not_
from ..model.membership import Consumer, Life
from ..model.process_queue import Orphan, Stage, held
from ..model.route import Queue
from .claim import Claim, Constants, claim_about
from .property import Kind, Property, always, eventually, sometimes


def every_message(s: GroupState, holds: Callable[[IntLike, IntLike], BoolLike]) -> BoolLike:
    """Whether ``holds(q, m)`` is true of every message of every queue."""
    return s.forall(Queue, lambda q: s.forall(Message, lambda m: holds(q, m)))


def every_window(s: GroupState, holds: Callable[[IntLike, IntLike], BoolLike]) -> BoolLike:
    """Whether ``holds(c, q)`` is true of every window: every queue in the table of some client."""
    return s.forall(Consumer, lambda c: s.forall(Queue, lambda q: implies(s.owns[c, q], holds(c, q))))


@always(
    "offset-never-past-unfinished",
    "G2",
    "CC-13",
    "PQ-2",
    "OF-20",
    assuming=(
        "the group has offsets stored",
        "the log is not truncated, and nothing is deleted that the offset has not passed",
    ),
)
def offset_safe(s: GroupState, q: Queue, m: Message) -> BoolLike:
    """The committed offset never passes a message that was neither acknowledged nor sent back."""
    return implies(all_of(m < s.committed[q], m < end(s, q)), s.handled[q, m])


@always("at-least-once", "G2", "CC-12", "RB-40", assuming=offset_safe.assuming)
def at_least_once(s: GroupState, q: Queue, m: Message) -> BoolLike:
    """A message that is not handled is in somebody's window, or still to be pulled by whoever owns the queue."""
    return any_of(s.handled[q, m], not_(_passed_over(s, q, m)))


def _passed_over(s: GroupState, q: IntLike, m: IntLike) -> BoolLike:
    """Whether ``m`` is below the committed offset, or an open window neither has it nor will pull it."""

    def lost_on(c: IntLike) -> BoolLike:
        return all_of(s.owns[c, q], m < s.next_offset[c, q], not_(held(s, c, q, m)))

    return any_of(m < s.committed[q], s.exists(Consumer, lost_on))


@always("mark-below-unfinished", "U5", "PQ-2")
def mark(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """The in-memory offset of a window never passes a message that the window still holds."""
    return implies(s.owns[c, q], s.forall(Message, lambda m: implies(held(s, c, q, m), s.memory[c, q] <= m)))


@always("nothing-skipped-in-a-window", "U5", "CC-12", "CC-13")
def nothing_skipped(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """Between the in-memory offset and the pull position a window holds every message that is not handled."""
    return implies(
        s.owns[c, q],
        s.forall(
            Message,
            lambda m: implies(
                all_of(s.memory[c, q] <= m, m < s.next_offset[c, q]), any_of(held(s, c, q, m), s.handled[q, m])
            ),
        ),
    )


@always("every-duplicate-has-a-cause", "G3")
def explained(s: GroupState) -> BoolLike:
    """A message is delivered a second time only for a recorded cause."""
    return not_(s.unexplained)


@always("duplicates-only-after-a-crash", "G3")
def only_after_crash(s: GroupState) -> BoolLike:
    """A message comes a second time only if a client died."""
    return any_of(s.repeated == Cause.NONE, s.repeated == Cause.CRASH)


@always("only-the-failed-message-sent-back", "CC-10", "CC-12")
def one_back(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """When a listener fails with a batch, only the message it failed with is sent back."""
    return s.count(Message, lambda m: s.stage[c, q, m] == Stage.FAILED) <= s.failures - s.failures_left


@always("sent-back-only-after-failing", "CC-12")
def failed_before(s: GroupState, c: Consumer, q: Queue, m: Message) -> BoolLike:
    """A message is sent back only after a listener has had it."""
    return implies(s.stage[c, q, m] == Stage.FAILED, s.delivered[q, m])


@always("handled-only-after-delivery", "CC-9", "CC-13")
def handled_was_had(s: GroupState, q: Queue, m: Message) -> BoolLike:
    """Nothing counts as handled before a listener had it."""
    return implies(s.handled[q, m], s.delivered[q, m])


@always("one-listener-a-message", "G1", "CC-9")
def one_listener(s: GroupState, q: Queue, m: Message) -> BoolLike:
    """No two listeners have the same message at the same time."""
    return _listeners(s, q, m) <= 1


@sometimes("request-waits-at-the-broker", "PL-1", "PL-22")
def waits_at_broker(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A pull request waits at the broker, which has nothing for it yet."""
    return all_of(s.asked[c, q], s.next_offset[c, q] == end(s, q))


@sometimes("lost-commit-repeats", "OF-5", "RB-32", "G3", assuming=("one owner at a time", "nobody dies"))
def lost_commit_repeats(s: GroupState) -> BoolLike:
    """A listener is called again with what the old owner of a queue has handled: the old owner's last commit was
    lost.
    """
    return every_message(s, lambda q, m: all_of(s.handled[q, m], _listeners(s, q, m) > 0))


LATE_COMMIT_REPEATS = replace(
    lost_commit_repeats,
    id="late-commit-repeats",
    statement=(
        "A listener is called again with what the old owner of a queue has handled: the old owner's last commit "
        "is still on its way."
    ),
    rules=("OF-8", "RB-32", "G3"),
)


@eventually(
    "every-message-is-handled",
    "G10",
    after=lambda s: s.exists(Consumer, lambda c: s.life[c] == Life.UP),
    assuming=("listeners return", "weak fairness of allocation, pulls, listeners and send-backs"),
)
def progress(s: GroupState) -> BoolLike:
    """Every message is eventually handled, if a client lives."""
    return any_of(
        every_message(s, lambda q, m: any_of(s.handled[q, m], m >= end(s, q))),
        s.forall(Consumer, lambda c: s.life[c] != Life.UP),
    )


def _outlived(s: GroupState) -> BoolLike:
    return s.exists(Consumer, lambda c: not_(every_message(s, lambda q, m: s.orphan[c, q, m] == Orphan.NONE)))


@eventually("listener-outlives-its-window-not-for-ever", "CC-9", "G10", after=_outlived, assuming=("listeners return",))
def ends_at_last(s: GroupState) -> BoolLike:
    """A listener whose window was dropped eventually returns, and its result is dealt with."""
    return not_(_outlived(s))


def _listeners(s: GroupState, q: IntLike, m: IntLike) -> IntLike:
    in_windows = s.count(Consumer, lambda c: s.stage[c, q, m] == Stage.RUNNING)
    if not s.orphans:
        return in_windows
    return in_windows + s.count(Consumer, lambda c: s.orphan[c, q, m] == Orphan.RUNNING)


def _caused(cause: Cause, statement: str, *rules: str) -> Property:
    """The witness that a message can be delivered a second time because of ``cause``."""
    return Property[GroupState](
        id=f"again-{cause.name.lower().replace('_', '-')}",
        statement=statement,
        kind=Kind.SOMETIMES,
        holds=lambda s: s.repeated == cause,
        rules=("G3", *rules),
    )


QUIET: Constants = {"messages": 2, "causes": 1}
MOVES: Constants = {**QUIET, "moves": 1}
FAULTS: Constants = {**QUIET, "moves": 1, "crashes": 1, "failures": 1, "refusals": 1, "orphans": 1}
COMMITS: Constants = {**QUIET, "moves": 1, "crashes": 1, "late_commits": 1, "lost_commits": 1, "broker_restarts": 1}
STOPS: Constants = {**QUIET, "leaves": 1, "restarts": 1, "crashes": 1}
BATCHES: Constants = {**QUIET, "messages": 3, "batch": 2, "pull_batch": 3, "failures": 1, "refusals": 1, "moves": 1}
PULLS: Constants = {**QUIET, "moves": 1, "crashes": 1, "pulls": "fine"}
PAUSES: Constants = {**QUIET, "pauses": 1, "moves": 1}

_WITNESSES: tuple[tuple[Property, Constants], ...] = (
    (_caused(Cause.REBALANCE, "A queue was dropped while a listener had the message.", "CC-9", "RB-32"), MOVES),
    (_caused(Cause.OVERLAP, "Two clients owned the queue at once.", "RB-30"), QUIET),
    (_caused(Cause.CRASH, "A client died before it committed.", "OF-6"), {**QUIET, "crashes": 1}),
    (_caused(Cause.SHUTDOWN, "A client shut down, and what finished late was not committed.", "ST-9"), STOPS),
    (
        _caused(Cause.FAILED_SEND_BACK, "Sending back failed, so the message is tried again at once.", "SB-5"),
        {**QUIET, "failures": 1, "refusals": 1},
    ),
    (
        _caused(Cause.OFFSET_WENT_BACK, "A late commit took the offset back.", "OF-20", "OF-8"),
        {**QUIET, "crashes": 1, "late_commits": 1},
    ),
    (
        _caused(Cause.BROKER_RESTART, "A broker forgot the last commits.", "OF-23"),
        {**QUIET, "crashes": 1, "broker_restarts": 1},
    ),
    (
        _caused(Cause.RESET, "An operator reset the offset to an earlier message.", "OF-31"),
        {**QUIET, "overlaps": 0, "version": "4.9.8", "resets": 1},
    ),
    (
        _caused(Cause.OFFSET_CORRECTED, "An offset outside of the queue was corrected.", "PL-19", "PL-23"),
        {**QUIET, "overlaps": 0, "version": "4.9.8", "corrections": "steps", "retentions": 1, "moves": 1},
    ),
    (
        _caused(Cause.SUSPENDED, "An orderly listener suspended its queue, and has the message again.", "OR-7"),
        {**QUIET, "consumers": 1, "listener": "orderly", "failures": 1},
    ),
)


_claim = partial(claim_about, consumption)


def claims() -> Iterator[Claim]:
    """All claims about concurrent delivery, naive ones first."""
    yield _claim(
        only_after_crash,
        {**MOVES, "overlaps": 0, "repeats": 1},
        "A rebalance is enough: the listener's work is done, the next owner does it again.",
    )
    yield _claim(
        one_listener,
        {**MOVES, "orphans": 1},
        "Nobody waits for a listener that is still running when its queue is dropped.",
    )
    yield _claim(
        mark,
        PULLS,
        "A late answer for a dropped window moves the offset of the new one. Nothing is lost: the old window had "
        "finished all below.",
    )
    for constants in (FAULTS, COMMITS, STOPS, BATCHES, PAUSES):
        yield _claim(mark, constants)
    for constants in (FAULTS, COMMITS, STOPS, BATCHES, PULLS, PAUSES):
        for property in (offset_safe, at_least_once, nothing_skipped, explained):
            yield _claim(property, constants)
    yield _claim(
        one_back,
        {**QUIET, "batch": 2, "pull_batch": 2, "failures": 1},
        "A failure sets ackIndex to -1: the whole batch is sent back, whatever the listener had finished.",
    )
    for constants in (FAULTS, STOPS, BATCHES, PULLS, {**QUIET, "messages": 1, "moves": 1, "held_updates": 1}):
        yield _claim(handled_was_had, constants)
    # If a log has lost its tail, another message comes at the same offset, and must itself be delivered.
    yield _claim(handled_was_had, {"messages": 1, "arriving": 1, "consumers": 1, "truncations": 1, "causes": 1})
    yield _claim(failed_before, FAULTS)
    yield _claim(failed_before, BATCHES)
    yield _claim(one_listener, {"messages": 2, "overlaps": 0, "crashes": 1, "failures": 1})
    for witness, constants in _WITNESSES:
        yield _claim(witness, {**constants, "repeats": 1})
    yield _claim(lost_commit_repeats, {"messages": 1, "moves": 1, "lost_commits": 1, "overlaps": 0})
    for failures in (0, 1):
        yield _claim(ends_at_last, {"messages": 1, "moves": 1, "orphans": 1, "failures": failures})
    yield _claim(LATE_COMMIT_REPEATS, {"messages": 1, "moves": 1, "late_commits": 1, "overlaps": 0})
    yield _claim(waits_at_broker, {"messages": 1, "arriving": 1, "consumers": 1, "pulls": "fine"})
    yield _claim(progress, {"messages": 2, "moves": 1, "crashes": 1, "failures": 1})
    yield _claim(progress, {"messages": 2, "pauses": 1, "leaves": 1, "pulls": "fine"})
