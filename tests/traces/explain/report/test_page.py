"""The page: what it says, and that it stays small, whole and harmless."""

from __future__ import annotations

import errno
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.claims import CLAIMS
from rocketproof.traces.claims.obligations import Reason
from rocketproof.traces.encoding.names import Actor, Names, Slot
from rocketproof.traces.engine.result import ClaimVerdict
from rocketproof.traces.errors import TraceError
from rocketproof.traces.explain.report.html import page
from rocketproof.traces.explain.report.rules import all_rules, glossary
from rocketproof.traces.explain.report.sections import explained, first_findings, headline, overall, shown
from rocketproof.traces.explain.report.tables import TABLES
from rocketproof.traces.explain.report.write import write_report
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Header
from rocketproof.traces.io import Problems, open_trace

from .examples import BEGIN, CLIENTS, MINUTE, ORDERS, Rows, clean, result, troubled

EMPTY_TAGS = {"meta", "link", "br", "input", "rect", "line", "circle", "path"}


class Outline(HTMLParser):
    """Text, ids, links and addresses of a page; notes tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.addresses: list[str] = []
        self.words: list[str] = []
        self.unmatched: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.unmatched += self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += filter(None, [given.get("id")])
        (self.links if tag == "a" else self.addresses).extend(
            value or "" for name, value in attrs if name in ("href", "src")
        )
        if tag not in EMPTY_TAGS:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in EMPTY_TAGS:
            return
        if not self._open or self._open.pop() != tag:
            self.unmatched.append(tag)

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def rich() -> Outline:
    check, stories = troubled(flood=1000)
    return Outline(page(check, stories=stories))


def test_every_tag_is_closed_and_every_link_leads_somewhere(rich: Outline) -> None:
    assert rich.unmatched == []
    assert len(rich.ids) == len(set(rich.ids))
    assert [link for link in rich.links if link.removeprefix("#") not in rich.ids] == []
    assert "#offset-never-back-without-cause" in rich.links
    assert "#RB-30" in rich.links


def test_nothing_is_fetched(rich: Outline) -> None:
    assert rich.addresses == ["data:,"]
    check, stories = troubled()
    text = page(check, stories=stories)
    assert not re.search(r"@import|url\((?!#)|fetch\(|XMLHttpRequest", text)
    assert "default-src 'none'" in text


@pytest.mark.parametrize(
    "words",
    [
        f"{len(CLAIMS)} claims: 4 violated, 2 unknown, 10 not observable, {len(CLAIMS) - 16} hold",
        "events 12,345 time covered 30 min files 2 problems of reading 1",
        "2026-03-01 12:00:00.000 UTC",
        "recorded by listener hook of <billing>; rules of release 5.3.3",
        "group billing clustering, concurrently, AVG, at most 16 retries",
        "not recorded lock unlock store dead_letter",
        "day/a.jsonl:17 damaged line the line is no JSON",
        "no dead_letter events; the broker's dead-letter topic would settle it",
        "acknowledged 11,800 95.6 %",
        "no cause was found 1 1.4 %",
        "Stored offsets decreased for these reasons: reset 1",
        "12:18:00.000 10.0.0.1@4711 stores offset 1720 of Orders@broker-a:1 (periodic) day/a.jsonl:9001",
        "day/b.parquet row 8,877",
        "7 more events of it",
        "clocks too close, evidence not recorded",
        "Orders 10.0.0.1@4711 paid || open differs",
        "flapping score 0.00",
        "RB-30 A pass (1) marks queues that left the share as dropped",
    ],
)
def test_it_says(rich: Outline, words: str) -> None:
    assert words in rich.text


def test_of_many_findings_the_first_are_shown_and_all_are_counted(rich: Outline) -> None:
    assert "1,000 findings" in rich.text
    assert "The first 200 of 1,000" in rich.text
    check, _ = troubled(flood=1000)
    assert len(shown(check, check.verdict("nothing-skipped"))) == 200
    few, _ = troubled(flood=200)
    assert "The first 200 of" not in Outline(page(few)).text


def test_a_clean_trace_has_no_findings_and_holds() -> None:
    outline = Outline(page(clean()))
    assert outline.text.startswith("HOLDS: trace check")
    assert f"{len(CLAIMS)} claims: {len(CLAIMS)} hold" in outline.text
    assert outline.ids[2:] == ["zone", "whole", "summary", "claims", "recording", "rules", *all_cited(), "tip"]
    assert outline.unmatched == []


def all_cited() -> list[str]:
    cited = {rule for claim in CLAIMS for rule in claim.rules}
    return [rule for rule in all_rules() if rule in cited]


def test_a_stuck_queue_is_listed_with_its_reason() -> None:
    rows = Rows(Names())
    rows.add(claim="every-queue-moves", slot=ORDERS[3], offset=7, since=BEGIN, time=BEGIN + MINUTE, actor=CLIENTS[0],
             value=Reason.NOT_LOCKED, expected=5)  # fmt: skip
    outline = Outline(page(result(rows)))
    told = "Stuck queues time since group queue offset who reason expected 2026-03-01 12:01:00.000 "
    assert told + "2026-03-01 12:00:00.000 billing Orders@broker-a:3 7 10.0.0.1@4711 not locked 5" in outline.text
    assert "#stuck" in outline.links


def test_names_of_a_trace_cannot_become_part_of_the_page() -> None:
    evil = '"><script>alert(1)</script><img src=x onerror=alert(2)>'
    rows = Rows(Names())
    slot = Slot(evil, evil, evil, 1, evil)
    rows.add(claim="nothing-skipped", slot=slot, actor=Actor(evil), other=Actor(evil), time=BEGIN, since=BEGIN)
    problems = Problems()
    problems.add(evil, 3, evil)
    events = [
        {"kind": Kind.HEARTBEAT, "group": evil, "client": evil, "time": BEGIN, "subscriptions": [f"{evil}={evil}@1"]},
        {"kind": Kind.REBALANCE, "group": evil, "topic": evil, "client": evil, "time": BEGIN, "members": [evil],
         "queues": [evil], "assigned": [evil]},
    ]  # fmt: skip
    check = result(rows, events=events, problems=problems, files=(evil,), header=Header(source=evil, release=evil))
    text = page(check)
    outline = Outline(text)
    assert outline.unmatched == []
    assert text.count("<script>") == 1
    assert "<img" not in text
    assert outline.text.count("alert(1)") >= 10


def verdict(answer: Verdict) -> ClaimVerdict:
    return ClaimVerdict(claim=CLAIMS[0], verdict=answer, judged=1, violated=0, doubtful=0)


@pytest.mark.parametrize(
    ("answers", "whole"),
    [
        ([Verdict.HOLDS, Verdict.NOT_OBSERVABLE], Verdict.HOLDS),
        ([Verdict.HOLDS, Verdict.UNKNOWN], Verdict.UNKNOWN),
        ([Verdict.UNKNOWN, Verdict.VIOLATED], Verdict.VIOLATED),
        ([Verdict.NOT_OBSERVABLE], Verdict.NOT_OBSERVABLE),
        ([], Verdict.UNKNOWN),
    ],
)
def test_the_whole_is_as_good_as_its_worst_part(answers: list[Verdict], whole: Verdict) -> None:
    assert overall([verdict(answer) for answer in answers]) is whole


def test_the_headline_counts_verdicts_worst_first() -> None:
    answers = [verdict(Verdict.HOLDS), verdict(Verdict.VIOLATED), verdict(Verdict.VIOLATED)]
    assert headline(answers) == "3 claims: 2 violated, 1 holds"


def test_findings_without_doubt_come_first() -> None:
    check, _ = troubled()
    rows = Rows(Names())
    for place, doubt in enumerate((1, 0, 2, 0)):
        rows.add(claim="nothing-skipped", time=place, doubt=doubt)  # type: ignore[arg-type]
    check = result(rows)
    found = first_findings(check, check.verdict("nothing-skipped"), most=3)
    assert [(row["time"], row["doubt"]) for row in found] == [(1, None), (3, None), (0, "skew")]


def test_explained_repetitions_are_counted_by_cause() -> None:
    check, _ = troubled()
    assert explained(check, check.verdict("every-duplicate-has-a-cause")) == [
        ("rebalance", 57), ("crash", 12), ("timeout", 3),
    ]  # fmt: skip
    assert explained(check, check.verdict("offset-never-back-without-cause")) == [("reset", 1)]


def test_rules_are_read_from_the_documents() -> None:
    assert len(all_rules()) > 140
    (rule,) = glossary(["RB-20", "XX-1"])
    assert (rule.id, rule.source) == ("RB-20", "`AbstractAllocateMessageQueueStrategy#check`")


def trace_file(folder: Path) -> Path:
    """A small trace with a message that fails twice."""
    place = '"client": "c1", "group": "g", "topic": "T", "broker": "b", "queue": 0'
    lines = ['{"rocketproof_trace": 1, "source": "test"}']
    for attempt, wait in enumerate((0, 10_300, 40_600)):
        at = BEGIN + wait
        both = f'{place}, "offset": {attempt}, "key": "K1", "attempt": {attempt}'
        lines += [
            f'{{"time": {at}, "kind": "deliver", {both}}}',
            f'{{"time": {at + 300}, "kind": "result", "result": "exception", {both}}}',
        ]
    path = folder / "run.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_report_is_a_page_and_tables(tmp_path: Path) -> None:
    check, stories = troubled()
    trace = open_trace([trace_file(tmp_path)])
    folder = tmp_path / "deep" / "report"
    files = write_report(folder, check, trace, told=stories)
    assert [file.name for file in files] == [
        "index.html", "findings.parquet", "verdicts.parquet", "ownership.parquet", "offsets.parquet",
        "messages.parquet",
    ]  # fmt: skip
    assert sorted(folder.iterdir()) == sorted(files)
    for file in files[1:]:
        assert pq.read_table(file).equals(TABLES[file.stem](check))
    text = files[0].read_text(encoding="utf-8")
    assert "went back from 1720 to 1200" in text
    assert write_report(folder, clean(), trace, told=[]) == files
    assert "went back from 1720 to 1200" not in files[0].read_text(encoding="utf-8")


def test_a_report_that_cannot_be_written_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TraceError, match=r"cannot write the report to .*file: "):
        write_report(tmp_path / "file", clean(), open_trace([trace_file(tmp_path)]), told=[])


def test_a_full_disk_leaves_no_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object, **_kwargs: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(TraceError, match="No space left on device"):
        write_report(tmp_path / "report", clean(), open_trace([trace_file(tmp_path)]), told=[])
    assert list((tmp_path / "report").iterdir()) == []


def test_a_page_does_not_depend_on_when_it_is_made() -> None:
    check, stories = troubled()
    assert page(check, stories=stories) == page(replace(check), stories=stories)


def test_what_was_not_checked_is_said() -> None:
    assert "what was not checked" not in Outline(page(clean())).text
    many = tuple(f"notes-{number}.txt: no trace" for number in range(103))
    text = Outline(page(replace(clean(), left_out=many, skipped={"a <b>": 1_200}, passed_over={"events": 7}))).text
    assert "file left out notes-99.txt: no trace" in text
    assert "notes-100.txt" not in text
    assert "files left out 3 more" in text
    assert "no event 1,200 × a <b> passed over 7 events" in text
