"""How a check of a deployment is shown: the lines of the terminal, the text of a failure, JSON, rows of files."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from ..checkers.run import counted, told
from ..output.row import Place, Remark, ReportRow, RowStatus, Severity, Step
from ..properties.verdict import Verdict
from ..traces.format.printable import json_text
from .attempts import maximum_of, retries, waited
from .facts import GroupFacts
from .judge import CLUSTER, Answer, Judge, Level, Reason

WIDEST = 100
_STYLES = {Level.OK: "green", Level.NOTE: "cyan", Level.WARNING: "yellow", Level.ERROR: "red", Level.UNKNOWN: "magenta"}


def headline(facts: GroupFacts) -> str:
    """A group in one line: how it consumes what."""
    if facts.pops:
        return f"{counted(len(facts.clients), 'member')}, by pop: not judged but for its expressions"
    models = " and ".join(str(value) for value in facts.every("message_model"))
    listeners = " and ".join(str(value) for value in facts.every("listener"))
    parts = [counted(len(facts.clients), "member"), models, listeners]
    if facts.clustering:
        parts.append(" and ".join(str(value) for value in facts.every("allocate_message_queue_strategy")))
    queues = " and ".join(f"{counted(len(facts.queues(topic)), 'queue')} of {topic}" for topic in facts.topics)
    others = [str(name) for name in facts.every("client_language") if name != "java"]
    if others:
        parts.append(f"asked of the model of the Java client ({', '.join(others)}: see CL-1)")
    text = f"{', '.join(parts)}; {queues}"
    if facts.clustering and facts.retrying:
        settings = facts.retrying[0].settings
        chain = retries(
            settings.max_reconsume_times,
            facts.brokers[0].message_delay_level,
            chosen_level=settings.delay_level_when_next_consume,
        )
        maximum = len(chain) if settings.delay_level_when_next_consume < 0 else maximum_of(settings.max_reconsume_times)
        after = f"after {waited(chain, maximum)}" if chain else "at once"
        deliveries = f"{maximum + 1:,} {'delivery' if maximum == 0 else 'deliveries'}"
        text += f"; a message that always fails: {deliveries}, dead letter {after}"
    return text


def explanation(answer: Answer, file: str) -> str:
    """Why a check is not fine: the text of its failure."""
    if answer.level is Level.UNKNOWN:
        return _unknown(answer)
    told = [_reason(reason, file) for reason in answer.reasons]
    if not answer.check.is_property:
        return "\n".join(told)
    name, subject = answer.check.id, answer.check.subject
    lines = [f"{name}: {answer.check.statement}", f"This is not so for {subject}{_because(answer)}.", *told]
    if answer.story and answer.outcome is not None:
        row = answer.outcome.row
        where = " ".join(filter(None, [row.machine, row.configuration]))
        lines += ["", f"The model shows it ({where}; {answer.summary}):", textwrap.indent(answer.story, "  ")]
    elif answer.verdict is Verdict.HOLDS:
        lines += ["", f"Without this mistake it holds in the model ({answer.summary})."]
    return "\n".join(lines)


def _because(answer: Answer) -> str:
    ids = dict.fromkeys(reason.id for reason in answer.reasons if reason.id != answer.check.id)
    return f", because of {', '.join(ids)}" if ids else ""


def _reason(reason: Reason, file: str) -> str:
    return f"{file}:{reason.line}: {reason.severity}: [{reason.id}] {reason.text}\n    fix: {reason.fix}"


def _unknown(answer: Answer) -> str:
    return (
        f"UNKNOWN: {answer.check.id} was neither shown nor refuted for {answer.check.subject}.\n"
        f"{answer.check.statement}\n{answer.summary}\n"
        "This is no violation, and no pass either: raise the limit ([verify.limit], --limit) and check again."
    )


def print_answers(console: Console, judge: Judge, answers: Sequence[Answer], *, stories: bool) -> None:
    """Print the properties of each group, its number of mistakes, then every finding with what to do."""
    for subject, group in itertools.groupby(answers, key=lambda answer: answer.check.subject):
        here = list(group)
        console.print()
        title = "topics and brokers" if subject == CLUSTER else headline(judge.facts(subject))
        for part in textwrap.wrap(f"{subject}: {title}", _width(console), subsequent_indent="    "):
            console.print(Text(part, style="bold"), soft_wrap=True)
        asked = [answer for answer in here if answer.check.is_property]
        width = max((len(answer.check.id) for answer in asked), default=0)
        for answer in asked:
            why = f"{_because(answer).removeprefix(', ')}; " if answer.reasons else ""
            line = Text.assemble("  ", _level(answer), f"  {answer.check.id:{width}}  {why}{answer.summary}")
            if console.is_terminal and line.cell_len > console.width:
                line = Text.assemble("  ", _level(answer), f"  {answer.check.id}\n            {why}{answer.summary}")
            console.print(line, soft_wrap=True)
        looked = [answer for answer in here if not answer.check.is_property]
        console.print(Text(f"  {_looked_for(looked)}"), soft_wrap=True)
    wrong = [
        answer for answer in answers if answer.level is not Level.OK and not answer.accepted and _has_details(answer)
    ]
    for answer in sorted(wrong, key=lambda answer: (-answer.level, answer.check.is_property)):
        _print_details(console, answer, judge.file.name, stories=stories)
    for answer in answers:
        if answer.accepted:
            console.print()
            text = f"accepted: {answer.check.id} of {answer.check.subject}, because {answer.accepted}"
            _print_wrapped(console, text, indent="    ")


def _has_details(answer: Answer) -> bool:
    """Whether there is more to say than the line of the table: a finding, a story, or what is unknown."""
    return not answer.check.is_property or answer.level is Level.UNKNOWN or bool(answer.story) or not answer.outcome


def _level(answer: Answer) -> Text:
    if answer.accepted:
        return Text(f"{'accepted':8}", style="dim")
    return Text(f"{answer.level!s:8}", style=_STYLES[answer.level])


def _looked_for(answers: Sequence[Answer]) -> str:
    counts = [
        counted(sum(answer.level is level and not answer.accepted for answer in answers), str(level))
        for level in (Level.ERROR, Level.WARNING, Level.NOTE)
        if any(answer.level is level and not answer.accepted for answer in answers)
    ]
    accepted = sum(bool(answer.accepted) for answer in answers)
    if accepted:
        counts.append(f"{accepted} accepted")
    return f"{counted(len(answers), 'known mistake')} looked for: {', '.join(counts) or 'none found'}"


def _print_details(console: Console, answer: Answer, file: str, *, stories: bool) -> None:
    check = answer.check
    console.print()
    place = Text(f"{file}:{answer.line}: ", style="bold")
    console.print(
        Text.assemble(place, (str(answer.level), _STYLES[answer.level]), f": {check.subject}: {check.id}"),
        soft_wrap=True,
    )
    if answer.level is Level.UNKNOWN:
        for line in _unknown(answer).splitlines():
            _print_wrapped(console, line)
        return
    if check.is_property:
        _print_wrapped(console, check.statement)
        _print_wrapped(console, f"Not so for {check.subject}{_because(answer)}.")
    own = [reason for reason in answer.reasons if not check.is_property or reason.id == check.id]
    for reason in own:  # the others are printed where they were looked for
        _print_wrapped(console, reason.text)
    for fix in dict.fromkeys(reason.fix for reason in own):
        _print_wrapped(console, f"fix: {fix}")
    if answer.story and check.is_property and (stories or answer.level is Level.ERROR):
        for line in answer.story.splitlines():
            console.print(Text(f"    {line}"), soft_wrap=True)
    if check.rules:
        console.print(Text(f"  rules: {', '.join(check.rules)}", style="dim"), soft_wrap=True)


def _print_wrapped(console: Console, text: str, indent: str = "  ") -> None:
    for line in textwrap.wrap(text, _width(console), initial_indent="  ", subsequent_indent=indent):
        console.print(Text(line), soft_wrap=True)


def _width(console: Console) -> int:
    return min(console.width, WIDEST)


def summary(answers: Sequence[Answer], seconds: float) -> str:
    """One line: number of checks with each result."""
    parts = [
        f"{sum(answer.level is level and not answer.accepted for answer in answers)} {level}"
        for level in Level
        if level is Level.OK or any(answer.level is level and not answer.accepted for answer in answers)
    ]
    accepted = sum(bool(answer.accepted) for answer in answers)
    if accepted:
        parts.append(f"{accepted} accepted")
    return f"{counted(len(answers), 'check')}: {', '.join(parts)}; {seconds:.1f} s"


def as_json(answers: Sequence[Answer], file: str) -> str:
    """All checks as a JSON list of objects."""
    return json_text([_object(answer, file) for answer in answers])


def _object(answer: Answer, file: str) -> dict[str, Any]:
    told = answer.outcome
    return {
        "group": answer.check.subject,
        "check": answer.check.id,
        "level": str(answer.level),
        "accepted": answer.accepted,
        "file": file,
        "line": answer.line,
        "statement": answer.check.statement,
        "rules": list(answer.check.rules),
        "findings": [
            {
                "id": reason.id,
                "severity": str(reason.severity),
                "line": reason.line,
                "text": reason.text,
                "fix": reason.fix,
            }
            for reason in answer.reasons
        ],
        "verdict": None if told is None else str(told.result.verdict),
        "engine": "" if told is None else told.result.engine,
        "bounds": "" if told is None else told.result.bounds,
        "machine": "" if told is None else told.row.machine,
        "configuration": {} if told is None else dict(told.row.constants),
        "seconds": round(answer.seconds, 3),
        "story": answer.story,
    }


def report_row(answer: Answer, file: str, *, fail_on: Severity) -> ReportRow:
    """The row of an answer, for files: a property has one remark, a mistake one for each of its reasons."""
    check = answer.check
    fine = answer.level is Level.OK
    if answer.accepted:
        status, message = RowStatus.SKIPPED, f"accepted: {answer.accepted}"
    elif fine:
        status, message = RowStatus.PASSED, ""
    elif answer.level is Level.UNKNOWN:
        status, message = RowStatus.UNKNOWN, first_text(answer)
    else:
        status, message = RowStatus.FAILED if answer.fails(fail_on) else RowStatus.NOTED, first_text(answer)
    return ReportRow(
        id=check.id,
        suite=f"{file}.{check.subject}",
        statement=check.statement,
        rules=check.rules,
        tags=("property" if check.is_property else "misconfiguration",),
        status=status,
        message=message,
        text="" if fine or answer.accepted else explanation(answer, file),
        seconds=answer.seconds,
        place=Place(file, answer.line),
        remarks=() if fine else tuple(_remarks(answer, file)),
        accepted=answer.accepted,
    )


def _remarks(answer: Answer, file: str) -> Iterator[Remark]:
    subject, here = answer.check.subject, Place(file, answer.line)
    if answer.check.is_property or not answer.reasons:
        severity = None if answer.level is Level.UNKNOWN else Severity(answer.level)
        text = explanation(answer, file)
        steps = () if severity is None else tuple(_steps(answer, here))
        brief = first_text(answer)
        yield Remark(severity=severity, text=text, brief=brief, place=here, subject=subject, identity=text, steps=steps)
        return
    for reason in answer.reasons:
        brief = f"{reason.text}\nfix: {reason.fix}"
        text = f"{subject}: {brief}"
        place = Place(file, reason.line)
        yield Remark(severity=reason.severity, text=text, brief=brief, place=place, subject=subject, identity=text)


def _steps(answer: Answer, here: Place) -> Iterator[Step]:
    """The story of a run, step by step; all steps belong to the line that describes the group."""
    run = answer.outcome.result.run if answer.outcome is not None else None
    if run is None:
        return
    steps = told(run).steps
    if not steps:
        yield Step("It is so from the start.", here)
    for number, (sentence, changes) in enumerate(steps, start=1):
        yield Step("\n".join([f"{number}. {sentence}", *changes]), here)


def first_text(answer: Answer) -> str:
    """What is wrong, in one line."""
    if answer.level is Level.UNKNOWN:
        return f"UNKNOWN: {answer.check.id} was neither shown nor refuted: {answer.summary}"
    if not answer.check.is_property:
        return answer.reasons[0].text
    told = f"{answer.check.id} is not so for {answer.check.subject}{_because(answer)}: {answer.check.statement}"
    return told
