"""The command ``explore``: pages of what has a name, of recorded traces, and what it says where there is none."""

import shutil
import threading
import urllib.error
import urllib.request
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from rocketproof.checkers.catalogue import all_rows
from rocketproof.checkers.mutants import MachineMutant, entries
from rocketproof.cli import main
from rocketproof.commands import explore as command
from rocketproof.commands.explore_trace import ALSO_IN_THE_MODEL, IN_THE_MODEL, MOST_BUGS
from rocketproof.explorer.page import entries_in
from rocketproof.traces.claims.claims import CLAIMS
from rocketproof.traces.explain import followings

from ..command import run


def entries_of(page: Path) -> list[dict[str, Any]]:
    return entries_in(page.read_text(encoding="utf-8"))


def test_a_page_is_written_and_its_name_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "p.html"
    assert run(capsys, "explore", "peterson", "--out", str(out)) == (
        0,
        "",
        f"{out}: open it in a browser; it needs no network\n",
    )
    assert [entry["id"] for entry in entries_of(out)] == ["peterson"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("deliverry",), "there is no machine, preset, property, known bug or file 'deliverry'. Did you mean"),
        (("assignmnt",), "Did you mean 'assignment'? "),
        (("peterson", "--set", "speed=2"), "machine peterson has no constant 'speed'"),
        (("peterson", "--out", "/nowhere/x.html"), "there is no folder /nowhere"),
        (("peterson", "--serve", "--out", "x.html"), "leave one of them out"),
    ],
)
def test_mistakes_are_told_in_one_line(
    arguments: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, error = run(capsys, "explore", *arguments)
    assert (code, out) == (3, "")
    assert told in error
    assert error.count("\n") == 1


def test_claims_of_recordings_are_shown_by_properties_that_there_are() -> None:
    assert set(IN_THE_MODEL) <= {claim.id for claim in CLAIMS}
    assert set(IN_THE_MODEL.values()) <= {row.id for row in all_rows()}
    assert set(ALSO_IN_THE_MODEL) <= {claim.id for claim in CLAIMS}
    shown = {bug.killer.id for bug in entries(all_rows()) if isinstance(bug, MachineMutant)}
    assert {name for names in ALSO_IN_THE_MODEL.values() for name in names} <= shown


def test_further_configurations_are_in_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "two.html"
    further = ("--also", "managers=2", "--also", "managers=1")
    assert run(capsys, "explore", "two-phase-commit", *further, "--out", str(out))[0] == 0
    assert [(entry["id"], entry["title"], entry["set"]) for entry in entries_of(out)] == [
        ("two-phase-commit", "two_phase_commit", ""),
        ("two-phase-commit-2", "two_phase_commit managers=2", "managers=2"),
        ("two-phase-commit-3", "two_phase_commit managers=1", "managers=1"),
    ]
    code, _, error = run(capsys, "explore", "two-phase-commit", "--also", "speed=2", "--out", str(out))
    assert (code, "has no constant 'speed'" in error) == (3, True)


@pytest.fixture(scope="module")
def incident(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recording of a client that stores the offset of a message its listener still has."""
    folder = tmp_path_factory.mktemp("incident")
    with pytest.raises(SystemExit):
        main(["record", "--mutant", "B7", "--out", str(folder)])
    return folder / "trace.jsonl"


def test_a_finding_of_a_trace_opens_as_a_run_that_goes_along_with_it(
    incident: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "t.html"
    assert run(capsys, "explore", str(incident), "--out", str(out))[0] == 0
    followed, *bugs = entries_of(out)
    assert (followed["id"], followed["title"]) == (
        "offset-never-past-unfinished",
        "offset-never-past-unfinished, as recorded",
    )
    assert (followed["run"], followed["follows"]) == ("take(c0,q0)~pull(c0,q0)~begin_batch(c0,q0)", True)
    recorded = followed["recorded"]
    assert isinstance(recorded, list)
    assert [step for _, step in recorded] == [1, 2, 3, None]
    assert recorded[-1][0].startswith("00:00:00.700 c0 stores offset 1 of Orders@broker-0:0 (periodic)")
    assert recorded[-1][0].endswith("the in-memory offset is 0)")
    assert "up to 00:00:00.700; for what comes then it has no step." in str(followed["doc"])
    (bug,) = (each for each in bugs if str(each["title"]).endswith("as by B7 commit-ignores-in-flight-batch"))
    assert (bug["verdict"], bug["hunt"], bug["follows"]) == ("VIOLATED", "offset-never-past-unfinished", False)
    assert bug["recorded"]


def test_a_folder_needs_no_path_to_be_a_trace_unless_something_is_called_so(
    incident: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("incident", "peterson"):
        (tmp_path / name).mkdir()
        shutil.copy(incident, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    for name, first in (("incident", "offset-never-past-unfinished"), ("peterson", "peterson")):
        assert run(capsys, "explore", name)[0] == 0
        assert entries_of(tmp_path / f"{name}.html")[0]["id"] == first
    monkeypatch.chdir(tmp_path / "incident")
    assert run(capsys, "explore", ".")[2] == "incident.html: open it in a browser; it needs no network\n"


def test_the_report_of_a_check_links_each_finding_to_its_run(
    incident: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "check", str(incident), "--report", str(tmp_path))[0] == 1
    assert 'href="runs.html#open=offset-never-past-unfinished"' in (tmp_path / "index.html").read_text("utf-8")
    assert entries_of(tmp_path / "runs.html")[0]["id"] == "offset-never-past-unfinished"


@pytest.mark.parametrize(
    ("mutant", "claim", "machine", "stops_at", "readings"),
    [
        ("A3", "same-subscriptions", "assignment", "sends a heartbeat", 1),
        ("D7", "attempts-follow-each-other", "consumption", "(attempt 2) waits at level 4", 2),
    ],
)
def test_findings_of_groups_and_of_retries_open_as_runs_that_go_along(
    mutant: str,
    claim: str,
    machine: str,
    stops_at: str,
    readings: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = Mock(side_effect=followings.collect)
    monkeypatch.setattr(followings, "collect", counted)
    trace = tmp_path / "trace"
    assert run(capsys, "simulate", "--messages", "2000", "--mutant", mutant, "--out", str(trace))[0] == 0
    assert run(capsys, "explore", str(trace / "trace.parquet"), "--out", str(tmp_path / "t.html"))[0] == 0
    shown = entries_of(tmp_path / "t.html")
    followed = next(entry for entry in shown if entry["id"] == claim)
    assert (followed["follows"], followed["title"]) == (True, f"{claim}, as recorded")
    recorded = followed["recorded"]
    assert isinstance(recorded, list)
    assert recorded[0][1] is not None
    assert stops_at in next(text for text, step in recorded if step is None)
    bugs = [str(entry["id"]) for entry in shown if str(entry["id"]).startswith(f"{claim}-")]
    assert f"{claim}-{mutant}" in bugs
    assert len(bugs) <= MOST_BUGS
    # Of retries several claims are violated; what is asked for all of them is read together.
    assert counted.call_count == readings


def test_a_right_trace_has_nothing_to_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "trace"
    assert run(capsys, "simulate", "--messages", "400", "--out", str(trace))[0] == 0
    code, _, error = run(capsys, "explore", str(trace), "--out", str(tmp_path / "t.html"))
    assert code == 3
    assert "no claim is violated, so there is nothing to show" in error


def test_the_served_page_takes_other_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    servers: list[ThreadingHTTPServer] = []
    started = threading.Event()
    serve = ThreadingHTTPServer.serve_forever

    def noting(server: ThreadingHTTPServer, *arguments: float) -> None:
        servers.append(server)
        started.set()
        serve(server, *arguments)

    monkeypatch.setattr(ThreadingHTTPServer, "serve_forever", noting)
    request = command.ExploreRequest(name="peterson", constants={}, port=0)
    thread = threading.Thread(target=command.explore, args=(request,))
    thread.start()
    assert started.wait(60)
    address = f"http://127.0.0.1:{servers[0].server_address[1]}/"

    def ask(path: str) -> str:
        with urllib.request.urlopen(address + path, timeout=60) as answer:
            text: str = answer.read().decode()
            return text

    try:
        assert 'data-served="yes"' in ask("")
        assert "two_phase_commit managers=2" in ask("?subject=two_phase_commit&set=managers%3D2")
        for path, code in (("?subject=nonsense", 400), ("other", 404)):
            with pytest.raises(urllib.error.HTTPError) as error:
                ask(path)
            assert error.value.code == code
    finally:
        servers[0].shutdown()
        thread.join()
        servers[0].server_close()
