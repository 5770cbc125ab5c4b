"""Conformance: is what was recorded a behaviour of the model? Queue by queue, and rule by rule across queues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from functools import partial

from ..format.schema import Header
from ..io import Trace
from ..io.lost import holes_of
from . import rules
from .clocks import Recorders, in_time
from .part import WITHOUT_QUEUES, Answer, follow_messages, follow_queues
from .result import Conformance
from .sorting_out import SortedOut, nothing_to_say, sort_out
from .streams import OF_PROCESSES, Surroundings
from .unseen import Unseen, calls_missing
from .workers import side_by_side

SLACK = 50
"""How far records of different threads and processes may be apart from what they record, ms."""

PARTS_OF_A_JOB = 8
"""Number of parts into which queues are sorted for each process, since some take longer than others."""


def conform(trace: Trace, *, slack: int = SLACK, jobs: int = 1) -> Conformance:
    """Follow every queue of a trace through the model, and check what concerns several queues against its rules.

    Args:
        trace: what was recorded.
        slack: how far records of different threads and processes may be apart from what they record, ms.
        jobs: number of processes that follow queues side by side.

    Raises:
        TraceError: there are no events.
        concurrent.futures.process.BrokenProcessPool: a process was killed, for example by the system for its memory.
    """
    header = trace.header
    with ExitStack() as cleanup:
        recorders = in_time(trace, slack=slack)
        found = sort_out(trace, cleanup, buckets=0 if jobs == 1 else PARTS_OF_A_JOB * jobs)
        unseen = unseen_of(trace, found, recorders)
        work = partial(follow_queues, around=Surroundings(found.around), unseen=unseen, header=header, slack=slack)
        if jobs == 1:
            answers = [work(table) for table in found.queues.buckets()]
        else:
            answers = list(side_by_side(work, found.queues.buckets(), jobs=jobs))
        answers += [follow_messages(table, header, unseen) for table in found.messages.buckets()]
    return concluded(found, unseen, header, answers)


def unseen_of(trace: Trace, found: SortedOut, recorders: Recorders) -> Unseen:
    """What is missing in a trace that was read to its end."""
    holes = holes_of(trace.problems, trace.sources)
    calls = calls_missing(found.around, holes, end=found.end, complete=trace.header.complete)
    return Unseen(holes=holes, strangers=found.strangers, recorders=recorders, calls=calls)


def concluded(found: SortedOut, unseen: Unseen, header: Header, answers: Iterable[Answer]) -> Conformance:
    """The answer about a trace, from those of its parts, in any order."""
    passes = rules.rebalances(found.rebalances, header)
    all_ = Answer(mismatches=passes, mismatch_count=len(passes), passed_over=Counter(found.passed_over))
    all_.count(found.rebalances)
    for answer in answers:
        all_.join(answer)
    for event in found.around:
        usual = WITHOUT_QUEUES if event.kind in OF_PROCESSES else nothing_to_say(event.kind)
        missed, _, outcome = all_.around.get(event.number, (True, 0, usual))
        all_.followed += not missed
        if missed:
            all_.passed_over[outcome] += 1
    return Conformance(
        events=found.events,
        followed=all_.followed,
        passed_over=all_.passed_over,
        mismatches=tuple(sorted(all_.mismatches, key=lambda one: (one.time, one.seq, one.place))),
        mismatch_count=all_.mismatch_count,
        queues=all_.queues,
        gaps=all_.gaps,
        doubtful=all_.doubtful,
        holes=tuple(map(str, unseen.holes)),
        why=all_.why[0][1] if all_.why else "",
    )
