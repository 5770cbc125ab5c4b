"""A new hour is mined from where the run before it was, and nothing is said otherwise for that."""

from __future__ import annotations

import json
import mmap
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rocketproof.spark.pipeline import Table, ingest
from rocketproof.spark.pipeline.carried import CARRIED, STATES
from rocketproof.traces.engine import carried_files, pieces
from rocketproof.traces.monitors.groups.balance import Balance

from .tables import checked, mined, rows, said, simulated, write
from .test_pipeline import ALL_TABLES

LATENESS = 1_000

SKEW = 2_000
"""Wide enough for what the few messages of a simulated process leave open of its clock: see the last test."""


def hours_of(folder: Path, *, cuts: int, seed: int, **options: Any) -> list[Path]:
    """A simulated recording cut at random times, usually with as many messages of each process as of a real one."""
    drawn = random.Random(seed)
    header, *events = simulated(
        folder / "run", **{"messages": 1_500, "consumers": 2, "queues": 4, "seed": seed, **options}
    )
    events.sort(key=lambda event: event["time"])
    begin, end = events[0]["time"], events[-1]["time"]
    times = sorted(drawn.randrange(begin + 1, end) for _ in range(cuts))
    parts: list[list[Any]] = [[] for _ in range(cuts + 1)]
    for event in events:
        parts[sum(event["time"] >= time for time in times)].append(event)
    return [write(folder / "hours" / f"{at}.jsonl", [header, *part]) for at, part in enumerate(parts) if part]


def events_of(hour: Path) -> list[dict[str, Any]]:
    """The events of a file."""
    return [json.loads(line) for line in hour.read_text(encoding="utf-8").splitlines()[1:]]


def unordered(whole: dict[str, Any]) -> dict[str, Any]:
    """Findings in an order of their own: queues may be met in another one.

    Of stored offsets only as many are told as a drawing needs, which depends on what was known of the end then.
    """
    return {**whole, "findings": sorted(str(one) for one in whole["findings"] if one["note"] != "offset")}


@pytest.mark.parametrize(
    ("mutant", "seed"), [("", 1), ("B1", 2), *(pytest.param(m, 3, marks=pytest.mark.slow) for m in ("B2", "B7", ""))]
)
def test_hours_in_turn_give_what_one_run_gives(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mutant: str, seed: int
) -> None:
    """What goes through the events of groups goes on as well: from where it stopped in the run before."""
    hours = hours_of(tmp_path, cuts=4, seed=seed, mutant=mutant, churn=3)
    spans: list[tuple[int, int]] = []
    take = Balance.take
    monkeypatch.setattr(Balance, "take", lambda self, events, span: (spans.append(span), take(self, events, span)))
    apart, together = Table(tmp_path / "apart"), Table(tmp_path / "together")
    carried = 0
    for at, hour in enumerate(hours, start=1):
        ingest(spark, [hour], apart)
        stopped = spans[-1][0] if spans else 0
        run = mined(apart, spark, lateness=LATENESS, skew=SKEW)
        is_carried = run.since["default"].time is not None
        assert spans[-2][0] == (stopped if is_carried else 0)
        carried += is_carried
        known = spans[-1]
        assert unordered(said(apart)) == unordered(checked(hours[:at], skew=SKEW)), at
        spans.append(known)
    assert carried >= 2
    ingest(spark, [tmp_path / "hours"], together)
    whole = mined(together, spark, skew=SKEW)
    for name in ALL_TABLES:
        if name != "offsets":  # see unordered
            assert sorted(map(str, rows(apart, run.run, name))) == sorted(map(str, rows(together, whole.run, name))), (
                name
            )


