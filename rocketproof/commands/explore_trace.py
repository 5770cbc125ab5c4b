"""``rocketproof explore TRACE``: each finding in a recording, beside runs of the model in which the same goes wrong.

The runs of the model are those of known bugs which the same property notices: how such a thing comes about, step by
step. That is no claim that one of them is the cause; what was recorded stands beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..checkers.catalogue import all_rows
from ..checkers.mutants import MachineMutant, entries
from ..errors import InputError
from ..explorer.page import Entry
from ..explorer.subjects import entry_of, of_bug
from ..properties.property import Kind
from ..properties.verdict import Verdict
from ..traces.explain.by_model import weighed
from ..traces.explain.report.rules import rule_texts
from ..traces.explain.story import Story, stories
from ..traces.format.printable import printable
from ..traces.io import open_trace
from .check import CheckRequest, run, settings_of

IN_THE_MODEL: Mapping[str, str] = {
    "every-duplicate-has-a-cause": "every-duplicate-has-a-cause",
    "offset-never-back-without-cause": "every-regression-has-a-cause",
    "offset-never-past-unfinished": "offset-never-past-unfinished",
    "nothing-skipped": "at-least-once",
    "orderly-one-listener": "one-orderly-listener",
    "orderly-in-order": "handled-in-order",
    "every-copy-has-a-cause": "every-copy-has-a-cause",
    "only-failed-messages-are-sent-back": "sent-back-only-after-failing",
    "dead-letter-exactly-at-the-maximum": "attempts-exactly-the-maximum",
    "overlaps-are-short": "one-queue-one-consumer",
}
"""Claim about a recording → the property of the model that says the same of states."""


def found_in(path: str) -> list[Entry]:
    """Entries for each claim that a recording violates, one for each known bug of the model that violates the same.

    Raises:
        InputError: nothing is violated, or nothing of it is in the model.
        TraceError: it is no trace.
    """
    request = CheckRequest(paths=[path], stories=1)
    trace = open_trace(request.paths)
    result, witnesses = weighed(trace, run(trace, request, settings_of(trace, request)), most=request.stories)
    violated = {verdict.claim.id for verdict in result.verdicts if verdict.verdict is Verdict.VIOLATED}
    told: dict[str, Story] = {}
    for story in stories(trace, result.rows, result.names, most=1, witnesses=witnesses):
        if story.claim.id in violated:
            told.setdefault(story.claim.id, story)
    if not told:
        raise InputError(f"{path}: no claim is violated, so there is nothing to show; see 'check {path}'.")
    shown = [entry for story in told.values() for entry in _entries(story)]
    if not shown:
        raise InputError(f"{path}: what is violated ({', '.join(told)}) has no run in the model; see 'check {path}'.")
    return shown


def _entries(story: Story) -> Iterator[Entry]:
    """A finding beside the runs of known bugs that violate the same in the model."""
    property = IN_THE_MODEL.get(story.claim.id)
    recorded = [printable(str(sentence)) for sentence in story.sentences]
    if story.model:
        recorded.append(printable(story.model))
    for bug in entries(all_rows()):
        if isinstance(bug, MachineMutant) and bug.killer.id == property and bug.killer.kind is Kind.ALWAYS:
            given = replace(of_bug(bug), others=(), note="")
            yield replace(
                entry_of(given, rules=rule_texts()),
                id=f"{story.claim.id}-{bug.id}",
                title=f"{story.claim.id}, as by {given.title}",
                doc=f"{printable(story.title)}. In the model the same goes wrong so: {given.doc}",
                verdict=str(Verdict.VIOLATED),
                recorded=recorded,
            )
