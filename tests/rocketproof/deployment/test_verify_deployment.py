"""``rocketproof verify --config`` with a deployment: output, exit codes, JSON, JUnit, SARIF, annotations."""

import functools
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from rocketproof.checkers.suite import Options
from rocketproof.cli import main
from rocketproof.deployment.judge import Answer, Judge
from rocketproof.deployment.report import report_row
from rocketproof.output.annotations import workflow_commands
from rocketproof.output.row import ReportRow, Severity
from rocketproof.output.sarif import as_sarif

from .examples import NAME, answers, changed, deployment, write
from .sarif_log import LOG

TAGS = changed(b2='subscriptions = { orders = "paid" }')
ACCEPTED = '\n[[accepted]]\nfinding = "A3"\nbecause = "we know: until \\"v2\\""\n'
NAMES = ["A3", "C4", "offset-never-past-wanted", "accepted-findings"]
ORDERLY = changed(group='listener = "orderly"\nmax_reconsume_times = 3')
LOCK = "one-listener-a-queue"
SCHEMA = "SARIF_SCHEMA"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(capsys: pytest.CaptureFixture[str], text: str, *arguments: str) -> tuple[int, str, str]:
    write(Path(), text)
    with pytest.raises(SystemExit) as stop:
        main(["verify", "--config", NAME, *arguments])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def test_a_finding_is_1_and_told_with_line_consequence_and_fix(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, TAGS, *NAMES)
    assert (code, err) == (1, "")
    words = " ".join(out.split())
    assert words.startswith("rocketproof.toml: 1 broker, 1 topic, 1 group ")
    assert "billing: 2 members, CLUSTERING, concurrently, AVG; 8 queues of orders;" in words
    assert "17 deliveries, dead letter after 4 h 45 min 40 s" in words
    assert "rocketproof.toml:19: error: billing: A3-group-subscribes-different-tags members want different" in words
    assert "fix: Give every member of billing the same expression for orders" in words
    assert "error offset-never-past-wanted because of A3; explore: 6 steps" in words
    assert "4 checks: 2 ok, 2 error;" in words


def test_nothing_found_is_0(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, changed(), "A3", "billing::A1", "deployed-shares")
    assert code == 0
    assert "3 checks: 3 ok;" in out


def test_a_story_is_told_of_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, TAGS, "offset-never-past-wanted")
    assert "    start:" in out
    assert re.search(r"^ +6\. ", out, re.MULTILINE)


def test_unknown_is_2(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, ORDERLY, LOCK, "--limit", "50")
    assert code == 2
    assert "UNKNOWN: one-listener-a-queue was neither shown nor refuted for billing." in out
    assert "1 check: 0 ok, 1 unknown;" in out
    code, _, _ = run(capsys, ORDERLY.replace("= 200\n", "= 25000\n"), LOCK, "E8", "--limit", "50")
    assert code == 1


def test_fail_on_is_an_option_of_the_file_and_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    text = changed(group="max_reconsume_times = 20")
    assert run(capsys, text, "SB-20")[0] == 0
    assert run(capsys, text, "SB-20", "--fail-on", "warning")[0] == 1
    file = text + '[verify]\nproperties = ["SB-20"]\nfail_on = "warning"\n'
    assert run(capsys, file)[0] == 1
    assert run(capsys, file, "--fail-on", "error")[0] == 0


def test_an_accepted_finding_is_named_and_does_not_fail(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, TAGS + ACCEPTED, "A3", "accepted-findings")
    assert code == 0
    assert 'accepted: A3-group-subscribes-different-tags of billing, because we know: until "v2"' in " ".join(
        out.split()
    )
    assert "2 checks: 1 ok, 1 accepted;" in out


