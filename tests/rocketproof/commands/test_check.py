"""``rocketproof check``: what goes in, what comes out, and with which exit code."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rocketproof.commands import check as check_module
from rocketproof.commands.check import CheckRequest
from rocketproof.commands.check import run as run_check
from rocketproof.commands.engine import SPARK_FROM_EVENTS, Engine, engine_of
from rocketproof.commands.preparing import preparing
from rocketproof.machine_code import compiled
from rocketproof.machine_code.code_cache import FileCodeCache
from rocketproof.machine_code.compiled import entry
from rocketproof.output.progress import Progress
from rocketproof.traces.claims.claims import CLAIMS
from rocketproof.traces.engine import local
from rocketproof.traces.generate.simulation import Plan, simulate
from rocketproof.traces.monitors.messages.messages import MessageFold

from ..command import run

ALL = len(CLAIMS)
UNSEEN = 12
"""Claims of which nothing happens in a simulated cluster, or some of whose rules it records no events of."""

UNFINISHED = "offset-never-past-unfinished"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Traces of a right cluster, in both forms, and of one with bug B7."""
    folder = tmp_path_factory.mktemp("made")
    common = {"messages": 300, "consumers": 2, "queues": 4, "failure_rate": 0.2, "keys": True}
    for name, options in {
        "right": {"format": "jsonl"},
        "parquet": {"format": "parquet"},
        "wrong": {"format": "jsonl", "mutant": "B7"},
    }.items():
        simulate(Plan(out=folder / name, **common, **options))  # type: ignore[arg-type]
    return folder


@pytest.fixture
def right(made: Path) -> Path:
    return made / "right" / "trace.jsonl"


@pytest.fixture
def wrong(made: Path) -> Path:
    return made / "wrong" / "trace.jsonl"


def verdicts(out: str) -> Counter[str]:
    """How many claims have which verdict, by the table."""
    words = ("HOLDS", "VIOLATED", "UNKNOWN", "NOT OBSERVABLE")
    ids = {claim.id for claim in CLAIMS}
    found: Counter[str] = Counter()
    for line in out.splitlines():
        name, _, rest = line.strip().partition(" ")
        if name in ids and (word := next((word for word in words if rest.strip().startswith(word)), "")):
            found[word] += 1
    return found


def test_a_right_run_holds_in_either_form(capsys: pytest.CaptureFixture[str], made: Path, right: Path) -> None:
    for trace in (right, made / "parquet" / "trace.parquet"):
        code, out, err = run(capsys, "check", trace, "--all")
        assert (code, err) == (0, "")
        assert verdicts(out) == {"HOLDS": ALL - UNSEEN, "NOT OBSERVABLE": UNSEEN}
        assert out.splitlines()[-1].startswith(f"{ALL} claims: {UNSEEN} not observable, {ALL - UNSEEN} hold; ")


def test_a_wrong_one_is_violated_with_its_story(capsys: pytest.CaptureFixture[str], wrong: Path) -> None:
    code, out, err = run(capsys, "check", wrong, "--all")
    assert (code, err) == (1, "")
    assert verdicts(out) == {"HOLDS": ALL - UNSEEN - 1, "NOT OBSERVABLE": UNSEEN, "VIOLATED": 1}
    assert out.count("whose listener was running\n") == 2
    assert out.splitlines()[-1].startswith(
        f"{ALL} claims: 1 violated, {UNSEEN} not observable, {ALL - UNSEEN - 1} hold; "
    )
    assert out.splitlines()[-3].startswith("what now: 'diagnose' names known bugs that explain this, 'reproduce' ")
    code, out, _ = run(capsys, "check", wrong, "--stories", 0)
    assert (code, out.count("whose listener was running\n")) == (1, 0)


