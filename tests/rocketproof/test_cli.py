"""The command line: exit codes, one line for every mistake, JSON and JUnit."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rocketproof.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the command line in this process: exit code, standard output, standard error."""
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def test_help_prints_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"], ["verify", "--help"]):
        code, out, _ = run(capsys, *arguments)
        text = " ".join(out.split())
        assert code == 0
        for meaning in ("everything as expected", "a property is violated", "something is unknown", "wrong usage"):
            assert meaning in text


def test_as_expected_is_0(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "verify", "join-overlap", "averagely-partition")
    assert (code, err) == (0, "")
    assert "2 of 2 as expected" in out


def test_an_expected_finding_is_marked_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "verify", "one-queue-one-consumer")
    assert code == 0
    assert "VIOLATED (expected)" in out
    assert "3. c1 rebalances with the member list of b0" in out


def test_an_expected_finding_that_is_not_found_is_1(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "verify", "one-queue-one-consumer", "--set", "consumers=1")
    assert code == 1
    assert "HOLDS (expected VIOLATED)" in out


def test_a_violation_is_1_and_its_story_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capsys, "verify", "partition-lemma", "--machine", "assignment", "--set", "same_id=1", "--set", "strategy=AVG"
    )
    assert code == 1
    assert "VIOLATED (expected HOLDS)" in out
    assert "owns: c0 q0" in out


def test_several_constants_may_follow_one_option(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "verify", "join-overlap", "--set", "queues=3", "strategy=AVG_BY_CIRCLE")
    assert code == 0
    assert "queues=3 strategy=AVG_BY_CIRCLE" in out


@pytest.mark.parametrize("limit", ["50", "states=50"])
def test_a_limit_may_be_a_bare_number_of_states(capsys: pytest.CaptureFixture[str], limit: str) -> None:
    code, out, _ = run(capsys, "verify", "no-orphan-once-agreed", "--limit", limit)
    assert code == 2
    assert "limit of 50 states reached: " in out


def test_a_proof_for_every_number_is_no_base_for_other_constants(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "verify", "partition-lemma", "--machine", "assignment", "--set", "queues=6")
    assert code == 0
    assert "unbounded" not in out


def test_unknown_is_2_and_names_the_bound(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "verify", "overlap-heals", "no-orphan-once-agreed", "--limit", "states=50")
    assert code == 2
    assert "UNKNOWN" in out
    assert "50 states" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["verify", "--nope"], "No such option: --nope"),
        (["verfy"], "No such command 'verfy'"),
        (["verify", "partition-lema"], "no property 'partition-lema'. Did you mean 'partition-lemma'"),
        (["verify", "--machine", "assignmnt"], "no machine 'assignmnt'. Did you mean 'assignment'"),
        (["verify", "--engine", "explor"], "no engine 'explor'. Did you mean 'explore'?"),
        (["verify", "--set", "consumer=3"], "no constant 'consumer'. Did you mean 'consumers'?"),
        (["verify", "--set", "consumers=99"], "consumers=99 is not possible; consumers is a whole number from 1 to 6."),
        (["verify", "--set", "strategy=AGV"], "strategy='AGV' is not possible; strategy is one of AVG, "),
        (["verify", "join-gap", "--set", "running=3"], "running=3, consumers=2 is not possible; no more consumers"),
        (["verify", "join-gap", "--set", "queues=unbounded"], "running=0 is needed"),
        (
            ["verify", "scale-out"],
            "there is no property 'scale-out'. Did you mean 'join-gap' or 'join-overlap' or ",
        ),
        (["verify", "--search", "xyzzy"], "no property is about 'xyzzy'"),
        (["verify", "--search", ""], "--search has no words"),
        (["samples", "scale"], "there is no sample 'scale'. Did you mean 'scale-out-and-in'"),
        (["verify", "--set", "consumers"], "--set 'consumers' is not NAME=VALUE."),
        (["verify", "--limit", "stats=1"], "--limit: there is no 'stats'. Did you mean 'states'"),
        (["verify", "--limit", "states=0"], "--limit states: "),
        (["verify", "--config", "missing.toml"], "cannot read the configuration file missing.toml"),
        (["verify", "partition-lemma", "--engine", "liveness"], "nothing of this can be checked by 'liveness'"),
        (["verify", "averagely-partition", "--set", "consumers=3"], "no row of a machine was chosen"),
        (["verify", "--strategy", "nothing"], "'nothing' does not name a strategy"),
        (["verify", "--strategy", "json:nothing"], "has no function 'nothing'"),
        (["verify", "--strategy", "a:b", "--strategy-command", "c"], "cannot both be given"),
        (["verify", "--strategy-command", "/nonexistent/program"], "cannot start '/nonexistent/program'"),
        (["verify", "join-gap", "--json", "/nonexistent/rows.json"], "cannot write /nonexistent/rows.json"),
    ],
)
def test_a_mistake_is_one_line_and_3(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    code, _, err = run(capsys, *arguments)
    assert code == 3
    assert err.startswith("rocketproof: ")
    assert message in err
    assert err.count("\n") == 1


def test_json_on_standard_output_is_nothing_but_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "verify", "join-overlap", "one-queue-one-consumer", "--json", "-")
    rows = json.loads(out)
    assert code == 0
    assert [row["property"] for row in rows] == ["one-queue-one-consumer", "join-overlap"]
    first = rows[0]
    assert first["verdict"] == first["expected"] == "VIOLATED"
    assert first["engine"] == "explore"
    assert first["steps"] == 3
    assert first["configuration"] == {"consumers": 2, "running": 1}
    assert first["bounds"] == "3 steps; searched all 9 states, 20 transitions, depth 4"
    assert first["seconds"] >= 0
    assert "c1 starts" in first["story"]


