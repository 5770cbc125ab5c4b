"""What a single step may do to a window, its requests and its offset.

Messages are handled and offsets safe whether or not steps obey these claims, so a mutant that adds a step between two
states that are possible anyway, or shifts an offset that the next commit would shift as well, is noticed only here.
"""

from __future__ import annotations

from ..model.consume_queue import Message, end, start
from ..model.filtering import broker_passes
from ..model.group import GroupState
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, ite, maximum, not_, same
from ..model.membership import Consumer
from ..model.process_queue import NO_OFFSET, Stage, held, in_table
from ..model.route import Queue
from ..model.start_position import answers_zero
from ..model.tags import filtered
from .changes import empty, fine, lives, mark, noted, stays, was_stored, works
from .property import always, eventually, sometimes


@always("window-begins-at-the-stored-offset", "RB-30", "RB-40")
def begins(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A client that takes a queue begins where the broker says, with an empty window, and remembers that offset."""
    first = ite(noted(s, q), s.reset_to, was_stored(s, c, q))
    new = all_of(s.next_offset[c, q] == first, s.memory[c, q] == first, empty(s, c, q))
    taken = all_of(s.owns[c, q], not_(s.was.owns[c, q]))
    return implies(taken, all_of(works(s, c), new))


@always("nothing-is-left-of-a-window", "RB-32", "PQ-12")
def nothing_left(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """Nothing is left of a window that was dropped: no message, position, request, offset or count."""
    asked = s.asked[c, q] if fine(s) else False
    put = s.put_end[c, q] != 0 if filtered(s.constants) else False
    left = any_of(not_(empty(s, c, q)), s.next_offset[c, q] != 0, asked, put)
    remembers = s.memory[c, q] != NO_OFFSET if not s.held_updates else False
    return all_of(implies(not_(s.owns[c, q]), not_(left)), implies(not_(in_table(s, c, q)), not_(remembers)))


@always("position-moves-with-an-answer", "PL-1", "PL-23")
def moves(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """The pull position of a window moves forward by what one pull finds, and not beyond the end of the queue."""
    moved = all_of(stays(s, c, q), not_(same(s.next_offset[c, q], s.was.next_offset[c, q])))
    answered = all_of(s.was.asked[c, q], not_(s.asked[c, q])) if fine(s) else True
    ahead = all_of(s.was.next_offset[c, q] < s.next_offset[c, q], s.next_offset[c, q] <= end(s, q))
    near = True if filtered(s.constants) else s.next_offset[c, q] <= s.was.next_offset[c, q] + s.pull_batch
    return implies(moved, all_of(works(s, c), answered, ahead, near, not_(noted(s, q))))


@always("message-goes-through-a-window-in-order", "PQ-1", "CC-6", "CC-12")
def in_order(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A message is pulled into a window, given to a listener, and succeeds or fails: no step is left out."""

    def step(m: IntLike) -> BoolLike:
        was, now = s.was.stage[c, q, m], s.stage[c, q, m]
        pulled = all_of(s.was.next_offset[c, q] <= m, m < s.next_offset[c, q])
        finished = all_of(any_of(was == Stage.RUNNING, was == Stage.FAILED), now == Stage.ABSENT)
        return any_of(
            same(was, now),
            all_of(was == Stage.ABSENT, now == Stage.WAITING, pulled),
            all_of(was == Stage.WAITING, now == Stage.RUNNING, works(s, c)),
            all_of(was == Stage.RUNNING, now == Stage.FAILED),
            all_of(was == Stage.FAILED, now == Stage.WAITING),
            finished,
        )

    return implies(stays(s, c, q), s.forall(Message, step))


@always("offset-follows-the-lowest-message", "PQ-2", "CC-13")
def follows(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """With each finished task, the offset of a window rises to the window's lowest message. Otherwise it rises only to
    the pull position, when the window is empty and nothing was found.
    """
    now, was, lowest = s.memory[c, q], s.was.memory[c, q], mark(s, c, q)
    finished = s.exists(Message, lambda m: all_of(s.was.stage[c, q, m] != Stage.ABSENT, not_(held(s, c, q, m))))
    rest = s.exists(Message, lambda m: all_of(s.was.stage[c, q, m] == Stage.RUNNING, s.stage[c, q, m] == Stage.FAILED))
    pulled = any_of(s.next_offset[c, q] == end(s, q), s.was.next_offset[c, q] < s.next_offset[c, q])
    behind = all_of(empty(s, c, q), now == s.next_offset[c, q], pulled)
    moved = all_of(was < now, any_of(all_of(finished, now == lowest), behind))
    late = all_of(s.was.stale[c, q] == now, s.stale[c, q] == NO_OFFSET) if fine(s) else False
    same_or_moved = any_of(same(now, was), moved, late)
    return implies(
        stays(s, c, q), all_of(same_or_moved, implies(all_of(finished, not_(rest)), now == maximum(was, lowest)))
    )


@always("put-is-what-was-kept", "PQ-1", "FI-3")
def put(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A window knows how far messages were put into it: up to the last one that its client kept, whatever was passed
    over.
    """

    def before(m: IntLike) -> BoolLike:
        return implies(held(s, c, q, m), m < s.put_end[c, q])

    moved = all_of(stays(s, c, q), not_(same(s.put_end[c, q], s.was.put_end[c, q])))
    last = s.exists(Message, lambda m: all_of(held(s, c, q, m), s.put_end[c, q] == m + 1))
    return all_of(s.forall(Message, before), implies(moved, last))


@always("offset-passes-what-was-removed", "PL-19", "PL-23")
def passed(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """Where a pull finds a message gone, an empty window remembers the offset after it."""
    moved = all_of(stays(s, c, q), s.was.next_offset[c, q] < s.next_offset[c, q])
    nothing = all_of(moved, empty(s, c, q))
    return implies(nothing, s.memory[c, q] == s.next_offset[c, q])


@always("deleted-message-is-never-pulled", "PL-19", "G2")
def pulled_is_there(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A pull finds only messages that the broker still has: what retention has deleted reaches no client."""

    def there(m: IntLike) -> BoolLike:
        pulled = all_of(s.was.stage[c, q, m] == Stage.ABSENT, s.stage[c, q, m] == Stage.WAITING)
        return implies(pulled, all_of(start(s, q) <= m, m < end(s, q)))

    return s.forall(Message, there)


@always("offset-passes-what-does-not-match", "FI-3", "PL-23")
def matched_nothing(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """Where the broker finds nothing that matches, an empty window remembers the offset after it."""
    moved = all_of(stays(s, c, q), s.was.next_offset[c, q] < s.next_offset[c, q])

    def passes(m: IntLike) -> BoolLike:
        return all_of(s.was.next_offset[c, q] <= m, m < s.next_offset[c, q], broker_passes(s, q, m))

    nothing = all_of(moved, empty(s, c, q), not_(s.exists(Message, passes)))
    return implies(nothing, s.memory[c, q] == s.next_offset[c, q])


@always("request-outlives-its-window", "PL-1", "PL-24")
def request(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A request is sent for a window in use. If the window is dropped meanwhile, the request continues with its
    position, and knows whether the window held messages.
    """
    begins = all_of(s.asked[c, q], not_(s.was.asked[c, q]))
    dropped = all_of(s.was.owns[c, q], not_(s.owns[c, q]), s.was.asked[c, q], lives(s, c))
    was_empty = s.forall(Message, lambda m: s.was.stage[c, q, m] == Stage.ABSENT)
    cleared = all_of(s.resetting[c], not_(s.was.resetting[c])) if s.resets and s.version == "4.9.8" else False
    empty = same(s.stale_empty[c, q], any_of(was_empty, cleared))
    goes_on = all_of(s.stale[c, q] == s.was.next_offset[c, q], empty)
    new = all_of(s.stale[c, q] != NO_OFFSET, not_(same(s.stale[c, q], s.was.stale[c, q])))
    known = implies(s.stale_empty[c, q], s.stale[c, q] != NO_OFFSET)
    return all_of(
        implies(begins, all_of(stays(s, c, q), works(s, c))), implies(dropped, goes_on), implies(new, dropped), known
    )


@always("refused-position-needs-a-request", "PL-23", "PL-25")
def leaves_answered(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """Where nobody takes queues from a client, a queue leaves its table only when a pull is answered."""
    return implies(all_of(s.was.owns[c, q], not_(s.owns[c, q]), works(s, c)), s.was.asked[c, q])


@always("late-answer-changes-no-window", "PL-24")
def late_answer(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """An answer for a window that is gone puts nothing into the next one; if it found nothing new for an empty window,
    it may raise the offset.
    """
    over = all_of(s.was.stale[c, q] != NO_OFFSET, s.stale[c, q] == NO_OFFSET, lives(s, c))
    nothing = all_of(s.owns[c, q], s.was.stale_empty[c, q], s.was.stale[c, q] == end(s, q))
    raised = maximum(s.was.memory[c, q], s.was.stale[c, q])
    kept = all_of(same(s.next_offset[c, q], s.was.next_offset[c, q]), works(s, c))
    return implies(over, all_of(kept, s.memory[c, q] == ite(nothing, raised, s.was.memory[c, q])))


@sometimes("request-from-the-beginning-is-answered-late", "PL-24")
def late_answer_comes(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A request of a window that is gone is answered even if it asked from the first message on."""
    return all_of(s.was.stale[c, q] == 0, s.stale[c, q] == NO_OFFSET, works(s, c))


@always("commit-of-a-pull-comes-before-its-answer", "PL-14", "PL-21")
def with_a_pull(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A pull brings the offset of its window along, if that is above 0; it is stored before the pull is answered."""
    new = all_of(s.carried[c, q] != NO_OFFSET, not_(same(s.carried[c, q], s.was.carried[c, q])))
    asks = all_of(s.asked[c, q], not_(s.was.asked[c, q]), s.carried[c, q] == s.memory[c, q], s.memory[c, q] > 0)
    arrives = all_of(s.was.carried[c, q] != NO_OFFSET, s.carried[c, q] == NO_OFFSET)
    answered = all_of(stays(s, c, q), s.was.asked[c, q], not_(s.asked[c, q]))
    return all_of(
        implies(new, asks),
        implies(arrives, s.committed[q] == s.was.carried[c, q]),
        implies(answered, s.was.carried[c, q] == NO_OFFSET),
        implies(all_of(s.asked[c, q], not_(s.was.asked[c, q]), s.memory[c, q] > 0), new),
    )


@always("own-choice-only-where-nothing-is-stored", "OF-21", "RB-40")
def asked_first(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A client begins where its ConsumeFromWhere says only if the broker knew no offset and did not answer 0."""
    learns = all_of(s.unknown[c, q], not_(s.was.unknown[c, q]))
    nowhere = all_of(s.committed[q] == NO_OFFSET, not_(answers_zero(s, q)), not_(in_table(s, c, q)), works(s, c))
    forgets = all_of(s.was.unknown[c, q], not_(s.unknown[c, q]), lives(s, c))
    return all_of(implies(learns, nowhere), implies(forgets, s.owns[c, q]))


@always("failed-send-back-goes-to-a-listener", "SB-5", "CC-12")
def again(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A message that could not be sent back waits for a listener, and counts one more attempt."""

    def counted(m: IntLike) -> BoolLike:
        now, was = s.failed_send_backs[c, q, m], s.was.failed_send_backs[c, q, m]
        again = all_of(s.was.stage[c, q, m] == Stage.FAILED, s.stage[c, q, m] == Stage.WAITING, now == was + 1)
        forgotten = all_of(now == 0, s.stage[c, q, m] == Stage.ABSENT)
        return any_of(same(now, was), again, forgotten)

    return s.forall(Message, counted)


@always("late-result-moves-no-empty-window", "PQ-9", "PQ-2")
def overdue(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A call that lasts too long leaves the offset where it is; its late result moves it only where
    messages are left.
    """

    def in_turn(m: IntLike) -> BoolLike:
        now, was = s.overdue[c, q, m], s.was.overdue[c, q, m]
        begins = all_of(now, not_(was))
        expired = all_of(s.was.stage[c, q, m] == Stage.RUNNING, s.stage[c, q, m] == Stage.ABSENT)
        kept = same(s.memory[c, q], s.was.memory[c, q])
        returned = all_of(was, not_(now), stays(s, c, q))
        moved = s.memory[c, q] == ite(empty(s, c, q), s.was.memory[c, q], maximum(s.was.memory[c, q], mark(s, c, q)))
        return all_of(implies(begins, all_of(expired, kept)), implies(returned, moved))

    return s.forall(Message, in_turn)


@always("only-the-first-message-expires", "PQ-9")
def first_expires(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """Only the first message of a window is sent back because its listener call lasts too long; those behind it wait
    until it has gone.
    """

    def in_turn(m: IntLike) -> BoolLike:
        before = s.exists(Message, lambda o: all_of(o < m, s.stage[c, q, o] != Stage.ABSENT))
        return implies(all_of(s.overdue[c, q, m], not_(s.was.overdue[c, q, m])), not_(before))

    return s.forall(Message, in_turn)


@sometimes("next-message-expires-in-its-turn", "PQ-9")
def next_expires(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """Once the messages before it have left the window, a later message may be the first, and expire."""

    def expires(m: IntLike) -> BoolLike:
        left = all_of(s.was.stage[c, q, m] == Stage.RUNNING, s.stage[c, q, m] == Stage.ABSENT)
        return all_of(m > 0, left, not_(s.handled[q, m]))

    return all_of(stays(s, c, q), s.exists(Message, expires))


def _overdue_somewhere(s: GroupState) -> BoolLike:
    return s.exists(Consumer, lambda c: s.exists(Queue, lambda q: s.exists(Message, lambda m: s.overdue[c, q, m])))


@eventually("late-listener-returns", "PQ-9", "G3", after=_overdue_somewhere, assuming=("listeners return",))
def late_returns(s: GroupState) -> BoolLike:
    """A listener call whose message was sent back for taking too long eventually returns, unless its process ends."""
    return not_(_overdue_somewhere(s))


@always("late-failure-ends-its-call", "CC-12", "PQ-9")
def returns_once(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A call that lasts too long and finally fails is over: as long as the first one runs, none has failed."""
    first = s.log_end[s.queues - 1] == 0
    runs = s.exists(Message, lambda m: s.overdue[c, q, m])
    return implies(all_of(runs, first), s.failures_left == s.failures)


@sometimes("part-of-a-batch-fails", "CC-10")
def part_fails(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A listener succeeds up to some message of its batch: that counts, and only the rest is sent back."""
    return s.exists(
        Message,
        lambda m: all_of(
            s.stage[c, q, m] == Stage.FAILED,
            s.was.stage[c, q, m] == Stage.RUNNING,
            s.exists(Message, lambda o: all_of(o < m, s.handled[q, o], not_(s.was.handled[q, o]))),
        ),
    )
