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
from ..model.rebalance import Pass, wanted
from ..model.route import Queue
from .claim import Claim, Constants, claims_of
from .property import Property, always, sometimes


def _works(s: GroupState, c: IntLike) -> BoolLike:
    """Whether the client was at work before the step."""
    return all_of(s.was.life[c] == Life.UP, not_(s.was.paused[c]) if s.pauses else True)


def _lists_nobody(s: GroupState, b: IntLike) -> BoolLike:
    return s.forall(Consumer, lambda d: not_(s.members[b].has(d)))


@always("members-come-and-go-for-a-reason", "EN-1", "ST-4", "ST-6")
def listed_in_turn(s: GroupState, c: Consumer) -> BoolLike:
    """A broker lists a client that runs and reaches it. It forgets one that stops or is silent, or forgets all of them
    at once.
    """

    def in_turn(b: IntLike) -> BoolLike:
        was, now = s.was.members[b].has(c), s.members[b].has(c)
        comes = implies(all_of(now, not_(was)), all_of(s.was.life[c] == Life.UP, reaches(s, c, b)))
        restarted = _lists_nobody(s, b) if s.broker_restarts else False
        stopped = all_of(s.life[c] == Life.STOPPING, reaches(s, c, b))
        silent = any_of(s.life[c] == Life.GONE, not_(reaches(s, c, b)))
        return all_of(comes, implies(all_of(was, not_(now)), any_of(silent, stopped, restarted)))

    return s.forall(Broker, in_turn)


@always("a-client-starts-stops-ends", "ST-1", "ST-8")
def life_in_turn(s: GroupState, c: Consumer) -> BoolLike:
    """A client starts, stops and ends, in this order, and does not come back."""
    was, now = s.was.life[c], s.life[c]
    ends = all_of(any_of(was == Life.UP, was == Life.STOPPING), now == Life.GONE)
    starts = all_of(was == Life.NEW, now == Life.UP)
    return any_of(same(was, now), starts, all_of(was == Life.UP, now == Life.STOPPING), ends)


@always("client-that-does-not-run-has-nothing", "ST-8")
def nothing_while_gone(s: GroupState, c: Consumer) -> BoolLike:
    """A client that does not run yet, or no longer runs, has no queues, sees no members, and is told nothing."""
    owns = s.exists(Queue, lambda q: s.owns[c, q])
    sees = s.exists(Consumer, lambda d: s.view[c].has(d))
    paused = s.paused[c] if s.pauses else False
    woken = s.woken[c] if s.periodic == 0 else False
    runs = any_of(s.life[c] == Life.UP, s.life[c] == Life.STOPPING)
    return any_of(runs, not_(any_of(owns, sees, paused, woken)))


@always("stopping-client-rebalances-no-more", "ST-8", "ST-9")
def stopping_keeps(s: GroupState, c: Consumer) -> BoolLike:
    """A client that shuts down continues no rebalance pass, keeps its queues until it is gone, takes no others, and no
    longer has locks.
    """
    lasts = all_of(s.was.life[c] == Life.STOPPING, s.life[c] == Life.STOPPING)
    queues = s.forall(Queue, lambda q: same(s.owns[c, q], s.was.owns[c, q]))
    view = s.forall(Consumer, lambda d: same(s.view[c].has(d), s.was.view[c].has(d)))
    ends_no_pass = same(s.at[c], s.was.at[c]) if s.steps == "fine" else True
    locks = s.forall(Queue, lambda q: not_(holds_lock(s, c, q))) if s.orderly else True
    return all_of(implies(lasts, all_of(queues, view, ends_no_pass)), implies(s.life[c] == Life.STOPPING, locks))


@always("views-are-read-from-a-broker-in-reach", "RB-4", "RB-5")
def seen_from_a_broker(s: GroupState, c: Consumer) -> BoolLike:
    """A working client takes its view of the group from a broker that it reaches and that knows members."""
    changed = s.exists(Consumer, lambda d: not_(same(s.view[c].has(d), s.was.view[c].has(d))))

    def read(b: IntLike) -> BoolLike:
        equal = s.forall(Consumer, lambda d: same(s.view[c].has(d), s.members[b].has(d)))
        return all_of(reaches(s, c, b), equal, not_(_lists_nobody(s, b)))

    return implies(all_of(changed, s.life[c] != Life.GONE), all_of(_works(s, c), s.exists(Broker, read)))


