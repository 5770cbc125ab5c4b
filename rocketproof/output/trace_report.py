"""The output of ``rocketproof check`` on the terminal: the table, and the stories of what is wrong."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

import numpy as np
from rich.text import Text

from ..properties.verdict import Verdict
from ..traces.claims.claims import CODE
from ..traces.engine.result import CheckResult, ClaimVerdict
from ..traces.explain.clock_sentences import corrections
from ..traces.explain.incidents import Incident, findings_in, in_words, incidents
from ..traces.explain.repetitions import WORDS, Repetition, repetitions
from ..traces.explain.report.sections import WORST_FIRST, headline, not_judged
from ..traces.explain.report.sections import statuses as statuses_of
from ..traces.explain.report.words import counted, queue, span, utc
from ..traces.explain.story import CERTAIN, Sentence, Story
from .console import PROBLEMS_SHOWN, VERDICT_STYLES, SafeConsole, print_columns

NAMES_SHOWN = 4
"""Maximum number of claims with one verdict that the terminal names in one line."""

QUEUES_SHOWN = 3
"""Maximum number of queues, those with most findings of a claim, that the terminal names."""

INCIDENTS_SHOWN = 8
"""Maximum number of incidents, those with most findings, that the terminal tells."""

WHAT_NOW = (
    "what now: 'diagnose' names known bugs that explain this, 'reproduce' writes the shortest run that shows it as a "
    "test, 'check --message KEY' tells what happened to one message"
)
"""What can be done about a violated claim."""


def print_result(
    console: SafeConsole, result: CheckResult, told: Sequence[Story], *, claims: Sequence[str] = (), every: bool = False
) -> None:
    """What was read, the verdicts, worst first, what went wrong first, what became of messages, and the stories of
    violations, and what to do next. Of a claim whose violations all followed from others, one story is told.

    Violated claims and findings in doubt have a line each. The rest is grouped: doubts with one reason, what was not
    observable, and what holds, unless claims are named or a line for each is requested.

    With ``claims`` (ids), only these are shown.
    """
    answers = [answer for answer in result.verdicts if not claims or answer.claim.id in claims]
    console.say(_source(result), "bold")
    for said, counts, sign in (("left out", result.skipped, " ×"), ("passed over", result.passed_over, "")):
        if counts and not claims:
            parts = ", ".join(f"{count:,}{sign} {what}" for what, count in counts.items())
            console.say(f"{said}: {parts}")
    _print_problems(console, result)
    for sentence in corrections(result.context.clocks):
        console.say(sentence, "yellow")
    console.say()
    worst_first = sorted(answers, key=lambda answer: WORST_FIRST.index(answer.verdict))
    if every or claims:
        _print_table(console, worst_first)
    else:
        _print_table(console, [answer for answer in worst_first if _has_findings(answer)])
        _print_groups(console, [answer for answer in answers if not _has_findings(answer)])
    found = () if claims else incidents(result, told)
    _print_incidents(console, found)
    statuses = statuses_of(result)
    if statuses and not claims:
        console.say(f"messages: {', '.join(f'{count:,} {word}' for word, count in statuses)}")
    if not claims:
        _print_repetitions(console, repetitions(result))
    for said in not_judged(result):
        console.say(f"not judged: {said}", "yellow")
    only_followed = {id for each in found for id in each.followed} - {each.claim for each in found}
    for answer in sorted(answers, key=lambda answer: answer.claim.id in only_followed):
        stories = [story for story in told if story.claim.id == answer.claim.id]
        if stories and (answer.violated or answer.doubtful) and (every or claims or _has_findings(answer)):
            folded = answer.claim.id in only_followed and not every
            _print_stories(console, result, answer, stories[:1] if folded else stories)
    if any(answer.verdict is Verdict.VIOLATED for answer in answers):
        console.say()
        console.say(WHAT_NOW, "dim")
    console.say()
    console.say(f"{headline(answers)}; {result.seconds:.1f} s")


def _source(result: CheckResult) -> str:
    folder = folder_of(result.files)
    files = result.files[0] if len(result.files) == 1 else counted(len(result.files), "file")
    files += f" of {folder}" if folder else ""
    when = f"{utc(result.begin)} – {utc(result.end)} UTC ({span(result.end - result.begin)})"
    by = f", recorded by {result.header.source}" if result.header.source else ""
    return f"{files}: {counted(result.events, 'event')}, {when}{by}"


def _print_problems(console: SafeConsole, result: CheckResult) -> None:
    problems = result.problems
    if not problems.count:
        return
    console.say(f"{counted(problems.count, 'problem')} of reading:", "yellow")
    for problem in problems.kept[:PROBLEMS_SHOWN]:
        console.say(f"  {problem}")
    if problems.count > PROBLEMS_SHOWN:
        console.say(f"  … and {problems.count - PROBLEMS_SHOWN:,} more")


def _print_table(console: SafeConsole, answers: Sequence[ClaimVerdict]) -> None:
    lines = [
        (answer.claim.id, Text(str(answer.verdict), style=VERDICT_STYLES[answer.verdict]), counts_of(answer))
        for answer in answers
    ]
    print_columns(console, ("", lines))


def _has_findings(answer: ClaimVerdict) -> bool:
    """Whether something violates a claim, or may; without the events that it needs, no apparent violation counts."""
    return answer.verdict is Verdict.VIOLATED or (answer.verdict is Verdict.UNKNOWN and bool(answer.doubtful))


def _print_groups(console: SafeConsole, answers: Sequence[ClaimVerdict]) -> None:
    """One line for all claims with one verdict; for unknown ones, one for each reason."""
    for verdict in (Verdict.UNKNOWN, Verdict.HOLDS, Verdict.NOT_OBSERVABLE):
        reasons: dict[str, list[ClaimVerdict]] = {}
        for answer in answers:
            if answer.verdict is verdict:
                reasons.setdefault(answer.why if verdict is Verdict.UNKNOWN else "", []).append(answer)
        for why, group in reasons.items():
            names = [answer.claim.id for answer in group]
            more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
            named = f"{', '.join(names[:NAMES_SHOWN])}{more}"
            judged = f", {sum(answer.judged for answer in group):,} judged" if verdict is Verdict.HOLDS else ""
            line = Text.assemble("  ", (str(verdict), VERDICT_STYLES[verdict]))
            line.append(f"  {counted(len(group), 'claim')}{judged}: {named}")
            console.say(line.append(f"; {why}" if why else ""))
    apparent = [answer for answer in answers if answer.verdict is Verdict.NOT_OBSERVABLE and answer.doubtful]
    if apparent:
        told = ", ".join(f"{answer.claim.id} ({answer.doubtful:,})" for answer in apparent)
        console.say(f"  seems violated, unless what was not recorded explains it: {told}", "yellow")
    if answers and all(answer.verdict is Verdict.NOT_OBSERVABLE for answer in answers):
        settling = Counter(answer.settling for answer in answers if answer.settling)
        for settled, count in settling.most_common(NAMES_SHOWN):
            console.say(f"    {counted(count, 'claim')}: {settled}")
    if answers:
        console.say("  --all has a line for each claim, and what would settle it", "dim")


def counts_of(answer: ClaimVerdict) -> str:
    """How often a claim was judged, and with what result, in words."""
    parts = [f"{answer.judged:,} judged"]
    if answer.violated:
        parts.append(f"{answer.violated:,} violated")
    if answer.doubtful:
        parts.append(f"{answer.doubtful:,} in doubt")
    return "; ".join(filter(None, [", ".join(parts), answer.why]))


def _print_stories(console: SafeConsole, result: CheckResult, answer: ClaimVerdict, stories: Sequence[Story]) -> None:
    folder = folder_of(result.files)
    console.say()
    console.say(Text.assemble((answer.claim.id, "bold"), f"  {answer.claim.statement}"))
    console.say(Text.assemble("  ", (str(answer.verdict), VERDICT_STYLES[answer.verdict]), f"  {counts_of(answer)}"))
    for story in stories:
        console.say()
        doubt = "" if story.certainty == CERTAIN else f" (in doubt: {story.certainty})"
        console.say(f"  {story.title}{doubt}")
        for sentence in story.sentences:
            console.say(Text.assemble(f"    {sentence.text}  ", (place_of(sentence, result.files, folder), "dim")))
        if story.left_out:
            console.say(f"    … and {counted(story.left_out, 'more event')}", "dim")
        if story.model and story.model not in story.certainty:
            console.say(f"    {story.model}")
    more = answer.violated + answer.doubtful - len(stories)
    console.say()
    if more > 0:
        console.say(f"  … and {counted(more, 'more finding')}; --report writes them down", "dim")
        console.say(f"  {_spread(result, answer)}", "dim")
    console.say(f"  rules: {', '.join(answer.claim.rules)}", "dim")


def _print_incidents(console: SafeConsole, found: Sequence[Incident]) -> None:
    """What went wrong first, by time, if it says more than the findings one by one."""
    if findings_in(found) <= len(found):
        return
    console.say("what went wrong first, and what followed at the same places:")
    most = sorted(found, key=lambda each: -findings_in([each]))[:INCIDENTS_SHOWN]
    for each in sorted(most, key=lambda each: each.first):
        lines = [(each.first, f"{each.claim}: {each.title}")]
        if each.after:
            lines.insert(0, each.after)
        for time, text in lines:
            console.say(f"  {utc(time)}  {text}")
        for text in in_words(each):
            console.say(f"{'':27}{text}")
    left = [each for each in found if each not in most]
    if left:
        findings = counted(findings_in(left), "finding")
        console.say(f"  … and {counted(len(left), 'more incident')} with {findings}", "dim")


def _print_repetitions(console: SafeConsole, found: Sequence[Repetition]) -> None:
    """Why messages came again: one line for each cause, with the number of clients' windows from which they come."""
    if not found:
        return
    console.say(f"delivered again: {sum(each.count for each in found):,}")
    width = len(f"{max(each.count for each in found):,}")
    for each in found:
        since = f"{counted(each.windows, 'window')} of {counted(each.queues, 'queue')}, from {utc(each.first)} on"
        console.say(f"  {each.count:{width},}  {WORDS[each.cause]} ({since})")


