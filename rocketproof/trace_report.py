"""What ``rocketproof check`` shows: the table and stories of the terminal, JSON, JUnit and SARIF."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from . import sarif
from .console import VERDICT_STYLES
from .junit import Case, as_xml
from .properties.verdict import Verdict
from .traces.claims import CODE
from .traces.message_story import Attempt, message_story
from .traces.reading import Trace
from .traces.report.sections import WORST_FIRST, first_findings, headline, overall, repeats
from .traces.report.sections import fates as fates_of
from .traces.report.words import counted, queue, span, utc
from .traces.result import CheckResult, ClaimVerdict
from .traces.settings import Settings
from .traces.story import CERTAIN, Sentence, Story

PROBLEMS_SHOWN = 10
"""Problems of reading that the terminal shows."""

QUEUES_SHOWN = 3
"""Queues with most findings of a claim that the terminal names."""

LOCATED = 200
"""Findings of a claim that JSON and SARIF hold, besides those that are told as stories."""

_KINDS = {Verdict.HOLDS: "pass", Verdict.UNKNOWN: "open", Verdict.NOT_OBSERVABLE: "notApplicable"}


def print_result(console: Console, result: CheckResult, told: Sequence[Story], *, claims: Sequence[str] = ()) -> None:
    """What was read, the verdicts, worst first, what became of messages, and the stories of violations.

    Args:
        console: where to.
        result: the answer.
        told: stories of violations.
        claims: ids of the claims to show; all of them if none is given.
    """
    answers = _answers(result, claims)
    _line(console, Text(_source(result), style="bold"))
    _print_problems(console, result)
    console.print()
    _print_table(console, sorted(answers, key=lambda answer: WORST_FIRST.index(answer.verdict)))
    for title, counts in (("messages", fates_of(result)), ("delivered again", repeats(result))):
        if counts and not claims:
            parts = ", ".join(f"{count:,} {word}" for word, count in counts)
            _line(console, Text(f"{title}: {parts}"))
    if result.passed_over and not claims:
        parts = ", ".join(f"{count:,} {what}" for what, count in result.passed_over.items())
        _line(console, Text(f"passed over: {parts}"))
    for answer in answers:
        stories = [story for story in told if story.claim.id == answer.claim.id]
        if stories:
            _print_stories(console, result, answer, stories)
    console.print()
    _line(console, Text(f"{headline(answers)}; {result.seconds:.1f} s"))


def print_message(console: Console, trace: Trace, message: str, settings: Settings) -> int:
    """Tell what happened to one message; returns exit code 0.

    Raises:
        TraceError: no event names the message.
    """
    story = message_story(trace, message, settings=settings)
    keys = ", ".join(key for key in story.keys if key != story.asked)
    _line(console, Text.assemble((f"message {story.asked}", "bold"), f"  key {keys}" if keys else ""))
    for copy in story.copies:
        _line(console, Text(f"  stored {copy}"))
    for outcome in story.outcomes:
        at = f" at {outcome.client}" if outcome.client else ""
        console.print()
        _line(console, Text.assemble((f"group {outcome.group or 'unknown'}{at}: ", "bold"), outcome.told))
        for cells in _attempts(outcome.attempts):
            _line(console, Text(f"  {cells}"))
    console.print()
    for sentence in story.sentences:
        _line(console, Text.assemble(f"  {sentence.text}  ", (_at(sentence, trace.files), "dim")))
    if story.left_out:
        _line(console, Text(f"  … and {counted(story.left_out, 'more event')}", style="dim"))
    return 0


def as_json(result: CheckResult, told: Sequence[Story]) -> str:
    """The answer as a JSON object."""
    problems = result.problems
    return json.dumps(
        {
            "verdict": str(overall(result.verdicts)),
            "files": list(result.files),
            "events": result.events,
            "begin": result.begin,
            "end": result.end,
            "engine": result.engine,
            "seconds": round(result.seconds, 3),
            "source": result.header.source,
            "release": result.header.release,
            "skew": result.settings.skew,
            "problems": {
                "count": problems.count,
                "first": [
                    {"file": item.file, "line": item.line, "kind": str(item.kind), "what": item.what}
                    for item in problems.kept[:LOCATED]
                ],
            },
            "left_out": list(result.left_out),
            "skipped": dict(result.skipped),
            "passed_over": dict(result.passed_over),
            "messages": dict(fates_of(result)),
            "repeats": dict(repeats(result)),
            "claims": [_object(result, answer, told) for answer in result.verdicts],
        },
        indent=1,
        ensure_ascii=False,
    )


def as_junit(result: CheckResult, told: Sequence[Story]) -> str:
    """A test case for each claim: violated is a failure, unknown an error, not observable is skipped."""
    return as_xml("rocketproof check", [_case(answer, result, told) for answer in result.verdicts], result.seconds)


def as_sarif(result: CheckResult, told: Sequence[Story]) -> str:
    """A SARIF log: a result for each story, at the source line of its finding, and one for each claim without any.

    Kinds are ``fail``, ``pass``, ``open`` for what is in doubt or unknown, and ``notApplicable`` for what cannot be
    observed. A claim that is unknown is a notification of the run besides, so that it is not taken for a pass.
    """
    places = {answer.claim.id: place for place, answer in enumerate(result.verdicts)}
    results = []
    for answer in result.verdicts:
        own = [story for story in told if story.claim.id == answer.claim.id]
        results += [_story_result(story, answer, places, result.files[0]) for story in own]
        # Stories in doubt do not stand for a violation without.
        shown = any(story.certainty == CERTAIN for story in own) if answer.verdict is Verdict.VIOLATED else bool(own)
        if not shown:
            results.append(_claim_result(answer, places, result.files[0]))
    return sarif.as_log(
        rules=[
            sarif.rule(
                answer.claim.id,
                answer.claim.statement,
                rests_on=answer.claim.rules,
                level="error",
                tags=["rocketmq", "trace", str(answer.claim.monitor)],
            )
            for answer in result.verdicts
        ],
        results=results,
        files=result.files,
        notifications=[
            sarif.notification(
                answer.claim.id,
                places[answer.claim.id],
                text=f"{answer.verdict}: {answer.why}",
                where=sarif.location(result.files[0], 1),
            )
            for answer in result.verdicts
            if answer.verdict is Verdict.UNKNOWN
        ],
    )  # fmt: skip


def _answers(result: CheckResult, claims: Sequence[str]) -> list[ClaimVerdict]:
    return [answer for answer in result.verdicts if not claims or answer.claim.id in claims]


def _line(console: Console, text: Text) -> None:
    console.print(text, soft_wrap=True)


def _source(result: CheckResult) -> str:
    files = result.files[0] if len(result.files) == 1 else counted(len(result.files), "file")
    when = f"{utc(result.begin)} – {utc(result.end)} UTC ({span(result.end - result.begin)})"
    by = f", recorded by {result.header.source}" if result.header.source else ""
    return f"{files}: {counted(result.events, 'event')}, {when}{by}"


def _print_problems(console: Console, result: CheckResult) -> None:
    problems = result.problems
    if not problems.count:
        return
    _line(console, Text(f"{counted(problems.count, 'problem')} of reading:", style="yellow"))
    for problem in problems.kept[:PROBLEMS_SHOWN]:
        _line(console, Text(f"  {problem}"))
    if problems.count > PROBLEMS_SHOWN:
        _line(console, Text(f"  … and {problems.count - PROBLEMS_SHOWN:,} more"))


def _print_table(console: Console, answers: Sequence[ClaimVerdict]) -> None:
    names = max((len(answer.claim.id) for answer in answers), default=0)
    verdicts = max((len(answer.verdict) for answer in answers), default=0)
    for answer in answers:
        style = VERDICT_STYLES[answer.verdict]
        line = Text.assemble(f"  {answer.claim.id:{names}}  ", (f"{answer.verdict!s:{verdicts}}", style))
        said = _counts(answer)
        fits = not console.is_terminal or line.cell_len + 2 + len(said) <= console.width
        line.append(f"  {said}" if fits else f"\n      {said}")
        _line(console, line)


def _counts(answer: ClaimVerdict) -> str:
    parts = [f"{answer.judged:,} judged"]
    if answer.violated:
        parts.append(f"{answer.violated:,} violated")
    if answer.doubtful:
        parts.append(f"{answer.doubtful:,} in doubt")
    return "; ".join(filter(None, [", ".join(parts), answer.why]))


def _print_stories(console: Console, result: CheckResult, answer: ClaimVerdict, stories: Sequence[Story]) -> None:
    console.print()
    _line(console, Text.assemble((answer.claim.id, "bold"), f"  {answer.claim.statement}"))
    _line(console, Text.assemble("  ", (str(answer.verdict), VERDICT_STYLES[answer.verdict]), f"  {_counts(answer)}"))
    for story in stories:
        console.print()
        doubt = "" if story.certainty == CERTAIN else f" (in doubt: {story.certainty})"
        _line(console, Text(f"  {story.title}{doubt}"))
        for sentence in story.sentences:
            _line(console, Text.assemble(f"    {sentence.text}  ", (_at(sentence, result.files), "dim")))
        if story.left_out:
            _line(console, Text(f"    … and {counted(story.left_out, 'more event')}", style="dim"))
    more = answer.violated + answer.doubtful - len(stories)
    console.print()
    if more > 0:
        _line(console, Text(f"  … and {counted(more, 'more finding')}; --report writes them down", style="dim"))
        _line(console, Text(f"  {_spread(result, answer)}", style="dim"))
    _line(console, Text(f"  rules: {', '.join(answer.claim.rules)}", style="dim"))


def _spread(result: CheckResult, answer: ClaimVerdict) -> str:
    """Where and when the findings of a claim were: how many queues, and the first and the last time."""
    rows = result.violations[result.violations["claim"] == CODE[answer.claim.id]]
    slots, findings = np.unique(rows["slot"][rows["slot"] >= 0], return_counts=True)
    when = f"from {utc(int(rows['time'].min()))} to {utc(int(rows['time'].max()))}"
    queues = [(count, queue(result.names.slots[slot])) for slot, count in zip(slots, findings, strict=True)]
    most = sorted(queues, key=lambda item: (-item[0], item[1]))[:QUEUES_SHOWN]
    named = ", ".join(f"{count:,} in {name}" for count, name in most)
    others = f", and in {counted(len(queues) - len(most), 'more queue')}" if len(queues) > len(most) else ""
    return f"{when}{': ' if named else ''}{named}{others}"


def _at(sentence: Sentence, files: Sequence[str]) -> str:
    """Where an event stands; its file goes without saying if there is one only."""
    place = sentence.place
    return f"{place.unit} {place.number}" if list(files) == [place.file] else str(place)


def _attempts(attempts: Sequence[Attempt]) -> list[str]:
    """A table of the attempts of a message: when, where, how it ended, and how long the next one had to wait."""
    if not attempts:
        return []
    head = ("attempt", "time (UTC)", "where", "client", "result", "level", "next waits", "waited")
    rows = [head] + [
        (
            "?" if item.number is None else str(item.number),
            utc(item.time),
            item.place,
            str(item.client),
            item.result or "none recorded",
            str(item.level if item.level is not None else item.expected_level or ""),
            "" if item.expected_wait is None else f"≥ {span(item.expected_wait)}",
            "" if item.waited is None else span(item.waited),
        )
        for item in attempts
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _object(result: CheckResult, answer: ClaimVerdict, told: Sequence[Story]) -> dict[str, Any]:
    return {
        "claim": answer.claim.id,
        "verdict": str(answer.verdict),
        "judged": answer.judged,
        "violated": answer.violated,
        "doubtful": answer.doubtful,
        "why": answer.why,
        "statement": answer.claim.statement,
        "rules": list(answer.claim.rules),
        "findings": [_without_nulls(row) for row in first_findings(result, answer, most=LOCATED)],
        "stories": [
            {
                "title": story.title,
                "certainty": story.certainty,
                "sentences": [
                    {"time": item.time, "text": item.text, "file": item.place.file, item.place.unit: item.place.number}
                    for item in story.sentences
                ],
                "left_out": story.left_out,
            }
            for story in told
            if story.claim.id == answer.claim.id
        ],
    }


def _without_nulls(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None and name != "claim"}


def _case(answer: ClaimVerdict, result: CheckResult, told: Sequence[Story]) -> Case:
    outcomes: dict[Verdict, Any] = {
        Verdict.VIOLATED: "failure",
        Verdict.UNKNOWN: "error",
        Verdict.NOT_OBSERVABLE: "skipped",
        Verdict.HOLDS: "",
    }
    stories = [str(story) for story in told if story.claim.id == answer.claim.id]
    return Case(
        classname=f"rocketproof.traces.{answer.claim.monitor}",
        name=answer.claim.id,
        seconds=result.seconds / len(result.verdicts),
        outcome=outcomes[answer.verdict],
        message="" if answer.verdict is Verdict.HOLDS else f"{answer.verdict}: {_counts(answer)}",
        text="" if answer.verdict is Verdict.HOLDS else "\n".join([answer.claim.statement, *stories]),
    )


def _story_result(story: Story, answer: ClaimVerdict, places: dict[str, int], file: str) -> sarif.Object:
    sure = story.certainty == CERTAIN
    where = [_location(sentence) for sentence in story.sentences]
    seen = _seen_at(story)
    total = answer.violated + answer.doubtful
    result = sarif.result(
        answer.claim.id,
        places[answer.claim.id],
        kind="fail" if sure else "open",
        level="error" if sure else "none",
        text=f"{story.title}.\n{answer.claim.statement}"
        + ("" if sure else f"\nIn doubt: {story.certainty}.")
        + (f"\nOne of {total:,} findings." if total > 1 else ""),
        where=sarif.location(file, 1) if seen is None else _location(seen),
        subject=str(story.slot) if story.slot is not None else "trace",
        identity=f"{story.title} {story.row.get('time', '')} {story.row.get('origin', '')}",
    )
    if where:
        steps = [(place, sentence.text) for place, sentence in zip(where, story.sentences, strict=True)]
        result["codeFlows"] = [sarif.code_flow("What was recorded.", steps)]
    return result


def _seen_at(story: Story) -> Sentence | None:
    """The last event up to the time at which the finding was seen."""
    until = story.row.get("time", story.sentences[-1].time if story.sentences else 0)
    before = [sentence for sentence in story.sentences if sentence.time <= until] or list(story.sentences[:1])
    return before[-1] if before else None


def _location(sentence: Sentence) -> sarif.Object:
    return sarif.location(sentence.place.file, max(sentence.place.number, 1))


def _claim_result(answer: ClaimVerdict, places: dict[str, int], file: str) -> sarif.Object:
    """What is to be said of a claim without a story; services want a place, and it is that of the trace."""
    violated = answer.verdict is Verdict.VIOLATED
    return sarif.result(
        answer.claim.id,
        places[answer.claim.id],
        kind=_KINDS.get(answer.verdict, "fail"),
        level="error" if violated else "none",
        text=f"{answer.verdict}: {answer.claim.statement} {_counts(answer)}",
        where=sarif.location(file, 1),
        subject="trace",
        identity=str(answer.verdict),
    )
