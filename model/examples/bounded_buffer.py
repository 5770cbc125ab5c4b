"""A bounded buffer: a producer writes numbered items into a ring of slots, a consumer reads them in order.

Written to use much of what the kernel offers: negative and offset ranges, slots found by a computed index, division and
remainder, conditional writes, a fault with a budget, and parts that a constant switches on.

=====  =====  ======  =========  =======  ======  ===========  =====  =====
slots  goods  losses  when_full  average  states  transitions  depth  stuck
=====  =====  ======  =========  =======  ======  ===========  =====  =====
2      4      0       wait       none         12           14      8      1
3      7      0       wait       none         26           36     14      1
2      4      1       wait       none         37           53      9      3
2      4      0       overwrite  none         15           20      6      1
3      6      2       overwrite  kept        616        1,090     14     76
=====  =====  ======  =========  =======  ======  ===========  =====  =====

``in_order`` and ``balanced`` hold always, so does ``average_below_latest`` where the average is kept. ``complete``
holds while nothing is lost or overwritten, and is violated after 3 steps otherwise. ``full`` is possible, and
everything is eventually written and read; then the machine is stuck, as it should be.
"""

from __future__ import annotations

from ..kernel import (
    Constants,
    Domain,
    Int,
    IntLike,
    Machine,
    State,
    constant,
    variable,
)

EMPTY = -1


class Slot(Domain, size="slots", label="slot"):
    """The slots of the ring."""


def _counting(constants: Constants) -> bool:
    return bool(constants.average == "kept")


machine = Machine("bounded_buffer", doc="A producer writes numbered items into a ring of slots, a consumer reads them.")


@machine.state
class BoundedBuffer(State):
    """The ring, and where producer and consumer are in it."""

    slots = constant(2, low=1, doc="number of slots")
    goods = constant(4, low=1, doc="number of items the producer has")
    losses = constant(0, doc="how many items a slot may lose")
    when_full = constant("wait", choices=("wait", "overwrite"), doc="what the producer does when the ring is full")
    average = constant("none", choices=("none", "kept"), doc="whether the consumer keeps the average of what it got")
    slot = variable(Int(EMPTY, lambda c: c.goods - 1), Slot, doc="item in each slot, -1 when there is none")
    written = variable(Int(0, "goods"), doc="items written so far")
    read = variable(Int(0, "goods"), doc="items read or passed over so far")
    credit = variable(Int(lambda c: -c.slots, 0), doc="minus the number of free slots", init=lambda c: -c.slots)
    latest = variable(Int(EMPTY, lambda c: c.goods - 1), doc="item read last, -1 at first")
    seen = variable(Int(0, "goods"), when=_counting, doc="number of items the consumer got")
    sum = variable(Int(100, lambda c: 100 + c.goods * c.goods), when=_counting, doc="100 + sum of these items")


@machine.action(fair=True, tells="the producer writes the next item")
def write(s: BoundedBuffer) -> None:
    """The next item goes to the next slot of the ring, when that is free."""
    s.require(s.written < s.goods, s.credit < 0)
    s.slot[s.written % s.slots] = s.written
    s.written += 1
    s.credit += 1


@machine.action(
    fair=True,
    when=lambda constants: constants.when_full == "overwrite",
    tells="the producer overwrites the oldest item",
)
def overwrite(s: BoundedBuffer) -> None:
    """The ring is full: the next item replaces the oldest one, which the consumer never sees."""
    s.require(s.written < s.goods, s.credit == 0)
    s.slot[s.written % s.slots] = s.written
    s.written += 1
    s.read += 1


@machine.action(fair=True, tells="the consumer reads")
def read(s: BoundedBuffer) -> None:
    """The consumer takes the oldest slot; if its item was lost, there is nothing to take, and the consumer moves on."""
    s.require(s.read < s.written)
    item = s.slot[s.read % s.slots]
    s.slot[s.read % s.slots] = EMPTY
    s.read += 1
    s.credit -= 1
    with s.when(item != EMPTY):
        s.latest = item
        if s.average == "kept":
            s.seen += 1
            s.sum += item


@machine.action(budget="losses", tells="{i} loses its item")
def lose(s: BoundedBuffer, i: Slot) -> None:
    """A slot forgets its item."""
    s.require(s.slot[i] != EMPTY)
    s.slot[i] = EMPTY


def average(s: BoundedBuffer) -> IntLike:
    """Average of the items read, rounded down; 0 when there is none."""
    return (s.sum - 100) // s.seen