def test_only_claims_that_are_named_count(capsys: pytest.CaptureFixture[str], wrong: Path, tmp_path: Path) -> None:
    files = ["--json", tmp_path / "a.json", "--junit", tmp_path / "a.xml", "--sarif", tmp_path / "a.sarif"]
    code, out, _ = run(capsys, "check", wrong, "--property", "nothing-skipped", *files)
    assert code == 0
    assert verdicts(out) == {"HOLDS": 1}
    answer = json.loads((tmp_path / "a.json").read_text())
    assert (answer["verdict"], [claim["claim"] for claim in answer["claims"]]) == ("HOLDS", ["nothing-skipped"])
    assert [case.get("name") for case in ElementTree.parse(tmp_path / "a.xml").iter("testcase")] == ["nothing-skipped"]
    (log,) = json.loads((tmp_path / "a.sarif").read_text())["runs"]
    assert log["results"] == []  # nothing that somebody must act on
    both = ["--property", UNFINISHED, "--property", "nothing-skipped", "--annotations", "github"]
    code, out, _ = run(capsys, "check", wrong, *both)
    assert (code, verdicts(out)) == (1, {"HOLDS": 1, "VIOLATED": 1})
    assert [line.partition(",")[0] for line in out.splitlines() if line.startswith("::")] == [
        f"::error file={wrong}"
    ] * 2


def test_a_claim_that_was_asked_for_and_cannot_be_observed_is_no_success(
    capsys: pytest.CaptureFixture[str], right: Path
) -> None:
    code, out, _ = run(capsys, "check", right, "--property", "orderly-in-order")
    assert (code, verdicts(out)) == (2, {"NOT OBSERVABLE": 1})


def test_a_trace_that_shows_nothing_is_no_success(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    trace = tmp_path / "one.jsonl"
    trace.write_text('{"time": 1, "kind": "deliver"}\n')
    code, out, _ = run(capsys, "check", trace, "--all")
    assert (code, verdicts(out)) == (2, {"NOT OBSERVABLE": ALL})
    assert "header missing" in out


def test_if_nothing_can_be_judged_what_would_settle_most_claims_is_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    offsets = tmp_path / "consumerOffset.json"
    offsets.write_text('{"offsetTable":{"orders@g":{0:5,1:7}}}')
    code, out, _ = run(capsys, "check", offsets)
    assert code == 2
    assert "    9 claims: a consume-message hook (consumer side) would settle it\n" in out
    assert all(line.endswith(" would settle it") for line in out.splitlines() if re.match(r" {4}\d+ claims?: ", line))
    assert "what now" not in out


def test_a_damaged_part_is_counted_and_located_and_leaves_doubt(
    capsys: pytest.CaptureFixture[str], right: Path, tmp_path: Path
) -> None:
    lines = right.read_text().splitlines()
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text("\n".join([*lines[:99], "{", *lines[100:]]) + "\n")
    code, out, _ = run(capsys, "check", damaged, "--all")
    assert code == 2
    assert out.splitlines()[1] == "1 problem of reading:"
    assert out.splitlines()[2].startswith(f"  {damaged}:100: damaged line: ")
    assert verdicts(out)["UNKNOWN"] == ALL - UNSEEN  # all that were judged
    code, out, err = run(capsys, "check", "--strict", damaged)
    assert (code, out, err.count("\n")) == (3, "", 1)
    assert err.startswith(f"rocketproof: {damaged}:100: damaged line: ")
    assert err.endswith(". Without --strict this is counted, and the rest of the trace is checked.\n")


def test_a_file_that_breaks_off_is_read_up_to_there(
    capsys: pytest.CaptureFixture[str], right: Path, tmp_path: Path
) -> None:
    packed = gzip.compress(right.read_bytes(), mtime=0)
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(packed[: len(packed) // 2])
    code, out, _ = run(capsys, "check", cut)
    assert code == 2
    assert f"  {cut}: file breaks off: gzip: Truncated compressed stream" in out.splitlines()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "{0}: there is no such file or folder."),
        ("", "{0}: no events can be read. {0}: no events in a file: nothing in it."),
        ('{"rocketproof_trace": 1}\n', "{0}: no events can be read. {0}: no events in a file: nothing in it."),
        (
            '{"rocketproof_trace": 1}\n{"time": 1, "kind\n',
            "{0}: there are no events to check. One problem: {0}:2: damaged line",
        ),
        ('{"time": 1, "kind": 3}\n', "{0}: there are no events to check. 3 problems, the first: {0}:1: header missing"),
        (
            "Dear diary\n",
            "{0}: its content has no known format. Known are jsonl, parquet, message-trace, otel-spans, ",
        ),
        ("PAR1 and no more", "{0}: no events can be read. {0}: file cannot be read: "),
        (
            '{"rocketproof_trace": 1}\n{"time": 253402300800000, "kind": "deliver"}\n',
            "{0}: there are no events to check. 2 problems, the first: {0}:2: impossible value: time is 25340230080",
        ),
    ],
)
def test_without_events_nothing_holds(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str | None, message: str
) -> None:
    trace = tmp_path / "a.trace"
    if content is not None:
        trace.write_text(content)
    code, out, err = run(capsys, "check", trace)
    assert (code, out, err.count("\n")) == (3, "", 1)
    assert err.startswith(f"rocketproof: {message.format(trace)}")


