"""Evidence: the events of a trace that answer given questions, collected in one more pass over it.

A question names a queue with a range of offsets, periods in which somebody owned or wrote something, a message, or
processes. Whole batches are filtered by codes; only matching events are read individually.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ..encoding.coding import Coded, Coder
from ..encoding.names import Actor, Names, Slot, group_of_topic
from ..format.coverage import joined
from ..format.kinds import BROKER_RUNS, CONTEXT, IN_WINDOW, LOCKS, Kind, Path, codes
from ..format.schema import ABSENT
from ..io import Trace
from ..monitors.groups.runs import REPEATED
from .sentences import Event
from .source_lines import Place, locations, pieces

_CODES = codes(Kind)

OF_MESSAGES = frozenset(
    {
        Kind.PULL_RESULT,
        *IN_WINDOW,
        Kind.SEND_BACK,
        Kind.STORE,
        Kind.DELAY_DELIVER,
        Kind.DEAD_LETTER,
    }
)
"""Kinds that concern the message at their offset; a pull result concerns all from its offset up to ``next``."""

OF_QUEUES = frozenset(
    {
        Kind.ASSIGN,
        Kind.REVOKE,
        *LOCKS,
        Kind.OFFSET_QUERY,
        Kind.COMMIT,
        Kind.RESET,
        Kind.CORRECT,
        Kind.FLOW_CONTROL,
    }
)
"""Kinds that concern a queue as a whole."""

_OFFSETS = 40  # bits: offsets up to 2 ** 40, slots up to 2 ** 23
_LAST = (1 << _OFFSETS) - 1


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question about a trace; an event that answers any part of it is collected."""

    slot: Slot | None = None  # a queue; None without
    offsets: tuple[tuple[int, int], ...] = ()  # ranges of offsets of the queue, ends excluded: their messages
    periods: tuple[tuple[int, int], ...] = ()  # times from … to, ms, about the queue as a whole, and about ``actors``
    origin: int = 0  # a message; 0 for none
    actors: tuple[Actor, ...] = ()  # processes
    group: str = ""  # if given, events of ``actors`` and of the message that belong to another group are left out
    topic: str = ""  # if given, so are those that name another topic
    kinds: frozenset[Kind] = CONTEXT  # events of ``actors`` are of these kinds
    broker: str = ""  # the broker of the queue, if its starts, ends and changes of role are asked for


@dataclass(frozen=True, slots=True)
class Found:
    """An event that answers a question."""

    event: Event  # the event, with all fields
    slot: int  # code of its queue
    actor: int  # code of the process that acts
    origin: int  # origin of its message
    place: Place  # its position in the trace


def turning_points(
    found: Sequence[Found], offset: int | None, times: Sequence[int] = (), *, versions: bool = True
) -> list[Found]:
    """The events without routine: stored offsets that rise, heartbeats and passes that say nothing new, and files of
    offsets that no restart read are left out.

    Of the stored offsets, those are kept that pass ``offset``, that go back, that came on an unusual path, or that were
    stored at given times. ``versions``: whether a subscription of which only the version is new says something new.

    ``found`` is ordered by time.
    """
    kept = []
    stored: dict[int, int] = {}
    said: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    read = _files_read(found)
    for place, each in enumerate(found):
        event = each.event
        if event["kind"] == Kind.FILE_PERSIST and place not in read and event["time"] not in times:
            continue
        value = event.get("offset")
        if event["kind"] in REPEATED:
            about = event["kind"], each.actor, event.get("group"), event.get("topic")
            what = tuple(event.get(field) for field in ("members", "queues", "assigned", "result"))
            consumed = event.get("subscriptions") or ()
            what += tuple(each if versions else each.rpartition("@")[0] for each in consumed)
            if said.get(about) == what and event["time"] not in times:
                continue
            said[about] = what
        if event["kind"] != Kind.COMMIT or value is None:
            kept.append(each)
            continue
        before = stored.get(each.slot)
        stored[each.slot] = value
        passes = offset is not None and value > offset and (before is None or before <= offset)
        back = before is not None and value < before
        usual = event.get("path") in (None, "", Path.PERIODIC, Path.PIGGYBACK)
        if passes or back or not usual or event["time"] in times:
            kept.append(each)
    return kept


def _files_read(found: Sequence[Found]) -> set[int]:
    """Positions of the events in which a process wrote the file that it, or the process after it, loaded."""
    read, written = set(), dict[tuple[Any, ...], int]()
    for place, each in enumerate(found):
        file = each.event.get("broker") or each.event.get("client"), each.event.get("detail")
        if each.event["kind"] == Kind.FILE_PERSIST:
            written[file] = place
        elif each.event["kind"] == Kind.FILE_LOAD and file in written:
            read.add(written.pop(file))
    return read


