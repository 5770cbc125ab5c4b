"""The first look at a trace: its context, its clocks, and which kinds of events were recorded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from ...model.delay import DEFAULT_LEVELS, DelayTable
from ..clocks.clocks import Clocks, clocks_of
from ..clocks.zones import Span, in_other_zones
from ..encoding.context_events import ContextEvents
from ..encoding.names import Actor
from ..errors import TraceError
from ..format.coverage import Hole, evidence_mask
from ..format.kinds import Kind
from ..format.schema import Header
from ..io import ROWS, Split, SplitReader, Trace, read_split
from .context import Context, actor_named
from .reading import Recorded
from .scanning import SCAN_COLUMNS, Scanning


@dataclass(frozen=True, kw_only=True)
class Scan:
    """The result of the first look.

    Attributes:
        context: events of the context, the time range, and what was recorded.
        events: number of events.
        kinds_of: mask of the kinds that occur, by file, group and acting process.
        holes: events without the place that others of their kind have.
    """

    context: Context
    events: int
    kinds_of: Mapping[tuple[int, str, Actor], int]
    holes: Sequence[Hole] = ()

    def is_to_correct(self, trace: Recorded) -> bool:
        """Whether the clocks of the trace need correction: if so, the trace returns corrected times from now on."""
        if trace.clocks is not None or not self.context.clocks.corrects:
            return False
        trace.correct(self.context.clocks)
        return True


def conclude(seen: Scanning, header: Header, *, files: Iterable[str], clocks: Clocks | None = None) -> Scan:
    """The context of a trace of which everything was seen.

    Args:
        seen: everything that was seen.
        header: which kinds the trace claims to record; without a claim, those that occur count.
        files: what was read, for the error.
        clocks: the clocks by which times were corrected; None if they are as recorded.

    Raises:
        TraceError: there are no events.
    """
    if not seen.events:
        raise TraceError(f"{', '.join(files)}: there are no events to check.")
    recorded = header.evidence or frozenset(kind for kind in Kind if kind in seen.kinds)
    events = ContextEvents.joined(seen.context)
    context = Context.of(
        events,
        begin=seen.begin,
        end=seen.end,
        evidence=evidence_mask(recorded),
        complete=header.complete,
        clocks=_with_steps(seen, header, _clocks(seen, events, header) if clocks is None else clocks),
    )
    return Scan(context=context, events=seen.events, kinds_of=seen.kinds_of, holes=seen.placeless_events())


def _clocks(seen: Scanning, events: ContextEvents, header: Header) -> Clocks:
    clocks = clocks_of(seen.sides, header.broadcasting)
    steps = (*clocks.steps, *seen.steps, *in_other_zones(clocks.clocks, _spans(events)))
    return replace(clocks, steps=tuple(sorted(steps, key=lambda step: step.since)))


def _with_steps(seen: Scanning, header: Header, clocks: Clocks) -> Clocks:
    """The clocks, and which due times are by another one."""
    more = seen.due_times.steps(DelayTable.parse(header.delays or DEFAULT_LEVELS), seen.begin, seen.end)
    # A trace with corrected times, by which it begins and ends a little later, has them already.
    told = {(step.recorders, step.events) for step in more}
    others = [step for step in clocks.steps if (step.recorders, step.events) not in told]
    return replace(clocks, steps=(*others, *more)) if more else clocks


_COMES_AND_GOES = frozenset({Kind.CLIENT_START, Kind.UNREGISTER, Kind.CLIENT_STOP})


def _spans(events: ContextEvents) -> Mapping[Actor, Span]:
    """When processes acted; one that only came and went, as if its start had failed, did nothing of that kind."""
    spans: dict[Actor, Span] = {}
    acts = [kind for kind in events.kinds() if kind not in _COMES_AND_GOES]
    for named, (begin, end) in events.spans("client", "incarnation", "broker", kinds=acts).items():
        actor = actor_named(*named)
        if actor.name:
            first, last = spans.get(actor, (begin, end))
            spans[actor] = min(first, begin), max(last, end)
    return spans


def scan(trace: Trace, progress: Callable[[str, int], None] | None = None) -> Scan:
    """Look at a whole trace.

    Args:
        trace: what to look at.
        progress: called with what is being done, and for how many more events it has been done.

    Raises:
        TraceError: there are no events.
    """
    seen = look(trace, progress)
    if not seen.events:
        raise trace.without_events()
    return conclude(seen, trace.header, files=trace.files, clocks=trace.clocks)


def look(trace: Trace, progress: Callable[[str, int], None] | None = None) -> Scanning:
    """What is seen of a whole trace, which may have no events; arguments as for :func:`scan`."""
    splits = trace.splits()
    if len(splits) > 1 and all(split.groups is not None for split in splits):
        return _side_by_side(trace, splits, progress)
    seen = Scanning.of(trace)
    seen.keeps_seq = True
    for file, source in enumerate(trace.readers):
        first = len(seen.context)
        for batch in source.batches((*SCAN_COLUMNS, "seq"), rows=ROWS):
            seen.see(batch, file)
            if progress is not None:
                progress("read", len(batch))
        seen.put_in_order(first)
        seen.look_again(file, source)
    return seen


def _side_by_side(trace: Trace, splits: Sequence[Split], progress: Callable[[str, int], None] | None) -> Scanning:
    """Look at the splits of a trace, as many at a time as there are cores."""

    def look(split: Split) -> tuple[Scanning, SplitReader]:
        part, reader = Scanning.of(trace), read_split(split)
        part.keeps_seq = True
        for batch in reader.batches((*SCAN_COLUMNS, "seq")):
            part.see(batch, split.file)
        return part, reader

    seen, readers = Scanning(), []
    file, first = splits[0].file, 0
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for split, (part, reader) in zip(splits, pool.map(look, splits), strict=True):
            if split.file != file:
                seen.put_in_order(first)
                file, first = split.file, len(seen.context)
            seen.join(part)
            readers.append(reader)
            if progress is not None:
                progress("read", part.events)
    seen.put_in_order(first)
    trace.read_elsewhere(zip(splits, readers, strict=True))
    for at, source in enumerate(trace.readers):
        seen.look_again(at, source)
    return seen
