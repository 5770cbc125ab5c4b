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
from .property import Kind, Property


def every_message(s: GroupState, holds: Callable[[IntLike, IntLike], BoolLike]) -> BoolLike:
    """Whether ``holds(q, m)`` is true of every message of every queue."""
    return s.forall(Queue, lambda q: s.forall(Message, lambda m: holds(q, m)))


def every_window(s: GroupState, holds: Callable[[IntLike, IntLike], BoolLike]) -> BoolLike:
    """Whether ``holds(c, q)`` is true of every window: every queue in the table of some client."""
    return s.forall(Consumer, lambda c: s.forall(Queue, lambda q: implies(s.owns[c, q], holds(c, q))))


OFFSET_SAFE = Property[GroupState](
    id="offset-never-past-unfinished",
    statement="The committed offset never passes a message that was neither acknowledged nor sent back.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_message(s, lambda q, m: implies(all_of(m < s.committed[q], m < end(s, q)), s.handled[q, m])),
    assuming=(
        "the group has offsets stored",
        "the log is not truncated, and nothing is deleted that the offset has not passed",
    ),
    rules=("G2", "CC-13", "PQ-2", "OF-20"),
)
AT_LEAST_ONCE = Property[GroupState](
    id="at-least-once",
    statement="A message that is not handled is in somebody's window, or still to be pulled by whoever owns the queue.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_message(s, lambda q, m: any_of(s.handled[q, m], not_(_passed_over(s, q, m)))),
    assuming=OFFSET_SAFE.assuming,
    rules=("G2", "CC-12", "RB-40"),
)


def _passed_over(s: GroupState, q: IntLike, m: IntLike) -> BoolLike:
    """Whether ``m`` is below the committed offset, or an open window neither has it nor will pull it."""

    def lost_on(c: IntLike) -> BoolLike:
        return all_of(s.owns[c, q], m < s.next_offset[c, q], not_(held(s, c, q, m)))

    return any_of(m < s.committed[q], s.exists(Consumer, lost_on))


MARK = Property[GroupState](
    id="mark-below-unfinished",
    statement="The in-memory offset of a window never passes a message that the window still holds.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_window(
        s, lambda c, q: s.forall(Message, lambda m: implies(held(s, c, q, m), s.memory[c, q] <= m))
    ),
    rules=("U5", "PQ-2"),
)
NOTHING_SKIPPED = Property[GroupState](
    id="nothing-skipped-in-a-window",
    statement="Between the in-memory offset and the pull position a window holds every message that is not handled.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_window(
        s,
        lambda c, q: s.forall(
            Message,
            lambda m: implies(
                all_of(s.memory[c, q] <= m, m < s.next_offset[c, q]), any_of(held(s, c, q, m), s.handled[q, m])
            ),
        ),
    ),
    rules=("U5", "CC-12", "CC-13"),
)
EXPLAINED = Property[GroupState](
    id="every-duplicate-has-a-cause",
    statement="A message is delivered a second time only for a recorded cause.",
    kind=Kind.ALWAYS,
    holds=lambda s: not_(s.unexplained),
    rules=("G3",),
)
ONLY_AFTER_CRASH = Property[GroupState](
    id="duplicates-only-after-a-crash",
    statement="A message comes a second time only if a client died.",
    kind=Kind.ALWAYS,
    holds=lambda s: any_of(s.repeated == Cause.NONE, s.repeated == Cause.CRASH),
    rules=("G3",),
)
ONE_BACK = Property[GroupState](
    id="only-the-failed-message-sent-back",
    statement="When a listener fails with a batch, only the message it failed with is sent back.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(
        Consumer,
        lambda c: s.forall(
            Queue,
            lambda q: s.count(Message, lambda m: s.stage[c, q, m] == Stage.FAILED) <= s.failures - s.failures_left,
        ),
    ),
    rules=("CC-10", "CC-12"),
)
FAILED_BEFORE = Property[GroupState](
    id="sent-back-only-after-failing",
    statement="A message is sent back only after a listener has had it.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(
        Consumer,
        lambda c: every_message(s, lambda q, m: implies(s.stage[c, q, m] == Stage.FAILED, s.delivered[q, m])),
    ),
    rules=("CC-12",),
)
HANDLED_WAS_HAD = Property[GroupState](
    id="handled-only-after-delivery",
    statement="Nothing counts as handled before a listener had it.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_message(s, lambda q, m: implies(s.handled[q, m], s.delivered[q, m])),
    rules=("CC-9", "CC-13"),
)
ONE_LISTENER = Property[GroupState](
    id="one-listener-a-message",
    statement="No two listeners have the same message at the same time.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_message(s, lambda q, m: _listeners(s, q, m) <= 1),
    rules=("G1", "CC-9"),
)
WAITS_AT_BROKER = Property[GroupState](
    id="request-waits-at-the-broker",
    statement="A pull request waits at the broker, which has nothing for it yet.",
    kind=Kind.SOMETIMES,
    holds=lambda s: s.exists(
        Consumer, lambda c: s.exists(Queue, lambda q: all_of(s.asked[c, q], s.next_offset[c, q] == end(s, q)))
    ),
    rules=("PL-1", "PL-22"),
)
LOST_COMMIT_REPEATS = Property[GroupState](
    id="lost-commit-repeats",
    statement=(
        "A listener is called again with what the old owner of a queue has handled: the old owner's last commit "
        "was lost."
    ),
    kind=Kind.SOMETIMES,
    holds=lambda s: every_message(s, lambda q, m: all_of(s.handled[q, m], _listeners(s, q, m) > 0)),
    assuming=("one owner at a time", "nobody dies"),
    rules=("OF-5", "RB-32", "G3"),
)
LATE_COMMIT_REPEATS = replace(
    LOST_COMMIT_REPEATS,
    id="late-commit-repeats",
    statement=(
        "A listener is called again with what the old owner of a queue has handled: the old owner's last commit "
        "is still on its way."
    ),
    rules=("OF-8", "RB-32", "G3"),
)
PROGRESS = Property[GroupState](
    id="every-message-is-handled",
    statement="Every message is eventually handled, if a client lives.",
    kind=Kind.EVENTUALLY,
    after=lambda s: s.exists(Consumer, lambda c: s.life[c] == Life.UP),
    holds=lambda s: any_of(
        every_message(s, lambda q, m: any_of(s.handled[q, m], m >= end(s, q))),
        s.forall(Consumer, lambda c: s.life[c] != Life.UP),
    ),
    assuming=("listeners return", "weak fairness of allocation, pulls, listeners and send-backs"),
    rules=("G10",),
)


