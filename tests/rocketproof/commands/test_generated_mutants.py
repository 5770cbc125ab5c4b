"""``rocketproof mutants --generated``: what its report says of the properties, in text, JSON and HTML."""

import io
import re
from pathlib import Path

import pytest

from benchmarks import mutants as benchmark
from benchmarks.mutants import DECISIONS, decided, undecided
from rocketproof.checkers.catalogue import default_rows
from rocketproof.checkers.mutation.changes import all_changes, parts
from rocketproof.checkers.mutation.further import ask_further
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import Effort, judge
from rocketproof.checkers.mutation.summary import idle, not_asked, notices, only_one
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.commands.generated_mutants import as_object, page, print_notices
from rocketproof.commands.mutants_options import Mutants
from rocketproof.output.console import SafeConsole

from ..command import run

ROWS = [row for row in default_rows() if row.machine == "orderly_lock"]
SMALL = [item for item in settings(ROWS) if item.title in ("orderly_lock consumers=1 leaves=1", "orderly_lock")]
UNGUARDED, UNLOCKED = [
    item
    for item in all_changes("orderly_lock")
    if item.text == "take" and item.told in ("without the guard _may_take(s, c, q)", "without grant(s, c, q)")
]
CHANGES, RULES = [UNGUARDED, UNLOCKED], Theorems([])
FIRST = judge(CHANGES, SMALL, RULES)
OUTCOMES = ask_further(FIRST, CHANGES, SMALL, RULES, Effort())
MATRIX = Mutants(part="orderly_lock", matrix=True)
EXCLUDES, FREE, GONE = "one-listener-a-queue", "released-queue-is-free", "gone-client-has-nothing"
DOCUMENT = DECISIONS.read_text(encoding="utf-8")
PAIRS = re.findall(r"^\| `([a-z-]+)` \| `([a-z_.0-9]+)` \|", DOCUMENT, re.MULTILINE)


def test_properties_are_asked_beyond_the_first_row_that_changes(tmp_path: Path) -> None:
    assert [item.kills for item in FIRST] == [(GONE,), (EXCLUDES,)]
    assert [item.kills for item in OUTCOMES] == [(GONE, EXCLUDES), (EXCLUDES,)]
    file = tmp_path / "known.jsonl"
    for _ in range(2):
        again = ask_further(FIRST, CHANGES, SMALL, RULES, Effort(jobs=2), journal=file)
        assert [(item.kills, item.asked) for item in again] == [(item.kills, item.asked) for item in OUTCOMES]
        lines = file.read_text().splitlines()
        assert len(lines) == len(set(lines)) + lines.count("") - 1


def test_properties_that_notice_none_are_told_from_those_that_were_not_asked() -> None:
    found = notices(OUTCOMES, ROWS)
    assert [(item.id, item.asked, item.mutants) for item in found if item.asked] == [
        (EXCLUDES, 2, (UNGUARDED.id, UNLOCKED.id)),
        (FREE, 2, ()),
        (GONE, 2, (UNGUARDED.id,)),
    ]
    assert [item.id for item in only_one(found)] == [GONE]
    assert [item.id for item in idle(found)] == [FREE]
    assert len(not_asked(found)) == len(found) - 3


def test_the_json_has_each_property_with_its_mutants() -> None:
    told = as_object(OUTCOMES, ROWS, MATRIX)
    (gone,) = [item for item in told["properties"] if item["id"] == GONE]
    assert (gone["machine"], gone["asked"], gone["mutants"]) == ("orderly_lock", 2, (UNGUARDED.id,))
    assert gone["statement"] == next(row.statement for row in ROWS if row.id == GONE)
    assert (told["notice only one mutant"], told["notice none"]) == ([GONE], [FREE])
    assert (told["rows"][EXCLUDES], told["rows"][FREE]) == (2, 0)
    assert EXCLUDES not in told["not asked"]


def test_the_page_says_what_such_a_property_claims_and_what_the_mutant_changes() -> None:
    text = page(OUTCOMES, ROWS, MATRIX)
    assert "Properties that notice only one mutant: 1" in text
    assert f"<td>{UNGUARDED.id}</td><td>{UNGUARDED.told}</td>" in text
    (free,) = {row.statement for row in ROWS if row.id == FREE}
    assert f"<td>{FREE}</td><td>{free}</td><td>orderly_lock</td><td>2</td>" in text


def test_the_text_lists_them() -> None:
    out = io.StringIO()
    print_notices(SafeConsole(file=out, width=120), OUTCOMES, ROWS)
    assert out.getvalue().splitlines()[:4] == [
        "properties that notice only one mutant: 1",
        f"  {GONE}  {UNGUARDED.id}, of 2",
        "properties that notice none of those that differ where they are claimed: 1",
        f"  {FREE:{len(GONE)}}  of 2",
    ]


def test_what_kills_one_or_none_needs_a_reason_in_the_document() -> None:
    assert undecided(OUTCOMES, ROWS, "") == [GONE, FREE]
    assert undecided(OUTCOMES, ROWS, f"| property | why |\n|---|---|\n| `{FREE}`, `x` | `{GONE}` |\n") == [GONE]


def test_the_benchmark_reports_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "entries", lambda _: [])
    monkeypatch.setattr(benchmark, "all_changes", lambda: CHANGES)
    monkeypatch.setattr(benchmark, "default_rows", lambda: ROWS)
    monkeypatch.setattr(benchmark, "settings", lambda _: SMALL)
    monkeypatch.setattr(benchmark, "JOURNAL", tmp_path / "known.jsonl")
    known, every, part, weak, left = benchmark.measure()
    assert known["figure"] == "known bugs, tried"
    assert [(item["figure"], item["killed"], item["share"]) for item in (every, part)] == [
        ("generated mutants of all", 2, 1.0),
        ("generated mutants of orderly_lock", 2, 1.0),
    ]
    assert (weak["one"], weak["none"], left["names"]) == ([GONE], [FREE], [GONE, FREE])


def test_what_the_document_decides_about_exists() -> None:
    _, _, generated = DOCUMENT.partition("## Generated mutants")
    names = {*parts(), *(item.id for item in all_changes()), *(row.id for row in default_rows())}
    assert decided(generated) - names == set()
    assert PAIRS


@pytest.mark.parametrize(("name", "mutant"), PAIRS)
def test_the_one_mutant_that_the_document_names_is_noticed(name: str, mutant: str) -> None:
    (change,) = [item for item in all_changes(mutant.partition(".")[0]) if item.id == mutant]
    (outcome,) = judge([change], settings(row for row in default_rows() if row.id == name), RULES)
    assert name in outcome.kills


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--part", "lok"], "there is no part 'lok' of the model. Did you mean 'lock'?"),
        (["lock.tak"], "there is no generated mutant 'lock.tak'."),
        (["--sample", 0], "--sample 0 is none; give at least 1."),
        (["--seed", 3], "--seed chooses a sample; add --sample N."),
        (["--limit", "seconds=5"], "--limit seconds does not bound generated mutants; possible: states=N."),
        (["--stories"], "--stories is about known bugs; leave --generated out."),
        (["--keep", "notes.txt", "delay"], "there is no generated mutant 'delay'."),
        (["--keep", "notes.txt", "--part", "tags"], "notes.txt is not a file of --keep, and would be overwritten"),
    ],
)
def test_wrong_usage(
    options: list[object],
    told: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    code, out, err = run(capsys, "mutants", "--generated", *options)
    assert (code, out) == (3, "")
    assert told in err
    assert notes.read_text() == "mine"
