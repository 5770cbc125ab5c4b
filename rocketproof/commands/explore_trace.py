"""Findings in a recording as runs of the model: one that matches the recording, and those of known bugs beside it.

The first run follows the recording of the queue, of the message with its retries, or of the group: it has the recorded
constants, its steps match the recorded events, and it ends at an event for which the model has no step. The others are
those of known bugs that the same property notices: they show how such a thing can come about. This is no claim that one
of them is the cause.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace

from ..checkers.catalogue import all_rows
from ..checkers.mutants import MachineMutant, entries
from ..errors import InputError
from ..explorer.page import Entry, Recorded
from ..explorer.subjects import Subject, entry_of, of_bug
from ..model.kernel import Configuration, ConfigurationError, Machine, readable
from ..properties.claim import Claim
from ..properties.property import Kind as PropertyKind
from ..properties.verdict import Verdict
from ..traces.conformance.along_queue import AlongQueue
from ..traces.conformance.alongside import Alongside, Following, alongside
from ..traces.conformance.events import Event
from ..traces.engine.result import CheckResult
from ..traces.explain.by_model import MOST_EVENTS, weighed
from ..traces.explain.followings import followings
from ..traces.explain.report.rules import rule_texts
from ..traces.explain.sentences import clock, tell
from ..traces.explain.story import CERTAIN, Story, stories
from ..traces.format.printable import printable
from ..traces.io import Trace, open_trace
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
"""Claim about a recording → the property of the model that says the same about states."""

ALSO_IN_THE_MODEL: Mapping[str, tuple[str, ...]] = {
    "failed-message-comes-again": ("at-least-once",),
    "sent-back-message-comes-again": ("at-least-once",),
    "nothing-after-revoke": ("nothing-processed-after-a-drop",),
    "reset-is-followed": ("reset-comes-through",),
    "attempts-follow-each-other": ("retry-follows-a-delivery",),
    "attempts-within-the-maximum": ("attempts-exactly-the-maximum",),
    "level-as-the-count-says": ("delay-as-asked",),
    "retry-waits-as-its-level-says": ("delay-as-asked",),
    "delivered-when-due": ("schedule-never-passes-a-message",),
    "orderly-lock-is-renewed": ("one-listener-a-queue",),
    "same-subscriptions": ("no-orphan-once-agreed", "offset-never-past-wanted"),
    "subscription-is-current": ("wanted-never-passed-over",),
    "one-process-for-each-client-id": ("partition-lemma",),
    "every-queue-gets-an-owner": ("no-orphan-once-agreed", "partition-lemma"),
    "overlaps-are-short": ("partition-lemma",),
    "allocation-as-the-strategy-says": ("owns-its-share",),
    "every-queue-is-readable": ("written-queues-owned",),
}
"""Claim about groups, retries or times → properties of the model that are violated by what breaks the claim.