def test_the_checks_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, changed(), "--list")
    assert code == 0
    assert re.search(r"^billing::A1-clientid-clash +Every client of a group has a client id of its own\.$", out, re.M)
    assert "billing::partition-lemma" in out


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (changed(), ["A33"], "rocketproof: there is no check 'A33'."),
        (changed(), ["--machine", "assignment"], "rocketproof: --machine cannot be given together with a deployment"),
        (changed(), ["--set", "consumers=2"], "rocketproof: --set cannot be given together with a deployment"),
        (changed(), ["--fail-on", "warnings"], "rocketproof: --fail-on 'warnings' is not possible. Did you mean 'warn"),
        (
            changed(),
            ["--sarif", "-", "--json", "-"],
            "rocketproof: --json and --sarif cannot both go to standard output",
        ),
        (changed(), ["--annotations", "github", "--json", "-"], "rocketproof: --json and --annotations cannot both go"),
        (
            "[verify]\n",
            ["--sarif", "x.sarif"],
            "rocketproof: --sarif points to lines of a deployment file; name one with",
        ),
        ("[verify]\n", ["--fail-on", "error"], "rocketproof: --fail-on is about findings in a deployment;"),
        (
            changed(group="pull_interva = 3"),
            [],
            "rocketproof: rocketproof.toml:10: groups[billing].pull_interva: there is",
        ),
    ],
)
def test_a_mistake_is_one_line_and_3(
    capsys: pytest.CaptureFixture[str], text: str, arguments: list[str], message: str
) -> None:
    code, _, err = run(capsys, text, *arguments)
    assert code == 3
    assert err.startswith(message)
    assert err.count("\n") == 1


def test_every_mistake_of_a_broken_file_has_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, changed(broker="versio = 1", group="pull_interval = -1"))
    assert code == 3
    assert [line.split(":")[2] for line in err.splitlines()] == ["3", "11"]


def test_a_file_with_options_only_is_as_before(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, '[verify]\nproperties = ["join-overlap"]\n')
    assert code == 0
    assert "1 of 1 as expected" in out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, TAGS, *NAMES, "--json", "-")
    rows = {row["check"]: row for row in json.loads(out)}
    assert code == 1
    tags = rows["A3-group-subscribes-different-tags"]
    assert (tags["group"], tags["level"], tags["file"], tags["line"]) == ("billing", "error", NAME, 19)
    assert [finding["id"] for finding in tags["findings"]] == ["A3"]
    asked = rows["offset-never-past-wanted"]
    assert (asked["verdict"], asked["engine"], asked["machine"]) == ("VIOLATED", "explore", "consumption")
    assert asked["story"].startswith("start:")
    assert rows["C4-shutdown-commits-too-early"]["findings"] == []


