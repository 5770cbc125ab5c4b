"""ScheduleMessageService: the broker's delivery of delayed messages, which carries every retry.

Each level has a queue in the schedule topic, and one position: the entry that is delivered next. Only the head is
looked at; when it is due its message is put into its own topic, then the position moves on (DL-5, DL-6). The positions
are written to ``delayOffset.json`` every 10 s (DL-4). After a crash, delivery continues from there, and what was
delivered since then is delivered again (DL-7). There is no clock here: an entry becomes *ripe* some time after it was
stored, in store order within its level, since all entries of a level wait equally long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .delay import loaded_position
from .kernel import (
    BoolLike,
    Constants,
    Domain,
    Int,
    IntLike,
    Machine,
    State,
    all_of,
    any_of,
    constant,
    implies,
    ite,
    not_,
    same,
    variable,
)
from .retry_copy import Copy, Place, accepts, code, next_copy, retries, stored, watched

if TYPE_CHECKING:
    from .group import GroupState


class Level(Domain, size="levels", label="queue "):
    """Queues of the schedule topic; the number of each is its delay level less 1 (DL-2)."""


schedule = Machine("schedule", doc="Delivery of delayed messages, one position a level, and its progress file.")


def _saves(k: Constants) -> bool:
    """Whether the content of the progress file matters."""
    return bool(retries(k) and k.broker_stops + k.broker_crashes + k.promotions + k.stores_lost + k.power_losses > 0)


def _starts(k: Constants) -> bool:
    return bool(retries(k) and k.broker_stops + k.broker_crashes + k.stores_lost + k.power_losses > 0)


def _runs(k: Constants) -> bool:
    return bool(retries(k) and k.runs)


def _faulty(budget: str) -> Callable[[Constants], bool]:
    return lambda k: retries(k) and bool(k[budget])


@schedule.state
class ScheduleState(State):
    """Positions of the delay levels, and their progress file."""

    broker_stops = constant(0, high=2, doc="how often the broker may be stopped in order and started again")
    broker_crashes = constant(0, high=2, doc="how often it may crash, back to the positions in its file")
    promotions = constant(0, high=1, doc="how often a replica may take its place, with its copy of that file")
    promotions_left: IntLike
    stores_lost = constant(0, high=1, doc="how often a restart may find the delivered part of the topic gone")
    power_losses = constant(0, high=1, doc="how often the broker may lose the last copy, not yet on disk (SB-16)")
    clock_steps = constant(0, high=1, doc="how often a clock stepped back may make an entry look overdue (DL-5)")
    unsure_puts = constant(0, high=1, doc="how often a put may succeed and be taken for failed (DL-6)")
    unreadable = constant(0, high=1, doc="how many entries may be unreadable when they are due (DL-5)")
    early_requests = constant(0, high=1, doc="1: requests are served before the positions are read, as in 5.3.3 (DL-4)")
    runs = constant(0, high=1, doc="1 to follow where the current run of each delivery task began")
    ripe = variable(bool, Copy, when=retries, doc="its delay has passed")
    gone = variable(bool, Copy, when=_faulty("stores_lost"), doc="its entry in the schedule topic is lost")
    position = variable(Int(0, "copies"), Level, when=retries, doc="next entry that is delivered")
    progress = variable(Int(0, "copies"), Level, when=_saves, doc="offsetTable: what will be saved")
    saved = variable(Int(0, "copies"), Level, when=_saves, doc="delayOffset.json")
    replicated = variable(Int(0, "copies"), Level, when=_faulty("promotions"), doc="a replica's copy of the file")
    run_start = variable(Int(0, "copies"), Level, when=_runs, doc="first entry of the current run")
    loading = variable(bool, when=_starts, doc="the broker is starting and has not read the file yet")


def _delays(k: Constants) -> bool:
    """Whether anything is ever stored with a delay."""
    by_request = k.listener_level >= 0 or k.expiries > 0
    by_fallback = k.refused + k.lost_replies > 0
    tried_again = k.attempts > 0 and (by_request or by_fallback)
    delayed_dead_letter = k.version == "4.9.8" and by_fallback
    return retries(k) and bool(tried_again or delayed_dead_letter or k.count_resets or k.repeated_fallbacks)


def indexed(s: GroupState, k: IntLike, queue: IntLike) -> BoolLike:
    """Whether copy ``k`` has an entry in ``queue`` of the schedule topic; entries stay after they are delivered."""
    lost = s.gone[k] if s.stores_lost else False
    return all_of(stored(s, k), same(s.level[k], queue + 1), not_(lost))


def entry(s: GroupState, k: IntLike) -> IntLike:
    """The offset of copy ``k`` in its queue of the schedule topic: the number of entries before it."""
    return s.count(Copy, lambda j: all_of(j < k, indexed(s, j, s.level[k] - 1)))


def entries(s: GroupState, queue: IntLike) -> IntLike:
    """The maximum offset of a queue of the schedule topic."""
    return s.count(Copy, lambda k: indexed(s, k, queue))


def position_of(s: GroupState, k: IntLike) -> IntLike:
    """The delivery position in the queue of copy ``k``."""
    return s.position[s.level[k] - 1]


def is_head(s: GroupState, k: IntLike) -> BoolLike:
    """Whether ``k`` is the entry that is delivered next at its level."""
    lost = s.gone[k] if s.stores_lost else False
    return all_of(stored(s, k), s.level[k] > 0, not_(lost), same(entry(s, k), position_of(s, k)))


def delivering(s: GroupState) -> BoolLike:
    """Whether the delivery tasks run."""
    return not_(s.loading) if _starts(s.constants) else True


@schedule.refine(accepts)
def serves(s: GroupState) -> BoolLike:
    """A broker that starts opens its ports once it has read its files.

    In 5.3.3 ``ScheduleMessageService#start`` reads the positions once more, after
    ``BrokerController#startBasicService`` has opened the ports: messages stored in between count towards the end
    against which a position is checked.
    """
    return True if s.early_requests else delivering(s)


@schedule.action(fair=True, tells="the delay of {k} has passed", when=_delays)
def ripen(s: GroupState, k: Copy) -> None:
    """DL-3: due at store time plus the delay of the level; therefore in store order within a level."""

    def before(j: IntLike) -> BoolLike:
        return all_of(j < k, stored(s, j), same(s.level[j], s.level[k]))

    s.require(s.place[k] == Place.SCHEDULE_TOPIC, not_(s.ripe[k]))
    s.require(s.forall(Copy, lambda j: implies(before(j), s.ripe[j])))
    s.ripe[k] = True


@schedule.definition
def due(s: GroupState, k: IntLike) -> BoolLike:
    """DL-5: the head is delivered once its delay has passed; nothing behind it is considered before."""
    return s.ripe[k]


@schedule.definition
def recorded(s: GroupState, queue: IntLike) -> IntLike:
    """DL-6: the progress that a delivery reports: the entry after the one just delivered (``PutResultProcess``)."""
    return s.position[queue] + 1


def _append(s: GroupState, k: IntLike) -> None:
    """DL-6, DL-10: the message enters its own topic, and gets an offset there."""
    retry = s.queues - 1
    s.require(any_of(s.dead[k], s.log_end[retry] < s.messages))
    s.place[k] = Place.DELIVERED
    with s.when(not_(s.dead[k])):
        s.content[s.log_end[retry]] = k
        s.log_end[retry] = s.log_end[retry] + 1


def _advance(s: GroupState, k: IntLike) -> None:
    queue = s.level[k] - 1
    s.position[queue] = s.position[queue] + 1
    if _saves(s.constants):
        s.progress[queue] = recorded(s, queue)
    if s.runs:
        goes_on = s.exists(Copy, lambda j: all_of(j > k, indexed(s, j, queue), s.ripe[j]))
        s.run_start[queue] = ite(goes_on, s.run_start[queue], s.position[queue] + 1)


@schedule.action(fair=True, tells="the broker delivers {k} to its topic", when=_delays)
def deliver(s: GroupState, k: Copy) -> None:
    """DL-5, DL-6: the head of a level, when it is due.

    ``ScheduleMessageService.DeliverDelayedMessageTimerTask#executeOnTimeUp``.
    """
    s.require(delivering(s), is_head(s, k), due(s, k))
    _append(s, k)
    _advance(s, k)


@schedule.action(budget="clock_steps", tells="the broker's clock steps back; {k} seems overdue", when=retries)
def deliver_early(s: GroupState, k: Copy) -> None:
    """DL-5: due later than a message stored now could be, so it is delivered at once (``correctDeliverTimestamp``)."""
    s.require(delivering(s), is_head(s, k), not_(s.ripe[k]))
    _append(s, k)
    _advance(s, k)


@schedule.action(budget="unsure_puts", tells="the broker delivers {k}, and believes it failed", when=retries)
def deliver_unsure(s: GroupState, k: Copy) -> None:
    """DL-6, G3-9: the put is not answered with PUT_OK, although it happened: the same entry is delivered again after
    100 ms.
    """
    s.require(delivering(s), is_head(s, k), due(s, k))
    _append(s, k)


@schedule.action(budget="unreadable", tells="{k} is unreadable when it is due, and skipped", when=retries)
def skip(s: GroupState, k: Copy) -> None:
    """DL-5, G2-11: the message is gone from the log; delivery silently moves on."""
    s.require(delivering(s), is_head(s, k), due(s, k), s.place[k] == Place.SCHEDULE_TOPIC)
    _advance(s, k)


@schedule.definition
def may_save(s: GroupState) -> BoolLike:
    """DL-4: the file is written every 10 s, once it has been read."""
    return delivering(s)


@schedule.action(fair=True, tells="the broker saves its delivery positions", when=_saves)
def save(s: GroupState) -> None:
    """DL-4: ``ScheduleMessageService#persist``, for all levels at once."""
    s.require(may_save(s), s.exists(Level, lambda queue: not_(same(s.saved[queue], s.progress[queue]))))
    s.saved = lambda queue: s.progress[queue]


