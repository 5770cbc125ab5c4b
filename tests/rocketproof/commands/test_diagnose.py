"""``rocketproof diagnose``: known bugs are named where they explain a recording, and nowhere else."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from rocketproof.traces.samples import FOLDER

from ..command import run

B7_FIRST = "A KNOWN BUG EXPLAINS IT: B7 commit-ignores-in-flight-batch"


@pytest.fixture(scope="module")
def b7(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recording of a bug."""
    from rocketproof.commands.record import RecordRequest, record

    folder = tmp_path_factory.mktemp("b7") / "new"
    record(RecordRequest(mutant="B7"), str(folder))
    return folder / "trace.jsonl"


def test_a_known_bug_is_named_with_all_that_an_operator_needs(
    capsys: pytest.CaptureFixture[str], b7: Path, tmp_path: Path
) -> None:
    page, answer = tmp_path / "page.html", tmp_path / "answer.json"
    code, out, err = run(capsys, "diagnose", b7, "--report", page, "--json", answer)
    assert (code, err) == (1, "")
    assert out.splitlines()[0] == B7_FIRST
    assert "    of 37 known bugs that this group may have these go on: B7" in out.splitlines()
    told = json.loads(answer.read_text())
    assert told["told"] == B7_FIRST
    assert [(one["place"], one["explained_by"]) for one in told["followed"]] == [("billing Orders@broker-0:0", ["B7"])]
    first = told["candidates"][0]
    assert {name: first[name] for name in ("bug", "mutants", "score", "where", "mended", "sources")} == {
        "bug": "B7",
        "mutants": ["B7"],
        "score": 3.0,
        "where": "C++ client",
        "mended": "C++ client with commit ecfd7d3 (#322)",
        "sources": ["rocketmq-client-cpp #322"],
    }
    assert first["explains"] == ["billing Orders@broker-0:0"]
    text = page.read_text()
    HTMLParser().feed(text)
    assert B7_FIRST in text
    assert "<script" not in text


SAID = {
    "steady-5.3.3": (0, "NOTHING IS WRONG: "),
    "same-client-id-5.3.3": (1, "A KNOWN BUG EXPLAINS IT: A1 clientid-clash"),
    "sigstop-past-lock-5.3.3": (1, "A KNOWN BUG LOOKS LIKE IT: E3 revoke-while-listener-runs"),
}


@pytest.mark.parametrize("sample", SAID)
def test_real_runs(capsys: pytest.CaptureFixture[str], sample: str) -> None:
    code, out, _ = run(capsys, "diagnose", FOLDER / f"{sample}.jsonl.zst")
    expected, first = SAID[sample]
    assert (code, out.splitlines()[0][: len(first)]) == (expected, first)


def test_where_too_little_was_recorded_it_cannot_be_told(
    capsys: pytest.CaptureFixture[str], b7: Path, tmp_path: Path
) -> None:
    header, *lines = b7.read_text().splitlines()
    kept = [line for line in lines if json.loads(line)["kind"] in ("client_start", "heartbeat", "store")]
    told = json.loads(header) | {"evidence": ["client_start", "heartbeat", "store"]}
    path = tmp_path / "part.jsonl"
    path.write_text("\n".join([json.dumps(told), *kept]) + "\n")
    code, out, _ = run(capsys, "diagnose", path)
    assert (code, len(out.splitlines())) == (2, 1)
    assert out.startswith("CANNOT BE TOLD: no queue can be followed through the model: ")


def test_names_in_a_trace_are_shown_and_do_nothing(
    capsys: pytest.CaptureFixture[str], b7: Path, tmp_path: Path
) -> None:
    path, page = tmp_path / "evil.jsonl", tmp_path / "page.html"
    path.write_text(b7.read_text().replace("Orders", "<script>alert(1)</script>\\u001b[31m"))
    code, out, _ = run(capsys, "diagnose", path, "--report", page)
    assert code == 1
    assert "\x1b" not in out + page.read_text()
    assert "<script>" not in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "diagnose needs a trace: files or folders"),
        (["nowhere.jsonl"], "nowhere.jsonl"),
        (["x", "--json", "-", "--report", "-"], "only one of --json and --report can go to standard output."),
        (["x", "--report", "no/such/page.html"], "cannot write no/such/page.html"),
    ],
)
def test_wrong_usage_is_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    code, out, err = run(capsys, "diagnose", *arguments)
    assert (code, out, err.count("\n")) == (3, "", 1)
    assert message in err
