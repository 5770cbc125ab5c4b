"""``rocketproof check``: hold a recorded run against all claims, and tell what was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..model.kernel import ConfigurationError, nearest
from ..output.console import SafeConsole, interrupts, make_console, print_columns
from ..output.files import STANDARD_OUTPUT, write
from ..output.progress import Interrupted, Progress, progress_of
from ..properties.verdict import Verdict
from ..traces.claims.claims import CLAIMS, CODE
from ..traces.claims.settings import Settings
from ..traces.engine.result import CheckResult, ClaimVerdict
from ..traces.io import Trace, open_trace
from .engine import Engine, chosen_engine, spark_session
from .outputs import CheckOutputs
from .pairs import read_pairs
from .preparing import preparing

if TYPE_CHECKING:
    from ..traces.conformance.streams import Place
    from ..traces.conformance.witness import Witness
    from ..traces.explain.report.write import Runs
    from ..traces.explain.story import Story
    from ..traces.recorders.processes import Death

ALL_WELL, VIOLATED, UNKNOWN = range(3)

LEFT_OUT_SHOWN = 5
"""Maximum number of left-out files that the terminal names."""


@dataclass(frozen=True, kw_only=True)
class CheckRequest:
    """What the user asks for; see the options of ``rocketproof check``. Times are in ms, ``memory`` in bytes."""

    paths: Sequence[str]
    engine: Engine = Engine.AUTO
    master: str = ""
    claims: Sequence[str] = ()
    message: str = ""
    queue: str = ""
    skew: int = 50
    strict: bool = False
    deaths: Sequence[Death] = ()
    format: str = "auto"
    options: Mapping[str, str] = field(default_factory=dict)
    delays: str = ""
    config: str = ""
    memory: int = 4 << 30
    stories: int = 3
    every: bool = False


def check(request: CheckRequest, outputs: CheckOutputs) -> int:
    """Perform the requested check and print it; returns the exit code.

    Raises:
        InputError: an unknown claim or queue, contradictory options, or a file that cannot be written.
        TraceError: the trace cannot be read as requested.
    """
    outputs.check()
    if not request.paths:
        raise InputError("check needs a trace: files or folders. 'check --list' shows what is checked.")
    for name in request.claims:
        if name not in CODE:
            raise InputError(f"there is no claim {name!r} about traces.{nearest(name, CODE)} 'check --list' shows all.")
    if request.message:
        _nothing_but_a_message(request, outputs)
    console = make_console(quiet=STANDARD_OUTPUT in (outputs.json, outputs.junit, outputs.sarif))
    trace = open_trace(
        request.paths,
        strict=request.strict,
        deaths=request.deaths,
        format=request.format,
        options=request.options,
    )
    settings = settings_of(trace, request)
    _print_left_out(console, trace)
    with interrupts(), preparing("the monitors", "half a minute"):
        with progress_of(trace.rows, "event", quiet=console.quiet) as progress:
            try:
                result = run(trace, request, settings, progress)
            except KeyboardInterrupt:
                raise Interrupted(f"interrupted, nothing is decided: {progress}") from None
        if request.message:
            return _tell_message(console, result, trace, request, outputs)
        from ..traces.explain.by_model import weighed

        result, witnesses = weighed(trace, result, most=request.stories)
        tell(console, result, witnesses, trace, request, outputs)
    return exit_code(result, request.claims)


def _nothing_but_a_message(request: CheckRequest, outputs: CheckOutputs) -> None:
    """Raise InputError for options that a check has, but the story of a message does not."""
    given = {
        "--property": request.claims,
        "--queue": request.queue,
        "--master": request.master,
        "--engine spark": request.engine is Engine.SPARK,
        "--report": outputs.report,
        "--junit": outputs.junit,
        "--sarif": outputs.sarif,
        "--annotations": outputs.annotations,
    }
    other = next((option for option, value in given.items() if value), None)
    if other:
        raise InputError(f"--message tells what happened to one message, no verdicts: leave {other} out.")


def _tell_message(
    console: SafeConsole, result: CheckResult, trace: Trace, request: CheckRequest, outputs: CheckOutputs
) -> int:
    """Print what happened to one message, on the terminal and as JSON; returns exit code 0."""
    from ..output.message_report import message_as_json, print_message
    from ..traces.explain.message_story import message_story

    story = message_story(trace, request.message, settings=result.settings)
    print_message(console, story, result)
    if outputs.json:
        write(outputs.json, message_as_json(story, result) + "\n")
    return 0


def _print_left_out(console: SafeConsole, trace: Trace) -> None:
    """Name the files of the given folders that are not traces."""
    for reason in trace.left_out[:LEFT_OUT_SHOWN]:
        first_sentence = reason.split(". ")[0].rstrip(".")
        console.say(f"left out: {first_sentence}")
    more = len(trace.left_out) - LEFT_OUT_SHOWN
    if more > 0:
        console.say(f"left out: {more:,} more files of these folders")


def tell(
    console: SafeConsole,
    result: CheckResult,
    witnesses: Mapping[Place, Witness],
    trace: Trace,
    request: CheckRequest,
    outputs: CheckOutputs,
) -> None:
    """Print the answer, and write it to every requested output."""
    from ..output.trace_report import print_result
    from ..traces.explain.story import MOST_STORIES, stories

    if request.queue:
        result = only_queue(result, request.queue)
    most = max(request.stories, MOST_STORIES) if outputs.report else request.stories
    all_told = stories(trace, result.rows, result.names, most=most, witnesses=witnesses)
    told = first_of_each_claim(all_told, request.stories)
    if request.queue:
        console.say(f"findings are those of queues called {request.queue}, counts those of all")
    print_result(console, result, told, claims=request.claims, every=request.every)
    if outputs.report:
        from ..traces.explain.report.write import write_report

        page, *_ = write_report(Path(outputs.report), result, trace, told=all_told, runs=_runs(trace, result, all_told))
        console.say(f"report: {page}")
    if request.claims:
        result = replace(result, verdicts=tuple(result.verdict(name) for name in dict.fromkeys(request.claims)))
    if outputs.json or outputs.junit or outputs.sarif or outputs.annotations:
        _write(result, told, outputs)


def _runs(trace: Trace, result: CheckResult, told: Sequence[Story]) -> Runs | None:
    """Findings as runs of the model, if there are any."""
    from ..explorer.page import page
    from ..traces.explain.report.write import Runs
    from .explore_trace import runs_of

    found = runs_of(trace, result, told)
    if not found:
        return None
    entries = [entry for of_claim in found.values() for entry in of_claim]
    title = Path(result.files[0]).name if len(result.files) == 1 else "Findings"
    return Runs(
        text=page(entries, title=title), opened={claim: f"open={first.id}" for claim, (first, *_) in found.items()}
    )


def _write(result: CheckResult, told: Sequence[Story], outputs: CheckOutputs) -> None:
    """Write the answer for other programs."""
    from ..output.annotations import workflow_commands
    from ..output.junit import as_junit
    from ..output.row import RowStatus
    from ..output.sarif import as_sarif
    from ..output.trace_files import as_json, report_rows

    rows = report_rows(result, told)
    if outputs.annotations:
        for line in workflow_commands([row for row in rows if row.status is RowStatus.FAILED]):
            print(line)
    if outputs.json:
        write(outputs.json, as_json(result, told) + "\n")
    if outputs.junit:
        write(outputs.junit, as_junit("rocketproof check", rows, result.seconds))
    if outputs.sarif:
        write(outputs.sarif, as_sarif(rows, result.files))


def first_of_each_claim(told: Sequence[Story], most: int) -> list[Story]:
    """The first ``most`` stories of each claim, in their order."""
    seen: Counter[str] = Counter()
    kept = []
    for story in told:
        seen[story.claim.id] += 1
        if seen[story.claim.id] <= most:
            kept.append(story)
    return kept


def settings_of(trace: Trace, request: CheckRequest) -> Settings:
    """The settings: timers and maxima of the deployment file, which are also entered into the header of the trace.

    Without a file, timers are those of the header.

    The delay levels are the requested ones, otherwise those of the file, otherwise those of the trace, otherwise a
    broker's defaults.

    Raises:
        InputError: the delay levels or the deployment file cannot be read.
    """
    settings, delays = Settings(skew=request.skew).with_timers(trace.header), trace.header.delays
    if request.config:
        from .trace_terms import terms_of

        terms = terms_of(request.config)
        trace.header = terms.of_groups(trace.header)
        settings = replace(terms.settings, skew=request.skew)
        delays = "" if terms.delays else delays
    delays = request.delays or delays
    try:
        return settings.with_delays(delays)
    except ConfigurationError as error:
        raise InputError(f"--delays: {error}") from None


def run(trace: Trace, request: CheckRequest, settings: Settings, progress: Progress | None = None) -> CheckResult:
    """Let the requested engine check a trace."""
    if chosen_engine(trace, request.engine, request.master) is Engine.SPARK:
        return _with_spark(trace, settings, request.master)
    from ..traces.engine.local import check_locally

    return check_locally(trace, settings=settings, memory=request.memory, progress=progress)


def _with_spark(trace: Trace, settings: Settings, master: str) -> CheckResult:
    from ..spark.check import check_with_spark

    session = spark_session(master, remedy=" Use --engine local, or repair it.")
    return check_with_spark(trace, settings=settings, session=session)


def only_queue(result: CheckResult, queue: str) -> CheckResult:
    """The result with only the findings of queues whose name contains ``queue``; verdicts stay those of the whole
    trace.

    Raises:
        InputError: no queue has such a name.
    """
    names = [str(slot) for slot in result.names.slots]
    chosen = [code for code, name in enumerate(names) if queue in name]
    if not chosen:
        raise InputError(f"there is no queue {queue!r} in this trace.{nearest(queue, names)}")
    return replace(result, rows=result.rows[np.isin(result.rows["slot"], chosen)])


def exit_code(result: CheckResult, claims: Sequence[str] = ()) -> int:
    """0 if nothing is violated, 1 if something is, 2 if something is unknown.

    What a trace cannot show does not fail a check, unless the user named that claim, or nothing could be judged.
    """
    return code_of([result.verdict(name) for name in claims] if claims else result.verdicts, asked=bool(claims))


def code_of(counted: Sequence[ClaimVerdict], *, asked: bool = False) -> int:
    """The exit code of answers; ``asked``: whether the user named these claims."""
    found = {answer.verdict for answer in counted}
    if Verdict.VIOLATED in found:
        return VIOLATED
    if Verdict.UNKNOWN in found or Verdict.HOLDS not in found:
        return UNKNOWN
    return UNKNOWN if asked and Verdict.NOT_OBSERVABLE in found else ALL_WELL


def importer_options(zone: str, texts: Sequence[str]) -> dict[str, str]:
    """The options of importers: NAME=VALUE each, and the zone.

    Raises:
        InputError: one is not NAME=VALUE, or one is given twice.
    """
    given = read_pairs("--import", texts, example="group=orders")
    names = ["zone"] * bool(zone) + [text.partition("=")[0] for text in texts]
    for name in given:
        if names.count(name) > 1:
            raise InputError(f"--import {name} is given twice.")
    return {"zone": zone, **given} if zone else given


def list_all() -> None:
    """Print one line for each claim about traces."""
    print_columns(make_console(quiet=False), ("", [(claim.id, claim.statement) for claim in CLAIMS]), indent="")