@schedule.definition
def saved_at_stop(s: GroupState, queue: IntLike) -> IntLike:
    """DL-4: a graceful stop saves the positions once more (``ScheduleMessageService#stop``)."""
    return s.progress[queue]


@schedule.action(budget="broker_stops", tells="the broker is stopped in order and started again", when=retries)
def stop_broker(s: GroupState) -> None:
    """The delivery tasks end, and the positions are saved; the next process begins with an empty table."""
    s.require(delivering(s))
    s.saved = lambda queue: saved_at_stop(s, queue)
    _begin_start(s)


@schedule.action(budget="broker_crashes", tells="the broker crashes and is started again", when=retries)
def crash_broker(s: GroupState) -> None:
    """DL-7: the file is as old as the last save."""
    s.require(delivering(s))
    _begin_start(s)


def _begin_start(s: GroupState) -> None:
    s.position = lambda queue: 0
    s.progress = lambda queue: 0
    s.loading = True


@schedule.definition
def first_position(s: GroupState, queue: IntLike) -> IntLike:
    """DL-4: the saved position, clamped to the range of the queue (``correctDelayOffset``)."""
    return loaded_position(s.saved[queue], 0, entries(s, queue))


@schedule.action(fair=True, tells="the broker reads its delivery positions", when=_starts)
def load(s: GroupState) -> None:
    """DL-4: ``ScheduleMessageService#load``, before any delivery (``BrokerController#initialize``)."""
    s.require(s.loading)
    _go_on_from(s, lambda queue: first_position(s, queue))
    s.loading = False


