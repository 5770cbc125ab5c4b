"""``rocketproof pipeline report``: print what a mining run has found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from ..errors import InputError
from ..output.console import VERDICT_STYLES, SafeConsole, interrupts, make_console
from ..output.files import STANDARD_OUTPUT, write_json
from ..traces.explain.report.sections import WORST_FIRST, headline, overall
from ..traces.explain.report.words import counted
from .check import VIOLATED, CheckRequest, code_of, exit_code, tell
from .outputs import CheckOutputs
from .pipeline_options import Report
from .pipeline_table import table_of

if TYPE_CHECKING:
    from ..spark.pipeline import Answered

ROWS_SHOWN = 20
"""Maximum number of groups and days, those with most violations, that the terminal names."""


def report(asked: Report) -> int:
    """Print what a run has found, for one cluster as a check does; returns the exit code of a check.

    Raises:
        InputError: a report of several clusters was requested, or it cannot be written.
        TraceError: there is no such run or cluster, or the table cannot be read.
    """
    outputs = CheckOutputs(report=asked.report, json=asked.json)
    outputs.check()
    from ..spark.pipeline import answers_of
    from ..traces.explain.by_model import weighed

    with table_of(asked.table, work=asked.work, session=asked.session, writes=False) as opened:
        answers = answers_of(opened, run=asked.run, cluster=asked.cluster)
    console = make_console(quiet=asked.json == STANDARD_OUTPUT)
    if len(answers) > 1:
        if asked.report:
            names = ", ".join(answer.cluster for answer in answers)
            raise InputError(f"--report is of one cluster: name it with --cluster; there are {names}.")
        return _summary(console, answers, asked.json)
    (answer,) = answers
    with interrupts():
        trace, result = answer.result()
        result, witnesses = weighed(trace, result, most=asked.stories)
        console.say(f"{answer.run}, cluster {answer.cluster}")
        request = CheckRequest(paths=result.files, stories=asked.stories, every=asked.every)
        tell(console, result, witnesses, trace, request, outputs)
    return exit_code(result)


def _summary(console: SafeConsole, answers: Sequence[Answered], json_file: str) -> int:
    """A line for each cluster, worst first, and where most violations are, by group and day."""
    worst_first = sorted(answers, key=lambda answer: (WORST_FIRST.index(overall(answer.verdicts)), answer.cluster))
    console.say(f"{answers[0].run}: {counted(len(answers), 'cluster')}", "bold")
    for answer in worst_first:
        verdict = overall(answer.verdicts)
        line = Text.assemble("  ", (str(verdict), VERDICT_STYLES[verdict]))
        console.say(line.append(f"  {answer.cluster}: {counted(answer.events, 'event')}; {headline(answer.verdicts)}"))
    rows = [
        (count, answer.cluster, group, day, claim)
        for answer in worst_first
        for (group, day, claim), count in answer.violations().items()
    ]
    rows.sort(key=lambda row: (-row[0], row[1:]))
    if rows:
        console.say("violations by cluster, group and day:")
    for count, cluster, group, day, claim in rows[:ROWS_SHOWN]:
        console.say(f"  {count:,}  {cluster}  {group or '-'}  {day}  {claim}")
    if len(rows) > ROWS_SHOWN:
        console.say(f"  … and {len(rows) - ROWS_SHOWN:,} more; --cluster tells all of one")
    said = {
        "run": answers[0].run,
        "clusters": [
            {
                "cluster": answer.cluster,
                "verdict": str(overall(answer.verdicts)),
                "events": answer.events,
                "verdicts": {one.claim.id: str(one.verdict) for one in answer.verdicts},
            }
            for answer in worst_first
        ],
        "violations": [
            {"cluster": cluster, "group": group, "day": day, "claim": claim, "count": count}
            for count, cluster, group, day, claim in rows
        ],
    }
    write_json(json_file, said)
    codes = {code_of(answer.verdicts) for answer in answers}
    return VIOLATED if VIOLATED in codes else max(codes)