@always("a-pass-changes-only-what-it-must", "RB-30")
def table_in_turn(s: GroupState, c: Consumer) -> BoolLike:
    """A pass takes queues of the new share, with their locks if the client is orderly, and drops only those that are no
    longer in it.
    """

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


@always("unsubscribing-commits-nothing", "RB-36")
def truncated_silently(s: GroupState, c: Consumer) -> BoolLike:
    """The stored offset of a queue stays as it is when its client drops it because it no longer consumes the topic."""

    def silent(q: IntLike) -> BoolLike:
        dropped = all_of(s.was.owns[c, q], not_(s.owns[c, q]), not_(s.subscribed[c]))
        return implies(dropped, same(s.committed[q], s.was.committed[q]))

    return s.forall(Queue, silent)


@always("a-pass-drops-before-it-takes", "RB-30")
def drops_first(s: GroupState, c: Consumer) -> BoolLike:
    """A client takes a queue only when it has dropped all that left its share."""
    takes = s.exists(Queue, lambda q: all_of(s.owns[c, q], not_(s.was.owns[c, q])))
    return implies(takes, s.forall(Queue, lambda q: implies(s.owns[c, q], wanted(s, c, q))))


@always("a-pass-divides-by-one-view", "RB-4", "RB-30")
def one_view(s: GroupState, c: Consumer) -> BoolLike:
    """A client asks for the members of its group only at the beginning of a pass, and ends the pass before the next one
    begins.
    """
    asks = all_of(s.at[c] == Pass.ASKED, s.was.at[c] != Pass.ASKED)
    drops = all_of(s.at[c] == Pass.DROPPED, s.was.at[c] != Pass.DROPPED)
    changed = s.exists(Consumer, lambda d: not_(same(s.view[c].has(d), s.was.view[c].has(d))))
    begins = any_of(asks, all_of(changed, s.life[c] != Life.GONE))
    return all_of(implies(begins, s.was.at[c] == Pass.IDLE), implies(drops, s.was.at[c] == Pass.ASKED))


def _comes_with_the_queue(s: GroupState, c: Consumer) -> BoolLike:
    """A client that gets the lock of a queue has the queue."""

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


@always("lock-goes-with-the-queue", "RB-30", "OR-1")
def lock_in_turn(s: GroupState, c: Consumer) -> BoolLike:
    """The lock of a queue is taken and released together with the queue, or is left behind by a client that ended."""
    return all_of(_goes_with_the_queue(s, c), _comes_with_the_queue(s, c))


@always("broker-forgets-its-own-queues-only", "OF-23")
def forgets_its_own(s: GroupState, c: Consumer) -> BoolLike:
    """A broker that restarts forgets the last commits of its own queues, and of no others."""

    def own(q: IntLike) -> BoolLike:
        restarted = s.forall(Broker, lambda b: implies(q % s.brokers == b, _lists_nobody(s, b)))
        return implies(s.committed[q] < s.was.committed[q], restarted)

    return s.forall(Queue, own)


@always("repaired-queue-was-owned", "PL-23")
def repaired_in_turn(s: GroupState, c: Consumer) -> BoolLike:
    """A queue that is dropped in order to be taken again was owned, stays in the table, and is taken only after it has
    left the table.
    """

    def in_turn(q: IntLike) -> BoolLike:
        begins = all_of(s.leftover[c, q], not_(s.was.leftover[c, q]))
        left = all_of(s.was.owns[c, q], not_(s.owns[c, q]), _works(s, c))
        back = all_of(s.owns[c, q], s.leftover[c, q])
        kept = any_of(s.leftover[c, q], not_(wanted(s, c, q)))
        return all_of(implies(begins, left), not_(back), implies(left, kept))

    return s.forall(Queue, in_turn)


