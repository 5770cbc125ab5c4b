"""The world: everything a simulated cluster is made of, as tables of numbers.

One row of a table is one thing: a queue, a window of a client over a queue, a process. Times are in ms since the start.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....machine_code.compiled import heavy, part
from ...format.kinds import Kind
from .catalogue import Claim
from .codes import columns, numbers
from .rows import clear

# Events of an agenda: of a queue, a window, a copy, a process or a broker.
PRODUCE, PULL, REPLY, PARKED, FINISH, SEND, SENT, AGAIN, DUE, PERSIST, CLEAN, SAVE = numbers(12)

CLOSED, OWNED, DRAINING = numbers(3)
"""Stage of a window: given up; in use; no new pulls and calls, while results still count."""

SPAN = 4_096
FAR = 1 << 62
"""Number of offsets that a window tracks: more than it may have open (PL-9)."""

ALL = columns("""
    now start random:u8 seed:u8 unproduced
    gap:f8  # ms between two bursts of one queue, on average
    burst  # messages of a burst, at most
    lanes  # listener calls of one window at a time
    call  # how long a call takes at most, unless it hangs, ms
    orderly broadcasting brokers
    maximum  # what a send-back names; -1 without limit
    failure_rate:f8 retry_failure_rate:f8 filtered_rate:f8 refusal_rate:f8 timeout
    hangs  # calls that shall still outlast the timeout
    hang_at  # the next one no sooner than then
    hang_gap
    copies  # copies that wait for their time
    copy_limit  # places for copies in use so far
    levels  # the highest delay level
    copy_free  # first free place, -1 without
    events  # on the agenda
    serial  # of the last one put there
    rows  # in use
    facts  # in use
    full  # a table has to grow
    mutant
    strikes_left  # how often the mutant shall still strike
    strike_at  # the next time no sooner than then
    strike_gap
    target  # what the mutant is about
    until  # and until when
""")

QUEUE = columns("""
    topic broker id retry end
    parked  # first window whose pull waits here, -1 without
""")

CELL = columns("""
    broker
    committed  # -1: nothing is stored
    saved
    writer  # window that stored it, -1 for anybody else
    reached  # end of what was ever delivered
    window  # latest window, -1 without
    low  # the last decrease: from high to low, for a cause
    high cause
    decreased  # when
""")

PROCESS = columns("""
    client incarnation alive
    first  # window
""")

WINDOW = columns("""
    process queue cell ring stage
    how  # cause of repetitions that its end leaves behind
    opened closed start
    base  # smallest offset not finished
    top  # end of what it has
    next  # where it pulls
    begun  # end of what was given to the listener
    begun_before  # the same when the stored offset last decreased; FAR if that was not in its time
    astray  # it began where a mistake said, not at the stored offset
    memory  # offset in memory, -1 without
    sent  # offset as last sent, -1: to be sent again
    sent_at cached running
    waiting  # the pull is parked at the broker
    ticket  # number of the pull
    held  # pulls that flow control has held up
    hung  # offset of a call that hangs, -1 without
    hung_since next_parked
    sibling  # next window of the process
    before  # the window of the cell before this one
""")

COPY = columns("""
    origin due broker attempt level
    cause  # why it is a second copy, 0 where it is the first
    dead  # it becomes a dead letter
    next_free
""")

RECENT = columns("time origin attempt level")

FACT = columns("what claim cause queue process offset until origin attempt time")

VIOLATION, REPEATED, DECREASED, COPIED, DIED, HANDLED, JUMPED, GIVEN_UP, HANGS = numbers(9)
"""Kinds of facts: a claim is broken; a delivery is a repetition; the stored offset decreased; a retry copy was moved to
its queue; a message became a dead letter; a retry, or a repetition, succeeded; offsets were skipped; a failed message
was not tried again; a listener call does not end.
"""

FACTS = ("violation", "repeated", "decreased", "copied", "died", "handled", "jumped", "given up", "hangs", "status")
"""Their names in the truth file, which also has the status of each message that was not simply acknowledged."""


BROKER = columns("""
    up retry_queue
    recent  # copies that it has ever delivered
""")

RETRY = columns("origin attempt")

RULE = columns("level dead fallback_level fallback_dead delay")
"""Results of the model's rules for a count: of request 36 and the fallback; and the delay of the level so numbered."""


class World(NamedTuple):
    """All tables. ``all`` has one line; ``rows`` has one for each column, see :class:`rows.Columns`."""

    all: Any
    agenda: Any  # EVENT
    rows: Any
    rules: Any  # RULE
    queues: Any  # QUEUE
    cells: Any  # CELL
    processes: Any  # PROCESS
    windows: Any  # WINDOW
    done: Any  # by ring position of a window and offset: see window
    brokers: Any  # BROKER
    retry: Any  # RETRY, by broker and offset
    copies: Any  # COPY
    recent: Any  # RECENT, by broker
    facts: Any  # FACT


@part
def draw(world: Any) -> Any:
    """A random 64-bit number (SplitMix64)."""
    a = world.all[0]
    a.random += np.uint64(0x9E3779B97F4A7C15)
    return mix(a.random)


@part
def mix(number: Any) -> Any:
    """A 64-bit number that looks random, and differs for different numbers."""
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
    """Whether the subscription does not match a message."""
    a = world.all[0]
    if a.filtered_rate == 0.0 or world.queues[queue].retry:
        return False
    number = mix(np.uint64(first_origin(world, queue, offset)) ^ np.uint64(0x5DEECE66D))
    return (number >> np.uint64(11)) * (1.0 / (1 << 53)) < a.filtered_rate


@heavy
def count_filtered(world: Any) -> int:
    """How many of the produced messages the subscription does not match."""
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
    """How often the message at an offset was sent back, as stored."""
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
    """Write a fact for the truth file."""
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
    if a.mutant != mutant or a.strikes_left == 0 or a.now < a.strike_at:
        return False
    a.strikes_left -= 1
    a.strike_at = a.now + a.strike_gap
    return True


@heavy
def add(world: Any, kind: Kind | int) -> int:
    """A new row with the present time, otherwise empty; returns its position."""
    a = world.all[0]
    i = a.rows
    a.rows += 1
    clear(world.rows, i, a.now, kind)
    return int(i)
