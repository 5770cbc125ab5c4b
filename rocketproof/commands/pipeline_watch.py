"""``rocketproof pipeline watch``: ingest, mine and report what arrives, as a stream."""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..output.console import SafeConsole, console_beside, pressing
from ..output.files import STANDARD_OUTPUT
from ..traces.explain.report.words import counted
from .check import CheckRequest, importer_options, settings_of
from .pairs import read_pairs
from .pipeline_mine import to_the_second
from .pipeline_options import Watch
from .preparing import preparing
from .sizes import read_time

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ..spark.pipeline import Folders, Lines, Watched


def source(asked: Watch) -> Folders | Lines:
    """The source of recordings: folders, or a source of lines.

    Raises:
        InputError: there is none, or more than one; or the header cannot be read.
    """
    from ..spark.pipeline import Folders, Lines

    if bool(asked.paths) == bool(asked.from_):
        raise InputError("watch needs folders (PATH...) or a source of lines (--from kafka).")
    if asked.paths:
        if asked.option or asked.header:
            raise InputError("--option and --header are for a source of lines: name it with --from.")
        return Folders(paths=tuple(asked.paths))
    options = read_pairs("--option", asked.option or (), may_be_empty=True)
    return Lines(format=asked.from_, options=options, header=_first_line(asked.header))


def _first_line(file: str) -> str:
    """The header of a trace; nothing without a file."""
    try:
        text = Path(file).read_text(encoding="utf-8").partition("\n")[0] if file else ""
        if text and not isinstance(json.loads(text), dict):
            raise ValueError("its first line is not a JSON object")
    except (OSError, ValueError) as error:
        raise InputError(f"--header {file}: cannot be read: {error}.") from None
    return text


@dataclass(frozen=True, kw_only=True)
class Sink:
    """Where alerts go besides the table and the terminal: lines of JSON, and a sink of Spark with its options."""

    json: str = ""
    format: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    def take(self, spark: SparkSession, alerts: Sequence[Mapping[str, Any]]) -> None:
        """Write alerts.

        Raises:
            InputError: the file cannot be written.
            TraceError: Spark fails.
        """
        from ..spark.pipeline.alerts import as_json, as_table
        from ..spark.session import failures
        from ..traces.format.printable import json_text

        if self.json and alerts:
            text = "".join(json_text(as_json(alert), indent=None) + "\n" for alert in alerts)
            if self.json == STANDARD_OUTPUT:
                sys.stdout.write(text)
                sys.stdout.flush()
            else:
                try:
                    with Path(self.json).open("a", encoding="utf-8") as file:
                        file.write(text)
                except OSError as error:
                    raise InputError(f"cannot write {self.json}: {error.strerror}.") from None
        if self.format and alerts:
            with failures():
                frame = spark.createDataFrame(as_table(alerts))
                frame.write.format(self.format).options(**self.options).mode("append").save()


def watch(asked: Watch) -> int:
    """Watch until Ctrl-C or SIGTERM, or process what is there; returns exit code 0.

    Raises:
        InputError: an option is wrong, or Spark does not start.
        TraceError: something cannot be read or written, or Spark fails.
    """
    every, watermark, skew = (
        read_time(option, text)
        for option, text in (("--every", asked.every), ("--watermark", asked.watermark), ("--skew", asked.skew))
    )
    options = importer_options(asked.zone, asked.import_ or ())
    console = console_beside(asked.json)
    if asked.to_option and not asked.to:
        raise InputError("--to-option is for a Spark sink: name it with --to, such as --to kafka.")
    if not asked.once and not every:
        raise InputError("--every 0 leaves no time to wait: give 1s or more, or --once.")
    to_options = read_pairs("--to-option", asked.to_option or (), may_be_empty=True)
    sink = Sink(json=asked.json, format=asked.to, options=to_options)
    from ..spark import pipeline

    request = CheckRequest(paths=(), skew=skew, delays=asked.delays, config=asked.config)
    what = pipeline.Watch(
        source=source(asked),
        table=pipeline.Table(asked.table),
        terms=lambda trace: settings_of(trace, request),
        cluster=asked.cluster,
        options=options,
        lateness=watermark,
        doubtful=asked.doubtful,
        checkpoint=asked.checkpoint,
        kept_runs=asked.keep_runs,
    )
    spark = asked.session()
    stop = threading.Event()

    def tell(done: Watched) -> None:
        sink.take(spark, done.alerts)
        _say(console, done)

    with _ending(stop, console), preparing("the monitors", "half a minute"):
        pause = None if asked.once else every
        pipeline.watch(spark, what, tell=tell, every=pause, stop=stop, waiting=console.say)
    return 0


@contextmanager
def _ending(stop: threading.Event, console: SafeConsole) -> Iterator[None]:
    """Let the first Ctrl-C or SIGTERM end after the batch under way, and the second one at once."""

    def press(_number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        console.say("ending when the current batch is done; press again to end at once, which loses nothing")

    with pressing(press):
        yield


def _say(console: SafeConsole, done: Watched) -> None:
    """Print a line for a batch, and one for each alert."""
    new = done.ingested
    said = [f"{counted(new.files, 'file')}, {counted(new.events, 'event')}" if new.batches else "nothing new"]
    if done.mining is not None:
        said.append(f"{done.mining.run}{'' if done.mining.is_new else ' has it already'}")
    if done.told is not None:
        said.append(f"told up to {to_the_second(done.told.watermark)}")
    said += [f"{count:,} {change}" for change, count in Counter(one["change"] for one in done.alerts).items()]
    console.say(f"batch {done.batch}: {'; '.join(said)}")
    for since in () if done.mining is None else done.mining.since.values():
        if since.why:
            console.say(f"  mined from its beginning, since {since.why}")
    for file, time in () if done.told is None else done.told.later:
        console.say(
            f"  {file}: has events dated up to {to_the_second(time)}, after it was written or ingested: a clock is "
            "ahead, and set it right; they are mined, and do not move the watermark"
        )
    for why in new.left_out:
        console.say(f"  left out: {why}")
    if new.problems.count:
        console.say(f"  {counted(new.problems.count, 'problem')} of reading, which the table 'skipped' locates")
    for alert in done.alerts:
        console.say(f"  {_line(alert)}")


def _line(alert: Mapping[str, Any]) -> str:
    time = alert["time"].astimezone(UTC) if isinstance(alert["time"], datetime) else None
    when = f"  {time:%Y-%m-%d %H:%M:%S}.{time.microsecond // 1000:03} UTC" if time else ""
    if alert["claim"] is None:
        return f"{alert['change']}  {counted(alert['events'], 'event')} of {alert['file']}, the earliest of{when}"
    queue = "" if alert["queue"] is None else f":{alert['queue']}"
    broker = f"@{alert['broker']}{queue}" if alert["broker"] else queue
    where = "  ".join(filter(None, (alert["group"], f"{alert['topic'] or ''}{broker}", alert["actor"])))
    why = ", ".join(filter(None, (alert["why"], alert["doubt"] and f"in doubt: {alert['doubt']}")))
    return f"{alert['change']}  {alert['claim']}  {where}{when}  {alert['id']}{f'  ({why})' if why else ''}"