def _spread(result: CheckResult, answer: ClaimVerdict) -> str:
    """Where and when the findings of a claim were: number of queues, and the first and the last time."""
    rows = result.violations[result.violations["claim"] == CODE[answer.claim.id]]
    slots, findings = np.unique(rows["slot"][rows["slot"] >= 0], return_counts=True)
    when = f"from {utc(int(rows['time'].min()))} to {utc(int(rows['time'].max()))}"
    named_slots = [result.names.slots[slot] for slot in slots]
    name = queue if len({slot.group for slot in named_slots}) == 1 else str
    queues = [(count, name(slot)) for slot, count in zip(named_slots, findings, strict=True)]
    most = sorted(queues, key=lambda item: (-item[0], item[1]))[:QUEUES_SHOWN]
    named = ", ".join(f"{count:,} in {name}" for count, name in most)
    others = f", and in {counted(len(queues) - len(most), 'more queue')}" if len(queues) > len(most) else ""
    return f"{when}{': ' if named else ''}{named}{others}"


def place_of(sentence: Sentence, files: Sequence[str], folder: str) -> str:
    """The place of an event, without its file if there is only one, and without the folder that contains all files."""
    place = sentence.place
    if list(files) == [place.file] and place.number:
        return f"{place.unit} {place.number}"
    return place.within(folder)


def folder_of(files: Sequence[str]) -> str:
    """The folder that contains all files of a trace; empty if there is none, or only one file."""
    try:
        return os.path.commonpath([os.path.dirname(file) for file in files]) if len(files) > 1 else ""
    except ValueError:  # absolute and relative ones
        return ""
