"""``rocketproof mutants --generated``: what its report says of the properties, in text, JSON and HTML."""

import io

from rocketproof.checkers.catalogue import default_rows
from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import Effort, judge
from rocketproof.checkers.mutation.summary import idle, not_asked, notices, only_one
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.commands.generated_mutants import as_object, page, print_notices
from rocketproof.commands.mutants_options import Mutants
from rocketproof.output.console import SafeConsole

ROWS = [row for row in default_rows() if row.machine == "orderly_lock"]
SMALL = [item for item in settings(ROWS) if item.title in ("orderly_lock consumers=1 leaves=1", "orderly_lock")]
UNGUARDED, UNLOCKED = [
    item
    for item in all_changes("orderly_lock")
    if item.text == "take" and item.told in ("without the guard _may_take(s, c, q)", "without grant(s, c, q)")
]
OUTCOMES = judge([UNGUARDED, UNLOCKED], SMALL, Theorems([]), Effort(every_row=True))
MATRIX = Mutants(part="orderly_lock", matrix=True)
EXCLUDES, FREE, GONE = "one-listener-a-queue", "released-queue-is-free", "gone-client-has-nothing"


def test_properties_that_notice_none_are_told_from_those_that_were_not_asked() -> None:
    found = notices(OUTCOMES, ROWS)
    assert [(item.id, item.asked, item.mutants) for item in found if item.asked] == [
        (EXCLUDES, 2, (UNGUARDED.id, UNLOCKED.id)),
        (FREE, 2, ()),
        (GONE, 1, (UNGUARDED.id,)),
    ]
    assert [item.id for item in only_one(found)] == [GONE]
    assert [item.id for item in idle(found)] == [FREE]
    assert len(not_asked(found)) == len(found) - 3


def test_the_json_has_each_property_with_its_mutants() -> None:
    told = as_object(OUTCOMES, ROWS, MATRIX)
    (gone,) = [item for item in told["properties"] if item["id"] == GONE]
    assert (gone["machine"], gone["asked"], gone["mutants"]) == ("orderly_lock", 1, (UNGUARDED.id,))
    assert gone["statement"] == next(row.statement for row in ROWS if row.id == GONE)
    assert (told["notice only one mutant"], told["notice none"]) == ([GONE], [FREE])
    assert (told["rows"][EXCLUDES], told["rows"][FREE]) == (2, 0)
    assert EXCLUDES not in told["not asked"]


def test_the_page_says_what_such_a_property_claims_and_what_the_mutant_changes() -> None:
    text = page(OUTCOMES, ROWS, MATRIX)
    assert "1 properties notice only one mutant" in text
    assert f"<td>{UNGUARDED.id}</td><td>{UNGUARDED.told}</td>" in text
    (free,) = {row.statement for row in ROWS if row.id == FREE}
    assert f"<td>{FREE}</td><td>{free}</td><td>orderly_lock</td><td>2</td>" in text


def test_the_text_lists_them() -> None:
    out = io.StringIO()
    print_notices(SafeConsole(file=out, width=120), OUTCOMES, ROWS)
    assert out.getvalue().splitlines()[:4] == [
        "1 properties notice only one mutant",
        f"  {GONE}  {UNGUARDED.id}, of 1",
        "1 properties notice none of those that differ where they are claimed",
        f"  {FREE:{len(GONE)}}  of 2",
    ]