def _go_on_from(s: GroupState, position: Callable[[IntLike], IntLike]) -> None:
    s.position = position
    s.progress = position
    if s.runs:
        s.run_start = position


@schedule.action(
    budget="stores_lost", tells="the broker comes back without the delivered part of its store", when=retries
)
def lose_store(s: GroupState) -> None:
    """H1: logs restored from elsewhere or rebuilt, with the old progress file: it points behind their end."""
    s.require(delivering(s), s.exists(Copy, lambda k: stored(s, k)))
    s.require(s.forall(Copy, lambda k: s.place[k] != Place.SCHEDULE_TOPIC))
    s.gone = lambda k: stored(s, k)
    _begin_start(s)


@schedule.action(budget="power_losses", tells="the broker loses power; {k} was not on disk", when=watched)
def lose_power(s: GroupState, k: Copy) -> None:
    """SB-16, G2-8: copies are put without waiting for the disk or the replica, even if the broker is synchronous.

    The original's offset has passed it by then.
    """

    def from_it(q: IntLike, m: IntLike) -> BoolLike:
        return same(s.source[k], code(s, q, m))

    s.require(delivering(s), s.place[k] == Place.SCHEDULE_TOPIC, same(next_copy(s), k + 1))
    s.place[k] = Place.NONE
    s.ripe[k] = False
    s.handled = lambda q, m: all_of(s.handled[q, m], not_(from_it(q, m)))
    _begin_start(s)


