"""A transactional outbox before RocketMQ: what it promises, and what the consumer still has to do.

A service stores an order and, in the same transaction, a row of its outbox. A relay reads rows that are not marked as
sent, sends each to RocketMQ, and marks it. It may crash between any two of these steps, and begins again with the rows
that are not marked. The consumer is given every stored message and applies the order.
"""

from __future__ import annotations

from enum import IntEnum

from rocketproof import Claim, Machine, State, Verdict, always, eventually
from rocketproof.terms import BoolLike, Domain, Int, any_of, constant, variable

Row = IntEnum("Row", "NONE WAITING MARKED", start=0)
Relay = IntEnum("Relay", "IDLE READ SENT", start=0)


class Order(Domain, size="orders", label="order "):
    """Orders, each with its row of the outbox."""


machine = Machine("outbox", doc="Orders reach a consumer by way of an outbox, a relay and RocketMQ.")


@machine.state
class Outbox(State):
    """Rows of the outbox, and what has become of them."""

    orders = constant(2, low=1, doc="number of orders")
    crashes = constant(1, doc="how often the relay may crash")
    marks = constant("after", choices=("after", "before"), doc="whether a row is marked after or before it is sent")
    consumer = constant("plain", choices=("plain", "idempotent"), doc="whether it looks up what it has applied")
    row = variable(Row, Order, doc="the row of the outbox")
    relay = variable(Relay, Order, doc="what the relay has in memory of a row")
    stored = variable(Int(0, lambda c: 1 + c.crashes), Order, doc="messages in RocketMQ that nobody was given yet")
    applied = variable(Int(0, lambda c: 1 + c.crashes), Order, doc="how often the consumer applied an order")


@machine.action(tells="the service stores {o} and its row in one transaction")
def place(s: Outbox, o: Order) -> None:
    """Either both are there, or none: that is what the transaction is for."""
    s.require(s.row[o] == Row.NONE)
    s.row[o] = Row.WAITING


@machine.action(fair=True, tells="the relay reads the row of {o}")
def read(s: Outbox, o: Order) -> None:
    """A relay that marks rows first does it here."""
    s.require(s.row[o] == Row.WAITING, s.relay[o] == Relay.IDLE)
    s.relay[o] = Relay.READ
    if s.marks == "before":
        s.row[o] = Row.MARKED


@machine.action(fair=True, tells="the relay sends {o} to RocketMQ")
def send(s: Outbox, o: Order) -> None:
    """RocketMQ stores the message."""
    s.require(s.relay[o] == Relay.READ)
    s.relay[o] = Relay.SENT
    s.stored[o] += 1


@machine.action(fair=True, when=lambda c: c.marks == "after", tells="the relay marks the row of {o}")
def mark(s: Outbox, o: Order) -> None:
    """The row is not read again."""
    s.require(s.relay[o] == Relay.SENT)
    s.relay[o] = Relay.IDLE
    s.row[o] = Row.MARKED


@machine.action(budget="crashes", tells="the relay crashes")
def crash(s: Outbox) -> None:
    """What it had in memory is gone; the rows are as they were."""
    s.require(s.exists(Order, lambda o: s.relay[o] != Relay.IDLE))
    for o in range(s.orders):
        s.relay[o] = Relay.IDLE


@machine.action(fair=True, tells="the consumer is given {o}")
def consume(s: Outbox, o: Order) -> None:
    """An idempotent consumer applies an order that it has not applied yet."""
    s.require(s.stored[o] > 0)
    s.stored[o] -= 1
    if s.consumer == "idempotent":
        s.applied[o] = 1
    else:
        s.applied[o] += 1


@eventually("nothing-lost", after=lambda s: s.row[0] != Row.NONE)
def nothing_lost(s: Outbox) -> BoolLike:
    """Every order that is stored is applied in the end."""
    return s.applied[0] > 0


@always("nothing-twice")
def nothing_twice(s: Outbox, o: Order) -> BoolLike:
    """No order is applied twice."""
    return s.applied[o] <= 1


@always("nothing-invented")
def nothing_invented(s: Outbox, o: Order) -> BoolLike:
    """Only orders that were stored are applied."""
    return any_of(s.applied[o] == 0, s.row[o] != Row.NONE)


CLAIMS = (
    Claim(property=nothing_lost, machine=machine),
    Claim(property=nothing_invented, machine=machine),
    Claim(property=nothing_twice, machine=machine, constants={"consumer": "idempotent"}),
    Claim(property=nothing_twice, machine=machine, constants={"crashes": 0}),
    Claim(
        property=nothing_twice,
        machine=machine,
        expected=Verdict.VIOLATED,
        lesson="A relay that crashes between sending and marking sends again: the consumer has to be idempotent.",
    ),
    Claim(
        property=nothing_lost,
        machine=machine,
        constants={"marks": "before"},
        expected=Verdict.VIOLATED,
        lesson="Marking first turns the repetition into a loss.",
    ),
)
