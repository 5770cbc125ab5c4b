"""What ``rocketproof check`` prints and writes, for answers that are made up."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from xml.etree import ElementTree

import jsonschema
import pytest

from rocketproof.output.annotations import workflow_commands
from rocketproof.output.console import SafeConsole
from rocketproof.output.junit import as_junit
from rocketproof.output.row import ReportRow, RowStatus
from rocketproof.output.sarif import as_sarif
from rocketproof.output.trace_files import LOCATED, as_json, report_rows
from rocketproof.output.trace_report import folder_of, print_result
from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.claims import CLAIMS
from rocketproof.traces.encoding.names import Names
from rocketproof.traces.engine.findings import Doubt
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.explain.source_lines import Place
from rocketproof.traces.explain.story import Story
from rocketproof.traces.io import Problems

from ...traces.explain.report.examples import BEGIN, Rows, clean, result, troubled
from ..deployment.sarif_log import LOG

ALL = len(CLAIMS)


def unseen() -> int:
    """How many claims of the troubled recording cannot be observed."""
    return sum(answer.verdict == "NOT OBSERVABLE" for answer in troubled()[0].verdicts)


def printed(check: CheckResult, told: list[Story], *claims: str, every: bool = False) -> list[str]:
    console = SafeConsole(file=io.StringIO(), highlight=False, width=80)
    print_result(console, check, told, claims=claims, every=every)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_what_was_found_comes_first_and_the_rest_in_a_line_for_each_verdict() -> None:
    lines = printed(*troubled(flood=10))
    shown = [" ".join(line.split()) for line in lines[4:13]]
    assert shown[:3] == [
        "every-duplicate-has-a-cause VIOLATED 1 judged, 1 violated",
        "offset-never-back-without-cause VIOLATED 1 judged, 1 violated",
        "nothing-skipped VIOLATED 1 judged, 10 violated",
    ]
    assert shown[4] == "every-queue-gets-an-owner UNKNOWN 1 judged, 1 in doubt; what would excuse it may be lost"
    rest = sum(answer.verdict == "HOLDS" for answer in troubled(flood=10)[0].verdicts)
    assert shown[6] == (
        f"HOLDS {rest} claims, {rest} judged: offset-never-past-unfinished, failed-message-comes-again, "
        f"only-owners-commit, no-flapping and {rest - 4} more"
    )
    assert shown[7].startswith(f"NOT OBSERVABLE {unseen()} claims: every-queue-moves, ")
    assert shown[8] == "--all has a line for each claim, and what would settle it"


def test_what_went_wrong_first_is_told_before_the_stories() -> None:
    lines = printed(*troubled(flood=10))
    at = lines.index("what went wrong first, and what followed at the same places:")
    assert at < min(place for place, line in enumerate(lines) if line.startswith("messages: "))
    told = [line for line in lines[at:] if "nothing-skipped: " in line or "10 findings of this kind" in line]
    assert len(told) == 2
    assert "what went wrong first" not in "\n".join(printed(*troubled(flood=10), "nothing-skipped"))
    assert "what went wrong first" not in "\n".join(printed(clean(), []))


def test_apparent_violations_that_do_not_count_are_named() -> None:
    check, told = troubled()
    unseen = replace(check.verdict("every-queue-gets-an-owner"), verdict=Verdict.NOT_OBSERVABLE)
    check = replace(check, verdicts=tuple(unseen if each.claim is unseen.claim else each for each in check.verdicts))
    (line,) = [line for line in printed(check, told) if "seems violated" in line]
    assert line == "  seems violated, unless what was not recorded explains it: every-queue-gets-an-owner (1)"


def test_the_table_has_a_line_for_each_claim() -> None:
    lines = printed(*troubled(flood=10), every=True)
    table = {line.split()[0]: " ".join(line.split()[1:]) for line in lines if line.startswith("  ")}
    assert len(table.keys() & {claim.id for claim in CLAIMS}) == len(CLAIMS)
    assert table["nothing-skipped"] == "VIOLATED 1 judged, 10 violated"
    assert table["orderly-in-order"] == "HOLDS 1 judged"
    assert table["every-queue-gets-an-owner"] == ("UNKNOWN 1 judged, 1 in doubt; what would excuse it may be lost")
    assert table["stores-follow-each-other"] == (
        "NOT OBSERVABLE 1 judged; no store events; "
        "what brokers store, which the capture agent in them sees would settle it"
    )
    assert table["every-queue-is-readable"] == "NOT OBSERVABLE 0 judged; nothing of that kind happened"


def test_around_the_table_is_what_was_read_and_what_came_out() -> None:
    lines = printed(*troubled())
    assert lines[:4] == [
        "2 files of day: 12,345 events, 2026-03-01 12:00:00.000 – 2026-03-01 12:30:00.000 UTC (30 min), recorded by "
        "listener hook of <billing>",
        "1 problem of reading:",
        "  day/a.jsonl:17: damaged line: the line is no JSON: Expecting value at column 1",
        "",
    ]
    assert "messages: 11,800 acknowledged, 12 pending retry, 500 skipped, 33 waiting" in lines
    at = lines.index("delivered again: 73")
    assert [line.split(" (")[0] for line in lines[at + 1 : at + 5]] == [
        "   1  no cause was found",
        "  57  its queue changed hands before its offset was stored",
        "  12  its client died before its offset was stored",
        "   3  its listener took longer than consumeTimeout",
    ]
    assert lines[at + 3].endswith(" (8 windows of 8 queues, from 2026-03-01 12:00:00.000 on)")
    assert (
        lines[-1] == f"{ALL} claims: 3 violated, 2 unknown, {unseen()} not observable, {ALL - 5 - unseen()} hold; 1.2 s"
    )


@pytest.mark.parametrize(
    ("files", "folder"),
    [
        (("day/a.jsonl", "day/deep/b.jsonl"), "day"),
        (("/day/a.jsonl", "/day/b.jsonl"), "/day"),
        (("a.jsonl", "b.jsonl"), ""),
        (("/day/a.jsonl", "b.jsonl"), ""),
        (("day/a.jsonl",), ""),
    ],
)
def test_files_are_named_by_their_paths_in_the_folder_that_has_them_all(files: tuple[str, ...], folder: str) -> None:
    assert folder_of(files) == folder
    assert Place("day/deep/b.jsonl", 7, "line").within("day") == "deep/b.jsonl:7"
    assert Place("night/b.jsonl", 7, "line").within("day") == "night/b.jsonl:7"


def test_an_event_that_no_file_has_has_no_place() -> None:
    assert Place("day/a.jsonl", 0, "event").within("day") == "concluded from other events"


def test_a_story_is_told_with_its_source_lines() -> None:
    check, told = troubled(flood=10)
    lines = printed(check, [told[0], replace(told[0], certainty="it rests on two clocks", left_out=0)])
    at = lines.index(
        "offset-never-back-without-cause  The stored offset of a queue decreases only for one of the known reasons."
    )
    assert lines[at : at + 12] == [
        lines[at],
        "  VIOLATED  1 judged, 1 violated",
        "",
        "  The stored offset of Orders@broker-a:1 went back from 1720 to 1200, for no known reason",
        "    12:18:00.000 10.0.0.1@4711 stores offset 1720 of Orders@broker-a:1 (periodic)  a.jsonl:9001",
        "    12:20:00.000 10.0.0.2@4711 stores offset 1200 of Orders@broker-a:1 (periodic)  b.parquet row 8,877",
        "    … and 7 more events",
        "",
        "  The stored offset of Orders@broker-a:1 went back from 1720 to 1200, for no known reason "
        "(in doubt: it rests on two clocks)",
        lines[at + 4],
        lines[at + 5],
        "",
    ]
    assert lines[at + 12] == "  rules: OF-8, OF-20, OF-30"


def test_many_findings_of_a_claim_are_summed_up() -> None:
    check, told = troubled(flood=2_376)
    skipped = replace(told[0], claim=next(claim for claim in CLAIMS if claim.id == "nothing-skipped"))
    lines = printed(check, [skipped])
    at = lines.index("  … and 2,375 more findings; --report writes them down")
    assert lines[at + 1] == (
        "  from 2026-03-01 12:00:00.000 to 2026-03-01 12:00:02.375: 297 in Orders@broker-a:0, "
        "297 in Orders@broker-a:1, 297 in Orders@broker-a:2, and in 5 more queues"
    )


def test_the_worst_verdicts_come_first() -> None:
    lines = printed(*troubled(), every=True)
    ids = {claim.id for claim in CLAIMS}
    table = [line.split(maxsplit=1)[1] for line in lines if line.startswith("  ") and line.split()[0] in ids]
    seen = ["VIOLATED"] * 3 + ["UNKNOWN"] * 2
    verdicts = [*seen, *["NOT OBSERVABLE"] * unseen(), *["HOLDS"] * (ALL - len(seen) - unseen())]
    assert [next(word for word in set(verdicts) if line.startswith(word)) for line in table] == verdicts


def test_only_the_claims_asked_for_are_shown() -> None:
    lines = printed(*troubled(), "orderly-in-order")
    assert lines[4:] == ["  orderly-in-order  HOLDS  1 judged", "", "1 claim: 1 holds; 1.2 s"]


def test_many_problems_are_counted() -> None:
    problems = Problems()
    for line in range(12):
        problems.add("a.jsonl", line + 1, "broken")
    lines = printed(result(Rows(Names()), problems=problems), [])
    assert lines[1] == "12 problems of reading:"
    assert lines[11:13] == ["  a.jsonl:10: damaged line: broken", "  … and 2 more"]


def test_names_in_brackets_are_no_markup() -> None:
    check, told = troubled()
    lines = printed(check, [replace(told[0], title="[red]Orders[/red] went back")])
    assert "  [red]Orders[/red] went back" in lines


def junit_of(check: CheckResult, told: Sequence[Story]) -> str:
    return as_junit("rocketproof check", report_rows(check, told), check.seconds)


def sarif_of(check: CheckResult, told: Sequence[Story]) -> str:
    return as_sarif(report_rows(check, told), check.files)


def test_json_has_everything() -> None:
    check, told = troubled(flood=LOCATED + 1)
    answer = json.loads(as_json(check, told))
    assert {name: answer[name] for name in ("verdict", "events", "begin", "files", "skew")} == {
        "verdict": "VIOLATED",
        "events": 12_345,
        "begin": BEGIN,
        "files": ["day/a.jsonl", "day/b.jsonl"],
        "skew": 50,
    }
    assert answer["problems"]["count"] == 1
    assert answer["problems"]["first"][0]["line"] == 17
    assert answer["messages"]["skipped"] == 500
    assert answer["repeats"]["no cause was found"] == 1
    claims = {claim["claim"]: claim for claim in answer["claims"]}
    assert len(claims) == len(CLAIMS)
    assert (claims["nothing-skipped"]["violated"], len(claims["nothing-skipped"]["findings"])) == (201, 200)
    assert claims["never-before-it-is-due"]["findings"] == [
        {
            "doubt": "skew+evidence", "group": "billing", "topic": "Orders", "broker": "broker-a", "queue": 0,
            "origin": -77, "offset": 1003, "since": BEGIN, "time": BEGIN + 5, "actor": "10.0.0.1@4711",
            "other": "10.0.0.2@4711", "value": 5, "expected": 30,
        }
    ]  # fmt: skip
    (story,) = claims["offset-never-back-without-cause"]["stories"]
    assert [(item["file"], item.get("line"), item.get("row")) for item in story["sentences"]] == [
        ("day/a.jsonl", 9001, None),
        ("day/b.parquet", None, 8877),
    ]


def test_junit_fails_for_what_is_violated_and_errs_for_what_is_unknown() -> None:
    suite = ElementTree.fromstring(junit_of(*troubled())).find("testsuite")
    assert suite is not None
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == [
        str(ALL),
        "3",
        "2",
        str(unseen()),
    ]
    cases = {case.get("name"): case for case in suite}
    failure = cases["offset-never-back-without-cause"].find("failure")
    assert failure is not None
    assert failure.get("message") == "VIOLATED: 1 judged, 1 violated"
    assert "[day/a.jsonl:9001]" in (failure.text or "")
    assert len(cases["orderly-in-order"]) == 0
    skipped = cases["stores-follow-each-other"].find("skipped")
    assert skipped is not None
    assert "NOT OBSERVABLE: 1 judged; no store events" in (skipped.get("message") or "")


def test_junit_has_no_character_that_xml_has_not() -> None:
    row = ReportRow(
        id="n\x1b",
        suite="c\x00",
        statement="",
        status=RowStatus.FAILED,
        seconds=1,
        message="m\x08",
        text="a\x0bb\ud800c",
    )
    (read,) = ElementTree.fromstring(as_junit("s\x01", [row], 1)).iter("testcase")
    assert (read.get("classname"), read.get("name"), read[0].get("message"), read[0].text) == (
        r"c\x00", r"n\x1b", r"m\x08", r"a\x0bb\ud800c",
    )  # fmt: skip


def test_sarif_points_to_source_lines() -> None:
    check, told = troubled(flood=10)
    log = json.loads(sarif_of(check, told))
    jsonschema.Draft202012Validator(LOG).validate(log)
    (run,) = log["runs"]
    by_rule = {item["ruleId"]: item for item in run["results"]}
    acted_on = [answer for answer in check.verdicts if answer.verdict in ("VIOLATED", "UNKNOWN")]
    assert list(by_rule) == [answer.claim.id for answer in acted_on]
    assert len(run["results"]) == len(run["tool"]["driver"]["rules"]) == len(by_rule) == 6
    for item in run["results"]:
        assert run["tool"]["driver"]["rules"][item["ruleIndex"]]["id"] == item["ruleId"]
    found = by_rule["offset-never-back-without-cause"]
    assert (found["kind"], found["level"]) == ("fail", "error")
    assert found["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "day/b.parquet"},
        "region": {"startLine": 8877},
    }
    (flow,) = found["codeFlows"]
    assert [step["executionOrder"] for step in flow["threadFlows"][0]["locations"]] == [1, 2]
    assert (by_rule["nothing-skipped"]["kind"], by_rule["every-queue-gets-an-owner"]["kind"]) == ("fail", "open")
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [item["associatedRule"]["id"] for item in invocation["toolExecutionNotifications"]] == [
        "every-queue-gets-an-owner",
        "never-before-it-is-due",
    ]


def test_sarif_of_a_violated_claim_fails_even_if_its_stories_are_in_doubt() -> None:
    check, told = troubled()
    log = json.loads(sarif_of(check, [replace(told[0], certainty="it rests on two clocks")]))
    kinds = [
        (item["kind"], item["level"])
        for item in log["runs"][0]["results"]
        if item["ruleId"] == "offset-never-back-without-cause"
    ]
    assert kinds == [("open", "none"), ("fail", "error")]


def test_sarif_of_findings_that_look_alike_can_be_told_apart() -> None:
    check, told = troubled()
    twins = [replace(told[0], row={"time": time}) for time in (BEGIN, BEGIN + 1)]
    results = json.loads(sarif_of(check, twins))["runs"][0]["results"]
    prints = [item["partialFingerprints"]["check/v1"] for item in results]
    assert len(prints) == len(set(prints))


def test_annotations_stand_at_the_line_of_the_finding() -> None:
    check, told = troubled()
    shown = list(workflow_commands(report_rows(check, told)))
    assert len(shown) == 5
    (found,) = (line for line in shown if " offset-never-back-without-cause::" in line)
    assert found.startswith("::error file=day/b.parquet,line=8877,title=")
    (unknown,) = (line for line in shown if " every-queue-gets-an-owner::" in line)
    assert unknown.startswith("::error file=day/a.jsonl,line=1,title=trace%3A ")


def test_a_clean_trace_passes_everywhere() -> None:
    check = clean()
    assert printed(check, [])[-1] == f"{ALL} claims: {ALL} hold; 1.2 s"
    assert json.loads(as_json(check, []))["verdict"] == "HOLDS"
    assert 'failures="0" errors="0" skipped="0"' in junit_of(check, [])
    log = json.loads(sarif_of(check, []))
    assert log["runs"][0]["results"] == []
    assert log["runs"][0]["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]


def test_doubt_alone_is_no_violation() -> None:
    rows = Rows(Names())
    rows.add(claim="nothing-skipped", time=BEGIN, doubt=Doubt.SKEW)
    assert 'failures="0" errors="1"' in junit_of(result(rows), [])