@always("client-that-is-gone-learns-nothing", "ST-3", "ST-8")
def knows_no_more(s: GroupState, c: Consumer) -> BoolLike:
    """A client that is gone no longer looks at routes."""
    return implies(s.was.life[c] == Life.GONE, same(s.route[c], s.was.route[c]))


lock_comes_with_the_queue = always("only-owners-get-locks", "RB-30", "OR-1")(_comes_with_the_queue)


@always("pulls-and-commits-need-the-broker", "PL-3", "OF-5")
def in_reach(s: GroupState, c: Consumer) -> BoolLike:
    """A client pulls from a queue, and commits its offset, only while it reaches the broker of that queue."""

    def reached(q: IntLike) -> BoolLike:
        return s.forall(Broker, lambda b: implies(q % s.brokers == b, reaches(s, c, b)))

    def got_through(q: IntLike) -> BoolLike:
        pulled = all_of(s.was.owns[c, q], s.owns[c, q], not_(same(s.next_offset[c, q], s.was.next_offset[c, q])))
        sent = all_of(s.was.committed[q] < s.committed[q], s.owns[c, q])
        return implies(any_of(pulled, sent), reached(q))

    return s.forall(Queue, got_through)


@sometimes("cut-from-one-broker-pulls-from-another", "PL-3")
def pulls_elsewhere(s: GroupState, c: Consumer) -> BoolLike:
    """A client that is cut off from one broker continues to pull from the queues of another."""
    cut_off = s.exists(Broker, lambda b: not_(reaches(s, c, b)))
    return all_of(cut_off, s.exists(Queue, lambda q: s.was.next_offset[c, q] < s.next_offset[c, q]))


@sometimes("broker-takes-commits-back", "OF-23")
def taken_back(s: GroupState, q: Queue) -> BoolLike:
    """A broker that restarts has the offsets that it had written to its disk, and forgets what came since."""
    return all_of(s.committed[q] < s.was.committed[q], s.committed[q] == s.on_disk[q])


def _left(s: GroupState, b: IntLike, c: IntLike) -> BoolLike:
    return all_of(s.was.members[b].has(c), not_(s.members[b].has(c)))


def _told(s: GroupState, d: IntLike) -> BoolLike:
    return all_of(s.woken[d], not_(s.was.woken[d]))


@always("members-are-told-of-changes", "ST-1", "ST-6", "ST-7")
def told_of_changes(s: GroupState, d: Consumer) -> BoolLike:
    """A client that starts rebalances at once, and one that leaves in order makes all others rebalance. Apart from
    that, only a change of the group does.
    """

    def changed(b: IntLike) -> BoolLike:
        return s.exists(Consumer, lambda c: not_(same(s.members[b].has(c), s.was.members[b].has(c))))

    def others(b: IntLike) -> BoolLike:
        stopped = s.exists(Consumer, lambda c: all_of(_left(s, b, c), s.life[c] == Life.STOPPING))
        return implies(all_of(stopped, s.members[b].has(d), s.life[d] == Life.UP), s.woken[d])

    starts = all_of(s.was.life[d] == Life.NEW, s.life[d] == Life.UP)
    why = any_of(starts, s.exists(Broker, changed))
    return all_of(implies(starts, s.woken[d]), implies(_told(s, d), why), s.forall(Broker, others))


@always("offsets-are-persisted-before-leaving", "ST-8")
def commits_before_it_leaves(s: GroupState, c: Consumer) -> BoolLike:
    """A client that shuts down persists its offsets before it leaves the group, and leaves before it ends."""
    leaves = all_of(s.life[c] == Life.STOPPING, s.exists(Broker, lambda b: _left(s, b, c)))
    ends = all_of(s.was.life[c] == Life.STOPPING, s.life[c] == Life.GONE)
    return implies(any_of(leaves, ends), s.was.persisted[c])


@sometimes("closed-connection-is-told", "ST-6")
def closed_is_told(s: GroupState, c: Consumer) -> BoolLike:
    """When the connection of a client that died closes, the others are told."""

    def closed(b: IntLike) -> BoolLike:
        return all_of(_left(s, b, c), s.exists(Consumer, lambda d: _told(s, d)))

    return all_of(s.life[c] == Life.GONE, s.exists(Broker, closed))