def test_an_empty_folder_and_a_pipe_are_no_traces(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = run(capsys, "check", tmp_path)
    given = "no files in it. Give a trace: JSONL, Parquet, or files that can be imported."
    assert (code, err) == (3, f"rocketproof: {tmp_path}: {given}\n")
    os.mkfifo(tmp_path / "pipe")
    code, _, err = run(capsys, "check", tmp_path / "pipe")
    more_than_once = "is a pipe or a device. A trace is read more than once: write it to a file first."
    assert (code, err) == (3, f"rocketproof: {tmp_path}/pipe {more_than_once}\n")


def test_what_is_no_trace_in_a_folder_is_left_out_and_named(
    capsys: pytest.CaptureFixture[str], right: Path, tmp_path: Path
) -> None:
    (tmp_path / "trace.jsonl").write_bytes(right.read_bytes())
    for number in range(7):
        (tmp_path / f"notes-{number}.txt").write_text("Dear diary\n")
    code, out, _ = run(capsys, "check", tmp_path)
    assert code == 0
    assert out.splitlines()[:6] == [
        *(f"left out: {tmp_path}/notes-{number}.txt: its content has no known format" for number in range(5)),
        "left out: 2 more files of these folders",
    ]
    _, out, _ = run(capsys, "check", tmp_path, "--json", "-")
    answer = json.loads(out)
    assert [reason.split(": ")[0] for reason in answer["left_out"]] == [f"{tmp_path}/notes-{n}.txt" for n in range(7)]
    assert answer["skipped"] == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--engine", "flink"], "there is no engine 'flink'. Possible: auto, local, spark."),
        (["--property", "nothing-skiped"], "there is no claim 'nothing-skiped' about traces. Did you mean 'nothing-"),
        (["--skew", "50"], "--skew '50' is no time. Write a whole number and one of ms, s, m, min, h: 50ms."),
        (["--memory", "0"], "--memory '0' is no size."),
        (["--stories", "-1"], "Invalid value for '--stories': "),
        (["--format", "xml"], "no format xml; there are auto, jsonl, parquet, message-trace, otel-spans, "),
        (["--zone", "UTC"], "nothing that is read has the option 'zone': the files are jsonl. Leave it out."),
        (["--import", "group"], "--import 'group' is not NAME=VALUE, such as --import group=orders."),
        (["--import", "cluster=a"], "there is no option 'cluster' of importers; there are broker, client, "),
        (["--zone", "UTC", "--import", "zone=UTC"], "--import zone is given twice."),
        (["--delays", "1x"], "--delays: messageDelayLevel '1x': level 1 is '1x'."),
        (["--json", "-", "--sarif", "-"], "--json and --sarif cannot both go to standard output; name a file for one"),
        (["--json", "-", "--annotations", "github"], "--json and --annotations cannot both go to standard output; "),
        (["--json", "no-folder/a.json"], "cannot write no-folder/a.json: there is no folder no-folder."),
        (["--queue", "orders@nowhere:0"], "there is no queue 'orders@nowhere:0' in this trace."),
        (["--message", "nobody"], "{0}: no event names the message nobody. "),
        (["--message", "a", "--sarif", "-"], "--message tells what happened to one message, no verdicts: leave "),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(
    capsys: pytest.CaptureFixture[str], right: Path, arguments: list[str], message: str
) -> None:
    code, _, err = run(capsys, "check", right, *arguments)
    assert (code, err.count("\n")) == (3, 1)
    assert err.startswith(f"rocketproof: {message.format(right)}")


def test_a_trace_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    message = "rocketproof: check needs a trace: files or folders. 'check --list' shows what is checked.\n"
    assert run(capsys, "check") == (3, "", message)


def test_where_the_report_goes_is_looked_at_before(
    capsys: pytest.CaptureFixture[str], right: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_module, "run", lambda *_: pytest.fail("checked"))
    code, _, err = run(capsys, "check", right, "--report", right / "x")
    assert (code, err) == (3, f"rocketproof: cannot write to {right}/x: {right} is a file, and a folder is needed.\n")


def test_everything_can_be_written(capsys: pytest.CaptureFixture[str], wrong: Path, tmp_path: Path) -> None:
    report = tmp_path / "new" / "report"
    code, out, _ = run(capsys, "check", wrong, "--report", report, "--stories", 1)
    assert code == 1
    assert out.splitlines()[-1] == f"report: {report}/index.html"
    assert out.count("whose listener was running\n") == 1
    # The report tells more than the terminal was asked to.
    assert (report / "index.html").read_text().count("whose listener was running<") >= 2
    code, out, _ = run(capsys, "check", wrong, "--json", "-", "--stories", 1)
    answer = json.loads(out)
    assert (code, answer["verdict"], len(answer["claims"])) == (1, "VIOLATED", ALL)
    (claim,) = (claim for claim in answer["claims"] if claim["verdict"] == "VIOLATED")
    assert (claim["claim"], claim["violated"], len(claim["findings"]), len(claim["stories"])) == (UNFINISHED, 2, 2, 1)


def test_findings_of_one_queue(capsys: pytest.CaptureFixture[str], wrong: Path) -> None:
    _, out, _ = run(capsys, "check", wrong, "--json", "-")
    (claim,) = (claim for claim in json.loads(out)["claims"] if claim["verdict"] == "VIOLATED")
    queues = Counter(f"{row['topic']}@{row['broker']}:{row['queue']}" for row in claim["findings"])
    queue, count = queues.most_common()[0]
    code, out, _ = run(capsys, "check", wrong, "--queue", queue)
    assert code == 1
    assert f"findings are those of queues called {queue}, counts those of all" in out.splitlines()
    assert out.count("whose listener was running\n") == count
    code, out, _ = run(capsys, "check", wrong, "--queue", "%DLQ%")
    assert (code, out.count("whose listener was running\n")) == (1, 0)


def test_what_happened_to_a_message(capsys: pytest.CaptureFixture[str], right: Path) -> None:
    event = next(event for event in map(json.loads, right.read_text().splitlines()) if event.get("kind") == "deliver")
    code, out, err = run(capsys, "check", right, "--message", event["key"])
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith(f"message {event['key']}")
    assert lines[1].startswith("  stored ")
    assert any(line.startswith("group orders: consumed by ") for line in lines)


def test_what_no_monitor_can_judge_is_counted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    place = {"client": "c", "group": "g", "topic": "t", "broker": "b", "queue": 0, "attempt": 1}
    events = [{"time": 1_000 + at, "kind": "deliver", "offset": at, **place} for at in range(3)]
    trace = tmp_path / "trace.jsonl"
    trace.write_text("".join(json.dumps(line) + "\n" for line in [{"rocketproof_trace": 1}, *events]))
    _, out, _ = run(capsys, "check", trace)
    assert "passed over: 3 events that name no message" in out.splitlines()
    _, out, _ = run(capsys, "check", trace, "--json", "-")
    assert json.loads(out)["passed_over"] == {"events that name no message": 3}


SPRING = "{time} WARN 17592 --- [MessageThread_1] a.s.s.DefaultRocketMQListenerContainer : consume message failed. " \
    "messageId:7F000001126418B4AAC2464BCE59001F, topic:payments, reconsumeTimes:{count}\n"  # fmt: skip
TIMES = ("15:36:13.150", "15:36:23.165", "15:36:53.169", "15:37:53.179")


def test_a_log_is_imported_with_options_of_the_user(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = tmp_path / "application.log"
    lines = [SPRING.format(time=f"2021-11-14 {time}", count=count) for count, time in enumerate(TIMES)]
    log.write_text("".join(["2021-11-14 15:36:00.000 INFO 17592 --- [main] a.b.C : Started\n", *lines]))
    asked = ["--message", "7F000001126418B4AAC2464BCE59001F", "--import", "group=billing", "--zone", "+08:00"]
    code, out, _ = run(capsys, "check", log, *asked)
    assert code == 0
    words = [line.split() for line in out.splitlines()]
    assert "group billing: waiting for retry 4 of 16" in out
    attempts = [row[:3] for row in words if len(row) > 4 and row[1] == "2021-11-14"]
    assert attempts == [[str(count), "2021-11-14", time.replace("15:", "07:")] for count, time in enumerate(TIMES)]
    code, out, _ = run(capsys, "check", log)
    assert code == 0
    first, second, *_ = out.splitlines()
    assert first.startswith(f"{log}: 8 events, ")
    assert second == "left out: 1 × other message"
    assert any(
        line.startswith("  HOLDS  1 claim, ") and "retry-waits-as-its-level-says" in line for line in out.splitlines()
    )
    _, out, _ = run(capsys, "check", log, "--json", "-")
    answer = json.loads(out)
    assert (answer["left_out"], answer["skipped"]) == ([], {"other message": 1})
    assert answer["passed_over"] == {}
    code, out, _ = run(capsys, "check", log, "--message", "7F000001126418B4AAC2464BCE59001F", "--zone", "+08:00")
    assert code == 0
    assert "group unknown: waiting for retry 4 of 16" in out
    words = [line.split() for line in out.splitlines()]
    attempts = [row[:3] for row in words if len(row) > 4 and row[1] == "2021-11-14"]
    assert attempts == [[str(count), "2021-11-14", time.replace("15:", "07:")] for count, time in enumerate(TIMES)]


def test_ctrl_c_says_how_far_it_was(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, made: Path
) -> None:
    def stop(_: MessageFold) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("the run went on")

    # By now every event was fed: where an interrupt comes in the midst of reading, the count depends on the threads.
    monkeypatch.setattr(MessageFold, "finish", stop)
    before = signal.getsignal(signal.SIGINT)
    code, out, err = run(capsys, "check", made / "parquet" / "trace.parquet")
    assert (code, out) == (2, "")
    count = json.loads((made / "parquet" / "truth.json").read_text())["events"]
    done = f"{count:,} of {count:,} events read, {count:,} of {count:,} events checked"
    assert err == f"rocketproof: interrupted, nothing is decided: {done}\n"
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_before_anything_is_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, right: Path
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(check_module, "open_trace", stop)
    assert run(capsys, "check", right) == (2, "", "rocketproof: interrupted\n")
    monkeypatch.undo()
    monkeypatch.setattr(local, "gather", stop)
    message = "rocketproof: interrupted, nothing is decided: no event yet\n"
    assert run(capsys, "check", right) == (2, "", message)


def test_progress_is_counted_where_the_total_is_not_known() -> None:
    progress = Progress(total=None, thing="event")
    progress("read", 4_000)
    progress("read", 1_000)
    assert str(progress) == "5,000 events read"


@pytest.mark.parametrize("form", [[], ["--json", "-"]])
def test_a_reader_that_goes_away_is_no_violation(right: Path, form: list[str]) -> None:
    command = [sys.executable, "-m", "rocketproof", "check", str(right), *form]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 2


def test_a_check_of_its_own_process_imports_nothing_that_it_does_not_need(right: Path) -> None:
    needless = ("pandas", "pyspark", "duckdb", "hypothesis", "networkx", "scipy", "numba", "jinja2")
    program = (
        "import atexit, sys; from rocketproof.cli import main; sys.argv = ['rocketproof', 'check', sys.argv[1]]; "
        f"atexit.register(lambda: print([name for name in {needless} if name in sys.modules], file=sys.stderr)); main()"
    )
    done = subprocess.run([sys.executable, "-c", program, str(right)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "[]\n")


def _next_number(number: int) -> int:
    return number + 1


def test_compiling_is_told_where_somebody_watches(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A cache that never has anything, and no patience: every entry is compiled.
    monkeypatch.setattr(compiled, "PATIENCE", 0)
    monkeypatch.setattr(FileCodeCache, "load", lambda _cache, _key: None)

    def prepared() -> str:
        with preparing("the monitors", "half a minute"):
            for _ in range(2):
                assert entry(_next_number)(1) == 2
        return capsys.readouterr().err

    assert prepared() == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert prepared() == "preparing the monitors, once: this takes about half a minute\n"


class Rows:
    """As much of a trace as choosing an engine looks at."""

    def __init__(self, rows: int | None) -> None:
        self.rows = rows


@pytest.mark.parametrize(
    ("engine", "master", "rows", "java", "chosen"),
    [
        (Engine.AUTO, "", 10, 17, Engine.LOCAL),
        (Engine.AUTO, "", None, 17, Engine.LOCAL),
        (Engine.AUTO, "", SPARK_FROM_EVENTS, 17, Engine.SPARK),
        (Engine.AUTO, "", SPARK_FROM_EVENTS, 11, Engine.LOCAL),
        (Engine.AUTO, "", SPARK_FROM_EVENTS, 0, Engine.LOCAL),
        (Engine.AUTO, "yarn", 10, 0, Engine.SPARK),
        (Engine.LOCAL, "", SPARK_FROM_EVENTS, 17, Engine.LOCAL),
        (Engine.SPARK, "", 10, 0, Engine.SPARK),
    ],
)
def test_which_engine(
    monkeypatch: pytest.MonkeyPatch, engine: Engine, master: str, rows: int | None, java: int, chosen: Engine
) -> None:
    from rocketproof.spark import session

    monkeypatch.setattr(session, "java_version", lambda: java)
    monkeypatch.setattr(local, "check_locally", lambda *_, **__: Engine.LOCAL)
    monkeypatch.setattr(check_module, "_with_spark", lambda *_: Engine.SPARK)
    request = CheckRequest(paths=["a"], engine=engine, master=master)
    assert run_check(Rows(rows), request, None) is chosen  # type: ignore[arg-type, comparison-overlap]


def test_an_engine_has_a_name() -> None:
    assert engine_of("spark") is Engine.SPARK


def test_spark_without_java_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, right: Path, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    # Another test may have left a session that would be used.
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", None)
    code, _, err = run(capsys, "check", right, "--engine", "spark")
    assert (code, err.count("\n")) == (3, 1)
    assert err.startswith("rocketproof: the Spark engine needs Java 17")
    assert "apt-get install openjdk-17-jre-headless" in err


def test_a_master_that_is_none_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, right: Path
) -> None:
    from rocketproof.spark import session

    def failing(_master: str, **_settings: object) -> None:
        raise RuntimeError("Could not parse Master URL: 'bogus'\n\tat org.apache.spark")

    monkeypatch.setattr(session, "open_session", failing)
    code, _, err = run(capsys, "check", right, "--master", "bogus")
    said = "Spark does not start with --master bogus: Could not parse Master URL: 'bogus'"
    assert (code, err) == (3, f"rocketproof: {said} Use --engine local, or repair it.\n")


def test_the_list_has_every_claim(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "--list")
    assert code == 0
    assert [tuple(line.split(maxsplit=1)) for line in out.splitlines()] == [
        (claim.id, claim.statement) for claim in CLAIMS
    ]
