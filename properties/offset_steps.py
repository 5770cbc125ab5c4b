"""What a single step may do to a stored offset: where it comes from, and who corrects or resets it."""

from __future__ import annotations

from ..model.consume_queue import Message
from ..model.correction import corrects
from ..model.group import GroupState
from ..model.history import Cause
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, not_, same
from ..model.membership import Consumer, Life
from ..model.process_queue import NO_OFFSET, in_table
from ..model.pull import carries
from ..model.route import Queue
from .changes import fine, had, in_two_steps, lives, noted, works
from .property import always, sometimes


def _sends_target(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether the last step was one of those that send a corrected offset."""
    sets = all_of(s.target_set[c, q], not_(s.was.target_set[c, q])) if in_two_steps(s) else False
    return any_of(sets, s.target[c, q] == NO_OFFSET)


@always("offset-that-arrives-was-sent", "OF-5", "OF-20")
def was_sent(s: GroupState, q: Queue) -> BoolLike:
    """The offset that the broker stores is one that a client remembers for a queue in its table, one that was held up,
    came with a pull or belongs to a correction or a reset, or one from the broker's disk.
    """
    now = s.committed[q]
    with_its_pull = not_(s.reset_noted[q]) if s.resets and s.piggyback else False
    taken = any_of(not_(noted(s, q)), with_its_pull)

    def sent(c: IntLike) -> BoolLike:
        carried = all_of(s.was.carried[c, q] == now, s.carried[c, q] == NO_OFFSET) if carries(s.constants) else False
        corrected = all_of(s.was.target[c, q] == now, _sends_target(s, c, q)) if corrects(s.constants) else False
        over = all_of(s.was.resetting[c], now == s.reset_to) if s.resets and s.version == "4.9.8" else False
        last = all_of(s.was.target_set[c, q], not_(s.target_set[c, q])) if in_two_steps(s) else False
        has = all_of(s.was.life[c] != Life.GONE, any_of(had(s, c, q), last))
        own = all_of(has, s.was.memory[c, q] == now, taken)
        return any_of(own, carried, corrected, over)

    late = all_of(s.was.late[q] == now, s.late[q] == NO_OFFSET) if s.late_commits else False
    reset = all_of(s.reset_noted[q], now == s.reset_to) if s.resets and s.version == "5.3.3" else False
    back = now == s.was.on_disk[q] if s.broker_restarts else False
    return any_of(same(now, s.was.committed[q]), late, reset, back, s.exists(Consumer, sent))


@always("dropped-queue-leaves-its-offset", "RB-32")
def last_sent(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A client that removes a queue from its table sends the offset it remembers, even if late."""
    left = all_of(had(s, c, q), not_(in_table(s, c, q)), works(s, c))
    first = s.was.memory[c, q]
    corrected = s.was.target[c, q] != NO_OFFSET if corrects(s.constants) else False
    over = s.was.resetting[c] if s.resets and s.version == "4.9.8" else False
    late = all_of(s.was.late[q] == NO_OFFSET, s.late[q] == first) if s.late_commits else False
    stored = any_of(s.committed[q] == first, first == NO_OFFSET, late, corrected, over, noted(s, q))
    return implies(left, stored)


@always("corrected-offset-is-sent", "PL-23")
def corrected(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A window whose position the broker refuses is dropped, and stays in the table until its corrected offset is sent;
    then nothing is left of it. Only one is corrected at a time.
    """
    begins = all_of(s.was.target[c, q] == NO_OFFSET, s.target[c, q] != NO_OFFSET)
    dropped = all_of(s.was.owns[c, q], not_(s.owns[c, q]), s.zombie[c, q], works(s, c))
    ends = all_of(s.was.target[c, q] != NO_OFFSET, s.target[c, q] == NO_OFFSET, lives(s, c))
    new = all_of(s.zombie[c, q], not_(s.was.zombie[c, q]))
    alone = s.was.target[c, q] == NO_OFFSET
    late = all_of(s.late[q] != NO_OFFSET, s.was.late[q] == NO_OFFSET) if s.late_commits else False
    offset = s.was.memory[c, q] if in_two_steps(s) else s.was.target[c, q]
    stored = any_of(late, s.committed[q] == offset, offset == NO_OFFSET, noted(s, q))
    gone = all_of(not_(in_table(s, c, q)), s.memory[c, q] == NO_OFFSET)
    return all_of(
        implies(begins, dropped), implies(new, all_of(dropped, alone)), implies(ends, all_of(stored, gone, works(s, c)))
    )


@always("corrected-offset-is-set-once", "PL-23")
def corrected_once(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A client of 4.9.8 sets and sends a corrected offset once, and sends whatever it has become when it removes the
    queue.
    """
    sets = all_of(s.target_set[c, q], not_(s.was.target_set[c, q]))
    lasts = all_of(s.target_set[c, q], s.was.target_set[c, q])
    ends = all_of(s.was.target[c, q] != NO_OFFSET, s.target[c, q] == NO_OFFSET, lives(s, c))
    both = all_of(s.memory[c, q] == s.target[c, q], s.committed[q] == s.target[c, q])
    return all_of(
        implies(sets, both),
        implies(all_of(lasts, s.zombie[c, q]), s.memory[c, q] >= s.was.memory[c, q]),
        implies(ends, s.was.target_set[c, q]),
    )


@always("commit-that-is-held-up-was-sent", "OF-8")
def held_up(s: GroupState, q: Queue) -> BoolLike:
    """A commit that is held up was sent by a client for a queue in its table, is new to the broker, and is stored
    unchanged.
    """
    new = all_of(s.late[q] != NO_OFFSET, not_(same(s.late[q], s.was.late[q])))

    def sent(c: IntLike) -> BoolLike:
        ends = all_of(s.was.target[c, q] != NO_OFFSET, s.target[c, q] == NO_OFFSET) if corrects(s.constants) else False
        corrected = (
            all_of(ends, not in_two_steps(s), s.was.target[c, q] == s.late[q]) if corrects(s.constants) else False
        )
        own = all_of(any_of(had(s, c, q), ends), s.was.memory[c, q] == s.late[q])
        return all_of(works(s, c), any_of(own, corrected))

    unchanged = same(s.committed[q], s.was.committed[q])
    news = True if corrects(s.constants) else not_(same(s.late[q], s.was.committed[q]))
    arrives = all_of(s.was.late[q] != NO_OFFSET, s.late[q] == NO_OFFSET)
    stored = any_of(s.committed[q] == s.was.late[q], noted(s, q))
    return all_of(
        implies(new, all_of(s.was.late[q] == NO_OFFSET, s.exists(Consumer, sent), unchanged, news)),
        implies(arrives, stored),
    )


@always("reset-is-learnt-by-a-pull", "OF-30", "PL-18")
def learns(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A client learns of a reset from the answer to a pull of the queue, and that pull still brings its old offset."""
    new = all_of(s.zombie[c, q], not_(s.was.zombie[c, q]))
    pulled = s.was.asked[c, q] if fine(s) else True
    brings = all_of(s.was.memory[c, q] > 0, bool(s.piggyback) and not fine(s))
    return implies(
        all_of(noted(s, q), new),
        all_of(pulled, s.target[c, q] == s.reset_to, implies(brings, s.committed[q] == s.was.memory[c, q])),
    )


@always("reset-is-kept-until-it-is-learnt", "OF-30")
def told_once(s: GroupState, q: Queue) -> BoolLike:
    """The broker keeps a reset until a client has learnt of it."""
    gone = all_of(s.was.reset_noted[q], not_(s.reset_noted[q]))
    return implies(gone, s.exists(Consumer, lambda c: all_of(s.zombie[c, q], not_(s.was.zombie[c, q]))))


@always("client-resets-all-its-queues", "OF-31")
def reset_in_turn(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A client of 4.9.8 that is told to reset drops all its windows, then sends the offset of the reset for each, and
    removes them.
    """
    begins = all_of(s.resetting[c], not_(s.was.resetting[c]))
    ends = all_of(s.was.resetting[c], not_(s.resetting[c]), s.life[c] != Life.GONE)
    cleared = all_of(not_(s.owns[c, q]), implies(s.was.owns[c, q], s.zombie[c, q]))
    done = implies(had(s, c, q), s.committed[q] == s.reset_to)
    return all_of(
        implies(begins, all_of(cleared, works(s, c))),
        implies(ends, all_of(done, not_(in_table(s, c, q)), works(s, c))),
    )


@sometimes("restart-takes-commits-back", "OF-23")
def taken_back(s: GroupState, q: Queue) -> BoolLike:
    """A broker that restarts has the offset that it had written to its disk, and no longer what was committed since."""
    return all_of(s.committed[q] < s.was.committed[q], s.committed[q] == s.was.on_disk[q])


@always("disk-has-what-was-committed", "OF-23")
def on_disk(s: GroupState, q: Queue) -> BoolLike:
    """What a broker writes to its disk is the offset that is committed at that time."""
    return any_of(same(s.on_disk[q], s.was.on_disk[q]), s.on_disk[q] == s.was.committed[q])


@always("ghost-goes-on-message-by-message", "OF-31")
def ghost_in_turn(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A window that a reset of 4.9.8 left outside the table handles one message after the other, and raises the offset
    of its queue each time.
    """
    was, now = s.was.ghost[c, q], s.ghost[c, q]
    goes_on = all_of(was != NO_OFFSET, not_(same(was, now)), lives(s, c), not_(s.was.resetting[c]))
    done = s.exists(Message, lambda m: all_of(same(m, was), s.handled[q, m]))
    return implies(goes_on, all_of(now == was + 1, done, s.memory[c, q] >= now))


@always("giving-up-excuses-what-is-left-to-do", "RB-32", "G1")
def excused(s: GroupState, q: Queue) -> BoolLike:
    """Giving up a queue is a cause only of repeating what lies above the stored offset, or what another client has of
    the queue.
    """
    owned = s.exists(Consumer, lambda c: s.owns[c, q])

    def may_come(m: IntLike) -> BoolLike:
        new = all_of(s.cause[q, m] != Cause.NONE, s.was.cause[q, m] == Cause.NONE)
        return implies(new, any_of(owned, s.committed[q] <= m))

    return s.forall(Message, may_come)


@sometimes("failed-query-is-read-as-no-offset", "RB-42")
def read_as_none(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A client of 4.9.8 whose query for the offset fails begins where its ConsumeFromWhere says, though one
    is stored.
    """
    return all_of(
        s.owns[c, q], not_(s.was.owns[c, q]), not_(same(s.next_offset[c, q], s.was.committed[q])), works(s, c)
    )


@sometimes("queue-may-be-lost-while-it-is-corrected", "PL-23", "RB-32")
def lost_in_a_correction(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A pass may take away a queue from a client that has dropped its window but not yet corrected the offset."""
    return all_of(s.was.zombie[c, q], not_(in_table(s, c, q)), s.target[c, q] != NO_OFFSET, works(s, c))


@always("slave-copies-a-master-that-is-there", "OF-23")
def copied_from_the_master(s: GroupState, q: Queue) -> BoolLike:
    """A slave copies the offsets of its master while the master is there; while clients use the slave, nothing is
    copied, and each of the two keeps its own.
    """
    copied = all_of(not_(s.was.failed_over), not_(s.failed_over), s.other[q] == s.was.committed[q])
    turns = not_(same(s.failed_over, s.was.failed_over))
    turned = all_of(s.other[q] == s.was.committed[q], s.committed[q] == s.was.other[q])
    return any_of(all_of(turns, turned), all_of(not_(turns), any_of(same(s.other[q], s.was.other[q]), copied)))