def collect(trace: Trace, questions: Sequence[Question], names: Names) -> list[list[Found]]:
    """The events that answer each question, ordered by time, then by their order in the trace. Reads the trace once."""
    sieve = _Sieve(questions, names)
    coder = Coder(names)
    hits: list[tuple[tuple[int, int], Event, int, int, int]] = []
    for piece in pieces(trace):
        rough = np.flatnonzero(sieve.rough(piece.batch))
        if not len(rough):
            continue
        batch = piece.batch.take(rough)
        coded = coder.code(batch)
        chosen = np.flatnonzero(sieve.mask(coded))
        for at, event in zip(chosen.tolist(), batch.take(chosen).to_pylist(), strict=True):
            where = int(coded.slot[at]), int(coded.actor[at]), int(coded.origin[at])
            hits.append(((piece.file, piece.first + int(rough[at])), event, *where))
    placed = locations(trace, [hit[0] for hit in hits])
    hits.sort(key=lambda hit: (hit[1]["time"], hit[0][0], hit[1].get("seq") or 0, hit[0][1]))
    found = [Found(event, slot, actor, origin, placed[key]) for key, event, slot, actor, origin in hits]
    return _answers(found, questions, names)


class _Sieve:
    """Decides which events of a batch answer any question."""

    def __init__(self, questions: Sequence[Question], names: Names) -> None:
        messages: list[tuple[int, int]] = []
        queues: list[tuple[int, int]] = []
        processes: list[tuple[int, int]] = []
        for question in questions:
            for slot in _slots(question, names):
                base = slot << _OFFSETS
                messages += [(base + first, base + last) for first, last in question.offsets]
                queues += [(base + _time(first), base + _time(last) + 1) for first, last in question.periods]
            for actor in (*question.actors, *_brokers(question)):
                base = names.actor(actor) << _OFFSETS
                processes += [(base + _time(first), base + _time(last) + 1) for first, last in question.periods]
        self._messages, self._queues, self._processes = (_ranges(each) for each in (messages, queues, processes))
        self._origins = np.unique(np.array([q.origin for q in questions if q.origin], np.int64))
        self._offsets = _ranges(offsets for question in questions for offsets in question.offsets)
        self._periods = _ranges((first, last + 1) for question in questions for first, last in question.periods)
        self._coder = Coder(Names())
        self._of_messages, self._of_queues, self._of_context = (
            _chosen(each) for each in (OF_MESSAGES, OF_QUEUES, CONTEXT - {Kind.GAP})
        )

    def rough(self, batch: pa.RecordBatch) -> Any:
        """Which events may be selected, by checks that cost little: queues and processes are not checked."""
        columns = ["time", "kind", "offset", "next"]
        if len(self._origins):
            columns += ["origin", "key"] if batch.column("origin").null_count else ["origin"]
        coded = self._coder.code(batch.select(columns))
        found = self._of_origins(coded)
        if len(self._offsets):
            at = np.flatnonzero(self._of_messages[coded.kind] & (coded.offset != ABSENT))
            found[at[_touches(self._offsets, coded.offset[at], coded.offset[at] + _length(coded, at))]] = True
        if len(self._periods):
            at = np.flatnonzero(self._of_queues[coded.kind] | self._of_context[coded.kind])
            found[at[_touches(self._periods, coded.time[at], coded.time[at] + 1)]] = True
        return found

    def mask(self, coded: Coded) -> Any:
        """Which events are selected."""
        found = self._of_origins(coded)
        if len(self._messages):
            at = np.flatnonzero(self._of_messages[coded.kind] & (coded.slot >= 0) & (coded.offset != ABSENT))
            first = (coded.slot[at].astype(np.int64) << _OFFSETS) + np.minimum(coded.offset[at], _LAST)
            found[at[_touches(self._messages, first, first + _length(coded, at))]] = True
        for ranges, kinds, code in (
            (self._queues, self._of_queues, coded.slot),
            (self._processes, self._of_context, coded.actor),
        ):
            if len(ranges):
                at = np.flatnonzero(kinds[coded.kind] & (code >= 0))
                key = (code[at].astype(np.int64) << _OFFSETS) + np.clip(coded.time[at] >> _COARSE, 0, _LAST)
                found[at[_touches(ranges, key, key + 1)]] = True
        return found

    def _of_origins(self, coded: Coded) -> Any:
        if not len(self._origins):
            return np.zeros(len(coded), bool)
        at = np.searchsorted(self._origins, coded.origin) % len(self._origins)
        return (self._origins[at] == coded.origin) & (coded.origin != 0)


