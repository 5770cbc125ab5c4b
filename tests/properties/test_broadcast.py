"""Every claim about broadcasting: its verdict, the exact size of its state space, its shortest run."""

from __future__ import annotations

from collections import Counter

import pytest

from rocketproof.checkers.catalogue import preset_rows
from rocketproof.checkers.suite import Options, Outcome, claim_rows, run_suite
from rocketproof.properties.broadcast import claims
from rocketproof.properties.verdict import Verdict

from .told import sizes, told

# Property, configuration, states, transitions, and steps of the run, its loop included (None where there is no run).
EXPECTED: list[tuple[str, str, int, int, int | None]] = [
    ("broadcast-handled-by-each", "messages=2 failures=1", 893, 2656, 4),
    ("broadcast-in-order", "messages=2 failures=1", 893, 2656, 4),
    ("broadcast-once", "messages=2 failures=1", 893, 2656, None),
    ("broadcast-handled-by-each", "messages=2 failures=0 expiries=1 orphans=1", 1112, 3462, 7),
    ("broadcast-nothing-skipped", "messages=2 failures=0 expiries=1 orphans=1", 1112, 3462, None),
    ("broadcast-once", "messages=2 failures=0 expiries=1 orphans=1", 1112, 3462, None),
    ("broadcast-no-send-back", "messages=2 failures=0 expiries=1 orphans=1", 1112, 3462, None),
    ("broadcast-stray-copy", "messages=2 failures=0 expiries=1 orphans=1", 1112, 3462, 7),
    ("broadcast-only-the-first-expires", "messages=2 failures=0 expiries=1 orphans=1", 1112, 3462, None),
    ("broadcast-handled-by-each", "messages=2 failures=2 listener=orderly give_up=attempts attempts=1", 2855, 8242, 8),
    ("broadcast-once", "messages=2 failures=1 listener=orderly", 1010, 2868, 6),
    ("broadcast-once", "messages=2 failures=0 crashes=1 restarts=1", 4715, 14446, 8),
    ("broadcast-handled-by-each", "messages=2 failures=0 crashes=1 restarts=1", 4715, 14446, None),
    ("broadcast-once", "messages=2 failures=0 leaves=1 restarts=1", 6159, 18550, 10),
    ("broadcast-handled-by-each", "messages=2 failures=0 leaves=1 restarts=1", 6159, 18550, None),
    ("broadcast-once", "messages=2 failures=0 moves=1", 3195, 10082, 7),
    ("broadcast-handled-by-each", "messages=2 failures=0 moves=1", 3195, 10082, None),
    ("broadcast-each-sees-all", "messages=3 failures=0 consumers=1 arriving=2 group=new", 58, 100, 1),
    ("broadcast-once", "messages=3 failures=0 consumers=1 arriving=2 group=new", 58, 100, None),
    (
        "broadcast-nothing-skipped",
        "messages=3 failures=0 consumers=1 arriving=2 group=new crashes=1 restarts=1",
        343,
        568,
        5,
    ),
    ("broadcast-nothing-skipped", "messages=2 failures=0 crashes=1 restarts=1 shared_file=1", 4803, 15518, 5),
    ("broadcast-nothing-skipped", "messages=2 failures=0 crashes=1 restarts=1 lost_files=1", 6082, 17910, 4),
    ("broadcast-nothing-skipped", "messages=2 failures=0 consumers=1 restarts=2 torn_writes=2", 1698, 5368, 7),
    ("broadcast-starts-again", "messages=2 failures=0 consumers=1 restarts=2 torn_writes=2", 1698, 5368, 5),
    ("broadcast-keeps-its-place", "messages=2 failures=0 consumers=1 restarts=2 torn_writes=2", 1698, 5368, 5),
    (
        "broadcast-locked-out-after-two-torn-writes",
        "messages=2 failures=0 consumers=1 restarts=2 torn_writes=2",
        1698,
        5368,
        None,
    ),
    ("broadcast-nothing-skipped", "messages=2 failures=0 retentions=1", 986, 2987, 3),
    ("broadcast-correction-ends", "messages=2 failures=0 retentions=1 disk=read-only", 392, 1260, 5),
    ("broadcast-progress-saved", "messages=2 failures=0 disk=read-only", 196, 532, 14),
    ("broadcast-nothing-skipped", "messages=2 failures=1 crashes=1 restarts=1 leaves=1 moves=1", 367065, 1461148, None),
    ("broadcast-each-sees-all", "messages=2 failures=1 crashes=1 restarts=1 leaves=1 moves=1", 367065, 1461148, None),
    ("broadcast-no-send-back", "messages=2 failures=1 crashes=1 restarts=1 leaves=1 moves=1", 367065, 1461148, None),
    ("broadcast-nothing-skipped", "messages=2 failures=0 restarts=1 torn_writes=1", 31158, 113542, None),
    ("broadcast-handled-by-each", "messages=2 failures=0 restarts=1 torn_writes=1", 31158, 113542, None),
    ("broadcast-starts-again", "messages=2 failures=0 restarts=1 torn_writes=1", 31158, 113542, None),
    ("broadcast-keeps-its-place", "messages=2 failures=0 restarts=1 torn_writes=1", 31158, 113542, None),
    (
        "broadcast-nothing-skipped",
        "messages=2 failures=0 crashes=1 restarts=1 lost_files=1 from_where=FIRST_OFFSET",
        12032,
        39866,
        None,
    ),
    (
        "broadcast-each-sees-all",
        "messages=2 failures=0 crashes=1 restarts=1 lost_files=1 from_where=FIRST_OFFSET",
        12032,
        39866,
        None,
    ),
    (
        "broadcast-nothing-skipped",
        "messages=2 failures=0 consumers=1 restarts=2 torn_writes=2 version=4.9.8",
        1202,
        3501,
        None,
    ),
    (
        "broadcast-starts-again",
        "messages=2 failures=0 consumers=1 restarts=2 torn_writes=2 version=4.9.8",
        1202,
        3501,
        None,
    ),
    (
        "broadcast-keeps-its-place",
        "messages=2 failures=0 consumers=1 restarts=2 torn_writes=2 version=4.9.8",
        1202,
        3501,
        None,
    ),
    (
        "broadcast-nothing-skipped",
        "messages=3 failures=0 consumers=1 arriving=2 group=new crashes=1 restarts=1 from_where=FIRST_OFFSET",
        1821,
        4905,
        None,
    ),
    (
        "broadcast-each-sees-all",
        "messages=3 failures=0 consumers=1 arriving=2 group=new crashes=1 restarts=1 from_where=FIRST_OFFSET",
        1821,
        4905,
        None,
    ),
    (
        "broadcast-handled-by-each",
        "messages=2 failures=1 crashes=1 restarts=1 leaves=1 moves=1 listener=orderly orphans=1",
        173586,
        699400,
        None,
    ),
    (
        "broadcast-nothing-skipped",
        "messages=2 failures=1 crashes=1 restarts=1 leaves=1 moves=1 listener=orderly orphans=1",
        173586,
        699400,
        None,
    ),
    (
        "broadcast-in-order",
        "messages=2 failures=1 crashes=1 restarts=1 leaves=1 moves=1 listener=orderly orphans=1",
        173586,
        699400,
        None,
    ),
    (
        "broadcast-handled-by-each",
        "messages=2 failures=1 restarts=1 torn_writes=1 listener=orderly",
        54697,
        199622,
        None,
    ),
    (
        "broadcast-nothing-skipped",
        "messages=2 failures=1 restarts=1 torn_writes=1 listener=orderly",
        54697,
        199622,
        None,
    ),
    ("broadcast-in-order", "messages=2 failures=1 restarts=1 torn_writes=1 listener=orderly", 54697, 199622, None),
    ("broadcast-once", "messages=2 failures=0 shared_file=1", 367, 1106, None),
    ("broadcast-only-the-copy-torn", "consumers=1 messages=1 torn_writes=1", 19, 30, 2),
    ("broadcast-correction-ends", "messages=2 failures=0 retentions=1", 986, 2987, None),
    ("broadcast-correction-ends", "messages=2 failures=0 consumers=1 truncations=1", 35, 55, None),
    ("broadcast-reaches-all", "messages=2 failures=0 crashes=1 restarts=1", 4715, 14446, None),
    ("broadcast-reaches-all", "messages=2 failures=0 restarts=1 torn_writes=1", 31158, 113542, None),
    ("broadcast-reaches-all", "messages=3 failures=0 consumers=1 arriving=2 group=new", 58, 100, None),
    ("broadcast-reaches-all", "messages=2 failures=1 listener=orderly", 1010, 2868, None),
    ("broadcast-progress-saved", "messages=2 failures=0 crashes=1 restarts=1", 4715, 14446, None),
    ("broadcast-progress-saved", "messages=2 failures=0 restarts=1 torn_writes=1", 31158, 113542, None),
    ("broadcast-progress-saved", "messages=2 failures=0 expiries=1 orphans=1", 1112, 3462, None),
]


