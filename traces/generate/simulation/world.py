"""World: everything a simulated cluster is made of, as tables of numbers.

One row of a table is one thing: a queue, a window of a client over a queue, a process. Time is in ms since the start.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...format.kinds import Kind
from ...machine_code.compiled import heavy, part
from .catalogue import Claim
from .codes import numbers
from .rows import clear

# What an agenda can hold: of a queue, a window, a copy, a process or a broker.
PRODUCE, PULL, REPLY, PARKED, FINISH, SEND, SENT, AGAIN, DUE, PERSIST, CLEAN, SAVE = numbers(12)

CLOSED, OWNED, DRAINING = numbers(3)
"""Stage of a window: given up; in use; no new pulls and calls, but results still count."""

SPAN = 4_096
FAR = 1 << 62
"""Offsets that a window keeps track of: more than it may have open (PL-9)."""

ALL = np.dtype(
    [
        ("now", np.int64),
        ("start", np.int64),
        ("random", np.uint64),
        ("seed", np.uint64),
        ("unproduced", np.int64),
        ("gap", np.float64),  # ms between two bursts of one queue, on average
        ("burst", np.int64),  # messages of a burst, at most
        ("lanes", np.int64),  # listener calls of one window at a time
        ("call", np.int64),  # how long a call takes at most, unless it hangs, ms
        ("orderly", np.int64),
        ("broadcasting", np.int64),
        ("brokers", np.int64),
        ("maximum", np.int64),  # what a send-back names; -1 without limit
        ("failure_rate", np.float64),
        ("retry_failure_rate", np.float64),
        ("filtered_rate", np.float64),
        ("refusal_rate", np.float64),
        ("timeout", np.int64),
        ("hangs", np.int64),  # calls that shall still outlast the timeout
        ("hang_at", np.int64),  # the next one no sooner than then
        ("hang_gap", np.int64),
        ("copies", np.int64),  # copies that wait for their time
        ("copy_limit", np.int64),  # places for copies in use so far
        ("levels", np.int64),  # the highest delay level
        ("copy_free", np.int64),  # first free place, -1 without
        ("events", np.int64),  # on the agenda
        ("serial", np.int64),  # of the last one put there
        ("rows", np.int64),  # in use
        ("facts", np.int64),  # in use
        ("full", np.int64),  # a table has to grow
        ("mutant", np.int64),
        ("places", np.int64),  # where the mutant shall still strike
        ("strike_at", np.int64),  # the next time no sooner than then
        ("strike_gap", np.int64),
        ("target", np.int64),  # what the mutant is about
        ("until", np.int64),  # and until when
    ]
)

QUEUE = np.dtype(
    [
        ("topic", np.int64),
        ("broker", np.int64),
        ("id", np.int64),
        ("retry", np.int64),
        ("end", np.int64),
        ("parked", np.int64),  # first window whose pull waits here, -1 without
    ]
)

CELL = np.dtype(
    [
        ("broker", np.int64),
        ("committed", np.int64),  # -1: nothing is stored
        ("saved", np.int64),
        ("writer", np.int64),  # window that stored it, -1 for anybody else
        ("reached", np.int64),  # end of what was ever delivered
        ("window", np.int64),  # latest window, -1 without
        ("low", np.int64),  # the last decrease: from high to low, for a cause
        ("high", np.int64),
        ("cause", np.int64),
        ("decreased", np.int64),  # when
    ]
)

PROCESS = np.dtype(
    [("client", np.int64), ("incarnation", np.int64), ("alive", np.int64), ("first", np.int64)]  # first window
)

WINDOW = np.dtype(
    [
        ("process", np.int64),
        ("queue", np.int64),
        ("cell", np.int64),
        ("ring", np.int64),
        ("stage", np.int64),
        ("how", np.int64),  # cause of repetitions that its end leaves behind
        ("opened", np.int64),
        ("closed", np.int64),
        ("start", np.int64),
        ("base", np.int64),  # smallest offset not finished
        ("top", np.int64),  # end of what it has
        ("next", np.int64),  # where it pulls
        ("begun", np.int64),  # end of what was given to the listener
        ("begun_before", np.int64),  # the same when the stored offset last decreased; FAR if that was not in its time
        ("astray", np.int64),  # it began where a mistake said, not at the stored offset
        ("memory", np.int64),  # offset in memory, -1 without
        ("sent", np.int64),  # offset as last sent, -1: to be sent again
        ("sent_at", np.int64),
        ("cached", np.int64),
        ("running", np.int64),
        ("waiting", np.int64),  # the pull is parked at the broker
        ("ticket", np.int64),  # number of the pull
        ("held", np.int64),  # pulls that flow control has held up
        ("hung", np.int64),  # offset of a call that hangs, -1 without
        ("hung_since", np.int64),
        ("next_parked", np.int64),
        ("sibling", np.int64),  # next window of the process
        ("before", np.int64),  # the window of the cell before this one
    ]
)

COPY = np.dtype(
    [
        ("origin", np.int64),
        ("due", np.int64),
        ("broker", np.int64),
        ("attempt", np.int64),
        ("level", np.int64),
        ("cause", np.int64),  # why it is a second copy, 0 where it is the first
        ("dead", np.int64),  # it becomes a dead letter
        ("next_free", np.int64),
    ]
)

RECENT = np.dtype([("time", np.int64), ("origin", np.int64), ("attempt", np.int64), ("level", np.int64)])

FACT = np.dtype(
    [
        ("what", np.int64),
        ("claim", np.int64),
        ("cause", np.int64),
        ("queue", np.int64),
        ("process", np.int64),
        ("offset", np.int64),
        ("until", np.int64),
        ("origin", np.int64),
        ("attempt", np.int64),
        ("time", np.int64),
    ]
)

VIOLATION, REPEATED, DECREASED, COPIED, DIED, HANDLED, JUMPED, GIVEN_UP, HANGS = numbers(9)
"""What a fact says: a claim is broken; a delivery is a repetition; the stored offset decreased; a retry copy was moved
to its queue; a message became a dead letter; a retry, or a repetition, succeeded; offsets were passed over; a failed
message was not tried again; a listener call does not end."""

FACTS = ("violation", "repeated", "decreased", "copied", "died", "handled", "jumped", "given up", "hangs", "status")
"""The words for them in the truth file, which also has the status of each message that was not simply acknowledged."""


BROKER = np.dtype([("up", np.int64), ("retry_queue", np.int64), ("recent", np.int64)])  # recent: ever delivered copies

RETRY = np.dtype([("origin", np.int64), ("attempt", np.int64)])

RULE = np.dtype(
    [
        ("level", np.int64),
        ("dead", np.int64),
        ("fallback_level", np.int64),
        ("fallback_dead", np.int64),
        ("delay", np.int64),
    ]
)
"""What the rules of the model say of a count: of request 36, and of the fallback; and the delay of the level of that
number."""


class World(NamedTuple):
    """All tables. ``all`` has one line; ``rows`` one for each column, see :class:`rows.Columns`."""

    all: Any
    agenda: Any  # EVENT
    rows: Any
    rules: Any  # RULE
    queues: Any  # QUEUE
    cells: Any  # CELL
    processes: Any  # PROCESS
    windows: Any  # WINDOW
    done: Any  # by ring of a window and offset: see window
    brokers: Any  # BROKER
    retry: Any  # RETRY, by broker and offset
    copies: Any  # COPY
    recent: Any  # RECENT, by broker
    facts: Any  # FACT


@part
def draw(world: Any) -> Any:
    """A random number of 64 bits (SplitMix64)."""
    a = world.all[0]
    a.random += np.uint64(0x9E3779B97F4A7C15)
    return mix(a.random)


@part
def mix(number: Any) -> Any:
    """A number of 64 bits that looks random, and is different for different numbers."""
    z = number
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@part
def chance(world: Any) -> Any:
    """A random number from 0 to below 1."""
    return (draw(world) >> np.uint64(11)) * (1.0 / (1 << 53))


@part
def below(world: Any, bound: int) -> Any:
    """A random whole number from 0 to below ``bound``."""
    return np.int64(draw(world) >> np.uint64(33)) % bound


@part
def first_origin(world: Any, queue: int, offset: int) -> Any:
    """The origin of the message that was produced to an offset of a queue."""
    a = world.all[0]
    return np.int64(mix(a.seed ^ mix(np.uint64(queue + 1) * np.uint64(1 << 40) + np.uint64(offset))))


@part
def is_filtered(world: Any, queue: int, offset: int) -> Any:
    """Whether the subscription does not ask for a message."""
    a = world.all[0]
    if a.filtered_rate == 0.0 or world.queues[queue].retry:
        return False
    number = mix(np.uint64(first_origin(world, queue, offset)) ^ np.uint64(0x5DEECE66D))
    return (number >> np.uint64(11)) * (1.0 / (1 << 53)) < a.filtered_rate


@heavy
def count_filtered(world: Any) -> int:
    """How many of the messages that were produced the subscription does not ask for."""
    count = 0
    if world.all[0].filtered_rate > 0.0:
        for queue in range(len(world.queues)):
            for offset in range(world.queues[queue].end):
                count += is_filtered(world, queue, offset)
    return count


@part
def origin_at(world: Any, queue: int, offset: int) -> Any:
    """The origin of the message at an offset."""
    if world.queues[queue].retry:
        return world.retry[world.queues[queue].broker, offset].origin
    return first_origin(world, queue, offset)


@part
def attempt_at(world: Any, queue: int, offset: int) -> Any:
    """How often the message at an offset was sent back, as it is stored."""
    if world.queues[queue].retry:
        return np.int64(world.retry[world.queues[queue].broker, offset].attempt)
    return np.int64(0)


@heavy
def note(
    world: Any,
    what: int,
    claim: Claim | int,
    cause: int,
    queue: int,
    process: int,
    offset: int,
    until: int,
    origin: int,
    attempt: int,
) -> None:
    """Write down what is true, for the truth file."""
    a = world.all[0]
    fact = world.facts[a.facts]
    a.facts += 1
    fact.what = what
    fact.claim = claim
    fact.cause = cause
    fact.queue = queue
    fact.process = process
    fact.offset = offset
    fact.until = until
    fact.origin = origin
    fact.attempt = attempt
    fact.time = a.now


@part
def strikes(world: Any, mutant: int) -> bool:
    """Whether the mutant strikes here and now; it then has one place less."""
    a = world.all[0]
    if a.mutant != mutant or a.places == 0 or a.now < a.strike_at:
        return False
    a.places -= 1
    a.strike_at = a.now + a.strike_gap
    return True


@heavy
def add(world: Any, kind: Kind | int) -> int:
    """A new row of now, which has nothing else yet; its place."""
    a = world.all[0]
    i = a.rows
    a.rows += 1
    clear(world.rows, i, a.now, kind)
    return int(i)