def _length(coded: Coded, at: Any) -> Any:
    """How many messages an event is about: for a pull result, all from its offset up to ``next``."""
    length = np.where(coded.kind[at] == _CODES[Kind.PULL_RESULT], coded.next[at] - coded.offset[at], 1)
    return np.clip(length, 1, _LAST)


_COARSE = 4
"""Times are filtered in steps of 16 ms, so that they need no more bits than offsets."""


def _time(time: int) -> int:
    return min(max(time >> _COARSE, 0), _LAST - 1)


def _slots(question: Question, names: Names) -> list[int]:
    """The queue, and the same queue without a group, as brokers know it."""
    slot = question.slot
    if slot is None or slot.queue < 0:
        return []
    return [names.slot(slot), names.slot_at("", slot.topic, slot.broker, slot.queue, "")]


def _brokers(question: Question) -> tuple[Actor, ...]:
    return (Actor(question.broker, -1),) if question.broker else ()


def _within(number: int) -> int:
    return max(-(1 << 63), min(number, (1 << 63) - 1))


def _ranges(ranges: Iterable[tuple[int, int]]) -> Any:
    """Ranges in order, joined; values beyond 64 bits are clipped."""
    return joined((_within(first), _within(last)) for first, last in ranges)


def _touches(ranges: Any, first: Any, last: Any) -> Any:
    """Which of the ranges ``first`` … ``last`` (excluded) overlap any of ``ranges``."""
    at = np.minimum(np.searchsorted(ranges[:, 1], first, side="right"), len(ranges) - 1)
    return (ranges[at, 0] < last) & (ranges[at, 1] > first)


def _chosen(kinds: Iterable[Kind]) -> Any:
    """For each code of a kind, whether it is selected; codes are bytes."""
    table = np.zeros(256, bool)
    table[[_CODES[kind] for kind in kinds]] = True
    return table


def _answers(found: Sequence[Found], questions: Sequence[Question], names: Names) -> list[list[Found]]:
    by_slot: dict[int, list[int]] = {}
    by_actor: dict[int, list[int]] = {}
    by_origin: dict[int, list[int]] = {}
    for place, each in enumerate(found):
        by_slot.setdefault(each.slot, []).append(place)
        by_actor.setdefault(each.actor, []).append(place)
        by_origin.setdefault(each.origin, []).append(place)
    answers = []
    for question in questions:
        of_queue = [place for slot in _slots(question, names) for place in by_slot.get(slot, ())]
        of_actors = [place for actor in question.actors for place in by_actor.get(names.actor(actor), ())]
        of_message = by_origin.get(question.origin, ()) if question.origin else ()
        chosen = {place for place in of_message if _of_group(found[place].event, question)}
        chosen |= {place for place in of_queue if _of_queue(found[place].event, question)}
        chosen |= {place for place in of_actors if _of_actor(found[place].event, question)}
        of_brokers = [place for broker in _brokers(question) for place in by_actor.get(names.actor(broker), ())]
        chosen |= {place for place in of_brokers if _of_broker(found[place].event, question)}
        answers.append([found[place] for place in sorted(chosen)])
    return answers


def _of_group(event: Event, question: Question) -> bool:
    """Whether the event is not something that another group did with the message; stores concern all groups."""
    of = event.get("group") or group_of_topic(event.get("topic") or "")
    return not question.group or not of or of == question.group


def _is_then(event: Event, question: Question) -> bool:
    return any(first <= event["time"] <= last for first, last in question.periods)


def _of_queue(event: Event, question: Question) -> bool:
    kind, offset = event["kind"], event.get("offset")
    if kind in OF_QUEUES:
        return _is_then(event, question)
    if kind not in OF_MESSAGES or offset is None:
        return False
    end = max(event.get("next") or 0, offset + 1) if kind == Kind.PULL_RESULT else offset + 1
    return any(first < end and offset < last for first, last in question.offsets)


def _of_broker(event: Event, question: Question) -> bool:
    return event["kind"] in BROKER_RUNS and _is_then(event, question)


def _of_actor(event: Event, question: Question) -> bool:
    return (
        event["kind"] in question.kinds
        and _is_then(event, question)
        and (not question.group or event.get("group") in (None, "", question.group))
        and (not question.topic or event.get("topic") in (None, "", question.topic))
    )
