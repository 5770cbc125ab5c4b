"""Machines that the benchmarks measure on.

``consumption`` with 2 consumers, 2 queues, 3 messages and 1 crash has 3,916,533 states and 30,001,692 transitions.
"""

from __future__ import annotations

from rocketproof.model.kernel import Domain, Int, Machine, State, all_of, any_of, ite, maximum, minimum, not_


class Consumer(Domain, size="consumers"):
    """The consumers of one group."""


class Queue(Domain, size="queues"):
    """The queues of one topic."""


class Message(Domain, size="messages"):
    """The messages of one queue, by offset."""


consumption = Machine(
    "consumption",
    doc="Consumers that share queues by the AVG_BY_START formula, pull, consume out of order, commit, and may crash.",
)
consumption.constant("consumers", 2, low=1)
consumption.constant("queues", 2, low=1)
consumption.constant("messages", 3, low=1)
consumption.constant("crashes", 1)
consumption.variable("alive", bool, Consumer)
consumption.variable("owns", bool, Consumer, Queue)
consumption.variable("next_offset", Int(0, "messages"), Consumer, Queue, doc="the offset to pull from")
consumption.variable("local_offset", Int(0, "messages"), Consumer, Queue, doc="the offset to commit")
consumption.variable("held", bool, Consumer, Queue, Message, doc="pulled and not consumed yet")
consumption.variable("committed", Int(0, "messages"), Queue)
consumption.variable("log_end", Int(0, "messages"), Queue)
consumption.variable("deliveries", Int(0, 2), Queue, Message, doc="how often consumed; 2 stands for more")


@consumption.action
def rebalance(s: State, c: Consumer) -> None:
    """Take a share of the queues among the living consumers; give up the others with a last commit."""
    s.require(s.alive[c])
    queues = s.queues
    rank = s.count(Consumer, lambda d: all_of(d < c, s.alive[d]))
    living = s.count(Consumer, lambda d: s.alive[d])
    rest = queues % living
    larger = all_of(rest > 0, rank < rest)
    share = ite(queues <= living, 1, ite(larger, queues // living + 1, queues // living))
    first = ite(larger, rank * share, rank * share + rest)

    def mine(q: Queue) -> object:
        return all_of(first <= q, q < first + share)

    def lost(q: Queue) -> object:
        return all_of(s.owns[c, q], not_(mine(q)))

    def won(q: Queue) -> object:
        return all_of(not_(s.owns[c, q]), mine(q))

    s.owns[c] = mine
    s.committed = lambda q: ite(lost(q), s.local_offset[c, q], s.committed[q])
    s.next_offset[c] = lambda q: ite(won(q), s.committed[q], ite(lost(q), 0, s.next_offset[c, q]))
    s.local_offset[c] = lambda q: ite(won(q), s.committed[q], ite(lost(q), 0, s.local_offset[c, q]))
    s.held[c] = lambda q, m: all_of(s.held[c, q, m], not_(lost(q)))


@consumption.action(budget="crashes")
def crash(s: State, c: Consumer) -> None:
    """A consumer is gone, with everything it had in memory."""
    s.require(s.alive[c])
    s.alive[c] = False
    s.owns[c] = lambda q: False
    s.next_offset[c] = lambda q: 0
    s.local_offset[c] = lambda q: 0
    s.held[c] = lambda q, m: False


@consumption.action
def start(s: State, c: Consumer) -> None:
    """A consumer comes up."""
    s.require(not_(s.alive[c]))
    s.alive[c] = True


@consumption.action
def pull(s: State, c: Consumer, q: Queue) -> None:
    """The next message of an owned queue is pulled."""
    offset = s.next_offset[c, q]
    s.require(s.owns[c, q], offset < s.log_end[q])
    s.held[c, q] = lambda m: any_of(s.held[c, q, m], offset == m)
    s.next_offset[c, q] = offset + 1


@consumption.action
def commit(s: State, c: Consumer, q: Queue) -> None:
    """The local offset goes to the broker."""
    s.require(s.owns[c, q], s.local_offset[c, q] != s.committed[q])
    s.committed[q] = s.local_offset[c, q]


@consumption.action
def consume(s: State, c: Consumer, q: Queue, m: Message) -> None:
    """A held message is consumed; the local offset moves to the lowest message still held."""
    s.require(s.held[c, q, m])
    s.held[c, q, m] = False
    s.deliveries[q, m] = minimum(s.deliveries[q, m] + 1, 2)
    lowest = s.least(Message, lambda o: all_of(o != m, s.held[c, q, o]), default=s.next_offset[c, q])
    s.local_offset[c, q] = maximum(s.local_offset[c, q], lowest)


@consumption.action
def produce(s: State, q: Queue) -> None:
    """A message arrives."""
    s.require(s.log_end[q] < s.messages)
    s.log_end[q] = s.log_end[q] + 1
