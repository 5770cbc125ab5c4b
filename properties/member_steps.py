"""What a single step may do to a group: its members, their views, their queues.

A group comes to rest whether or not its steps obey these claims, so a mutant that adds a step between two states that
are possible anyway is noticed only here.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model.assignment import assignment
from ..model.everything import everything
from ..model.group import GroupState
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, not_, same
from ..model.lock import holds_lock
from ..model.membership import Broker, Consumer, Life, reaches
from ..model.rebalance import wanted
from ..model.route import Queue
from .claim import Claim, claims_of
from .of_each import always, sometimes
from .property import Kind, Property

Constants = dict[str, int | str]


_always = always(Consumer)
_can = sometimes(Consumer)


def _works(s: GroupState, c: IntLike) -> BoolLike:
    """Whether the client was at work before the step."""
    return all_of(s.was.life[c] == Life.UP, not_(s.was.paused[c]) if s.pauses else True)


def _lists_nobody(s: GroupState, b: IntLike) -> BoolLike:
    return s.forall(Consumer, lambda d: not_(s.members[b].has(d)))


def _listed_in_turn(s: GroupState, c: IntLike) -> BoolLike:
    def in_turn(b: IntLike) -> BoolLike:
        was, now = s.was.members[b].has(c), s.members[b].has(c)
        comes = implies(all_of(now, not_(was)), all_of(s.was.life[c] == Life.UP, reaches(s, c, b)))
        restarted = _lists_nobody(s, b) if s.broker_restarts else False
        stopped = all_of(s.life[c] == Life.STOPPING, reaches(s, c, b))
        silent = any_of(s.life[c] == Life.GONE, not_(reaches(s, c, b)))
        return all_of(comes, implies(all_of(was, not_(now)), any_of(silent, stopped, restarted)))

    return s.forall(Broker, in_turn)


LISTED_IN_TURN = _always(
    "members-come-and-go-for-a-reason",
    (
        "A broker lists a client that runs and reaches it. It forgets one that stops or is silent, or forgets "
        "all of them at once."
    ),
    _listed_in_turn,
    "EN-1",
    "ST-4",
    "ST-6",
)


def _life_in_turn(s: GroupState, c: IntLike) -> BoolLike:
    was, now = s.was.life[c], s.life[c]
    ends = all_of(any_of(was == Life.UP, was == Life.STOPPING), now == Life.GONE)
    starts = all_of(was == Life.NEW, now == Life.UP)
    return any_of(same(was, now), starts, all_of(was == Life.UP, now == Life.STOPPING), ends)


LIFE_IN_TURN = _always(
    "a-client-starts-stops-ends",
    "A client starts, stops and ends, in this order, and does not come back.",
    _life_in_turn,
    "ST-1",
    "ST-8",
)


def _nothing(s: GroupState, c: IntLike) -> BoolLike:
    owns = s.exists(Queue, lambda q: s.owns[c, q])
    sees = s.exists(Consumer, lambda d: s.view[c].has(d))
    paused = s.paused[c] if s.pauses else False
    woken = s.woken[c] if s.periodic == 0 else False
    runs = any_of(s.life[c] == Life.UP, s.life[c] == Life.STOPPING)
    return any_of(runs, not_(any_of(owns, sees, paused, woken)))


NOTHING_WHILE_GONE = _always(
    "client-that-does-not-run-has-nothing",
    "A client that does not run yet, or no longer runs, has no queues, sees no members, and is told nothing.",
    _nothing,
    "ST-8",
)


def _stopping_keeps(s: GroupState, c: IntLike) -> BoolLike:
    lasts = all_of(s.was.life[c] == Life.STOPPING, s.life[c] == Life.STOPPING)
    queues = s.forall(Queue, lambda q: same(s.owns[c, q], s.was.owns[c, q]))
    view = s.forall(Consumer, lambda d: same(s.view[c].has(d), s.was.view[c].has(d)))
    ends_no_pass = same(s.at[c], s.was.at[c]) if s.steps == "fine" else True
    locks = s.forall(Queue, lambda q: not_(holds_lock(s, c, q))) if s.orderly else True
    return all_of(implies(lasts, all_of(queues, view, ends_no_pass)), implies(s.life[c] == Life.STOPPING, locks))


STOPPING_KEEPS = _always(
    "stopping-client-rebalances-no-more",
    (
        "A client that shuts down continues no rebalance pass, keeps its queues until it is gone, takes no others, "
        "and no longer has locks."
    ),
    _stopping_keeps,
    "ST-8",
    "ST-9",
)


def _seen_from_a_broker(s: GroupState, c: IntLike) -> BoolLike:
    changed = s.exists(Consumer, lambda d: not_(same(s.view[c].has(d), s.was.view[c].has(d))))

    def read(b: IntLike) -> BoolLike:
        equal = s.forall(Consumer, lambda d: same(s.view[c].has(d), s.members[b].has(d)))
        return all_of(reaches(s, c, b), equal, not_(_lists_nobody(s, b)))

    return implies(all_of(changed, s.life[c] != Life.GONE), all_of(_works(s, c), s.exists(Broker, read)))


SEEN_FROM_A_BROKER = _always(
    "views-are-read-from-a-broker-in-reach",
    "A working client takes its view of the group from a broker that it reaches and that knows members.",
    _seen_from_a_broker,
    "RB-4",
    "RB-5",
)


def _table_in_turn(s: GroupState, c: IntLike) -> BoolLike:
    def in_turn(q: IntLike) -> BoolLike:
        lost = all_of(s.was.owns[c, q], not_(s.owns[c, q]), s.life[c] != Life.GONE)
        won = all_of(s.owns[c, q], not_(s.was.owns[c, q]))
        locked = (
            all_of(any_of(s.was.holder[q] == 0, s.was.holder[q] == c + 1), holds_lock(s, c, q)) if s.orderly else True
        )
        works = _works(s, c)
        return all_of(
            implies(lost, all_of(works, not_(wanted(s, c, q)))), implies(won, all_of(works, wanted(s, c, q), locked))
        )

    return s.forall(Queue, in_turn)


TABLE_IN_TURN = _always(
    "a-pass-changes-only-what-it-must",
    (
        "A pass takes queues of the new share, with their locks if the client is orderly, and drops only those "
        "that are no longer in it."
    ),
    _table_in_turn,
    "RB-30",
)


def _drops_first(s: GroupState, c: IntLike) -> BoolLike:
    takes = s.exists(Queue, lambda q: all_of(s.owns[c, q], not_(s.was.owns[c, q])))
    return implies(takes, s.forall(Queue, lambda q: implies(s.owns[c, q], wanted(s, c, q))))


DROPS_FIRST = _always(
    "a-pass-drops-before-it-takes",
    "A client takes a queue only when it has dropped all that left its share.",
    _drops_first,
    "RB-30",
)


def _comes_with_the_queue(s: GroupState, c: IntLike) -> BoolLike:
    def comes(q: IntLike) -> BoolLike:
        got = all_of(holds_lock(s, c, q), s.was.holder[q] != c + 1)
        return implies(got, all_of(s.owns[c, q], s.was.life[c] == Life.UP))

    return s.forall(Queue, comes)


def _goes_with_the_queue(s: GroupState, c: IntLike) -> BoolLike:
    def goes(q: IntLike) -> BoolLike:
        lost = all_of(s.was.holder[q] == c + 1, not_(holds_lock(s, c, q)))
        gone = any_of(not_(s.owns[c, q]), s.life[c] != Life.UP)
        return implies(lost, all_of(gone, s.holder[q] == 0))

    return s.forall(Queue, goes)


LOCK_IN_TURN = _always(
    "lock-goes-with-the-queue",
    "The lock of a queue is taken and released together with the queue, or is left behind by a client that ended.",
    lambda s, c: all_of(_goes_with_the_queue(s, c), _comes_with_the_queue(s, c)),
    "RB-30",
    "OR-1",
)


def _forgets_its_own(s: GroupState, c: IntLike) -> BoolLike:
    def own(q: IntLike) -> BoolLike:
        restarted = s.forall(Broker, lambda b: implies(q % s.brokers == b, _lists_nobody(s, b)))
        return implies(s.committed[q] < s.was.committed[q], restarted)

    return s.forall(Queue, own)


FORGETS_ITS_OWN = _always(
    "broker-forgets-its-own-queues-only",
    "A broker that restarts forgets the last commits of its own queues, and of no others.",
    _forgets_its_own,
    "OF-23",
)


def _repaired_in_turn(s: GroupState, c: IntLike) -> BoolLike:
    def in_turn(q: IntLike) -> BoolLike:
        begins = all_of(s.leftover[c, q], not_(s.was.leftover[c, q]))
        left = all_of(s.was.owns[c, q], not_(s.owns[c, q]), _works(s, c))
        back = all_of(s.owns[c, q], s.leftover[c, q])
        kept = any_of(s.leftover[c, q], not_(wanted(s, c, q)))
        return all_of(implies(begins, left), not_(back), implies(left, kept))

    return s.forall(Queue, in_turn)


REPAIRED_IN_TURN = _always(
    "repaired-queue-was-owned",
    (
        "A queue that is dropped in order to be taken again was owned, stays in the table, and is taken only "
        "after it has left the table."
    ),
    _repaired_in_turn,
    "PL-23",
)
KNOWS_NO_MORE = _always(
    "client-that-is-gone-learns-nothing",
    "A client that is gone no longer looks at routes.",
    lambda s, c: implies(s.was.life[c] == Life.GONE, same(s.route[c], s.was.route[c])),
    "ST-3",
    "ST-8",
)
LOCK_COMES_WITH_THE_QUEUE = _always(
    "only-owners-get-locks",
    "A client that gets the lock of a queue has the queue.",
    _comes_with_the_queue,
    "RB-30",
    "OR-1",
)


def _in_reach(s: GroupState, c: IntLike) -> BoolLike:
    def reached(q: IntLike) -> BoolLike:
        return s.forall(Broker, lambda b: implies(q % s.brokers == b, reaches(s, c, b)))

    def got_through(q: IntLike) -> BoolLike:
        pulled = all_of(s.was.owns[c, q], s.owns[c, q], not_(same(s.next_offset[c, q], s.was.next_offset[c, q])))
        sent = all_of(s.was.committed[q] < s.committed[q], s.owns[c, q])
        return implies(any_of(pulled, sent), reached(q))

    return s.forall(Queue, got_through)


IN_REACH = _always(
    "pulls-and-commits-need-the-broker",
    "A client pulls from a queue, and commits its offset, only while it reaches the broker of that queue.",
    _in_reach,
    "PL-3",
    "OF-5",
)


def _elsewhere(s: GroupState, c: IntLike) -> BoolLike:
    cut_off = s.exists(Broker, lambda b: not_(reaches(s, c, b)))
    return all_of(cut_off, s.exists(Queue, lambda q: s.was.next_offset[c, q] < s.next_offset[c, q]))


PULLS_ELSEWHERE = _can(
    "cut-from-one-broker-pulls-from-another",
    "A client that is cut off from one broker continues to pull from the queues of another.",
    _elsewhere,
    "PL-3",
)
TAKEN_BACK = Property[GroupState](
    id="broker-takes-commits-back",
    statement="A broker that restarts has the offsets that it had written to its disk, and forgets what came since.",
    kind=Kind.SOMETIMES,
    holds=lambda s: s.exists(
        Queue, lambda q: all_of(s.committed[q] < s.was.committed[q], s.committed[q] == s.on_disk[q])
    ),
    rules=("OF-23",),
)


def _left(s: GroupState, b: IntLike, c: IntLike) -> BoolLike:
    return all_of(s.was.members[b].has(c), not_(s.members[b].has(c)))


def _told(s: GroupState, d: IntLike) -> BoolLike:
    return all_of(s.woken[d], not_(s.was.woken[d]))


def _told_of_changes(s: GroupState, d: IntLike) -> BoolLike:
    def changed(b: IntLike) -> BoolLike:
        return s.exists(Consumer, lambda c: not_(same(s.members[b].has(c), s.was.members[b].has(c))))

    def others(b: IntLike) -> BoolLike:
        stopped = s.exists(Consumer, lambda c: all_of(_left(s, b, c), s.life[c] == Life.STOPPING))
        return implies(all_of(stopped, s.members[b].has(d), s.life[d] == Life.UP), s.woken[d])

    starts = all_of(s.was.life[d] == Life.NEW, s.life[d] == Life.UP)
    why = any_of(starts, s.exists(Broker, changed))
    return all_of(implies(starts, s.woken[d]), implies(_told(s, d), why), s.forall(Broker, others))


TOLD_OF_CHANGES = _always(
    "members-are-told-of-changes",
    (
        "A client that starts rebalances at once, and one that leaves in order makes all others rebalance. Apart "
        "from that, only a change of the group does."
    ),
    _told_of_changes,
    "ST-1",
    "ST-6",
    "ST-7",
)


def _commits_before_it_leaves(s: GroupState, c: IntLike) -> BoolLike:
    leaves = all_of(s.life[c] == Life.STOPPING, s.exists(Broker, lambda b: _left(s, b, c)))
    ends = all_of(s.was.life[c] == Life.STOPPING, s.life[c] == Life.GONE)
    return implies(any_of(leaves, ends), s.was.persisted[c])


COMMITS_BEFORE_IT_LEAVES = _always(
    "offsets-are-persisted-before-leaving",
    "A client that shuts down persists its offsets before it leaves the group, and leaves before it ends.",
    _commits_before_it_leaves,
    "ST-8",
)


def _others_told(s: GroupState, c: IntLike) -> BoolLike:
    def closed(b: IntLike) -> BoolLike:
        return all_of(_left(s, b, c), s.exists(Consumer, lambda d: _told(s, d)))

    return all_of(s.life[c] == Life.GONE, s.exists(Broker, closed))


CLOSED_IS_TOLD = _can(
    "closed-connection-is-told",
    "When the connection of a client that died closes, the others are told.",
    _others_told,
    "ST-6",
)
ENDS_CUT_OFF = _can(
    "a-stop-does-not-wait-for-a-broker-out-of-reach",
    "A client that stops while it is cut off from a broker ends, but that broker still lists it.",
    lambda s, c: all_of(s.life[c] == Life.GONE, s.exists(Broker, lambda b: s.members[b].has(c))),
    "ST-8",
)
CUT_SHORT = _can(
    "a-stop-may-be-cut-short",
    "A process may end in the middle of its shutdown, and brokers still list it.",
    lambda s, c: all_of(
        s.was.life[c] == Life.STOPPING,
        s.life[c] == Life.GONE,
        s.exists(Broker, lambda b: s.members[b].has(c)),
    ),
    "ST-8",
)

_WATCHED: Constants = {"consumers": 2, "running": 2, "queues": 2, "watch_steps": 1}
_MESSAGES: Constants = {"running": 0, "consumers": 1, "queues": 2, "messages": 1, "watch_steps": 1}


def claims() -> Iterator[Claim]:
    """All claims about steps."""
    of_groups: tuple[tuple[Constants, tuple[Property, ...]], ...] = (
        (
            {**_WATCHED, "running": 1, "leaves": 2, "crashes": 1},
            (LISTED_IN_TURN, LIFE_IN_TURN, NOTHING_WHILE_GONE, STOPPING_KEEPS, SEEN_FROM_A_BROKER, TABLE_IN_TURN),
        ),
        (
            {**_WATCHED, "brokers": 2, "cuts": 1, "broker_restarts": 1},
            (LISTED_IN_TURN, SEEN_FROM_A_BROKER, TABLE_IN_TURN),
        ),
        (
            {**_WATCHED, "brokers": 2, "cuts": 1, "leaves": 1},
            (LISTED_IN_TURN, STOPPING_KEEPS, ENDS_CUT_OFF),
        ),
        (
            {**_WATCHED, "orderly": 1, "leaves": 1, "crashes": 1},
            (STOPPING_KEEPS, TABLE_IN_TURN, LOCK_IN_TURN, LIFE_IN_TURN),
        ),
        (
            {**_WATCHED, "pauses": 1, "crashes": 1},
            (NOTHING_WHILE_GONE, SEEN_FROM_A_BROKER, TABLE_IN_TURN),
        ),
        ({**_WATCHED, "orderly": 1, "broker_restarts": 1}, (LOCK_COMES_WITH_THE_QUEUE,)),
        ({**_WATCHED, "running": 1, "steps": "fine", "leaves": 1}, (TABLE_IN_TURN, STOPPING_KEEPS)),
        ({**_WATCHED, "consumers": 3, "running": 3, "queues": 3, "steps": "fine", "crashes": 1}, (DROPS_FIRST,)),
        ({**_WATCHED, "running": 1, "repairs": 1}, (REPAIRED_IN_TURN,)),
        ({**_WATCHED, "route_changes": 1, "crashes": 1}, (KNOWS_NO_MORE,)),
        (
            {**_WATCHED, "running": 1, "periodic": 0, "leaves": 1, "crashes": 1},
            (NOTHING_WHILE_GONE, TOLD_OF_CHANGES, CLOSED_IS_TOLD, CUT_SHORT),
        ),
    )
    yield from claims_of(assignment, of_groups)
    with_messages: tuple[tuple[Constants, tuple[Property, ...]], ...] = (
        ({**_MESSAGES, "queues": 1, "leaves": 1}, (COMMITS_BEFORE_IT_LEAVES,)),
        (
            {**_MESSAGES, "brokers": 2, "cuts": 1, "broker_restarts": 1},
            (TABLE_IN_TURN, FORGETS_ITS_OWN, LISTED_IN_TURN, IN_REACH, PULLS_ELSEWHERE, TAKEN_BACK),
        ),
    )
    yield from claims_of(everything, with_messages)