@sometimes("a-stop-does-not-wait-for-a-broker-out-of-reach", "ST-8")
def ends_cut_off(s: GroupState, c: Consumer) -> BoolLike:
    """A client that stops while it is cut off from a broker ends, but that broker still lists it."""
    return all_of(s.life[c] == Life.GONE, s.exists(Broker, lambda b: s.members[b].has(c)))


@sometimes("a-stop-may-be-cut-short", "ST-8")
def cut_short(s: GroupState, c: Consumer) -> BoolLike:
    """A process may end in the middle of its shutdown, and brokers still list it."""
    return all_of(
        s.was.life[c] == Life.STOPPING,
        s.life[c] == Life.GONE,
        s.exists(Broker, lambda b: s.members[b].has(c)),
    )


@sometimes("a-pass-may-leave-a-lock-that-became-free", "RB-30", "OR-1")
def leaves_free_lock(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A pass asks for each lock once, so it may end without a queue of its share whose lock is free by then."""
    ends = all_of(s.was.at[c] == Pass.DROPPED, s.at[c] == Pass.IDLE)
    return all_of(ends, wanted(s, c, q), not_(s.owns[c, q]), s.holder[q] == 0)


_WATCHED: Constants = {"consumers": 2, "running": 2, "queues": 2, "watch_steps": 1}
_MESSAGES: Constants = {"running": 0, "consumers": 1, "queues": 2, "messages": 1, "watch_steps": 1}


def claims() -> Iterator[Claim]:
    """All claims about steps."""
    of_groups: tuple[tuple[Constants, tuple[Property, ...]], ...] = (
        (
            {**_WATCHED, "running": 1, "leaves": 2, "crashes": 1},
            (listed_in_turn, life_in_turn, nothing_while_gone, stopping_keeps, seen_from_a_broker, table_in_turn),
        ),
        (
            {**_WATCHED, "brokers": 2, "cuts": 1, "broker_restarts": 1},
            (listed_in_turn, seen_from_a_broker, table_in_turn),
        ),
        (
            {**_WATCHED, "brokers": 2, "cuts": 1, "leaves": 1},
            (listed_in_turn, stopping_keeps, ends_cut_off),
        ),
        (
            {**_WATCHED, "orderly": 1, "leaves": 1, "crashes": 1},
            (stopping_keeps, table_in_turn, lock_in_turn, life_in_turn),
        ),
        (
            {**_WATCHED, "pauses": 1, "crashes": 1},
            (nothing_while_gone, seen_from_a_broker, table_in_turn),
        ),
        ({**_WATCHED, "orderly": 1, "broker_restarts": 1}, (lock_comes_with_the_queue,)),
        ({**_WATCHED, "running": 1, "steps": "fine", "leaves": 1}, (table_in_turn, stopping_keeps, one_view)),
        ({**_WATCHED, "consumers": 3, "running": 3, "queues": 3, "steps": "fine", "crashes": 1}, (drops_first,)),
        ({**_WATCHED, "running": 1, "orderly": 1, "steps": "fine"}, (leaves_free_lock,)),
        ({**_WATCHED, "running": 1, "repairs": 1}, (repaired_in_turn,)),
        ({**_WATCHED, "route_changes": 1, "crashes": 1}, (knows_no_more,)),
        (
            {**_WATCHED, "running": 1, "periodic": 0, "leaves": 1, "crashes": 1},
            (nothing_while_gone, told_of_changes, closed_is_told, cut_short),
        ),
    )
    yield from claims_of(assignment, of_groups)
    with_messages: tuple[tuple[Constants, tuple[Property, ...]], ...] = (
        ({**_MESSAGES, "queues": 1, "leaves": 1}, (commits_before_it_leaves,)),
        ({**_MESSAGES, "queues": 1, "unsubscribes": 1}, (truncated_silently,)),
        (
            {**_MESSAGES, "brokers": 2, "cuts": 1, "broker_restarts": 1},
            (table_in_turn, forgets_its_own, listed_in_turn, in_reach, pulls_elsewhere, taken_back),
        ),
    )
    yield from claims_of(everything, with_messages)