def _outlived(s: GroupState) -> BoolLike:
    return s.exists(Consumer, lambda c: not_(every_message(s, lambda q, m: s.orphan[c, q, m] == Orphan.NONE)))


ENDS_AT_LAST = Property[GroupState](
    id="listener-outlives-its-window-not-for-ever",
    statement="A listener whose window was dropped eventually returns, and its result is dealt with.",
    kind=Kind.EVENTUALLY,
    after=_outlived,
    holds=lambda s: not_(_outlived(s)),
    assuming=("listeners return",),
    rules=("CC-9", "G10"),
)


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
        ONLY_AFTER_CRASH,
        {**MOVES, "overlaps": 0, "repeats": 1},
        "A rebalance is enough: the listener's work is done, the next owner does it again.",
    )
    yield _claim(
        ONE_LISTENER,
        {**MOVES, "orphans": 1},
        "Nobody waits for a listener that is still running when its queue is dropped.",
    )
    yield _claim(
        MARK,
        PULLS,
        "A late answer for a dropped window moves the offset of the new one. Nothing is lost: the old window had "
        "finished all below.",
    )
    for constants in (FAULTS, COMMITS, STOPS, BATCHES, PAUSES):
        yield _claim(MARK, constants)
    for constants in (FAULTS, COMMITS, STOPS, BATCHES, PULLS, PAUSES):
        for property in (OFFSET_SAFE, AT_LEAST_ONCE, NOTHING_SKIPPED, EXPLAINED):
            yield _claim(property, constants)
    yield _claim(
        ONE_BACK,
        {**QUIET, "batch": 2, "pull_batch": 2, "failures": 1},
        "A failure sets ackIndex to -1: the whole batch is sent back, whatever the listener had finished.",
    )
    for constants in (FAULTS, STOPS, BATCHES, PULLS, {**QUIET, "messages": 1, "moves": 1, "held_updates": 1}):
        yield _claim(HANDLED_WAS_HAD, constants)
    # If a log has lost its tail, another message comes at the same offset, and must itself be delivered.
    yield _claim(HANDLED_WAS_HAD, {"messages": 1, "arriving": 1, "consumers": 1, "truncations": 1, "causes": 1})
    yield _claim(FAILED_BEFORE, FAULTS)
    yield _claim(FAILED_BEFORE, BATCHES)
    yield _claim(ONE_LISTENER, {"messages": 2, "overlaps": 0, "crashes": 1, "failures": 1})
    for witness, constants in _WITNESSES:
        yield _claim(witness, {**constants, "repeats": 1})
    yield _claim(LOST_COMMIT_REPEATS, {"messages": 1, "moves": 1, "lost_commits": 1, "overlaps": 0})
    for failures in (0, 1):
        yield _claim(ENDS_AT_LAST, {"messages": 1, "moves": 1, "orphans": 1, "failures": failures})
    yield _claim(LATE_COMMIT_REPEATS, {"messages": 1, "moves": 1, "late_commits": 1, "overlaps": 0})
    yield _claim(WAITS_AT_BROKER, {"messages": 1, "arriving": 1, "consumers": 1, "pulls": "fine"})
    yield _claim(PROGRESS, {"messages": 2, "moves": 1, "crashes": 1, "failures": 1})
    yield _claim(PROGRESS, {"messages": 2, "pauses": 1, "leaves": 1, "pulls": "fine"})
