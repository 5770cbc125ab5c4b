"""Nothing of a trace acts on a terminal, a CI server or a page: what strangers have written is spelled."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import rocketproof.cli
from rocketproof.output.annotations import _data
from rocketproof.traces.format.printable import json_text, printable, printable_document, printable_lines

from ..command import run

ACTING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
COMMAND = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)

EVIL = "\x1b[31m\x9b2J\u202e\n::error::%0A##[error]##vso[x]\r<script>&\"'"
TIME = 1_700_000_000_000


def evil_trace(folder: Path) -> Path:
    """A trace whose every text is hostile, with violations, problems of reading, and a name that says it all."""
    place = {"group": f"g{EVIL}", "topic": f"t{EVIL}", "broker": f"b{EVIL}", "queue": 0}
    header = {
        "rocketproof_trace": 1,
        "source": EVIL,
        "release": EVIL,
        "delays": EVIL,
        "evidence": ["deliver", "result", "heartbeat", EVIL],
        "groups": {EVIL: {"mode": EVIL}, place["group"]: {"strategy": EVIL}},
    }
    events: list[dict[str, object]] = [
        {"time": TIME + n * 1000, "kind": "deliver", "client": f"c{n}{EVIL}", **place, "offset": 5, "key": EVIL,
         "attempt": n, "detail": EVIL, EVIL: EVIL}
        for n in (0, 1, 3)
    ]  # fmt: skip
    events += [
        {"time": TIME + n, "kind": "heartbeat", "client": f"c{n % 2}{EVIL}", **place, "detail": EVIL,
         "subscriptions": [f"t{EVIL}={n % 2}{EVIL}@1"]}
        for n in range(0, 600_000, 30_001)
    ]  # fmt: skip
    clients = [f"c0{EVIL}", f"c1{EVIL}"]
    events += [
        {"time": TIME + n, "kind": "rebalance", "client": client, **place, "detail": "AVG", "members": clients,
         "queues": [f"b{EVIL}:0", f"b{EVIL}:1"], "assigned": [f"b{EVIL}:0", f"b{EVIL}:1"]}
        for n in (1, 600_000) for client in clients
    ]  # fmt: skip
    events += [{"time": TIME, "kind": EVIL}, {"time": EVIL, "kind": "deliver"}]
    path = folder / "a\x1b[31m\n::error::##[error]\u202e.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in [header, *events]) + f"\nno JSON {EVIL}\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return evil_trace(tmp_path_factory.mktemp("evil"))


def test_no_output_of_a_check_acts(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {name: tmp_path / name for name in ("json", "junit", "sarif", "report")}
    _, out, err = run(
        capsys, "check", trace, "--all", *(part for name, file in files.items() for part in (f"--{name}", file))
    )
    assert "assigned itself 2 queues" in out
    texts = {"terminal": out, "complaints": err} | {
        name: file.read_text("utf-8") for name, file in files.items() if file.is_file()
    }
    page = (files["report"] / "index.html").read_text("utf-8")
    for name, text in (texts | {"report": page}).items():
        assert ACTING.findall(text) == [], name
    for name, text in texts.items():
        assert COMMAND.findall(text) == [], name
    assert "<script>&" not in page
    assert json.loads(texts["json"])["source"] == EVIL
    assert ElementTree.fromstring(texts["junit"]).tag == "testsuites"
    assert json.loads(texts["sarif"])["version"] == "2.1.0"


@pytest.mark.parametrize("arguments", [["--message", EVIL], ["--strict"], ["--property", EVIL], ["--queue", EVIL]])
def test_no_other_answer_of_check_acts(trace: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = run(capsys, "check", trace, *arguments)
    assert ACTING.findall(out + err) == []
    assert COMMAND.findall(out + err) == []


def test_no_output_of_conform_acts(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = run(capsys, "conform", trace, "--json", tmp_path / "json")
    text = out + err + (tmp_path / "json").read_text("utf-8")
    assert ACTING.findall(text) == []
    assert COMMAND.findall(text) == []


def test_a_name_keeps_to_its_line(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "check", trace, "--stories", "0")
    (of_file,) = [line for line in out.splitlines() if line.startswith(str(trace.parent)) and " events, " in line]
    assert r"/a\x1b[31m\n::error::\x23#[error]\u202e.jsonl: 28 events, " in of_file


def test_what_acts_is_spelled() -> None:
    assert printable("a\tb\nc\x1b\x85\u202e\ud800\U000e0001é") == r"a\tb\nc\x1b\x85\u202e\ud800\U000e0001é"
    assert printable_lines("a\tb\n ::error::x ::y\n##[z]") == "a\tb\n \\x3a:error::x ::y\n\\x23#[z]"
    assert printable_document("::before\n\x1b") == "::before\n\\x1b"
    assert printable(printable(EVIL)) == printable(EVIL)
    assert json.loads(json_text({EVIL: "\ud800##"})) == {EVIL: "\ud800##"}
    assert json_text("##[x]\u202e") == r'"#\u0023[x]\u202e"'
    assert _data("a%\n::b\x1b\r") == r"a%25%0A::b\x1b\r"


# Where output leaves the kit: the console, files, complaints, and texts that hold nothing from outside.
WAYS_OUT = {
    "rocketproof/output/console.py": {"Console"},  # a quiet one
    "rocketproof/output/progress.py": {"Console"},  # of a bar
    "rocketproof/output/files.py": {"write"},  # documents that were made safe
    "rocketproof/output/findings_page.py": {"print"},
    "rocketproof/cli.py": {"print", "echo"},  # _complain
    "rocketproof/commands/preparing.py": {"print"},
    "rocketproof/commands/export.py": {"print"},
    "rocketproof/commands/explore.py": {"print"},
    "rocketproof/commands/verify.py": {"print"},
    "rocketproof/commands/mutants.py": {"print"},
    "rocketproof/commands/lab_commands.py": {"echo"},
    "rocketproof/commands/options.py": {"echo"},  # help
    "rocketproof/commands/pipeline_watch.py": {"write"},  # lines of JSON
    "rocketproof/commands/lab_cluster.py": {"print"},
    "rocketproof/commands/check.py": {"print"},  # annotations
    "rocketproof/deployment/verify.py": {"print"},  # annotations
    "rocketproof/deployment/reference.py": {"print"},
}


def test_nothing_is_written_past_the_console() -> None:
    """A new way out needs a line above, and has to let what it writes through ``traces/format/printable.py``."""
    root = Path(rocketproof.cli.__file__).resolve().parent.parent
    found: dict[str, set[str]] = {}
    for folder in ("rocketproof", "machine_code", "traces", "spark", "lab", "checkers"):
        for path in (root / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and (name := _way_out(node.func)):
                    found.setdefault(str(path.relative_to(root)), set()).add(name)
    assert found == WAYS_OUT


def test_commands_about_traces_print_lines_and_json_that_is_safe() -> None:
    root = Path(rocketproof.cli.__file__).resolve().parent
    commands = [root / "commands" / f"{name}.py" for name in ("check", "conform", "samples", "simulate", "record")]
    outputs = [root / "output" / f"{name}.py" for name in ("trace_report", "message_report", "trace_files", "sarif")]
    for path in commands + outputs:
        name, text = path.stem, path.read_text("utf-8")
        assert "console.print(" not in text, name
        assert "json.dumps(" not in text or name == "record", name


def _way_out(called: ast.expr) -> str:
    if isinstance(called, ast.Name) and called.id in ("print", "Console"):
        return called.id
    if isinstance(called, ast.Attribute) and (
        called.attr == "echo" or (called.attr == "write" and ast.unparse(called.value) in ("sys.stdout", "sys.stderr"))
    ):
        return called.attr
    return ""
