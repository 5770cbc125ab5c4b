"""Membership: which consumers a broker believes to be in the group, and how it learns of changes.

Every broker keeps its own table (EN-1: ``ConsumerManager``, ``ConsumerGroupInfo``), built from heartbeats alone: it
starts empty after a restart, a silent death stays in it until a scan removes it, and a client that cannot reach one
broker is missing only there. The table belongs to the group, not to a topic, and lists one id for each connection, so
an id appears twice if two connections carry it (EN-2: ``ConsumerGroupInfo#getAllClientId``). A consumer that has left
never returns: a restarted process has a new client id (EN-7: ``ClientConfig#changeInstanceNameToPID``).
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from .kernel import (
    BoolLike,
    Constants,
    Domain,
    IntLike,
    Lifetime,
    Machine,
    SetOf,
    State,
    all_of,
    any_of,
    constant,
    ite,
    not_,
    variable,
)

if TYPE_CHECKING:
    from .group import GroupState


class Consumer(Domain, size="consumers", label="c"):
    """Client instances of one consumer group, numbered in the order of their ids."""


class Broker(Domain, size="brokers", label="b"):
    """Brokers that serve the topic; each has a member table of its own."""


class Life(IntEnum):
    """What a client instance is doing."""

    NEW = 0
    UP = 1
    STOPPING = 2
    GONE = 3


membership = Machine("membership", doc="Member tables of the brokers, heartbeats, notifications, departures.")


@membership.state
class MembershipState(State):
    """Member tables, connections and lives of clients."""

    consumers = constant(2, low=1, high=6, doc="client instances of the group, started ones and later ones")
    running = constant(1, low=0, high=6, doc="how many of them run, settled, in the initial state")
    brokers = constant(1, low=1, high=3, doc="brokers that serve the topic")
    broker_restarts = constant(0, high=2, doc="how often a broker may restart, losing its member table")
    cuts = constant(0, high=2, doc="how often one consumer may be cut off from one broker")
    heals = constant(1, high=1, doc="1 when such a cut ends some time")
    lost_notices = constant(0, high=2, doc="how many notifications may be lost")
    periodic = constant(1, high=1, doc="1 with the 20 s rebalance timer; 0 to rebalance on notification only")
    life = variable(Life, Consumer, init=lambda k, c: Life.UP if c < k.running else Life.NEW)
    members = variable(SetOf(Consumer), Broker, init=lambda k, b, c: c < k.running, doc="EN-1, EN-2")
    # A pass may begin at any time when there is a timer, so a pending notification matters only without one.
    woken = variable(bool, Consumer, when=lambda k: k.periodic == 0, doc="a notification has arrived (ST-7)")
    cut = variable(bool, Consumer, Broker, when=lambda k: k.cuts > 0, doc="the client does not reach the broker")


membership.constraint(
    "running",
    "consumers",
    holds=lambda k: k.running <= k.consumers,
    message="no more consumers can run than there are",
)

PROCESS = Lifetime("process", (Consumer,))
"""A client's process; what lives in it ends with the process."""


def _can_be_missing(k: Constants) -> bool:
    """Whether some running consumer can be absent from some member table."""
    return bool(k.consumers > k.running or k.broker_restarts + k.cuts > 0)


def alive(s: GroupState, c: IntLike) -> BoolLike:
    """Whether ``c`` runs: it consumes its queues until the last step of a graceful stop drops them."""
    return any_of(s.life[c] == Life.UP, s.life[c] == Life.STOPPING)


def reaches(s: GroupState, c: IntLike, b: IntLike) -> BoolLike:
    """Whether requests of ``c`` get through to broker ``b``."""
    return not_(s.cut[c, b]) if s.cuts else True


def wake(s: GroupState, b: IntLike, *, newcomer: IntLike | None = None) -> None:
    """Notify every channel in the table of ``b`` (ST-4, ST-7: ``DefaultConsumerIdsChangeListener#handle``)."""
    if s.periodic == 0:
        s.woken = lambda d: ite(
            all_of(any_of(s.members[b].has(d), d == newcomer), s.life[d] == Life.UP), True, s.woken[d]
        )


@membership.action(fair=True, tells="the heartbeat of {c} reaches {b}", when=_can_be_missing)
def heartbeat(s: GroupState, c: Consumer, b: Broker) -> None:
    """ST-4: a channel not yet in the table is added, and all members are notified.

    ``ClientManageProcessor#heartBeat``, ``ConsumerManager#registerConsumer``.
    """
    s.require(s.life[c] == Life.UP, not_(s.members[b].has(c)), reaches(s, c, b))
    s.members[b] = s.members[b].add(c)
    wake(s, b, newcomer=c)


@membership.action(fair=True, tells="{b} finds {c} silent and removes it", when=lambda k: k.crashes + k.cuts > 0)
def expire_member(s: GroupState, b: Broker, c: Consumer) -> None:
    """ST-6 (d): the scan removes a channel without heartbeats for 120 s, and notifies nobody.

    ``ConsumerManager#scanNotActiveChannel``.
    """
    s.require(s.members[b].has(c), any_of(s.life[c] == Life.GONE, not_(reaches(s, c, b))))
    s.members[b] = s.members[b].remove(c)


@membership.action(tells="{b} sees the connection of {c} close", when=lambda k: k.crashes > 0)
def channel_closed(s: GroupState, b: Broker, c: Consumer) -> None:
    """ST-6 (b): when the connection of a dead client breaks visibly, it is removed at once, and the others are
    notified.

    ``ClientHousekeepingService#onChannelClose``, ``ConsumerManager#doChannelCloseEvent``.
    """
    s.require(s.members[b].has(c), s.life[c] == Life.GONE)
    s.members[b] = s.members[b].remove(c)
    wake(s, b)


@membership.definition
def broker_forgets(s: GroupState, b: IntLike) -> None:
    """What else a broker loses in a restart."""


@membership.definition
def locks_are_lost(s: GroupState, b: IntLike) -> None:
    """OR-1: the locks of the queues of ``b`` are lost as well; without orderly listeners there are none."""


@membership.action(budget="broker_restarts", tells="{b} restarts and has forgotten all members")
def restart_broker(s: GroupState, b: Broker) -> None:
    """The member table is soft state, rebuilt heartbeat by heartbeat (EN-1); the locks are gone as well (OR-1).

    ``ConsumerManager`` and ``RebalanceLockManager`` keep their tables in memory only.
    """
    s.members[b] = s.empty(Consumer)
    broker_forgets(s, b)
    locks_are_lost(s, b)


@membership.action(budget="lost_notices", tells="the notification to {c} is lost", when=lambda k: k.periodic == 0)
def lose_notice(s: GroupState, c: Consumer) -> None:
    """ST-7: the notification is one-way, with a 10 ms send timeout (``Broker2Client#notifyConsumerIdsChanged``)."""
    s.require(s.woken[c])
    s.woken[c] = False


@membership.action(budget="cuts", tells="{c} is cut off from {b}")
def cut_off(s: GroupState, c: Consumer, b: Broker) -> None:
    """A partition between one client and one broker."""
    s.require(not_(s.cut[c, b]))
    s.cut[c, b] = True


@membership.action(fair=True, tells="{c} reaches {b} again", when=lambda k: k.cuts > 0 and k.heals == 1)
def heal(s: GroupState, c: Consumer, b: Broker) -> None:
    """The partition ends."""
    s.require(s.cut[c, b])
    s.cut[c, b] = False