@schedule.action(fair=True, tells="the replica copies the delivery positions", when=_faulty("promotions"))
def replicate(s: GroupState) -> None:
    """DL-7: every 10 s the file is copied, not the table (``SlaveSynchronize#syncDelayOffset``)."""
    s.require(s.exists(Level, lambda queue: not_(same(s.replicated[queue], s.saved[queue]))))
    s.replicated = lambda queue: s.saved[queue]


@schedule.definition
def promoted_position(s: GroupState, queue: IntLike) -> IntLike:
    """The position at which a replica that becomes master begins: it reads its copy of the file first."""
    return loaded_position(s.replicated[queue], 0, entries(s, queue))


@schedule.action(budget="promotions", tells="a replica becomes master", when=retries)
def promote(s: GroupState) -> None:
    """The logs are complete, but the positions are as old as the last copy of the file (DL-7)."""
    s.require(delivering(s))
    _go_on_from(s, lambda queue: promoted_position(s, queue))
    s.saved = lambda queue: s.replicated[queue]


def waits(s: GroupState, k: IntLike) -> BoolLike:
    """Whether ``k`` is in the schedule topic, and delivery will still reach it."""
    return all_of(s.place[k] == Place.SCHEDULE_TOPIC, position_of(s, k) <= entry(s, k))


_ONE = {"queues": 2, "messages": 3, "retry_room": 2, "consumers": 1, "copies": 2, "failures": 2, "levels": 3}
"""One message that fails twice; every retry waits at level 3, the last one."""

_TWO = {"queues": 2, "messages": 4, "retry_room": 2, "consumers": 1, "copies": 2, "failures": 2, "levels": 3}
"""Two messages that fail once each."""


@schedule.mutant(
    "H1",
    "delay-offset-beyond-queue-end",
    of=first_position,
    killed_by="schedule-never-passes-a-message",
    constants={**_ONE, "attempts": 2, "stores_lost": 1},
)
def unclamped_position(s: GroupState, queue: IntLike) -> IntLike:
    """The saved position is taken as it is, beyond the end: nothing is delivered until the queue has grown past it.

    apache/rocketmq#1869, #1472, fixed in 4.9.2 and 4.9.3.
    """
    return s.saved[queue]


@schedule.mutant(
    "H2",
    "delay-offset-not-saved-on-stop",
    of=saved_at_stop,
    killed_by="schedule-once",
    constants={**_ONE, "broker_stops": 1},
)
def not_saved_at_stop(s: GroupState, queue: IntLike) -> IntLike:
    """A graceful stop does not save: up to ten seconds of deliveries are repeated. apache/rocketmq#3473."""
    return s.saved[queue]


@schedule.mutant(
    "H3",
    "save-before-load-wipes-delay-offsets",
    of=may_save,
    killed_by="schedule-once",
    constants={**_ONE, "broker_stops": 1},
)
def save_before_load(s: GroupState) -> BoolLike:
    """The timer that saves starts before the file was read, and writes an empty table. apache/rocketmq#6881."""
    return True


@schedule.mutant(
    "H4",
    "promoted-replica-uses-old-delay-offsets",
    of=promoted_position,
    killed_by="schedule-goes-on-where-saved",
    constants={**_ONE, "promotions": 1},
)
def position_in_memory(s: GroupState, queue: IntLike) -> IntLike:
    """The replica copied the file and kept its table: it delivers from where it was at its own start.

    apache/rocketmq#2259, #2518.
    """
    return 0


@schedule.mutant(
    "H5",
    "delay-progress-records-batch-start",
    of=recorded,
    killed_by="schedule-once",
    constants={**_TWO, "broker_stops": 1, "runs": 1},
)
def recorded_start_of_run(s: GroupState, queue: IntLike) -> IntLike:
    """Every delivery of a run reports the run's first entry as its own. apache/rocketmq#3967, fixed in 4.9.4."""
    return s.run_start[queue] + 1
