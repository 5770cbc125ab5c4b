"""What a single step may do to an orderly call and its result: offset, batch, counts, the age of the call, and its
lock.
"""

from __future__ import annotations

from ..model.consume_queue import Message
from ..model.group import GroupState
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, not_, same
from ..model.membership import Consumer, Life
from ..model.orderly import Result, calls, gives_up, manual_commit
from ..model.orderly_ownership import unlocks_late
from ..model.process_queue import NO_OFFSET, Orphan, Stage
from ..model.route import Queue
from .property import always, eventually, sometimes


def _acted_upon(s: GroupState, c: IntLike, q: IntLike, *results: Result) -> BoolLike:
    return all_of(any_of(*(s.was.result[c, q] == item for item in results)), s.result[c, q] == Result.NONE)


def has(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether the queue is in the table, dropped or not."""
    return any_of(s.owns[c, q], s.dropped[c, q] if s.moves else False)


def had(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether the queue was in the table before the step."""
    return any_of(s.was.owns[c, q], s.was.dropped[c, q] if s.moves else False)


@always("orderly-offset-moves-with-its-batch", "OR-7", "PQ-5")
def offset_of_a_batch(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """The offset of an orderly window moves past the batch that is committed, if the queue is still owned, and
    otherwise only past what a pull passes over.
    """

    def last(m: IntLike) -> BoolLike:
        after = s.forall(Message, lambda o: implies(s.was.stage[c, q, o] == Stage.RUNNING, o <= m))
        return all_of(s.was.stage[c, q, m] == Stage.RUNNING, after, s.memory[c, q] == m + 1)

    stays = all_of(had(s, c, q), has(s, c, q))
    commits = _acted_upon(s, c, q, Result.COMMIT if manual_commit(s.constants) else Result.SUCCESS)
    moves = all_of(s.was.owns[c, q], s.exists(Message, last))
    sent_off = all_of(_acted_upon(s, c, q, Result.SUSPEND), moves) if gives_up(s.constants) and s.auto_commit else False
    kept = same(s.memory[c, q], s.was.memory[c, q])
    nothing_left = s.forall(Message, lambda m: s.stage[c, q, m] == Stage.ABSENT)
    found_nothing = all_of(s.owns[c, q], nothing_left, s.memory[c, q] == s.next_offset[c, q])
    committed = all_of(commits, any_of(moves, all_of(not_(s.was.owns[c, q]), kept)))
    return implies(stays, any_of(committed, sent_off, all_of(not_(commits), any_of(kept, found_nothing))))


@always("orderly-call-gets-the-first-that-wait", "PQ-4", "OR-6")
def first_that_wait(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """An orderly call gets the first messages that wait in the window, and at most
    consumeMessageBatchMaxSize of them.
    """

    def begins(m: IntLike) -> BoolLike:
        return all_of(s.stage[c, q, m] == Stage.RUNNING, s.was.stage[c, q, m] != Stage.RUNNING)

    def in_turn(m: IntLike) -> BoolLike:
        before = s.exists(Message, lambda o: all_of(o < m, s.stage[c, q, o] == Stage.WAITING))
        return implies(begins(m), all_of(s.was.stage[c, q, m] == Stage.WAITING, not_(before)))

    return all_of(s.forall(Message, in_turn), s.count(Message, begins) <= s.batch)


@always("kept-batch-waits-for-its-commit", "OR-7", "PQ-6")
def kept_is_taken(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """Without autoCommit, a batch that succeeded stays taken until a commit, or is put back by a rollback."""
    keeps = _acted_upon(s, c, q, Result.SUCCESS)

    def of_one(m: IntLike) -> BoolLike:
        taken = s.stage[c, q, m] == Stage.RUNNING
        return all_of(implies(s.kept[c, q, m], taken), implies(all_of(keeps, taken), s.kept[c, q, m]))

    return s.forall(Message, of_one)


@sometimes("listener-may-say-commit", "OR-7")
def says_commit(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """Without autoCommit, a listener may say COMMIT."""
    return s.result[c, q] == Result.COMMIT


@sometimes("rolled-back-batch-waits-to-be-taken", "OR-7", "PQ-6")
def rolled_back(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """Without autoCommit, a listener may say ROLLBACK: what was taken since the last commit is put back, to be taken
    again.
    """
    return all_of(
        _acted_upon(s, c, q, Result.ROLLBACK),
        s.exists(Message, lambda m: all_of(s.was.stage[c, q, m] == Stage.RUNNING, s.stage[c, q, m] == Stage.WAITING)),
    )


@always("poison-message-never-succeeds", "OR-6")
def never_succeeds(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """No listener call succeeds with a message that no attempt can handle."""
    return implies(
        all_of(s.was.stage[c, q, 0] == Stage.RUNNING, s.was.result[c, q] == Result.NONE),
        any_of(s.result[c, q] == Result.NONE, s.result[c, q] == Result.SUSPEND, s.result[c, q] == Result.ROLLBACK),
    )


@always("each-failure-is-counted", "OR-8")
def counted_on(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """An orderly message that is put back alone counts one more attempt, even if it could not be sent to the retry
    topic. It is counted only when it waits for a listener again.
    """
    failed = _acted_upon(s, c, q, Result.SUSPEND)

    def one_more(m: IntLike) -> BoolLike:
        back = all_of(s.was.stage[c, q, m] == Stage.RUNNING, s.stage[c, q, m] == Stage.WAITING)
        more = s.was.suspended[c, q, m] < s.suspended[c, q, m]
        counted = implies(all_of(failed, back), s.suspended[c, q, m] == s.was.suspended[c, q, m] + 1)
        return all_of(counted, implies(more, s.stage[c, q, m] == Stage.WAITING))

    return s.forall(Message, one_more)


@sometimes("failed-publishing-goes-on-counting", "OR-8")
def beyond_the_limit(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A message that is at its limit and cannot be sent to the retry topic is consumed again."""
    return s.exists(Message, lambda m: s.suspended[c, q, m] > s.attempts)


@always("call-grows-old-from-its-start", "OR-6", "RB-33")
def age_of_a_call(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """The age of a listener call is the time since its start, even if it outlives its window. Without a call there is
    no age.
    """

    def goes_on(m: IntLike) -> BoolLike:
        in_window = all_of(s.was.stage[c, q, m] == Stage.RUNNING, s.stage[c, q, m] == Stage.RUNNING)
        if not s.orphans:
            return in_window
        ran = any_of(s.was.stage[c, q, m] == Stage.RUNNING, s.was.orphan[c, q, m] != Orphan.NONE)
        return any_of(in_window, all_of(ran, s.orphan[c, q, m] != Orphan.NONE))

    same_call = all_of(calls(s, c, q), s.exists(Message, goes_on))
    return all_of(
        implies(not_(calls(s, c, q)), s.call_age[c, q] == 0),
        implies(same_call, s.call_age[c, q] >= s.was.call_age[c, q]),
    )


@always("result-is-acted-upon-at-once", "OR-5", "OR-7")
def acted_upon_at_once(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """The result of an orderly listener is acted upon before time passes: no lock ages in between."""
    return implies(s.was.lock_age[c, q] < s.lock_age[c, q], s.was.result[c, q] == Result.NONE)


@always("orderly-window-begins-with-a-new-lock", "RB-30", "OR-9")
def begins_locked(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """An orderly client takes a queue with a lock that is new to broker and client, and believes in no lock of a queue
    that it does not have.
    """
    taken = all_of(s.owns[c, q], not_(had(s, c, q)))
    fresh = all_of(s.locked[c, q], s.lock_age[c, q] == 0, s.holder[q] == c + 1, s.holder_age[q] == 0)
    return all_of(
        implies(taken, all_of(fresh, s.was.life[c] == Life.UP)),
        implies(not_(s.locked[c, q]), s.lock_age[c, q] == 0),
        implies(not_(has(s, c, q)), not_(s.locked[c, q])),
    )


@always("orderly-listener-begins-under-its-lock", "OR-4", "OR-6")
def calls_locked(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """An orderly listener is called only for a queue in use, with a lock that its client may still believe in."""

    def called(m: IntLike) -> BoolLike:
        return all_of(s.stage[c, q, m] == Stage.RUNNING, s.was.stage[c, q, m] == Stage.WAITING)

    fresh = all_of(s.was.locked[c, q], s.was.lock_age[c, q] <= s.client_window)
    return implies(s.exists(Message, called), all_of(s.was.owns[c, q], s.was.life[c] == Life.UP, fresh))


@always("orderly-queue-is-pulled-under-its-lock", "PL-10", "OR-9")
def pulled_locked(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """An orderly client that has learnt that its lock is lost pulls no messages from that queue, and does not ask where
    to start.
    """
    moved = all_of(s.was.owns[c, q], s.owns[c, q], not_(same(s.was.next_offset[c, q], s.next_offset[c, q])))
    return implies(moved, all_of(s.was.locked[c, q], s.was.life[c] == Life.UP))


@always("lock-is-new-to-who-gets-it", "OR-1", "OR-10")
def lock_is_new(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A client that gets the lock of a queue, even by a late request, has it for its whole time, and knows of it if it
    has the queue.
    """
    got = all_of(s.holder[q] == c + 1, s.was.holder[q] != c + 1)
    return implies(got, all_of(s.holder_age[q] == 0, implies(s.owns[c, q], s.locked[c, q])))


@always("queue-is-given-up-without-a-call", "RB-33", "RB-34")
def given_up_idle(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """An orderly client removes a queue that it has dropped only when no listener runs for it, unless it does so by
    force.
    """
    removed = all_of(s.was.dropped[c, q], not_(has(s, c, q)), s.life[c] != Life.GONE)
    ran = s.exists(Message, lambda m: s.was.stage[c, q, m] == Stage.RUNNING)
    return implies(all_of(removed, ran), s.was.result[c, q] != Result.NONE)


@always("dropped-queue-is-not-renewed", "OR-9", "RB-33")
def renews_owned(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """The lock of a dropped queue is no longer renewed (5.x)."""
    younger = any_of(s.lock_age[c, q] < s.was.lock_age[c, q], s.holder_age[q] < s.was.holder_age[q])
    kept = all_of(s.was.dropped[c, q], s.dropped[c, q], s.was.holder[q] == c + 1)
    disbelieves = all_of(s.was.locked[c, q], not_(s.locked[c, q]))
    by_another = s.holder[q] != c + 1
    return implies(all_of(kept, not_(by_another)), not_(any_of(younger, disbelieves)))


@sometimes("dropped-queue-is-renewed-in-4.9.8", "OR-9")
def renews_dropped(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A client of 4.9.8 renews the locks of queues that it has dropped as well."""
    return all_of(s.was.dropped[c, q], s.dropped[c, q], s.holder_age[q] < s.was.holder_age[q])


@sometimes("refused-lock-is-believed-no-more", "OR-5", "OR-9")
def learns_of_a_loss(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A client whose lock now belongs to another client learns so in its next round of renewal, and no longer believes
    in it.
    """
    return all_of(s.was.owns[c, q], s.owns[c, q], s.was.locked[c, q], not_(s.locked[c, q]))


@sometimes("late-lock-request-locks-a-free-queue", "OR-10")
def locked_late(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A lock request that arrives late locks a queue that its client does not have."""
    return all_of(s.was.holder[q] != c + 1, s.holder[q] == c + 1, not_(has(s, c, q)), s.holder_age[q] == 0)


@always("orderly-process-that-stands-still-does-nothing", "OR-9", "OR-11")
def orderly_stands_still(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """In a suspended orderly client no call begins or ends, no lock is renewed, and nothing is pulled or committed,
    while its locks age.
    """
    both = all_of(s.was.paused[c], s.paused[c])
    older = all_of(
        implies(s.locked[c, q], s.lock_age[c, q] >= s.was.lock_age[c, q]),
        implies(all_of(s.was.holder[q] == c + 1, s.holder[q] == c + 1), s.holder_age[q] >= s.was.holder_age[q]),
    )
    got = all_of(s.was.holder[q] != c + 1, s.holder[q] == c + 1)
    unchanged = all_of(
        same(s.owns[c, q], s.was.owns[c, q]),
        same(s.locked[c, q], s.was.locked[c, q]),
        same(s.result[c, q], s.was.result[c, q]),
        same(s.next_offset[c, q], s.was.next_offset[c, q]),
        same(s.memory[c, q], s.was.memory[c, q]),
        same(s.dropped[c, q], s.was.dropped[c, q]) if s.moves else True,
        s.forall(Message, lambda m: same(s.stage[c, q, m], s.was.stage[c, q, m])),
        any_of(same(s.committed[q], s.was.committed[q]), s.consumers > 1),
    )
    return implies(both, all_of(unchanged, older, not_(got)))


@always("cached-messages-put-the-unlock-off", "RB-34")
def cached_is_unlocked_later(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A client of 4.9.8 that gives up a queue while messages wait in its window keeps the lock for now."""
    removed = all_of(s.was.dropped[c, q], not_(has(s, c, q)), s.life[c] == Life.UP)
    waits = s.exists(Message, lambda m: s.was.stage[c, q, m] == Stage.WAITING)
    return implies(all_of(removed, waits), all_of(s.unlocking[c, q], same(s.holder[q], s.was.holder[q])))


def _unlocking(s: GroupState) -> BoolLike:
    late = unlocks_late(s.constants)
    return s.exists(Consumer, lambda c: s.exists(Queue, lambda q: s.unlocking[c, q] if late else False))


@eventually("unlock-that-was-put-off-comes", "RB-34", after=_unlocking)
def unlocks_at_last(s: GroupState) -> BoolLike:
    """An unlock that was put off is eventually sent, unless the process ends."""
    return not_(_unlocking(s))


@always("orderly-queue-is-dropped-before-it-is-removed", "RB-30", "RB-33")
def dropped_in_order(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """Only a queue in use is dropped; a dropped one comes back only after it was removed, and nothing is left of it
    then.
    """
    drops = all_of(s.dropped[c, q], not_(s.was.dropped[c, q]))
    in_use = all_of(s.was.owns[c, q], s.was.life[c] == Life.UP)
    left = all_of(had(s, c, q), not_(has(s, c, q)))
    nothing = all_of(s.memory[c, q] == NO_OFFSET, s.next_offset[c, q] == 0)
    return all_of(
        implies(drops, all_of(in_use, not_(s.owns[c, q]))),
        implies(all_of(s.was.dropped[c, q], s.dropped[c, q]), not_(s.owns[c, q])),
        implies(left, nothing),
    )


def _stopping(s: GroupState, c: IntLike) -> BoolLike:
    return all_of(s.was.life[c] == Life.STOPPING, s.life[c] == Life.STOPPING)


@sometimes("orderly-call-returns-during-a-stop", "ST-8")
def returns_while_stopping(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A listener call that is running when its client begins to shut down may still return."""
    return all_of(_stopping(s, c), s.was.result[c, q] == Result.NONE, s.result[c, q] != Result.NONE)


@sometimes("orderly-result-counts-during-a-stop", "ST-8")
def counts_while_stopping(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """The result of a call may still be acted upon while its client shuts down."""
    return all_of(_stopping(s, c), s.was.result[c, q] != Result.NONE, s.result[c, q] == Result.NONE)


@sometimes("late-call-returns-during-a-stop", "OR-7", "ST-8")
def late_while_stopping(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A listener call whose window is gone may still return while its client shuts down."""
    ended = s.exists(Message, lambda m: all_of(s.was.orphan[c, q, m] != Orphan.NONE, s.orphan[c, q, m] == Orphan.NONE))
    return all_of(_stopping(s, c), ended)


@always("certain-renewal-is-in-time", "OR-9")
def renewed_in_time(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A client that renews without fail always has a lock that it may believe in, for each queue in use."""
    return implies(all_of(s.owns[c, q], s.locked[c, q]), s.lock_age[c, q] <= s.client_window)


@always("unlock-by-force-waits-its-time", "RB-33")
def forced_late(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A queue is taken away from a running listener only if the last renewal of its lock was longer ago than the delay
    (5.2.0).
    """
    removed = all_of(s.was.dropped[c, q], not_(has(s, c, q)), s.life[c] == Life.UP)
    runs = s.exists(Message, lambda m: all_of(s.orphan[c, q, m] != Orphan.NONE, s.was.orphan[c, q, m] == Orphan.NONE))
    return implies(all_of(removed, runs), s.was.lock_age[c, q] > s.unlock_delay)
