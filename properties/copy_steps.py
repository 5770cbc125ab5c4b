"""What a single step may do to a retry copy, and to the positions from which delayed messages are delivered."""

from __future__ import annotations

from ..model.consume_queue import Message
from ..model.group import GroupState
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, not_, same
from ..model.membership import Consumer
from ..model.process_queue import Orphan, Stage
from ..model.retry_copy import Copy, Place, root_of
from ..model.route import Queue
from ..model.schedule import Level, entry, indexed, is_head
from .changes import lives
from .property import always, settles, sometimes


def _restarts(s: GroupState) -> bool:
    return bool(s.broker_crashes + s.broker_stops + s.stores_lost + s.power_losses)


@always("copy-is-of-what-has-failed", "SB-1", "CC-12")
def after_a_failure(s: GroupState, k: Copy) -> BoolLike:
    """A copy is made of a message with which a listener has failed, when the message leaves its window. The copy names
    the message of the topic that it stems from.
    """

    def of(c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
        sent_back = all_of(s.was.stage[c, q, m] == Stage.FAILED, s.stage[c, q, m] == Stage.ABSENT)
        return all_of(sent_back, same(s.root[k], root_of(s, q, m)))

    new = all_of(s.was.place[k] == Place.NONE, s.place[k] != Place.NONE)
    return implies(
        new, s.exists(Consumer, lambda c: s.exists(Queue, lambda q: s.exists(Message, lambda m: of(c, q, m))))
    )


@always("late-send-back-stores-a-copy", "CC-12", "SB-1")
def late_copy(s: GroupState, c: Consumer, q: Queue, m: Message) -> BoolLike:
    """A message that is sent back after its window was dropped has a retry copy, like any other."""
    sent_back = all_of(s.was.orphan[c, q, m] == Orphan.FAILED, s.orphan[c, q, m] == Orphan.NONE, lives(s, c))
    stored = s.exists(Copy, lambda k: all_of(s.was.place[k] == Place.NONE, s.place[k] != Place.NONE))
    return implies(sent_back, stored)


def _delivered(s: GroupState, k: IntLike) -> BoolLike:
    """Whether the last step has delivered ``k`` from the schedule topic."""
    return all_of(s.was.place[k] == Place.SCHEDULE_TOPIC, s.place[k] == Place.DELIVERED)


@always("copy-waits-for-its-delay", "DL-2", "DL-5")
def on_its_way(s: GroupState, k: Copy) -> BoolLike:
    """A copy with a delay is put into the schedule topic, and delivered from there when its delay has passed; a dead
    letter has none (5.x).
    """
    was, now = s.was.place[k], s.place[k]
    at_once = implies(s.dead[k], s.level[k] == 0) if s.version == "5.3.3" else True
    put = all_of(was == Place.NONE, same(now == Place.SCHEDULE_TOPIC, s.level[k] > 0), at_once)
    due = s.was.ripe[k] if not s.clock_steps else True
    lost = all_of(was == Place.SCHEDULE_TOPIC, now == Place.NONE, bool(s.power_losses))
    return any_of(same(was, now), put, all_of(_delivered(s, k), due), lost)


@always("copy-stays-as-it-was-stored", "SB-1", "DL-3")
def as_it_is(s: GroupState, k: Copy) -> BoolLike:
    """A copy that is stored keeps its count, its level and its origin; a delay passes only while it waits."""
    stays = all_of(s.was.place[k] != Place.NONE, s.place[k] != Place.NONE)
    alike = [
        same(s.times[k], s.was.times[k]),
        same(s.level[k], s.was.level[k]),
        same(s.dead[k], s.was.dead[k]),
        same(s.root[k], s.was.root[k]),
    ]
    ripens = all_of(s.ripe[k], not_(s.was.ripe[k]))
    waits = all_of(s.was.place[k] == Place.SCHEDULE_TOPIC, s.place[k] == Place.SCHEDULE_TOPIC)
    waited = implies(s.ripe[k], s.place[k] != Place.NONE)
    return all_of(implies(stays, all_of(*alike)), implies(ripens, waits), waited)


@always("same-delay-ends-in-order", "DL-3")
def due_in_order(s: GroupState, j: Copy, k: Copy) -> BoolLike:
    """Of two copies with the same delay, the one that was stored first is due first."""
    alike = all_of(j < k, same(s.level[j], s.level[k]), s.place[j] != Place.NONE, s.place[k] != Place.NONE)
    return implies(all_of(alike, s.ripe[k]), s.ripe[j])


@sometimes("shorter-delay-ends-first", "DL-3", "DL-5")
def overtakes(s: GroupState, j: Copy, k: Copy) -> BoolLike:
    """A copy with a shorter delay may be delivered before one that was stored earlier and waits longer."""
    return all_of(j < k, s.place[j] == Place.SCHEDULE_TOPIC, not_(s.ripe[j]), s.place[k] == Place.DELIVERED)


@always("power-loss-takes-the-last-copy", "SB-16")
def lost_with_power(s: GroupState) -> BoolLike:
    """A broker that loses power starts anew, without the last copy, which was not on disk yet."""
    lost = s.exists(Copy, lambda k: all_of(s.was.place[k] == Place.SCHEDULE_TOPIC, s.place[k] == Place.NONE))
    return same(lost, all_of(s.loading, not_(s.was.loading)))


@always("retry-queue-grows-by-what-is-delivered", "DL-6", "DQ-1")
def arrives(s: GroupState) -> BoolLike:
    """Each copy that is delivered is appended to the retry queue, and nothing else is; dead letters are not."""
    retry = s.queues - 1

    def new(k: IntLike) -> BoolLike:
        came = all_of(s.was.place[k] != Place.DELIVERED, s.place[k] == Place.DELIVERED)
        again = bool(s.unsure_puts or _restarts(s) or s.promotions)
        return all_of(any_of(came, all_of(again, s.place[k] == Place.DELIVERED)), not_(s.dead[k]))

    grown = s.was.log_end[retry] < s.log_end[retry]
    last = s.exists(
        Message,
        lambda m: all_of(m + 1 == s.log_end[retry], s.exists(Copy, lambda k: all_of(s.content[m] == k, new(k)))),
    )
    comes = s.exists(
        Copy,
        lambda k: all_of(s.was.place[k] != Place.DELIVERED, s.place[k] == Place.DELIVERED, not_(s.dead[k])),
    )
    return all_of(implies(grown, last), implies(comes, grown))


@always("copy-is-delivered-in-its-turn", "DL-5", "DL-6")
def in_its_turn(s: GroupState, k: Copy) -> BoolLike:
    """A delay level delivers its next entry, and may deliver the same one until the position has moved past it."""
    retry = s.queues - 1
    grown = s.was.log_end[retry] < s.log_end[retry]
    comes = s.exists(Message, lambda m: all_of(grown, m + 1 == s.log_end[retry], s.content[m] == k))

    def moved(level: IntLike) -> BoolLike:
        return all_of(s.level[k] == level + 1, s.position[level] == s.was.position[level] + 1)

    return implies(all_of(comes, s.level[k] > 0), any_of(is_head(s, k), s.exists(Level, moved)))


@always("delivery-goes-on-entry-by-entry", "DL-4", "DL-5", "DL-7")
def goes_on(s: GroupState, level: Level) -> BoolLike:
    """The position of a delay level moves past one entry that is due, or starts again where the file says: the broker's
    own file, or the copy that a replica had.
    """
    now, was = s.position[level], s.was.position[level]

    def passed(k: IntLike) -> BoolLike:
        return all_of(indexed(s, k, level), same(entry(s, k), was), s.was.ripe[k])

    by_one = all_of(now == was + 1, s.exists(Copy, passed))
    begins = all_of(now == 0, s.loading) if _restarts(s) else False
    loaded = all_of(s.was.loading, not_(s.loading), now <= s.was.saved[level]) if _restarts(s) else False
    promoted = (
        all_of(now <= s.was.replicated[level], s.saved[level] == s.was.replicated[level]) if s.promotions else False
    )
    return any_of(same(now, was), by_one, begins, loaded, promoted)


@always("file-has-the-positions", "DL-4")
def saved(s: GroupState, level: Level) -> BoolLike:
    """What a broker writes into its file is how far its delivery has come."""
    promoted = s.saved[level] == s.was.replicated[level] if s.promotions else False
    return any_of(same(s.saved[level], s.was.saved[level]), s.saved[level] == s.was.progress[level], promoted)


@always("replica-copies-the-file", "DL-7")
def copied(s: GroupState, level: Level) -> BoolLike:
    """What a replica knows of the positions is what the file of its master says."""
    return any_of(same(s.replicated[level], s.was.replicated[level]), s.replicated[level] == s.was.saved[level])


@settles("replica-catches-up-with-the-file", "DL-7")
def replica_catches_up(s: GroupState, level: Level) -> BoolLike:
    """Eventually, a replica knows all positions that are in the file of its master."""
    return s.replicated[level] == s.saved[level]


@sometimes("replica-begins-where-its-copy-says", "DL-7")
def begins_there(s: GroupState, level: Level) -> BoolLike:
    """A replica that becomes master continues where its copy of the file says, which is behind what was already
    delivered.
    """
    return all_of(s.promotions_left == 0, s.replicated[level] > 0)


@settles("file-catches-up-with-delivery", "DL-4")
def file_catches_up(s: GroupState) -> BoolLike:
    """Eventually, the file of a broker says how far its delivery of delayed messages has come."""
    return all_of(not_(s.loading), s.forall(Level, lambda level: s.saved[level] == s.progress[level]))


@sometimes("stop-in-order-saves-the-positions", "DL-4")
def saved_at_stop(s: GroupState, level: Level) -> BoolLike:
    """A broker that is stopped in order writes down what it delivered since the last time."""
    return all_of(
        s.loading, not_(s.was.loading), s.saved[level] == s.was.progress[level], s.was.saved[level] < s.saved[level]
    )
