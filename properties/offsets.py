"""What may be relied on about offsets, and what may not (guarantees G2 and G7).

Three things are asked of a committed offset: that it does not go back without a cause, that it does not pass a message
which nobody has handled, and that it starts where it should. Each is false as it stands; each way in which it is false
is a row of its own, and where that way is closed the claim holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..model.consume_queue import Message, end, is_retry
from ..model.consumption import consumption
from ..model.history import Cause, Regression
from ..model.kernel import BoolLike, IntLike, State, all_of, any_of, implies, minimum, not_
from ..model.membership import Consumer, Life
from ..model.process_queue import NO_OFFSET, held
from ..model.rebalance import Queue
from ..model.reset import reset_over
from .claim import Claim
from .delivery import EXPLAINED, OFFSET_SAFE, PROGRESS, every_message, every_window
from .property import Kind, Property
from .verdict import Verdict

Constants = dict[str, int | str]


def every_queue(s: State, holds: object) -> BoolLike:
    """Whether ``holds(q)`` is true of every queue."""
    return s.forall(Queue, holds)  # type: ignore[arg-type]


NEVER_BACK = Property(
    id="offset-never-back",
    statement="The committed offset of a queue never decreases.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_queue(s, lambda q: s.went_back[q] == Regression.NONE),
    assuming=(
        "one window at a time, commits under way included",
        "the broker does not restart, fail over or lose its log",
        "no operator resets it",
    ),
    rules=("G7", "OF-20", "OF-23"),
)
CAUSED = Property(
    id="every-regression-has-a-cause",
    statement="The committed offset decreases only for a recorded cause.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_queue(s, lambda q: s.went_back[q] != Regression.UNEXPLAINED),
    rules=("G7", "OF-20"),
)
OWNED_ONLY = Property(
    id="offset-sent-by-owner-only",
    statement="A client sends an offset only of a queue in its table, or when it repairs or resets one.",
    kind=Kind.ALWAYS,
    holds=lambda s: not_(s.sent_unowned),
    rules=("U13", "OF-5", "OF-6"),
)
SAFE_FROM_START = Property(
    id="offset-safe-from-first-start",
    statement="From where the group first started on, the committed offset never passes an unhandled message.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_message(
        s,
        lambda q, m: implies(all_of(s.group_start[q] <= m, m < s.committed[q], m < end(s, q)), s.handled[q, m]),
    ),
    rules=("G2", "RB-40", "CC-13"),
)
AT_THE_END = Property(
    id="new-group-starts-at-the-end",
    statement="With CONSUME_FROM_LAST_OFFSET a new group starts at the end of every queue.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_queue(s, lambda q: any_of(s.group_start[q] == NO_OFFSET, s.group_start[q] == end(s, q))),
    rules=("RB-40",),
)


def _where_chosen(s: State, q: IntLike) -> IntLike:
    """What RB-40 and RB-41 say of a queue that does not grow, worked out from the constants alone."""
    whole = end(s, q)
    if s.head_in_memory:
        return 0
    if is_retry(s.constants, q):
        return whole if s.from_where == "TIMESTAMP" else 0
    return {"LAST_OFFSET": whole, "FIRST_OFFSET": 0, "TIMESTAMP": minimum(s.timestamp_offset, whole)}[s.from_where]


WHERE_CHOSEN = Property(
    id="new-group-starts-where-chosen",
    statement="A new group starts at 0 if the head is in memory, else where ConsumeFromWhere says.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_queue(
        s, lambda q: any_of(s.group_start[q] == NO_OFFSET, s.group_start[q] == _where_chosen(s, q))
    ),
    assuming=("nothing is stored in the queue meanwhile",),
    rules=("RB-40", "RB-41", "OF-21"),
)
RETRY_FROM_BEGINNING = Property(
    id="retry-queue-from-its-beginning",
    statement="A new group starts at the beginning of its retry queue.",
    kind=Kind.ALWAYS,
    holds=lambda s: any_of(s.group_start[s.queues - 1] == NO_OFFSET, s.group_start[s.queues - 1] == 0),
    rules=("RB-40", "EN-11"),
)
RESET_LASTS = Property(
    id="reset-comes-through",
    statement="When a reset is over, the committed offset has passed only what was handled after the reset.",
    kind=Kind.ALWAYS,
    holds=lambda s: implies(
        reset_over(s),
        every_message(s, lambda q, m: implies(all_of(m < s.committed[q], m < end(s, q)), s.handled[q, m])),
    ),
    rules=("OF-30", "OF-31", "G2"),
)
ONE_PULL = Property(
    id="one-pull-a-window",
    statement="A window holds nothing at or beyond its pull position: nobody else pulls for it.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_window(
        s, lambda c, q: s.forall(Message, lambda m: implies(held(s, c, q, m), m < s.next_offset[c, q]))
    ),
    rules=("U4", "PL-1"),
)
COUNTED = Property(
    id="counter-counts-the-window",
    statement="The message counter of a window is the number of messages in it.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(
        Consumer,
        lambda c: every_queue(s, lambda q: s.counted[c, q] == s.count(Message, lambda m: held(s, c, q, m))),
    ),
    rules=("PQ-8", "PL-7"),
)
STORED = Property(
    id="progress-is-stored",
    statement="Some time the committed offset of every queue is its end, if a client lives.",
    kind=Kind.EVENTUALLY,
    holds=lambda s: any_of(
        every_queue(s, lambda q: s.committed[q] == end(s, q)),
        s.forall(Consumer, lambda c: s.life[c] != Life.UP),
    ),
    assuming=PROGRESS.assuming,
    rules=("G10", "OF-6"),
)
PINNED = Property(
    id="hung-message-pins-the-offset",
    statement="The committed offset never passes a message whose listener hangs, whatever is finished above it.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(
        Consumer, lambda c: every_message(s, lambda q, m: implies(s.hung[c, q, m], s.committed[q] <= m))
    ),
    assuming=("nobody else owns the queue",),
    rules=("PQ-2", "G10"),
)
QUIET_ONCE = Property(
    id="quiet-group-has-no-duplicates",
    statement="Where nothing happens, no message has a reason to come again.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_message(s, lambda q, m: s.cause[q, m] == Cause.NONE),
    rules=("G3", "PQ-11"),
)


def _went_back(cause: Regression, statement: str, *rules: str) -> Property:
    """The witness that the committed offset can go back for ``cause``."""
    return Property(
        id=f"offset-back-{cause.name.lower().replace('_', '-')}",
        statement=statement,
        kind=Kind.SOMETIMES,
        holds=lambda s: s.exists(Queue, lambda q: s.went_back[q] == cause),
        rules=("G7", *rules),
    )


WATCH: Constants = {"messages": 2, "watch_offsets": 1}
ALONE: Constants = {**WATCH, "consumers": 1}
OVERLAP: Constants = {**WATCH, "moves": 1}
ONE_OWNER: Constants = {**WATCH, "moves": 1, "crashes": 1, "overlaps": 0, "lost_commits": 1, "leaves": 1, "failures": 1}
LATE: Constants = {**WATCH, "moves": 1, "overlaps": 0, "late_commits": 1}
CARRIED: Constants = {**ALONE, "pulls": "fine", "piggyback": 1}
BROKER_RESTART: Constants = {**ALONE, "broker_restarts": 1}
FAIL_OVER: Constants = {**WATCH, "overlaps": 0, "moves": 1, "slaves": 1, "fail_overs": 1}
SHORTENED: Constants = {**ALONE, "truncations": 1}
SHORTENED_IN_STEPS: Constants = {**SHORTENED, "corrections": "steps", "held_updates": 1, "moves": 1}
CLIENT_RESET: Constants = {**ALONE, "version": "4.9.8", "resets": 1}
SERVER_RESET: Constants = {**ALONE, "resets": 1, "corrections": "steps", "piggyback": 1}
RECREATED: Constants = {
    "messages": 1,
    "arriving": 1,
    "consumers": 1,
    "moves": 1,
    "recreations": 1,
    "from_where": "FIRST_OFFSET",
}
FAILED_QUERY: Constants = {"messages": 2, "consumers": 1, "moves": 1, "failed_queries": 1}
NEW: Constants = {"messages": 2, "crashes": 1, "group": "new", "watch_starts": 1}
RETRY: Constants = {
    "queues": 2,
    "messages": 2,
    "retry_room": 1,
    "copies": 1,
    "failures": 1,
    "group": "new",
    "consumers": 1,
    "watch_starts": 1,
}
ADDED_QUEUE: Constants = {"queues": 2, "group": "scaled", "messages": 1, "arriving": 1, "consumers": 1}
RETENTION: Constants = {"messages": 2, "moves": 1, "crashes": 1, "retentions": 1}
LATE_UPDATE: Constants = {"messages": 2, "moves": 1, "crashes": 1, "held_updates": 1}
RESET_OLD: Constants = {"messages": 1, "version": "4.9.8", "resets": 1}
RESET_NEW: Constants = {"messages": 1, "resets": 1, "corrections": "steps"}
HUNG: Constants = {"messages": 3, "moves": 1, "overlaps": 0, "hangs": 1}
COUNTERS: Constants = {
    "messages": 3,
    "consumers": 1,
    "moves": 1,
    "counters": 1,
    "threshold": 1,
    "failures": 1,
    "refusals": 1,
    "batch": 2,
    "pull_batch": 2,
}
FINE: Constants = {"messages": 2, "consumers": 1, "moves": 1, "pulls": "fine", "lost_pulls": 1}

_BACK: tuple[tuple[Property, Constants, str], ...] = (
    (
        _went_back(Regression.OVERLAP, "Two owners: the slower one's commit takes the offset back.", "OF-20", "RB-32"),
        OVERLAP,
        "Two owners for a moment are enough: the broker takes any commit from anybody, the smaller one as well.",
    ),
    (
        _went_back(Regression.LATE_COMMIT, "A commit arrives after a later one.", "OF-5", "OF-8"),
        LATE,
        "One owner at a time is not enough: the last commit of the old one may arrive after the new one's.",
    ),
    (
        _went_back(Regression.LATE_COMMIT, "A commit that came with a pull is applied after a later one.", "PL-14"),
        CARRIED,
        "Even a single client overtakes itself: commits with pulls and periodic ones are served by two pools.",
    ),
    (
        _went_back(Regression.BROKER_RESTART, "The broker forgets the commits of its last seconds.", "OF-23"),
        BROKER_RESTART,
        "Committed is not on disk: a broker that dies loses the commits of the last 5 s.",
    ),
    (
        _went_back(Regression.FAIL_OVER, "A slave answers with its old copy.", "OF-4", "OF-23"),
        FAIL_OVER,
        "A slave's copy is 10 s to 60 s old, and what clients commit to it is lost when the master is back.",
    ),
    (
        _went_back(Regression.CORRECTED, "The log is shorter than the offset, which is corrected.", "PL-19", "PL-23"),
        SHORTENED,
        "A log that lost its tail takes the offset back to its new end.",
    ),
    (
        _went_back(Regression.RESET, "The operator has it reset.", "OF-31"),
        CLIENT_RESET,
        "A reset is there to take the offset back.",
    ),
    (
        _went_back(Regression.RECREATED, "The topic is deleted, and its offsets with it.", "OF-20"),
        {**RECREATED, "watch_offsets": 1},
        "A topic that is deleted and created again starts anew, and so does its offset in 5.x.",
    ),
)


def _claim(property: Property, constants: Mapping[str, int | str], lesson: str = "") -> Claim:
    expected = Verdict.VIOLATED if lesson else Verdict.HOLDS
    return Claim(property=property, machine=consumption, constants=constants, expected=expected, lesson=lesson)


def claims() -> Iterator[Claim]:
    """All claims about offsets."""
    yield from _back_claims()
    yield from _loss_claims()
    yield from _start_claims()
    yield from _reset_claims()
    yield from _progress_claims()


def _back_claims() -> Iterator[Claim]:
    """G7: what takes an offset back; each way is a witness, and none other is left."""
    yield _claim(NEVER_BACK, ONE_OWNER)
    yield _claim(NEVER_BACK, {**ALONE, "moves": 1, "held_updates": 1})
    for witness, constants, lesson in _BACK:
        yield _claim(NEVER_BACK, constants, lesson)
        yield _claim(witness, constants)
        yield _claim(CAUSED, constants)
        yield _claim(OWNED_ONLY, constants)
    old_steps: Constants = {**SHORTENED_IN_STEPS, "version": "4.9.8"}
    for constants in (ONE_OWNER, SHORTENED_IN_STEPS, old_steps, SERVER_RESET):
        yield _claim(CAUSED, constants)
        yield _claim(OWNED_ONLY, constants)
    yield _claim(CAUSED, {**FAILED_QUERY, "watch_offsets": 1})
    yield _claim(
        CAUSED,
        {**FAILED_QUERY, "watch_offsets": 1, "version": "4.9.8", "from_where": "FIRST_OFFSET"},
        "4.9.8 takes any error of the broker for 'no offset': with FIRST_OFFSET the group starts all over again.",
    )


def _loss_claims() -> Iterator[Claim]:
    """G2: what makes an offset pass a message that nobody has handled."""
    for constants in (
        {**LATE_UPDATE},
        {"messages": 2, "moves": 1, "crashes": 1, "slaves": 1, "fail_overs": 1},
        {"messages": 2, "consumers": 1, "moves": 1, "pulls": "fine", "piggyback": 1, "broker_restarts": 1},
        FAILED_QUERY,
        {**FAILED_QUERY, "version": "4.9.8", "from_where": "FIRST_OFFSET"},
        {**RETENTION, "retentions": 2, "retention": "consumed", "corrections": "steps", "late_commits": 1},
        RECREATED,
    ):
        yield _claim(OFFSET_SAFE, constants)
    yield _claim(
        OFFSET_SAFE,
        {**FAILED_QUERY, "version": "4.9.8"},
        "4.9.8 takes any error of the broker for 'no offset', and LAST_OFFSET jumps to the end (G2-2).",
    )
    yield _claim(
        OFFSET_SAFE, RETENTION, "What retention deletes before it was consumed is passed over without a word (G2-3)."
    )
    yield _claim(
        OFFSET_SAFE,
        {"messages": 2, "consumers": 1, "removals": 1},
        "A pull that finds index entries of deleted messages goes on behind them (G2-3).",
    )
    yield _claim(
        OFFSET_SAFE,
        {"messages": 2, "consumers": 1, "truncations": 1},
        "Beyond the end of a shortened log the offset is corrected to its end, past what the client had pulled and not "
        "finished (G2-4).",
    )
    yield _claim(
        OFFSET_SAFE,
        {"messages": 1, "arriving": 1, "consumers": 1, "truncations": 1},
        "A log that lost its tail and has grown again hides new messages below the committed offset (G2-4).",
    )
    yield _claim(
        OFFSET_SAFE, {**RESET_NEW, "consumers": 1, "reset_to": 1}, "A reset forward skips what lies between (G2-5)."
    )
    yield _claim(
        OFFSET_SAFE,
        {**RECREATED, "version": "4.9.8"},
        "4.9.8 keeps the offsets of a deleted topic: the first messages of its next life are below them (G2-5).",
    )
    yield _claim(
        OFFSET_SAFE,
        {**RECREATED, "from_where": "LAST_OFFSET"},
        "A topic created again is a new one: LAST_OFFSET skips what came before the first start (G2-5).",
    )


def _start_claims() -> Iterator[Claim]:
    """G2-1: where a group starts without a stored offset."""
    for from_where in ("LAST_OFFSET", "FIRST_OFFSET", "TIMESTAMP"):
        for in_memory in (0, 1):
            constants: Constants = {**NEW, "from_where": from_where, "head_in_memory": in_memory}
            if from_where == "TIMESTAMP":
                constants["timestamp_offset"] = 1
            skips = from_where != "FIRST_OFFSET" and not in_memory
            yield _claim(WHERE_CHOSEN, constants)
            yield _claim(SAFE_FROM_START, constants)
            yield _claim(
                OFFSET_SAFE, constants, f"{from_where} skips what is older than the group (G2-1)." if skips else ""
            )
    yield _claim(AT_THE_END, {**NEW, "from_where": "LAST_OFFSET"})
    yield _claim(
        AT_THE_END,
        {**NEW, "from_where": "LAST_OFFSET", "head_in_memory": 1},
        "On a young topic the broker answers 0: the group reads everything although LAST_OFFSET was asked for.",
    )
    yield _claim(RETRY_FROM_BEGINNING, {**RETRY, "from_where": "LAST_OFFSET", "head_in_memory": 1})
    yield _claim(RETRY_FROM_BEGINNING, {**RETRY, "from_where": "FIRST_OFFSET"})
    yield _claim(
        RETRY_FROM_BEGINNING,
        {**RETRY, "from_where": "TIMESTAMP"},
        "With TIMESTAMP a retry queue is started at its end: retries that were stored before are skipped (G2-1).",
    )
    yield _claim(OFFSET_SAFE, {**ADDED_QUEUE, "head_in_memory": 1})
    yield _claim(OFFSET_SAFE, {**ADDED_QUEUE, "from_where": "FIRST_OFFSET", "starts": "steps"})
    yield _claim(OFFSET_SAFE, {**ADDED_QUEUE, "head_in_memory": 1, "starts": "steps", "version": "4.9.8"})
    yield _claim(
        OFFSET_SAFE,
        ADDED_QUEUE,
        "A queue added to the topic is started at its end, once its head has left the memory: its beginning is skipped.",
    )
    yield _claim(
        OFFSET_SAFE,
        {**ADDED_QUEUE, "head_in_memory": 1, "starts": "steps"},
        "Since 5.1 an empty queue has no answer 0: what is stored before the client asks for the end is skipped.",
    )


def _reset_claims() -> Iterator[Claim]:
    """G2-9, G2-10: what undoes a reset."""
    yield _claim(RESET_LASTS, {**RESET_OLD, "messages": 2, "consumers": 1})
    yield _claim(RESET_LASTS, {**RESET_NEW, "messages": 2, "consumers": 1, "resets": 2, "piggyback": 1})
    old: tuple[tuple[Constants, str], ...] = (
        (
            {"consumers": 2},
            "Clients reset one after the other: who takes the queue in between starts at the old offset.",
        ),
        (
            {"messages": 2, "consumers": 1, "resets": 2},
            "A window opened while a reset waits is forgotten, not dropped: it goes on beside the next one for ever.",
        ),
        ({"consumers": 1, "moves": 1}, "A queue that nobody owns at that moment is not reset."),
        ({"consumers": 1, "late_commits": 1}, "A commit that was under way undoes the reset."),
        (
            {"consumers": 1, "pulls": "fine"},
            "A pull parked at the broker outlives the reset, and its answer undoes it (G2-9).",
        ),
        ({"consumers": 1, "held_updates": 1}, "A worker that updates the offset late undoes the reset (G2-9)."),
    )
    new: tuple[tuple[Constants, str], ...] = (
        (
            {"consumers": 2, "moves": 1},
            "Only the client that pulls first learns of the reset; a second owner commits on.",
        ),
        (
            {"consumers": 2, "crashes": 1, "overlaps": 0, "piggyback": 1},
            "The pull that learns of the reset carries the old offset; if the client dies then, the reset is lost (G2-10).",
        ),
        (
            {"consumers": 2, "crashes": 1, "overlaps": 0},
            "So does a periodic commit between that answer and the repair.",
        ),
        (
            {"consumers": 1, "late_commits": 1},
            "The next window's query may overtake the corrected offset: everybody is healthy, and the reset is lost (G2-10).",
        ),
        (
            {"consumers": 1, "held_updates": 1, "moves": 1},
            "A worker that updates the offset late undoes the reset (G2-9).",
        ),
        ({"consumers": 1, "pulls": "fine", "moves": 1}, "A late answer for a dead window undoes the reset (G2-9)."),
    )
    for constants, lesson in old:
        yield _claim(RESET_LASTS, {**RESET_OLD, **constants}, lesson)
    for constants, lesson in new:
        yield _claim(RESET_LASTS, {**RESET_NEW, **constants}, lesson)


def _progress_claims() -> Iterator[Claim]:
    """G10, U4: windows that pull, and what keeps them from it."""
    yield _claim(COUNTED, COUNTERS)
    yield _claim(ONE_PULL, COUNTERS)
    yield _claim(ONE_PULL, {**FINE, "piggyback": 1, "truncations": 1, "arriving": 1})
    yield _claim(EXPLAINED, {**FINE, "messages": 1, "causes": 1})
    yield _claim(PROGRESS, COUNTERS)
    yield _claim(PROGRESS, FINE)
    yield _claim(
        PROGRESS,
        {**FINE, "pulls": "whole", "idle_limit": 0},
        "A lost pull loop is brought back by the limit of 120 s, and by nothing else.",
    )
    yield _claim(PINNED, HUNG)
    yield _claim(
        STORED,
        {"messages": 2, "consumers": 1, "hangs": 1},
        "One listener call that never returns pins the offset: what is finished above comes again after a restart.",
    )
    for constants in (
        {**LATE_UPDATE},
        {"messages": 2, "consumers": 1, "moves": 1, "retentions": 1, "corrections": "steps"},
        {
            "messages": 2,
            "consumers": 1,
            "truncations": 1,
            "corrections": "steps",
            "version": "4.9.8",
            "held_updates": 1,
        },
        {"messages": 2, "crashes": 1, "slaves": 1, "fail_overs": 1},
        {"messages": 2, "consumers": 1, "resets": 1, "corrections": "steps", "piggyback": 1},
        {"messages": 2, "consumers": 1, "moves": 1, "resets": 1, "version": "4.9.8"},
        {"messages": 2, "consumers": 1, "moves": 1, "pulls": "fine", "piggyback": 1},
    ):
        yield _claim(STORED, constants)
    yield _claim(QUIET_ONCE, {"messages": 2, "consumers": 1, "causes": 1})
