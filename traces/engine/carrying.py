"""Carrying: if a recording grows after it was checked, the check continues where it was.

The state before a moment, the *cut*, is stored: what the folds know, and events that concern more than one queue or
message. The next check reads what came at the cut and after it. Folds depend on more than events: on clocks, on when
processes began and ended, on which kinds are recorded at all. Everything on which they depended before the cut must be
what the whole recording now says about that time. If it is not, for example because a clock turns out to be off,
nothing is carried, and the check starts over. The result is therefore always that of one check of everything.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..claims.settings import Settings
from ..clocks.clocks import UNBOUNDED
from ..clocks.order import Order
from ..encoding.context_folds import Carrying
from ..encoding.names import Actor, Names, Slot
from ..encoding.plain import Plain
from ..encoding.store_counts import StoreCounts, Stored
from ..format.header import header_json
from ..format.kinds import BROKER_RUNS, CLIENT_ENDS, Kind
from ..format.schema import Header
from ..io import Trace
from ..monitors.fold import Carried as OfFold
from ..monitors.fold import Fold
from ..monitors.groups.groups import GroupMonitor
from ..recorders.members import members_of
from ..recorders.repeated import REPEATED
from .context import Context, actor_of
from .gathering import gather_some
from .local import STATE_BYTES, conclude, feed, folds_for
from .result import CheckResult
from .scan import Scan
from .scan import conclude as context_of
from .scanning import Scanning

_PROCESSES = CLIENT_ENDS | BROKER_RUNS


class StartOverError(Exception):
    """The carried state does not fit: everything must be checked from its beginning. The message says why."""


@dataclass(kw_only=True)
class Carried:
    """What is known about all events before a moment.

    Attributes:
        cut: that moment, ms.
        files: the files for which the numbers in ``seen`` stand.
        seen: what concerns more than one queue or message, see :meth:`.scanning.Scanning.carried`.
        repeated: number of events dropped as repetitions.
        stores: what was stored in which queue.
        slots: slots of the names whose codes the folds use; likewise ``actors``.
        gone_by: what the folds depended on, see :func:`gone_by`.
        folds: the state of each fold.
        done: number of events of the context among them; ``of_context``: the state of each fold over these, by name.
        stored: the folder from which it was read.
    """

    cut: int
    files: tuple[str, ...]
    seen: tuple[Mapping[str, Any], Mapping[str, Any]]
    repeated: int = 0
    stores: Mapping[Slot, Stored] = field(default_factory=dict)
    slots: tuple[Slot, ...] = ()
    actors: tuple[Actor, ...] = ()
    gone_by: Mapping[str, str] = field(default_factory=dict)
    folds: Sequence[OfFold] = ()
    done: int = 0
    of_context: Mapping[str, Plain] = field(default_factory=dict)
    stored: Path | None = None

    def numbered(self, files: Sequence[str]) -> Scanning:
        """What was seen, with the present numbers of files; all of them still exist."""
        return Scanning.carrying(*self.seen, [files.index(name) for name in self.files])


@dataclass(frozen=True, kw_only=True)
class Part:
    """The rest of a recording, from a moment on.

    Attributes:
        whole: the recording: its header, and what was lost of it. Its events are not read.
        between: its events from one time on, and before another; None: no bound. Files have their numbers in ``whole``.
        files: names of its files that identify them later.
    """

    whole: Trace
    between: Callable[[int | None, int | None], Trace]
    files: tuple[str, ...]


def check_on(
    part: Part,
    *,
    settings: Settings,
    before: Carried | None,
    cut: int,
    keep: Callable[[Carried], None],
    memory: int = 4 << 30,
) -> CheckResult:
    """Check a recording against all claims, from where an earlier check of it ended.

    Args:
        part: what to check.
        settings: settings of the check.
        before: the state at a moment; None: there is none, and everything is checked.
        cut: the moment from which the next check can continue, ms, not before the first one.
        keep: called with the state at that moment, which changes afterwards.
        memory: bytes that events, and the state of folds, may use.

    Raises:
        StartOverError: the state does not fit.
        TraceError: there are no events.
    """
    whole, half = part.whole, max(1, memory // 2)
    since = None if before is None else before.cut
    to_keep, early = gather_some(first := part.between(since, cut), memory=half)
    rest, late = gather_some(last := part.between(cut, None), memory=half)
    seen = Scanning(events=0)
    if before is not None:
        seen.join(before.numbered(part.files))
    seen.join(to_keep)
    if seen.events * STATE_BYTES > half:
        raise StartOverError("what folds know of it does not fit into memory")
    said = seen.carried()
    seen.join(rest)
    seen.sides.expect(seen.events)
    scanned = context_of(seen, whole.header, files=whole.files, clocks=whole.clocks)
    if whole.clocks is None and scanned.context.clocks.corrects:
        raise StartOverError("the clock of a recorder is off, so that all times are to be corrected")
    events = scanned.context.events
    carrying = events.carrying = Carrying(stop=events.before(cut))
    if before is not None and before.done == events.before(before.cut):
        carrying.done, carrying.known = before.done, before.of_context
    names = Names(whole.header.groups, members_of(events))
    folds = _folds(part, scanned, names, settings, before)
    stores = StoreCounts() if before is None else StoreCounts(before.stores)
    stores.join(early.stores())
    repeated = (0 if before is None else before.repeated) + first.repeated[REPEATED]
    for broker in late.brokers():
        names.actor(broker)  # its commits are its own even before its first other event
    feed(folds, early.events(names, last=True), finish=False)
    groups = GroupMonitor(names=names, settings=settings, context=scanned.context)
    keep(
        Carried(
            cut=cut,
            files=part.files,
            seen=said,
            repeated=repeated,
            stores=StoreCounts(stores),
            slots=tuple(names.slots),
            actors=tuple(names.actors),
            gone_by=gone_by(scanned.context, names, settings=settings, header=whole.header, cut=cut),
            folds=[fold.carried() for fold in folds],
            done=carrying.stop,
            of_context=carrying.kept,
        )
    )
    outcomes = feed(folds, late.events(names, last=True), finish=True)
    stores.join(late.stores())
    whole.repeated[REPEATED] = repeated + last.repeated[REPEATED]
    groups.stores(stores)
    early.shelf.close()
    late.shelf.close()
    return conclude(
        whole, scanned, names=names, settings=settings, outcomes=[*outcomes, groups.finish()], stores=stores,
        engine="local" if before is None else "local, carried on", seconds=0,
    )  # fmt: skip


def _folds(part: Part, scanned: Scan, names: Names, settings: Settings, before: Carried | None) -> tuple[Fold, ...]:
    """The folds, with their earlier state."""
    if before is not None:
        for actor in before.actors:
            names.actor(actor)
        for slot in before.slots:
            names.slot(slot)
        now = gone_by(scanned.context, names, settings=settings, header=part.whole.header, cut=before.cut)
        other = [what for what, digest in now.items() if before.gone_by.get(what) != digest]
        if other or tuple(names.slots) != before.slots:
            raise StartOverError(f"{other[0] if other else 'names'} of the time before are others now")
    folds = folds_for(part.whole, scanned, names=names, settings=settings)
    for fold, known in zip(folds, () if before is None else before.folds, strict=before is not None):
        fold.carry_on(dict(known))
    return folds


def gone_by(context: Context, names: Names, *, settings: Settings, header: Header, cut: int) -> dict[str, str]:
    """What folds depend on before a moment, besides events: a digest of each part, by its name in words.

    Args:
        context: context of the recording.
        names: the names that the folds use.
        settings: settings of the check.
        header: header of the recording.
        cut: the moment, ms.
    """
    said, starts = header_json(header), dict[Actor, int]()
    ends, actors = [], names.actors
    for event in context.events.of_kinds(Kind.CLIENT_START, *_PROCESSES):
        if event["kind"] == Kind.CLIENT_START:
            starts.setdefault(actor_of(event), int(event["time"]))
        elif event["time"] < cut:
            actor = actor_of(event)
            ends.append((int(event["time"]), str(event["kind"]), actor.name, actor.incarnation))
    parts = {
        "the code of the kit": _code(),
        "terms": repr(settings),
        "groups": [said["groups"], said["release"]],
        "kinds that are recorded": [context.evidence, context.complete],
        "the beginning": context.begin,
        "ends of processes": ends,
        "beginnings of processes": [starts.get(actor) for actor in actors],
        "members of broadcasting groups": [names.member(actor).incarnation for actor in actors],
        "brokers that are recorded": sorted(
            {slot.broker for slot in names.slots if Actor(slot.broker, -1) in context.clocks.clocks}
        ),
        "bounds of clocks": _order(context, actors, settings),
    }
    return {what: hashlib.sha256(json.dumps(part).encode()).hexdigest()[:16] for what, part in parts.items()}


def _order(context: Context, actors: Sequence[Actor], settings: Settings) -> Any:
    """What decides the order of events of two processes: if no clock is off, the assumed skew of each of them."""
    order = Order(context.clocks, settings.skew)
    table = order.table(actors)
    if (table["assumed"] < UNBOUNDED).all():
        return [order.skew, order.widest, table["assumed"].tolist()]
    references = [clock.reference for clock in map(context.clocks.clocks.get, actors) if clock is not None]
    return [order.skew, order.widest, table.tolist(), [str(one) for one in references]]


@cache
def _code() -> str:
    """A digest of the code of this package: another version may store other state."""
    made = hashlib.sha256()
    folder = Path(__file__).parents[1]
    for path in sorted(folder.rglob("*.py")):
        made.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    return made.hexdigest()[:16]
