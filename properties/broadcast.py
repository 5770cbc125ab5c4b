"""What can be relied on in broadcasting, and what cannot (guarantee G8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ..model.concurrently import concurrent
from ..model.consume_queue import Message, end, start
from ..model.consumption import consumption
from ..model.group import GroupState
from ..model.history import Had
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, not_
from ..model.local_file import Content, Source, may_load, read_entry, source
from ..model.membership import Consumer, Life
from ..model.process_queue import Orphan, Stage, held
from ..model.route import Queue
from .claim import Claim, Constants, claim_about
from .property import always, settles, sometimes


def everywhere(s: GroupState, holds: Callable[[IntLike, IntLike, IntLike], BoolLike]) -> BoolLike:
    """Whether ``holds(c, q, m)`` is true of every client and every message."""
    return s.forall(Consumer, lambda c: s.forall(Queue, lambda q: s.forall(Message, lambda m: holds(c, q, m))))


def _passed(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether the offset of ``c``, in memory or in its file, is past ``m``."""
    return any_of(all_of(s.owns[c, q], m < s.memory[c, q]), m < read_entry(s, c, q))


def _owed(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether ``m`` was stored after ``c`` started for the first time."""
    return s.first_start[c, q] <= m if s.group != "known" else True


def was_called(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether the listener of ``c`` was ever called with ``m``."""
    return s.had[c, q, m] != Had.NOTHING


def _all_before(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether the listener of ``c`` has succeeded with everything before ``m`` since its first start."""
    return s.forall(Message, lambda o: implies(all_of(o < m, _owed(s, c, q, o)), s.had[c, q, o] == Had.SUCCEEDED))


def _up(s: GroupState, c: IntLike) -> BoolLike:
    return s.life[c] == Life.UP


def _outside(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    position = s.next_offset[c, q]
    return all_of(s.owns[c, q], any_of(position < start(s, q), position > end(s, q)))


@always("broadcast-each-sees-all", "G8", "OF-10")
def each_sees_all(s: GroupState, c: Consumer, q: Queue, m: Message) -> BoolLike:
    """No client's offset passes a message with which its listener was never called."""
    return implies(_passed(s, c, q, m), was_called(s, c, q, m))


@always(
    "broadcast-nothing-skipped",
    "G8",
    "OF-10",
    "EN-7",
    assuming=(
        "one client id for each process, the same after a restart",
        "the offset file is kept, and at most one death tears it (5.x)",
        "messages are kept until all have had them",
    ),
)
def nothing_skipped(s: GroupState, c: Consumer, q: Queue, m: Message) -> BoolLike:
    """From a client's first start on, its offset never passes a message with which its listener was never called."""
    return implies(all_of(_passed(s, c, q, m), _owed(s, c, q, m)), was_called(s, c, q, m))


@always(
    "broadcast-handled-by-each",
    "G8",
    "CC-11",
    "PQ-9",
    assuming=(*nothing_skipped.assuming, "no listener fails, and none runs longer than the consume timeout"),
)
def handled_by_each(s: GroupState, c: Consumer, q: Queue, m: Message) -> BoolLike:
    """No client's offset passes a message with which its listener did not succeed."""
    return implies(all_of(_passed(s, c, q, m), _owed(s, c, q, m)), s.had[c, q, m] == Had.SUCCEEDED)


@always("broadcast-once", "G8", "OF-10", assuming=("no client dies, stops, or drops a queue",))
def once(s: GroupState) -> BoolLike:
    """No listener is called with a message a second time."""
    return not_(s.had_twice)


@always("broadcast-starts-again", "OF-10", "ST-1", assuming=("at most one death tears the offset file (5.x)",))
def starts_again(s: GroupState, c: Consumer) -> BoolLike:
    """A client that is gone can be started again."""
    return implies(s.life[c] == Life.GONE, may_load(s, c))


@always("broadcast-keeps-its-place", "OF-10", assuming=starts_again.assuming)
def keeps_its_place(s: GroupState, c: Consumer) -> BoolLike:
    """There is always an offset file, or a copy of it, that can be read."""
    return any_of(source(s, c) == Source.FILE, source(s, c) == Source.COPY)


@sometimes("broadcast-only-the-copy-torn", "OF-10")
def copy_torn(s: GroupState, c: Consumer) -> BoolLike:
    """A client that dies while it copies the old content leaves the file as it was, and the copy unreadable."""
    return all_of(s.file_is[c] == Content.OFFSETS, s.copy_is[c] == Content.UNREADABLE)


@always("broadcast-locked-out-after-two-torn-writes", "OF-10", "ST-1")
def torn_twice_at_least(s: GroupState, c: Consumer) -> BoolLike:
    """A client that cannot be started again died twice in the middle of a write."""
    return any_of(may_load(s, c), s.torn_writes_left + 2 <= s.constants.torn_writes)


@always(
    "broadcast-in-order",
    "OR-7",
    "OR-12",
    "G4",
    assuming=("an orderly listener, whose failures have no limit", *nothing_skipped.assuming),
)
def in_order(s: GroupState, c: Consumer, q: Queue, m: Message) -> BoolLike:
    """A client's listener is called with a message only after it has succeeded with all earlier ones."""
    return implies(was_called(s, c, q, m), _all_before(s, c, q, m))


@always("broadcast-no-send-back", "CC-11", "EN-10")
def no_send_back(s: GroupState, c: Consumer, q: Queue, m: Message) -> BoolLike:
    """No message waits to be sent back: a listener that failed does not get the message again."""
    return not_(_to_be_sent_back(s, c, q, m))


@sometimes("broadcast-stray-copy", "PQ-9", "EN-10")
def stray_copy(s: GroupState, c: Consumer, q: Queue, m: Message) -> BoolLike:
    """A slow message is sent to a retry topic that nobody subscribes to, and the offset passes it all the same."""
    return all_of(_expired(s, c, q, m), _passed(s, c, q, m))


@always("broadcast-only-the-first-expires", "PQ-9", assuming=("no window is dropped",))
def first_expires(s: GroupState, c: Consumer, q: Queue, m: Message) -> BoolLike:
    """Only the first message of a window is sent back for taking too long: the window holds none below it."""
    return implies(_expired(s, c, q, m), not_(s.exists(Message, lambda o: all_of(o < m, held(s, c, q, o)))))


@settles(
    "broadcast-correction-ends",
    "PL-19",
    "PL-23",
    "OF-10",
    assuming=("the offset file can be written", "weak fairness of pulls and allocation"),
)
def correction_ends(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A client whose offset is outside the log is corrected, and not over and over."""
    return not_(_outside(s, c, q))


@settles(
    "broadcast-reaches-all",
    "G8",
    "G10",
    assuming=(*nothing_skipped.assuming, "listeners return", "weak fairness of allocation, pulls and listeners"),
)
def reaches_all(s: GroupState, c: Consumer, q: Queue, m: Message) -> BoolLike:
    """Eventually, the listener of every running client has been called with every message since the client's first
    start.
    """
    return implies(all_of(_up(s, c), _owed(s, c, q, m), m < end(s, q)), was_called(s, c, q, m))


@settles(
    "broadcast-progress-saved",
    "OF-10",
    "PL-23",
    assuming=("the offset file can be written", "weak fairness of allocation, pulls, listeners and writes"),
)
def progress_saved(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """Eventually, the file of every running client says that the client is at the end of the log."""
    return implies(_up(s, c), read_entry(s, c, q) == end(s, q))


def _to_be_sent_back(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    return s.stage[c, q, m] == Stage.FAILED if concurrent(s.constants) else False


def _expired(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether the listener of ``c`` is still running with ``m``, which is no longer in the window."""
    return all_of(s.owns[c, q], s.orphan[c, q, m] == Orphan.RUNNING, not_(held(s, c, q, m)))


FAILING: Constants = {"mode": "broadcasting", "messages": 2, "watch_clients": 1, "failures": 1}
QUIET: Constants = {**FAILING, "failures": 0}
CRASH: Constants = {**QUIET, "crashes": 1, "restarts": 1}
STOP: Constants = {**QUIET, "leaves": 1, "restarts": 1}
DROP: Constants = {**QUIET, "moves": 1}
FAULTS: Constants = {**FAILING, "crashes": 1, "restarts": 1, "leaves": 1, "moves": 1}
SHARED: Constants = {**CRASH, "shared_file": 1}
SHARED_ALIVE: Constants = {**QUIET, "shared_file": 1}
LOST: Constants = {**CRASH, "lost_files": 1}
LOST_FIRST: Constants = {**LOST, "from_where": "FIRST_OFFSET"}
TORN: Constants = {**QUIET, "restarts": 1, "torn_writes": 1}
DIED: Constants = {"mode": "broadcasting", "consumers": 1, "messages": 1, "torn_writes": 1}
TORN_TWICE: Constants = {**QUIET, "consumers": 1, "restarts": 2, "torn_writes": 2}
RENAMED_TWICE: Constants = {**TORN_TWICE, "version": "4.9.8"}
SLOW: Constants = {**QUIET, "expiries": 1, "orphans": 1}
NEW: Constants = {**QUIET, "consumers": 1, "messages": 3, "arriving": 2, "group": "new"}
NEW_CRASH: Constants = {**NEW, "crashes": 1, "restarts": 1}
NEW_FIRST: Constants = {**NEW_CRASH, "from_where": "FIRST_OFFSET"}
DELETED: Constants = {**QUIET, "retentions": 1}
DELETED_READ_ONLY: Constants = {**DELETED, "disk": "read-only"}
ORDERLY: Constants = {**FAILING, "listener": "orderly"}
ORDERLY_FAULTS: Constants = {**FAULTS, "listener": "orderly", "orphans": 1}
ORDERLY_TORN: Constants = {**TORN, "listener": "orderly", "failures": 1}
ORDERLY_GIVES_UP: Constants = {**ORDERLY, "failures": 2, "give_up": "attempts", "attempts": 1}
TRUNCATED: Constants = {**QUIET, "consumers": 1, "truncations": 1}


_claim = partial(claim_about, consumption)


def claims() -> Iterator[Claim]:
    """All claims about broadcasting, naive ones first."""
    yield _claim(
        handled_by_each, FAILING, "There is no retry in broadcasting: a failed message is logged and passed over."
    )
    yield _claim(
        handled_by_each,
        SLOW,
        (
            "A message slower than the consume timeout is sent to a retry topic that nobody reads, and the "
            "offset moves on."
        ),
    )
    yield _claim(
        handled_by_each,
        ORDERLY_GIVES_UP,
        (
            "An orderly listener with a maximum of attempts gives up a message by sending it to a retry topic "
            "that nobody subscribes to."
        ),
    )
    yield _claim(in_order, FAILING, "A concurrent listener gets messages in any order, and goes on after a failure.")
    yield _claim(once, ORDERLY, "An orderly listener gets a message again and again until it succeeds.")
    yield _claim(once, CRASH, "After a death, the file is up to 5 s old, and whatever came since is repeated.")
    yield _claim(once, STOP, "A stop saves offsets before running listeners have finished: their messages come again.")
    yield _claim(
        once,
        DROP,
        (
            "A queue that is dropped and taken again begins where the file says; what listeners were working on is "
            "repeated."
        ),
    )
    yield _claim(each_sees_all, NEW, "A client that joins later begins at the end and gets nothing from before.")
    yield _claim(
        nothing_skipped,
        NEW_CRASH,
        "Until its first write, 10 s after the start, a new client has no file; if it dies it begins at the end again.",
    )
    yield _claim(
        nothing_skipped,
        SHARED,
        "Two processes with one client id share a file: the slower one restarts where the faster one was.",
    )
    yield _claim(
        nothing_skipped,
        LOST,
        "The file is found by address: a new container begins at the end, and its downtime is skipped.",
    )
    yield _claim(
        nothing_skipped,
        TORN_TWICE,
        "5.x overwrites the good copy with the torn file: after two deaths while writing, everything is skipped.",
    )
    yield _claim(
        starts_again,
        TORN_TWICE,
        "Two deaths while writing leave nothing to read: the client refuses to start until somebody deletes the file.",
    )
    yield _claim(keeps_its_place, TORN_TWICE, "In 5.x neither file nor copy is safe from a second death.")
    yield _claim(nothing_skipped, DELETED, "Messages that were deleted before a slow client got them are skipped.")
    yield _claim(
        correction_ends,
        DELETED_READ_ONLY,
        (
            "On a read-only disk, the corrected offset is never read back: it is corrected over and over, and "
            "nothing is consumed."
        ),
    )
    yield _claim(
        progress_saved,
        {**QUIET, "disk": "read-only"},
        "On a read-only disk, progress lasts only until the next start.",
    )
    for constants in (FAULTS, TORN, LOST_FIRST, RENAMED_TWICE, SLOW, NEW_FIRST):
        yield _claim(nothing_skipped, constants)
    for constants in (FAULTS, LOST_FIRST, NEW_FIRST):
        yield _claim(each_sees_all, constants)
    for constants in (CRASH, STOP, DROP, TORN, ORDERLY_FAULTS, ORDERLY_TORN):
        yield _claim(handled_by_each, constants)
    for constants in (ORDERLY_FAULTS, ORDERLY_TORN):
        yield _claim(nothing_skipped, constants)
        yield _claim(in_order, constants)
    yield _claim(torn_twice_at_least, TORN_TWICE)
    for constants in (FAILING, SLOW, NEW, SHARED_ALIVE):
        yield _claim(once, constants)
    for constants in (TORN, RENAMED_TWICE):
        yield _claim(starts_again, constants)
        yield _claim(keeps_its_place, constants)
    for constants in (FAULTS, SLOW):
        yield _claim(no_send_back, constants)
    yield _claim(stray_copy, SLOW)
    yield _claim(first_expires, SLOW)
    yield _claim(copy_torn, DIED)
    for constants in (DELETED, TRUNCATED):
        yield _claim(correction_ends, constants)
    for constants in (CRASH, TORN, NEW, ORDERLY):
        yield _claim(reaches_all, constants)
    for constants in (CRASH, TORN, SLOW):
        yield _claim(progress_saved, constants)