def differing(outcome: Outcome) -> str:
    """The configuration of a row, without what all rows have in common."""
    return outcome.row.configuration.replace("mode=broadcasting ", "").replace("watch_clients=1 ", "")


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return list(run_suite([row for row in claim_rows(claims()) if row.id != "every-action-happens"]))


def test_every_claim_is_as_expected(outcomes: list[Outcome]) -> None:
    assert [outcome.row.id for outcome in outcomes if not outcome.as_expected] == []
    verdicts = Counter(outcome.result.verdict for outcome in outcomes)
    assert verdicts == {Verdict.HOLDS: 42, Verdict.VIOLATED: 18}


def test_sizes_and_shortest_runs_are_exact(outcomes: list[Outcome]) -> None:
    assert sizes(outcomes, spelled=differing) == EXPECTED


def test_two_deaths_while_writing_are_told(outcomes: list[Outcome]) -> None:
    text = told(
        outcomes,
        "broadcast-starts-again",
        "messages=2 failures=0 consumers=1 restarts=2 torn_writes=2",
        spelled=differing,
    )
    assert text.count("dies while it writes its file") == 2
    assert "copy_is[c0]: OFFSETS → UNREADABLE" in text


def test_a_read_only_disk_makes_corrections_go_on_for_ever(outcomes: list[Outcome]) -> None:
    text = told(
        outcomes, "broadcast-correction-ends", "messages=2 failures=0 retentions=1 disk=read-only", spelled=differing
    )
    assert "its window is dropped and its offset corrected" in text
    assert "from here on the run repeats for ever:" in text


@pytest.mark.slow
def test_the_preset_is_exhausted() -> None:
    results = [outcome.result for outcome in run_suite(preset_rows("broadcast"))]
    assert {result.verdict for result in results} == {Verdict.HOLDS}
    assert {result.bounds for result in results} == {"all 8,915,284 states, 62,144,046 transitions, depth 35"}


def test_the_preset_with_few_states_allowed_is_unknown() -> None:
    results = [outcome.result for outcome in run_suite(preset_rows("broadcast"), Options(states=1000))]
    assert {result.verdict for result in results} == {Verdict.UNKNOWN}
