"""What ``rocketproof check`` writes for other programs: JSON, and the rows of other files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..properties.verdict import Verdict
from ..traces.engine.result import CheckResult, ClaimVerdict
from ..traces.explain import clock_sentences
from ..traces.explain.incidents import incidents
from ..traces.explain.repetitions import repetitions
from ..traces.explain.report.sections import first_findings, overall, repeats, statuses
from ..traces.explain.story import CERTAIN, Sentence, Story
from ..traces.format.coverage import EVIDENCE_BIT
from ..traces.format.kinds import Kind
from ..traces.format.printable import json_text
from .row import Place, Remark, ReportRow, RowStatus, Severity, Step
from .trace_report import counts_of

LOCATED = 200
"""Number of findings of a claim in JSON and SARIF, besides those with stories."""

_STATUSES = {
    Verdict.VIOLATED: RowStatus.FAILED,
    Verdict.UNKNOWN: RowStatus.UNKNOWN,
    Verdict.NOT_OBSERVABLE: RowStatus.SKIPPED,
    Verdict.HOLDS: RowStatus.PASSED,
}


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
            "incidents": [
                {
                    "claim": each.claim,
                    "title": each.title,
                    "first": each.first,
                    "last": each.last,
                    "findings": each.count,
                    "queues": each.queues,
                    "where": each.where,
                    "after": None if each.after is None else {"time": each.after[0], "text": each.after[1]},
                    "followed": dict(each.followed),
                }
                for each in incidents(result, told)
            ],
            "claims": [_object(result, answer, told) for answer in result.verdicts],
        },
    )


def report_rows(result: CheckResult, told: Sequence[Story]) -> list[ReportRow]:
    """A row for each claim, with a remark for each of its stories, at the source line of its finding.

    A claim that is violated or unknown has a remark of its own if no story shows it. Claims that hold or cannot be
    observed have none: nobody has to act on them.
    """
    rows = []
    for answer in result.verdicts:
        claim, verdict = answer.claim, answer.verdict
        own = [story for story in told if story.claim.id == claim.id]
        holds, looked_at = verdict is Verdict.HOLDS, verdict in (Verdict.VIOLATED, Verdict.UNKNOWN)
        rows.append(
            ReportRow(
                id=claim.id,
                suite=f"rocketproof.traces.{claim.monitor}",
                statement=claim.statement,
                rules=claim.rules,
                tags=("trace", str(claim.monitor)),
                status=_STATUSES[verdict],
                message="" if holds else f"{verdict}: {counts_of(answer)}",
                text="" if holds else "\n".join([claim.statement, *map(str, own)]),
                seconds=result.seconds / len(result.verdicts),
                remarks=tuple(_remarks(answer, own, result.files[0])) if looked_at else (),
            )
        )
    return rows


def _remarks(answer: ClaimVerdict, own: Sequence[Story], file: str) -> Iterator[Remark]:
    """The remarks about a claim; services require a place, which is that of the trace if no event has one."""
    statement, violated = answer.claim.statement, answer.verdict is Verdict.VIOLATED
    total = answer.violated + answer.doubtful
    for story in own:
        sure = story.certainty == CERTAIN
        doubt = "" if sure else f"\nIn doubt: {story.certainty}."
        seen = _seen_at(story)
        yield Remark(
            severity=Severity.ERROR if sure else None,
            text=f"{story.title}.\n{statement}{doubt}" + (f"\nOne of {total:,} findings." if total > 1 else ""),
            brief=f"{story.title}.{doubt}",
            place=Place(file) if seen is None else _place(seen),
            subject="trace" if story.slot is None else str(story.slot),
            identity=f"{story.title} {story.row.get('time', '')} {story.row.get('origin', '')}",
            steps=tuple(Step(sentence.text, _place(sentence)) for sentence in story.sentences),
        )
    # Stories in doubt do not represent a violation without doubt.
    if not (any(story.certainty == CERTAIN for story in own) if violated else own):
        yield Remark(
            severity=Severity.ERROR if violated else None,
            text=f"{answer.verdict}: {statement} {counts_of(answer)}",
            place=Place(file),
            subject="trace",
            identity=str(answer.verdict),
        )


def _seen_at(story: Story) -> Sentence | None:
    """The last event up to the time at which the finding was seen."""
    until = story.row.get("time", story.sentences[-1].time if story.sentences else 0)
    before = [sentence for sentence in story.sentences if sentence.time <= until] or list(story.sentences[:1])
    return before[-1] if before else None


def _place(sentence: Sentence) -> Place:
    return Place(sentence.place.file, max(sentence.place.number, 1))


def _object(result: CheckResult, answer: ClaimVerdict, told: Sequence[Story]) -> dict[str, Any]:
    return {
        "claim": answer.claim.id,
        "verdict": str(answer.verdict),
        "judged": answer.judged,
        "violated": answer.violated,
        "doubtful": answer.doubtful,
        "why": answer.why,
        "holds_for": list(answer.holds_for),
        "statement": answer.claim.statement,
        "rules": list(answer.claim.rules),
        "findings": [
            {name: value for name, value in row.items() if value is not None and name != "claim"}
            for row in first_findings(result, answer, most=LOCATED)
        ],
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