def test_junit_has_a_failure_for_what_is_not_as_expected(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "rows.xml"
    code, _, _ = run(
        capsys, "verify", "one-queue-one-consumer", "join-overlap", "--set", "consumers=1", "--junit", str(file)
    )
    suite = ElementTree.parse(file).getroot()[0]
    assert code == 1
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "2", "0")
    problem = suite[0][0]
    assert problem.tag == "failure"
    assert (problem.get("message") or "").startswith("HOLDS, expected VIOLATED")


def test_configuration_file_gives_the_options(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "rocketproof.toml"
    file.write_text(
        '[verify]\nproperties = ["partition-lemma"]\n[verify.set]\nstrategy = "AVG"\n[verify.limit]\nstates = 20\n'
    )
    code, out, _ = run(capsys, "verify", "--config", str(file))
    assert code == 2
    assert "limit of 20 states reached" in out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[verify\n", "is not valid TOML: Expected ']' at the end of a table declaration (at line 1, column 8)"),
        ("[verif]\n", "there is no [verify] table, and no [[groups]] of a deployment; write one of them."),
        ("", "there is no [verify] table, and no [[groups]] of a deployment; write one of them."),
        ("[verify]\npropertis = []\n", "there is no option 'verify.propertis'. Did you mean 'properties'?"),
        ("[verify.limit]\nstates = 'many'\n", "verify.limit.states: "),
        ("[verify.limit]\nstats = 3\n", "there is no option 'verify.limit.stats'. Did you mean 'states'"),
    ],
)
def test_a_bad_configuration_file_is_one_line_and_3(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "rocketproof.toml"
    file.write_text(text)
    code, _, err = run(capsys, "verify", "--config", str(file))
    assert code == 3
    assert str(file) in err
    assert message in err
    assert err.count("\n") == 1


def test_list_names_properties_and_constants(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "verify", "--machine", "assignment", "--list")
    assert code == 0
    assert "partition-lemma Once all running consumers" in " ".join(out.split())
    assert "--set strategy=… one of AVG, AVG_BY_CIRCLE" in " ".join(out.split())


def test_own_strategy_in_python_is_checked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine_for_cli.py").write_text(
        "def fair(own_id, queues, ids):\n"
        "    return queues[ids.index(own_id) :: len(ids)] if own_id in ids else []\n"
        "def greedy(own_id, queues, ids):\n"
        "    return queues[ids.index(own_id) :]\n"
    )
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(capsys, "verify", "--strategy", "mine_for_cli:fair")
    assert code == 0
    assert "one-owner" in out
    code, out, _ = run(capsys, "verify", "--strategy", "mine_for_cli:greedy")
    assert code == 1
    assert "2 queues" in out


def test_own_strategy_as_a_program_is_checked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program = tmp_path / "strategy.py"
    program.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    q = json.loads(line)\n"
        "    ids, own = q['clientIds'], q['clientId']\n"
        "    mine = q['queues'][ids.index(own) :: len(ids)] if own in ids and ids else []\n"
        "    print(json.dumps({'queues': mine}), flush=True)\n"
    )
    code, out, _ = run(capsys, "verify", "--strategy-command", f"{sys.executable} {program}")
    assert code == 0
    assert "no-gap" in out


def test_an_interrupted_run_shows_what_it_had_and_is_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rocketproof.commands import verify

    real = verify.run_suite

    def interrupted(*args: object, **kwargs: object) -> object:
        yield next(iter(real(*args, **kwargs)))  # type: ignore[arg-type]
        raise KeyboardInterrupt

    monkeypatch.setattr(verify, "run_suite", interrupted)
    code, out, err = run(capsys, "verify", "join-overlap", "death-gap")
    assert code == 2
    assert "join-overlap" in out
    assert "interrupted; not checked: 1 of 2." in err


@pytest.mark.slow
def test_the_installed_command_answers() -> None:
    command = Path(sys.executable).with_name("rocketproof")
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("rocketproof 0.")