def test_what_was_settled_hours_ago_is_still_known(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A late duplicate, a dead letter, a copy at another place, a reset and what follows it: all of settled messages.

    With pieces of one page of memory, most of them are not touched by the last hour.
    """
    for module in (carried_files, pieces):
        monkeypatch.setattr(module, "PIECE", mmap.PAGESIZE)
    *hours, last = hours_of(tmp_path, cuts=3, seed=1)
    old = [event for event in events_of(hours[0]) if event["kind"] == "deliver" and event["attempt"] == 0][:40:8]
    events = events_of(last)
    header = last.read_text(encoding="utf-8").partition("\n")[0]
    late = events[len(events) // 2]["time"]
    again, dead, copied, elsewhere, below = ({**event, "time": late, "seq": 10**6} for event in old)
    dead = {**dead, "kind": "dead_letter", "topic": "%DLQ%orders", "queue": 0, "attempt": 2, "offset": 0}
    stored = {**elsewhere, "kind": "store", "offset": 10**5}
    del stored["group"], stored["client"], stored["attempt"], stored["incarnation"]
    reset = {**below, "kind": "reset", "offset": 0, "time": late - 1}
    del reset["client"], reset["incarnation"], reset["origin"], reset["attempt"]
    story = [again, dead, {**copied, "attempt": 1}, stored, {**elsewhere, "offset": 10**5}, reset, below]
    write(last, [header, *sorted([*events, *story], key=lambda event: event["time"])])
    table = Table(tmp_path / "table")
    for hour in (*hours, last):
        ingest(spark, [hour], table)
        run = mined(table, spark, lateness=0, skew=SKEW)
    assert run.since["default"].time is not None
    whole = checked([*hours, last], skew=SKEW)
    assert unordered(said(table)) == unordered(whole)
    about = {event["origin"] for event in old}
    assert Counter(one["claim"] for one in whole["findings"] if one["claim"] and one["origin"] in about) == {
        "attempts-follow-each-other": 2,
        "dead-letter-exactly-at-the-maximum": 1,
        "every-copy-has-a-cause": 1,
        "every-duplicate-has-a-cause": 3,
    }
    states = sorted(table.folder.glob(f"run=*/{CARRIED}/*/pieces"))
    links = [path.stat().st_nlink for path in states[-1].iterdir()]
    assert 0 < links.count(1) < len(links)  # written by the last hour; the others are as they were


def test_what_comes_late_is_mined_from_the_last_state_before_it(spark: Any, tmp_path: Path) -> None:
    first, second, *others = hours_of(tmp_path, cuts=4, seed=1)
    table = Table(tmp_path / "table")
    for hour in (first, *others):
        ingest(spark, [hour], table)
        mined(table, spark, lateness=0, skew=SKEW)
    ingest(spark, [second], table)
    late = mined(table, spark, lateness=0, skew=SKEW).since["default"]
    ends = sorted(state.parent.parent.name for state in table.folder.glob(f"run=*/{CARRIED}/*"))
    assert late.time is not None
    assert late.time <= int(second.read_text().splitlines()[1].partition('"time": ')[2].partition(",")[0])
    assert unordered(said(table)) == unordered(checked([first, second, *others], skew=SKEW))
    assert len(ends) == 5


def test_what_does_not_fit_is_mined_from_the_beginning(spark: Any, tmp_path: Path) -> None:
    hours = hours_of(tmp_path, cuts=3, seed=1)
    table = Table(tmp_path / "table")
    ingest(spark, hours[:2], table)
    mined(table, spark, lateness=LATENESS, skew=SKEW)
    (state,) = table.folder.glob(f"run=*/{CARRIED}/*")
    arrays = state / "arrays.zst"
    arrays.write_bytes(arrays.read_bytes()[:100])
    ingest(spark, [hours[2]], table)
    since = mined(table, spark, lateness=LATENESS, skew=SKEW).since["default"]
    assert (since.time, since.why.partition(":")[0]) == (None, f"{state} cannot be read")
    assert said(table) == checked(hours[:3], skew=SKEW)
    # With other terms, or of other days, nothing that is kept is of use.
    day = table.folder.glob("batch=*/trace/day=*")
    only = mined(
        table, spark, lateness=LATENESS, skew=SKEW, days=(min(path.name for path in day).removeprefix("day="), "")
    )
    assert only.since["default"].time is None


def test_only_the_latest_states_are_kept(spark: Any, tmp_path: Path) -> None:
    hours = hours_of(tmp_path, cuts=STATES + 2, seed=1)
    table = Table(tmp_path / "table")
    for hour in hours:
        ingest(spark, [hour], table)
        mined(table, spark, lateness=0, skew=SKEW)
    assert len(list(table.folder.glob(f"run=*/{CARRIED}/*"))) == STATES


def test_where_clocks_turn_out_otherwise_the_beginning_is_mined_again(spark: Any, tmp_path: Path) -> None:
    """With few messages a process is not known well when the first hours end."""
    hours = hours_of(tmp_path, cuts=2, seed=5, churn=3, messages=200)
    table = Table(tmp_path / "table")
    why = []
    for at, hour in enumerate(hours, start=1):
        ingest(spark, [hour], table)
        since = mined(table, spark, lateness=LATENESS).since["default"]
        why.append((since.time is None, since.why))
        assert unordered(said(table)) == unordered(checked(hours[:at])), at
    assert (True, "bounds of clocks of the time before are others now") in why