They do not say the same about states; known bugs show how such a thing comes about.
"""

MOST_FINDINGS = 12
"""Maximum number of claims of a recording whose first finding is shown as a run."""

MOST_BUGS = 3
"""Maximum number of known bugs that are shown beside one finding."""


def found_in(path: str) -> list[Entry]:
    """Entries for each claim that a recording violates.

    Raises:
        InputError: nothing is violated, or the model covers none of it.
        TraceError: it is no trace.
    """
    request = CheckRequest(paths=[path], stories=1)
    trace = open_trace(request.paths)
    result, witnesses = weighed(trace, run(trace, request, settings_of(trace, request)), most=request.stories)
    told = stories(trace, result.rows, result.names, most=1, witnesses=witnesses)
    violated = _violated(result)
    if not violated:
        raise InputError(f"{path}: no claim is violated, so there is nothing to show; see 'check {path}'.")
    shown = [entry for found in runs_of(trace, result, told).values() for entry in found]
    if not shown:
        raise InputError(
            f"{path}: what is violated ({', '.join(violated)}) has no run in the model; see 'check {path}'."
        )
    return shown


def runs_of(trace: Trace, result: CheckResult, told: Iterable[Story]) -> dict[str, list[Entry]]:
    """Claim → the entries of its first finding: the run that matches it, then those of known bugs.

    Args:
        trace: what was checked; it is read at most three more times.
        result: result of the check; for a trace with very many events, nothing is followed.
        told: stories of findings; those in doubt have no run.
    """
    first: dict[str, Story] = {}
    violated = _violated(result)[:MOST_FINDINGS]
    for story in told:
        if story.claim.id in violated and story.certainty == CERTAIN:
            first.setdefault(story.claim.id, story)
    followable = followings(trace, first, result.names) if result.events <= MOST_EVENTS else {}
    found = {}
    for claim, story in first.items():
        followed = _followed(story, followable[claim]) if claim in followable else None
        entries = [*([followed] if followed else []), *itertools.islice(_known_bugs(story), MOST_BUGS)]
        if entries:
            found[claim] = entries
    return found


def _violated(result: CheckResult) -> list[str]:
    return [answer.claim.id for answer in result.verdicts if answer.verdict is Verdict.VIOLATED]


def _about(story: Story) -> list[str]:
    """The properties of the model that say the same as the claim of a finding, or break with it."""
    same = IN_THE_MODEL.get(story.claim.id)
    return [*([same] if same else ()), *ALSO_IN_THE_MODEL.get(story.claim.id, ())]


def _followed(story: Story, following: Following) -> Entry | None:
    """The run that matches the recording of a finding; None if there is none."""
    try:
        configuration = following.configuration()
    except ConfigurationError:
        return None
    machine = configuration.machine
    claims = [claim for name in _about(story) if (claim := _claim_of(name, machine)) is not None]
    spoken = [claim for claim in claims if _speaks(claim, configuration)]
    claim = spoken[0] if spoken else None
    along = alongside(following, wanted=claim.property if claim else None)
    if not along.steps:
        return None
    subject = Subject(
        id=story.claim.id,
        title=f"{story.claim.id}, as recorded",
        doc=f"{printable(story.title)}. {printable(', '.join(_renamed(following)))}. {_how_far(along)}",
        configuration=configuration,
        claims=(replace(claim, constants=dict(configuration.constants)),) if claim else (),
        hunt=claim.property.id if claim else "",
    )
    # What the model says about a queue does not apply to a message or a group.
    model = story.model if isinstance(following, AlongQueue) else ""
    shown = [_recorded(one.event, one.steps, model) for one in along.events]
    entry = entry_of(subject, rules=rule_texts(), steps=along.steps)
    return replace(entry, verdict=str(Verdict.VIOLATED), note="recorded", recorded=shown, follows=True)


def _speaks(claim: Claim, configuration: Configuration) -> bool:
    """Whether a property can be evaluated in a configuration: all it reads exists, and a search could handle it."""
    try:
        claim.machine.configure(**configuration.constants)
    except ConfigurationError:
        return False
    return bool(readable(configuration, {claim.property.id: claim.property.holds}))


def _claim_of(name: str, machine: Machine) -> Claim | None:
    """The claim that a property of states holds for a machine."""
    subjects = (row.subject for row in all_rows())
    return next(
        (
            claim
            for claim in subjects
            if isinstance(claim, Claim)
            and claim.property.id == name
            and claim.machine.name == machine.name
            and claim.property.kind is PropertyKind.ALWAYS
        ),
        None,
    )


def _renamed(following: Following) -> list[str]:
    """Which names of the model stand for which of the recording, if they differ."""
    return [name for name in following.names() if len(set(name.split(" is ", 1))) > 1]


def _how_far(along: Alongside) -> str:
    stopped = along.stopped_by
    if stopped is None:
        return "The model allows everything that was recorded of it."
    return f"The model goes along up to {clock(stopped.time)}; for what comes then it has no step."


def _recorded(event: Event, steps: int | None, model: str) -> Recorded:
    """An event beside the run; if the run does not match it, with what the model says about the finding."""
    told = {item.name: getattr(event, item.name) for item in fields(Event)}
    text = f"{clock(event.time)} {tell(told)}"
    return Recorded(text=printable(text if steps is not None or not model else f"{text} ({model})"), step=steps)


def _known_bugs(story: Story) -> Iterator[Entry]:
    """A finding beside the runs of known bugs by which such a thing comes about in the model."""
    about = _about(story)
    shown: Sequence[Recorded] = [Recorded(text=printable(str(sentence))) for sentence in story.sentences]
    if story.model:
        shown = [*shown, Recorded(text=printable(story.model))]
    alike = (bug for bug in entries(all_rows()) if isinstance(bug, MachineMutant) and bug.killer.id in about)
    for rank, bug in enumerate(alike, 1):
        if bug.killer.kind is PropertyKind.ALWAYS:
            given = replace(of_bug(bug), note="")
            yield replace(
                entry_of(given, rules=rule_texts()),
                id=f"{story.claim.id}-{bug.id}",
                title=f"{story.claim.id}, as by {given.title}",
                doc=f"{printable(story.title)}. In the model the same goes wrong so: {given.doc}",
                verdict=str(Verdict.VIOLATED),
                note="a known bug",
                recorded=shown,
                rank=rank,
                command=f"rocketproof explore {bug.id}",
            )