def test_junit(capsys: pytest.CaptureFixture[str]) -> None:
    text = TAGS.replace("= 5000", "= 0").replace('"billing"', '"billing"\nretry_queue_nums = 0') + ACCEPTED
    run(capsys, text, "A3", "C4", "SB-12", "A1", "offset-never-past-wanted", "--limit", "50", "--junit", "rows.xml")
    suite = ElementTree.parse("rows.xml").getroot()[0]
    assert [suite.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["5", "1", "1", "1"]
    cases = {case.get("name"): case for case in suite}
    assert cases["offset-never-past-wanted"].get("classname") == "rocketproof.toml.billing"
    assert cases["SB-12-no-retry-queues"][0].tag == "failure"
    assert len(cases["A1-clientid-clash"]) == 0
    assert cases["offset-never-past-wanted"][0].tag == "error"
    assert (cases["offset-never-past-wanted"][0].text or "").startswith("UNKNOWN: ")
    assert cases["A3-group-subscribes-different-tags"][0].tag == "skipped"
    assert cases["C4-shutdown-commits-too-early"][0].tag == "system-out"


def rows_of(given: Sequence[Answer], file: str) -> list[ReportRow]:
    return [report_row(answer, file, fail_on=Severity.ERROR) for answer in given]


def sarif_of(given: Sequence[Answer], file: str) -> str:
    return as_sarif(rows_of(given, file), [file])


def logs() -> list[dict[str, Any]]:
    """What :func:`texts` says, anew for each test."""
    return [json.loads(text) for text in texts()]


@functools.cache
def texts() -> tuple[str, ...]:
    """SARIF logs with all that may occur: findings, stories, stories without steps, unknown, accepted, fine."""
    same_id = changed(b1='client_ip = "a"\ninstance_name = "w"', b2='client_ip = "a"\ninstance_name = "w"')
    limited = Judge(deployment(ORDERLY), Options(states=50))
    return (
        sarif_of(answers(TAGS + ACCEPTED, "A3", "A1", "offset-never-past-wanted"), NAME),
        sarif_of(answers(same_id, "A1", "partition-lemma", "deployed-shares"), "deploy/my rocketproof.toml"),
        sarif_of([limited.answer(check) for check in limited.checks if check.id == LOCK], "/x/" + NAME),
    )


def test_sarif_is_well_formed() -> None:
    for log in logs():
        jsonschema.Draft202012Validator(LOG).validate(log)
        (run_,) = log["runs"]
        rules = run_["tool"]["driver"]["rules"]
        for result in run_["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            place = result["locations"][0]["physicalLocation"]["artifactLocation"]
            assert place == run_["artifacts"][0]["location"]
        prints = [result["partialFingerprints"]["check/v1"] for result in run_["results"]]
        assert len(set(prints)) == len(prints)


def test_the_schema_of_our_own_refuses_what_the_standard_does() -> None:
    log = logs()[0]
    (accepted,) = [result for result in log["runs"][0]["results"] if "suppressions" in result]
    accepted["kind"] = "pass"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(LOG).validate(log)


@pytest.mark.skipif(
    SCHEMA not in os.environ, reason=f"{SCHEMA} does not name the file sarif-schema-2.1.0.json of OASIS"
)
def test_sarif_is_valid_by_the_schema_of_the_standard() -> None:
    schema = json.loads(Path(os.environ[SCHEMA]).read_text(encoding="utf-8"))
    validator = jsonschema.validators.validator_for(schema)
    for log in logs():
        validator(schema, format_checker=validator.FORMAT_CHECKER).validate(log)


def test_sarif_says_what_is_found_where() -> None:
    log, same_id, unknown = logs()
    results = {result["ruleId"]: result for result in log["runs"][0]["results"]}
    accepted = results["A3-group-subscribes-different-tags"]
    assert (accepted["kind"], accepted["level"]) == ("fail", "error")
    assert accepted["suppressions"][0]["justification"] == 'we know: until "v2"'
    assert accepted["locations"][0]["physicalLocation"]["region"] == {"startLine": 19}
    assert "A1-clientid-clash" not in results  # nothing to act on
    steps = results["offset-never-past-wanted"]["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["executionOrder"] for step in steps] == [1, 2, 3, 4, 5, 6]
    assert steps[0]["location"]["message"]["text"].startswith("1. ")
    assert same_id["runs"][0]["artifacts"][0]["location"]["uri"] == "deploy/my%20rocketproof.toml"
    (result,) = unknown["runs"][0]["results"]
    assert (result["kind"], result["level"]) == ("open", "none")
    (invocation,) = unknown["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    assert "neither shown nor refuted" in invocation["toolExecutionNotifications"][0]["message"]["text"]


def test_annotations_are_printed_after_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, TAGS, *NAMES, "--annotations", "github")
    shown = [line for line in out.splitlines() if line.startswith("::")]
    title = "title=billing%3A A3-group-subscribes-different-tags"
    assert shown[0].startswith(f"::error file=rocketproof.toml,line=19,{title}::members want different messages")
    assert "%0Afix: Give every member" in shown[0]
    assert shown[1].startswith("::error file=rocketproof.toml,line=19,title=billing%3A offset-never-past-wanted::")
    assert len(shown) == 2
    assert out.splitlines()[-2:] == shown


def test_annotations_are_escaped() -> None:
    (finding,) = workflow_commands(rows_of(answers(TAGS, "A3"), "a,b:c%.toml"))
    assert finding.startswith("::error file=a%2Cb%3Ac%25.toml,line=19,")
    assert "\n" not in finding
    assert list(workflow_commands(rows_of(answers(TAGS + ACCEPTED, "A3"), NAME))) == []
    (note,) = workflow_commands(rows_of(answers(changed().replace("= 5000", "= 0"), "C4"), NAME))
    assert note.startswith("::notice file=")
