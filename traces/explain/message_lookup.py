"""Where a message is in a trace: its origins, the queues and offsets of its copies, and what was recorded of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..encoding.coding import Coded, Coder
from ..encoding.context_events import ContextEvents
from ..encoding.names import Actor, Names, Slot
from ..engine.recorded import coverage_in
from ..engine.scan import conclude
from ..engine.scanning import SCAN_COLUMNS, Scanning
from ..errors import TraceError, named
from ..format.coverage import Coverage
from ..format.kinds import CLIENT_ENDS, Kind
from ..format.schema import origin_of
from ..format.whole_number import whole_number
from ..io import Trace
from ..monitors.groups.subscriptions import parse_subscription
from ..recorders.members import members_of
from .evidence import OF_MESSAGES, Found
from .sentences import Event
from .source_lines import pieces

Spot = tuple[Slot, int, int, int]
"""Where a copy of the message is: queue, offset, and the times of the first and last event that mentions it, ms."""


class Located(NamedTuple):
    """A message that was found in a trace."""

    origins: set[int]  # its origins; several if the name fits several messages
    spots: list[Spot]  # where its copies are, without a group
    names: Names  # names of queues and clients
    coverage: Coverage  # what was recorded
    ends: Sequence[Event]  # the stops and deaths of clients, by time
    consuming: frozenset[str]  # groups whose members say that they consume a topic in which it is


def look_up(trace: Trace, asked: str) -> Located:
    """Find the message with this unique key, message id or origin.

    Raises:
        TraceError: no event names it.
    """
    names = Names(trace.header.groups)
    by_name = {origin_of(asked)} | ({whole_number(asked)} if asked.lstrip("-").isdecimal() else set())
    heard = _scan(trace, by_name, asked, names)
    if not heard.origins and not heard.spans and not heard.events:
        raise TraceError(
            f"{named(trace.files)}: no event names the message {asked}. Give its unique key, the offset message id "
            "of one of its copies, or its origin as a number; traces without keys have origins only."
        )
    if heard.origins - by_name:
        # The id of a copy was given: its other copies have other ids, but the same origin.
        heard = _scan(trace, heard.origins, asked, names)
    actors = [actor for actor in names.actors if actor.incarnation >= 0]
    names, slots = Names(trace.header.groups, members_of(ContextEvents.joined(heard.seen.context))), names.slots
    members = {names.member(actor) for actor in actors}
    spots = set()
    for (slot, offset), span in heard.spans.items():
        # A group that was never given the message may nevertheless have passed its offset.
        at = slots[slot]
        for group in (at.group, *heard.groups):
            known = trace.header.groups.get(group)
            for member in members if known is not None and known.mode == "broadcasting" else (Actor(""),):
                place = (group, at.topic, at.broker, at.queue, member.name, member.incarnation)
                spots.add((names.slots[names.slot_at(*place)], offset, *span))
    scanned = conclude(heard.seen, trace.header, files=trace.files, clocks=trace.clocks)
    events = scanned.context.events
    ends = list(events.of_kinds(*CLIENT_ENDS))
    topics = {slots[slot].topic for slot, _ in heard.spans}
    consuming = frozenset(
        group
        for group, told in events.different("group", "subscriptions", kinds=(Kind.HEARTBEAT,))
        if group and topics & {parse_subscription(one)[0] for one in told or ()}
    )
    return Located(heard.origins, sorted(spots), names, coverage_in(trace, scanned, slots), ends, consuming)


@dataclass
class _Heard:
    """What the trace says about a message."""

    events: int = 0  # number of events that name it
    origins: set[int] = field(default_factory=set)
    # queue and offset of its copies, with the times of the first and last event that mentions them
    spans: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    groups: set[str] = field(default_factory=set)  # all groups of the trace
    seen: Scanning = field(default_factory=Scanning)  # what is recorded about processes, and which kinds were recorded


def _scan(trace: Trace, origins: set[int], asked: str, names: Names) -> _Heard:
    wanted = np.array(sorted(origin for origin in origins if -(2**63) <= origin < 2**63), np.int64)
    coder = Coder(names)
    heard = _Heard()
    for piece in pieces(trace):
        batch = piece.batch
        heard.groups.update(word for word in batch.column("group").dictionary.to_pylist() if word)
        heard.seen.see(batch.select(SCAN_COLUMNS), piece.file)
        columns = ["client", "incarnation", "broker", "origin"]
        columns += ["key"] if batch.column("origin").null_count else []
        mask = np.isin(coder.code(batch.select(columns)).origin, wanted)
        for column in ("key", "msg_id"):
            if batch.column(column).null_count < len(batch):
                equal = pc.equal(batch.column(column), pa.scalar(asked))
                mask |= equal.fill_null(False).to_numpy(zero_copy_only=False)
        if mask.any():
            _hear(heard, coder.code(batch.filter(pa.array(mask))))
    return heard


def _hear(heard: _Heard, coded: Coded) -> None:
    heard.events += len(coded)
    heard.origins.update(int(origin) for origin in coded.origin if origin)
    for time, slot, offset in zip(coded.time.tolist(), coded.slot.tolist(), coded.offset.tolist(), strict=True):
        if slot >= 0 and offset >= 0:
            since, until = heard.spans.get((slot, offset), (time, time))
            heard.spans[slot, offset] = min(since, time), max(until, time)


def is_at(found: Found, located: Located) -> bool:
    """Whether an event without an origin belongs to the message nevertheless, by its queue and offset."""
    if found.origin or found.slot < 0 or found.event["kind"] not in OF_MESSAGES - {Kind.PULL_RESULT}:
        return False
    place = place_of(located.names.slots[found.slot])
    return any(place == place_of(of) and found.event.get("offset") == offset for of, offset, _, _ in located.spots)


def place_of(slot: Slot) -> tuple[str, str, int]:
    """Topic, broker and queue, independent of the groups that read it."""
    return slot.topic, slot.broker, slot.queue
