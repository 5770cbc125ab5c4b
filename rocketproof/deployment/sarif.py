"""SARIF 2.1.0: the answers in the form that code-scanning services read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..checkers.run import told
from ..output import sarif
from .judge import Answer, Check, Level
from .report import explanation, first_text

_LEVELS = {Level.OK: "none", Level.NOTE: "note", Level.WARNING: "warning", Level.ERROR: "error", Level.UNKNOWN: "none"}
_KINDS = {Level.OK: "pass", Level.UNKNOWN: "open"}


def as_sarif(answers: Sequence[Answer], file: str) -> str:
    """A SARIF log with a result for each answer that somebody must look at, and a rule for each kind of them.

    An unknown result has kind ``open`` and a notification of the run, so that it is not taken for a pass; an accepted
    one is suppressed. What is fine is left out. The location is the line of the file, a story a code flow.
    """
    answers = [answer for answer in answers if answer.level is not Level.OK or answer.accepted]
    rules: dict[str, Check] = {}
    for answer in answers:
        rules.setdefault(answer.check.id, answer.check)
    places = {name: place for place, name in enumerate(rules)}
    return sarif.as_log(
        rules=[_rule(check, answers) for check in rules.values()],
        results=[result for answer in answers for result in _results(answer, file, places)],
        files=[file],
        notifications=[
            sarif.notification(
                answer.check.id,
                places[answer.check.id],
                text=first_text(answer),
                where=sarif.location(file, answer.line),
            )
            for answer in answers
            if answer.level is Level.UNKNOWN
        ],
    )


def _rule(check: Check, answers: Sequence[Answer]) -> dict[str, Any]:
    worst = max(
        (answer.level for answer in answers if answer.check.id == check.id and answer.level is not Level.UNKNOWN),
        default=Level.OK,
    )
    return sarif.rule(
        check.id,
        check.statement,
        rests_on=check.rules,
        level=_LEVELS[worst] if worst is not Level.OK else "error",
        tags=["rocketmq", "property" if check.is_property else "misconfiguration"],
    )


def _results(answer: Answer, file: str, places: dict[str, int]) -> list[dict[str, Any]]:
    """A result for each reason of a mistake, and one for everything else: each points to a line of its own."""
    if answer.check.is_property or not answer.reasons:
        text = f"{answer.check.subject}: {answer.check.statement}"
        if answer.level not in (Level.OK,):
            text = explanation(answer, file)
        return [_result(answer, answer.level, answer.line, text, file, places)]
    return [
        _result(
            answer,
            Level(reason.severity),
            reason.line,
            f"{answer.check.subject}: {reason.text}\nfix: {reason.fix}",
            file,
            places,
        )
        for reason in answer.reasons
    ]


def _result(answer: Answer, level: Level, line: int, text: str, file: str, places: dict[str, int]) -> dict[str, Any]:
    check = answer.check
    result = sarif.result(
        check.id,
        places[check.id],
        kind=_KINDS.get(level, "fail"),
        level=_LEVELS[level],
        text=text,
        where=sarif.location(file, line),
        subject=check.subject,
        identity=text,
    )
    flow = _flow(answer, file, line)
    if flow and level not in _KINDS:
        result["codeFlows"] = [flow]
    if answer.accepted:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": answer.accepted}]
    return result


def _flow(answer: Answer, file: str, line: int) -> dict[str, Any] | None:
    """The story of a run, step by step; all steps belong to the line that describes the group."""
    run = answer.outcome.result.run if answer.outcome is not None else None
    if run is None:
        return None
    here = sarif.location(file, line)
    steps = [
        (here, "\n".join([f"{place}. {sentence}", *changes]))
        for place, (sentence, changes) in enumerate(told(run).steps, start=1)
    ]
    return sarif.code_flow("A run of the model that shows it.", steps or [(here, "It is so from the start.")])
