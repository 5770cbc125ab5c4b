"""What ``rocketproof check`` writes for other programs: JSON, JUnit and SARIF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..properties.verdict import Verdict
from ..traces.engine.result import CheckResult, ClaimVerdict
from ..traces.explain import clock_sentences
from ..traces.explain.repetitions import repetitions
from ..traces.explain.report.sections import first_findings, overall, repeats, statuses
from ..traces.explain.story import CERTAIN, Sentence, Story
from ..traces.format.coverage import EVIDENCE_BIT
from ..traces.format.kinds import Kind
from ..traces.format.printable import json_text
from . import sarif
from .junit import Case, as_xml
from .trace_report import counts_of

LOCATED = 200
"""Findings of a claim that JSON and SARIF hold, besides those that are told as stories."""


def as_json(result: CheckResult, told: Sequence[Story]) -> str:
    """The answer as a JSON object."""
    problems = result.problems
    return json_text(
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
            "clocks": clock_sentences.as_object(result.context.clocks),
            "problems": {
                "count": problems.count,
                "first": [
                    {"file": item.file, "line": item.line, "kind": str(item.kind), "what": item.what}
                    for item in problems.kept[:LOCATED]
                ],
            },
            "left_out": list(result.left_out),
            "not_judged": dict(result.coverage.not_judged),
            "less_recorded": {
                group: [str(kind) for kind in Kind if result.coverage.recorded & ~mask & EVIDENCE_BIT[kind]]
                for group, mask in result.coverage.of_groups.items()
            },
            "skipped": dict(result.skipped),
            "passed_over": dict(result.passed_over),
            "messages": dict(statuses(result)),
            "repeats": dict(repeats(result)),
            "repeated_in": {
                each.cause.name.lower().replace("_", " "): {
                    "windows": each.windows,
                    "queues": each.queues,
                    "first": each.first,
                    "last": each.last,
                }
                for each in repetitions(result)
            },
            "claims": [_object(result, answer, told) for answer in result.verdicts],
        },
    )


def as_junit(result: CheckResult, told: Sequence[Story]) -> str:
    """A test case for each claim: violated is a failure, unknown an error, not observable is skipped."""
    return as_xml("rocketproof check", [_case(answer, result, told) for answer in result.verdicts], result.seconds)


def as_sarif(result: CheckResult, told: Sequence[Story]) -> str:
    """A SARIF log of what is violated or unknown: a result for each story, at the source line of its finding.

    A claim without a story has one result. Kinds are ``fail``, and ``open`` for what is in doubt or unknown. A claim
    that is unknown is a notification of the run besides, so that it is not taken for a pass. What holds or cannot be
    observed is left out: nobody has to act on it.
    """
    answers = [answer for answer in result.verdicts if answer.verdict in (Verdict.VIOLATED, Verdict.UNKNOWN)]
    places = {answer.claim.id: place for place, answer in enumerate(answers)}
    results = []
    for answer in answers:
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
            for answer in answers
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
            for answer in answers
            if answer.verdict is Verdict.UNKNOWN
        ],
    )  # fmt: skip


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
                "model": story.model,
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
        message="" if answer.verdict is Verdict.HOLDS else f"{answer.verdict}: {counts_of(answer)}",
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
        kind="fail" if violated else "open",
        level="error" if violated else "none",
        text=f"{answer.verdict}: {answer.claim.statement} {counts_of(answer)}",
        where=sarif.location(file, 1),
        subject="trace",
        identity=str(answer.verdict),
    )
