"""How far clocks are apart, what of it is corrected, and what is left open."""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from rocketproof.traces.clocks.bounds import FREE
from rocketproof.traces.clocks.clocks import UNBOUNDED, Clock, Clocks, Run, clocks_of
from rocketproof.traces.clocks.correction import in_time
from rocketproof.traces.clocks.observed import Observed
from rocketproof.traces.clocks.offsets import Stretch, left_open
from rocketproof.traces.clocks.order import FEW, Order, apart, gaps
from rocketproof.traces.encoding.names import Actor
from rocketproof.traces.io.events import batch_of

from .cluster import BEGIN, BROKER, ONE, TWO, clocks, run, seen


def ahead(found: Clocks) -> dict[str, tuple[int, int]]:
    """How far the clocks are ahead that are corrected, ms."""
    return {
        str(one): (clock.correction[0] // 1000, clock.correction[1] // 1000)
        for one, clock in found.clocks.items()
        if clock.runs
    }


def test_clocks_that_agree_are_left_alone() -> None:
    found = clocks(run(20))
    assert (ahead(found), found.clocks[ONE].reference, found.steps) == ({}, BROKER, ())
    assert (found.corrects, found.held_up) == (False, 0)
    assert found.clocks[ONE].pairs == 199  # whether the first in-memory offset was there before is not known
    assert (found.clocks[ONE].low, found.clocks[ONE].high) == (-2002, 2000)
    assert (found.clocks[ONE].slow, found.clocks[ONE].fast) == (3, 2)
    assert (found.clocks[BROKER].slow, found.clocks[BROKER].fast) == (0, 0)
    assert Order(found, 50).widest == 50


@pytest.mark.parametrize("shift", [-5000, -500, -30, -5, 5, 30, 500, 5000])
def test_a_clock_that_is_off_is_found_to_the_millisecond(shift: int) -> None:
    assert ahead(clocks(run(20, broker=lambda _: shift))) == {"broker b": (shift, shift)}
    assert ahead(clocks(run(20, one=lambda _: shift))) == {"one": (shift, shift)}


def test_times_in_whole_seconds_are_uncertain_by_a_second() -> None:
    found = clocks(run(20, one=lambda at: -(at % 1000)))
    assert (ahead(found), found.steps) == ({}, ())
    assert {who: clock.coarse for who, clock in found.clocks.items()} == {BROKER: 0, ONE: 1000, TWO: 0}
    order = Order(found, 50)
    assert (order.apart(ONE, BROKER), order.apart(BROKER, ONE), order.apart(TWO, BROKER)) == (1027, 221, 50)


def test_a_few_whole_seconds_or_those_of_all_say_nothing_about_a_clock() -> None:
    in_all = [{**event, "time": event["time"] // 1000 * 1000} for event in run(20)]
    assert {clock.coarse for clock in clocks(in_all).clocks.values()} == {0}
    few = run(2, one=lambda at: -(at % 1000))
    assert {clock.coarse for clock in clocks(few).clocks.values()} == {0}
    assert clocks(run(3, one=lambda at: -(at % 1000))).clocks[ONE].coarse == 1000
    assert clocks([*few] * 10).clocks[ONE].coarse == 1000  # more than a hundred events


@pytest.mark.parametrize("whose", [{"group": "other", "client": "three"}, {"group": "g", "client": "three"}])
def test_a_client_of_which_only_commits_are_recorded_hides_no_clock(whose: dict[str, str]) -> None:
    of_others = [{**event, **whose} for event in run(40, broker=lambda _: -5000) if event["kind"] == "commit"]
    found = clocks([*run(20, broker=lambda _: -5000), *of_others])
    assert ahead(found) == {"broker b": (-5000, -5000)}


def test_an_offset_of_0_is_in_the_table_before_it_is_stored_too() -> None:
    at_0 = [event | {"offset": 0} for event in run(1, one=lambda _: 700)]
    sets = [event for event in at_0 if event["kind"] == "commit_memory"]
    told = [event | {"kind": "offset_query", "result": "ok", "time": event["time"] - 1} for event in sets]
    (found,) = ahead(clocks(event for event in [*told, *at_0] if event["kind"] != "deliver")).values()
    assert abs(found[0]) == 697


def test_of_an_effect_that_a_client_sees_again_the_first_one_counts() -> None:
    events = run(2)
    again = [event | {"time": event["time"] + 3_000} for event in events if event["kind"] == "deliver"]
    once, twice = seen(events).matched(), seen([*events, *again]).matched()
    assert (len(once.pair), twice.later_time.tolist()) == (38, once.later_time.tolist())


def test_an_offset_that_was_in_the_table_before_the_recording_bounds_no_clock() -> None:
    """A listener that suspends its queue sets the offset again that it has."""
    events, begin = run(100), BEGIN + 5_000
    before = [event for event in events if event["kind"] == "commit_memory" and event["time"] < begin]
    again = [event | {"time": begin} for event in before[-22:-20]]
    found = clocks([*again, *(event for event in events if event not in before)])
    assert (ahead(found), found.steps) == ({}, ())


def test_nothing_was_in_the_table_of_a_queue_before_its_client_was_told_that_nothing_is_stored() -> None:
    events = [event for event in run(1, one=lambda _: 700) if event.get("queue") == 0 and event.get("offset", 0) < 2]
    asked = {name: value for name, value in events[1].items() if name not in ("offset", "key", "attempt")}
    told = {**asked, "kind": "offset_query", "result": "none", "time": asked["time"] - 1}
    assert ahead(clocks(events)) == {}
    assert ahead(clocks([told, *events])) == {"one": (700, 700)}


def test_offsets_of_a_queue_whose_topic_was_made_again_bound_no_clock() -> None:
    events = run(20)
    second = [{**event, "time": event["time"] + 60_000} for event in events]
    first = [event for event in events if event["kind"] != "store" or event["offset"] > 20]
    found = clocks([*first, *second])
    assert (ahead(found), found.steps) == ({}, ())


def test_two_clients_that_are_off_are_both_found() -> None:
    found = clocks(run(20, one=lambda _: 400, two=lambda _: -70))
    assert ahead(found) == {"one": (400, 400), "two": (-70, -70)}


def test_a_clock_that_drifts_is_followed() -> None:
    found = clocks(run(300, one=lambda at: at // 5_000))
    assert set(ahead(found)) == {"one"}
    least, most = ahead(found)["one"]
    assert -2 <= least <= 3
    assert 57 <= most <= 61
    assert 170 < found.clocks[ONE].drift < 230
    times = np.arange(BEGIN, BEGIN + 300_000, 7) * 1000
    corrected = found.corrected(ONE, times)
    assert (np.diff(corrected) >= 0).all()
    off = corrected - (BEGIN * 1000 + (times - BEGIN * 1000) * 5_000 // 5_001)
    assert np.abs(off).max() < 4_000


def test_a_clock_that_was_set_is_told_with_its_events() -> None:
    found = clocks(run(60, one=lambda at: 0 if at < 30_000 else 2_000))
    (step,) = found.steps
    assert step.recorders == (ONE,)
    assert (step.since, step.until) == ((BEGIN + 28_000) * 1000, (BEGIN + 34_000) * 1000)
    assert "the clock of one was set" in str(step)
    assert "one at " in step.events[0]
    assert ahead(found) == {"one": (0, 2000)}
    times = np.array([BEGIN + 10_000, BEGIN + 57_000]) * 1000
    assert found.corrected(ONE, times).tolist() == [(BEGIN + 10_000) * 1000, (BEGIN + 55_000) * 1000]
    times = np.arange(BEGIN, BEGIN + 62_000, 3) * 1000
    assert (np.diff(found.corrected(ONE, times)) >= 0).all()


def test_one_event_that_cannot_be_is_no_step() -> None:
    events = run(60)
    wrong = next(n for n, event in enumerate(events) if event["kind"] == "store" and event["time"] > BEGIN + 30_000)
    events[wrong] = events[wrong] | {"time": events[wrong]["time"] + 900}
    found = clocks(events)
    assert ahead(found) == {}
    (step,) = found.steps
    assert step.since <= (BEGIN + 30_900) * 1000 <= step.until
    assert "stored before it is delivered: broker b at " in str(step)


def test_what_one_queue_says_against_the_others_is_no_step() -> None:
    def stray(events: list[dict[str, Any]], by: int = 900) -> list[dict[str, Any]]:
        early = next(n for n, one in enumerate(events) if one["kind"] == "commit" and one["time"] > BEGIN + 30_000)
        return [*events[:early], events[early] | {"time": events[early]["time"] - by}, *events[early + 1 :]]

    alone = run(60)
    others = [event | {"queue": event["queue"] + 2} for event in run(60)]
    assert len(clocks(stray(alone)).steps) == 1
    found = clocks([*stray(alone), *others])
    assert (ahead(found), found.steps) == ({}, ())
    for by in (60, 140, 20_000):
        found = clocks([*stray(alone, by=by), *others])
        assert (ahead(found), found.steps) == ({}, ())
    # A clock that was set is seen by all of them.
    was_set = [event | {"queue": event["queue"] + 2} for event in run(60, one=lambda at: 0 if at < 30_000 else 2_000)]
    assert len(clocks([*run(60, one=lambda at: 0 if at < 30_000 else 2_000), *was_set]).steps) == 1
    for by in (2_000, 20_000):
        back = run(60, one=lambda at, by=by: 0 if at < 30_000 else -by)
        assert len(clocks([*back, *(event | {"queue": event["queue"] + 2} for event in back)]).steps) == 1


@pytest.mark.parametrize(("late", "held_up"), [(12, 20), (45, 50), (120, 128)])
def test_a_thread_that_was_held_up_is_no_step(late: int, held_up: int) -> None:
    events = run(60)
    wrong = next(n for n, event in enumerate(events) if event["kind"] == "store" and event["time"] > BEGIN + 30_000)
    events[wrong] = events[wrong] | {"time": events[wrong]["time"] + late}
    found = clocks(events)
    assert (ahead(found), found.steps, found.held_up) == ({}, (), held_up)
    # Until then the order of two processes is not sure.
    assert [Order(found, skew).apart(BROKER, ONE) for skew in (10, 200)] == [held_up, 200]


@pytest.mark.parametrize("shift", [-900, 4_000])
def test_a_thread_that_was_held_up_leaves_another_clock_that_is_off_where_it_is(shift: int) -> None:
    """What it leaves open is as much to either side."""
    events = run(60, one=lambda _: shift)
    of_two = [n for n, event in enumerate(events) if event["kind"] == "commit_memory" and event["client"] == "two"]
    late = events[of_two[len(of_two) // 2]]
    late["time"] += 120
    found = clocks(events)
    assert (ahead(found), found.steps, found.held_up) == ({"one": (shift, shift)}, (), 128)


def test_where_nothing_bounds_a_recorder_the_skew_is_left() -> None:
    events = [event for event in run(20) if event.get("client") != "two"]
    events.append({"time": BEGIN, "kind": "pull", "client": "two", "group": "g", "topic": "t", "broker": "b"})
    found = clocks(events)
    assert TWO not in found.clocks
    order = Order(found, 100)
    assert (order.apart(ONE, BROKER), order.apart(BROKER, ONE)) == (100, 100)  # no less than is assumed
    assert (order.apart(ONE, TWO), Order(found, 50).apart(BROKER, ONE)) == (100, 50)
    assert Order(found, 10).apart(BROKER, ONE) == 10  # what few events leave open is no doubt
    assert not order.is_loose(ONE)


def test_a_clock_that_is_bounded_to_one_side_is_loose() -> None:
    events = [event for event in run(20, two=lambda _: -500) if event["kind"] != "commit" or event["client"] != "two"]
    found = clocks(events)
    assert (found.clocks[TWO].low, found.clocks[TWO].high) == (None, -497_950)
    assert ahead(found) == {"two": (-498, -498)}
    order = Order(found, 50)
    assert order.is_loose(TWO)
    assert not order.is_loose(ONE)
    assert (order.apart(ONE, TWO), order.apart(TWO, ONE)) == (50, UNBOUNDED)


@pytest.mark.parametrize(("shift", "is_loose"), [(0, False), (-40, False), (-400, True)])
def test_a_clock_that_is_bounded_to_one_side_is_loose_where_another_one_is_further_off_than_is_assumed(
    shift: int, is_loose: bool
) -> None:
    events = run(20, one=lambda _: shift)
    found = clocks([event for event in events if event["kind"] != "commit" or event["client"] != "two"])
    assert found.clocks[TWO].uncertainty is None
    assert "two" not in ahead(found)
    assert Order(found, 50).is_loose(TWO) == is_loose


@pytest.mark.parametrize(("shift", "is_loose"), [(0, False), (-40, False), (-400, True)])
def test_a_clock_that_nothing_bounds_is_loose_where_another_one_is_off(shift: int, is_loose: bool) -> None:
    asked = {"kind": "offset_query", "client": "three", "group": "g", "topic": "t", "broker": "b", "queue": 0}
    found = clocks([*run(20, one=lambda _: shift), {"time": BEGIN, "result": "ok", "offset": 0, **asked}])
    assert found.clocks[Actor("three")].pairs == 0
    assert Order(found, 50).is_loose(Actor("three")) == is_loose


def test_one_clock_of_many_that_is_off_leaves_no_doubt_of_others() -> None:
    who = ("one", *(f"client-{number}" for number in range(FEW)))
    told = {"kind": "offset_query", "client": "three", "group": "g", "topic": "t", "broker": "b", "queue": 0}
    events = [{"time": BEGIN, "result": "ok", "offset": 0, **told}]
    for place, name in enumerate(who):
        for event in run(20, one=lambda _: -400 * (not place), two=lambda _: -400 * (not place)):  # noqa: B023
            events.append({**event, "queue": place, **({"client": name} if event.get("client") else {})})
    found = clocks(sorted(events, key=lambda event: int(event["time"])))
    assert ahead(found) == {"one": (-400, -400)}
    order, three, other = Order(found, 50), Actor("three"), Actor("client-0")
    assert not order.is_loose(three)
    assert [order.is_unsure(*pair) for pair in ((three, other), (three, ONE), (other, ONE))] == [False, True, False]


def test_a_clock_that_nothing_compares_with_others_is_open() -> None:
    asked = {"kind": "offset_query", "client": "three", "group": "g", "topic": "t", "broker": "b", "queue": 0}
    query = {"time": BEGIN, "result": "ok", "offset": 0, **asked}
    order = Order(clocks([*run(20), query]), 50)
    assert (order.is_open(Actor("three")), order.is_open(ONE), order.is_open(Actor("four"))) == (True, False, False)
    assert not Order(clocks([query]), 50).is_open(Actor("three"))  # none are compared


@pytest.mark.parametrize(("late", "is_open"), [(900, False), (1_500, True)])
def test_a_clock_that_many_pairs_leave_open_to_one_side_is_open(late: int, is_open: bool) -> None:
    events = [event for event in run(20, two=lambda _: late) if event["kind"] != "commit" or event["client"] != "two"]
    found = clocks(events)
    assert (found.corrects, found.clocks[TWO].slow) == (False, None)
    order = Order(found, 50)
    assert (order.is_open(TWO), order.is_open(ONE), order.is_loose(TWO)) == (is_open, False, False)


def test_a_clock_that_may_be_off_is_taken_to_be_as_far_off_as_its_tightest_pair_leaves() -> None:
    # Nothing tells that the clock is five seconds fast, and nothing that it is not: the least 50 · 2ⁿ from 5,003 on.
    events = [event for event in run(20, two=lambda _: 5_000) if event["kind"] != "commit" or event["client"] != "two"]
    found = clocks(events)
    assert not found.corrects
    order = Order(found, 50)
    assert (order.apart(BROKER, TWO), order.apart(TWO, BROKER)) == (6_400, 6_400)
    assert Order(found, 0).apart(BROKER, TWO) == 8_192


def test_what_is_assumed_of_a_clock_does_not_grow_while_nothing_happens() -> None:
    early = [event for event in run(20, two=lambda _: 30) if event["kind"] != "commit" or event["client"] != "two"]
    late = [event | {"time": event["time"] + 3_600_000, "offset": event["offset"] + 100} for event in early]
    found = clocks([*early, *late])
    # In the middle of the quiet hour, clocks may have drifted 896 ms apart.
    assert (found.clocks[TWO].closest, found.clocks[TWO].fast) == (33, 929)
    assert Order(found, 50).apart(BROKER, TWO) == 50


def test_compiled_code_gets_the_answers_of_columns() -> None:
    found = clocks(
        [event for event in run(20, two=lambda _: -500) if event["kind"] != "commit" or event["client"] != "two"]
    )
    table = Order(found, 50).table([BROKER, ONE, TWO, Actor("three")])
    first, second = (codes.ravel() for codes in np.mgrid[-1:4, -1:4])
    records = table.view(np.recarray)
    one_by_one = [apart.py_func(records, *pair) for pair in zip(first, second, strict=True)]
    assert one_by_one == gaps(table, first, second).tolist()


@pytest.mark.parametrize(("later", "found"), [(30_000, {"one": (398, 398)}), (3_000, {})])
def test_processes_of_a_client_that_run_one_after_another_are_told_apart(
    later: int, found: dict[str, tuple[int, int]]
) -> None:
    # The second one sets the offsets that the first did; while both run, nobody knows which of them has stored one.
    own = [event for event in run(20, one=lambda _: 400) if event["kind"] in ("commit_memory", "commit", "store")]
    second = [
        event | {"time": event["time"] + later} | ({"incarnation": 1} if event["kind"] == "commit_memory" else {})
        for event in own
        if event["kind"] != "store"
    ]
    assert ahead(clocks([*own, *second])) == found


def test_what_a_process_had_before_its_recording_is_not_said_by_its_successor() -> None:
    events = run(20)
    firsts = [event for event in events if event["kind"] == "commit_memory" and event["client"] == "one"][:2]
    again = [{**event, "time": event["time"] + 120_000, "incarnation": 1} for event in firsts]
    below = [{**event, "time": event["time"] - 1, "offset": event["offset"] - 1} for event in again]
    found = clocks(sorted([*events, *below, *again], key=lambda event: event["time"]))
    assert (ahead(found), found.steps) == ({}, ())


@pytest.mark.parametrize("later", [30_000, 3_000])
def test_what_one_process_does_not_record_is_not_said_by_another_one_of_its_client(later: int) -> None:
    # The second one sets the offsets again of which the first, whose in-memory offsets nobody records, stored some.
    first = [event for event in run(20) if event["kind"] != "commit_memory" or event["client"] == "two"]
    second = [event for event in run(20) if event["kind"] in ("commit_memory", "commit") and event["client"] == "one"]
    again = [event | {"time": event["time"] + later, "incarnation": 1} for event in second]
    found = clocks(sorted([*first, *again], key=lambda event: event["time"]))
    assert (ahead(found), found.steps) == ({}, ())


def test_copies_of_a_message_make_no_pair() -> None:
    def copies(keys: list[str]) -> list[dict[str, object]]:
        group = {"group": "g", "topic": "t", "broker": "b", "queue": 0, "client": "one"}
        return [
            event
            for n, key in enumerate(keys)
            for event in (
                group | {"time": BEGIN + n, "kind": "result", "offset": n, "key": key, "attempt": 0, "result": "later"},
                {"time": BEGIN + n + 4, "kind": "delay_store", "group": "g", "broker": "b", "key": key, "attempt": 1},
            )
        ]

    assert len(seen(copies(["a", "b"])).matched().pair) == 0
    assert len(seen(copies(["a", "a"])).matched().pair) == 0


def test_what_is_seen_in_parts_and_sent_on_is_the_same() -> None:
    events = run(30, broker=lambda _: 30)
    whole, parts = seen(events), Observed()
    for begin in range(0, len(events), 100):
        part = Observed()
        part.see(batch_of(events[begin : begin + 100]))
        parts.join(pickle.loads(pickle.dumps(part)))
    one, other = clocks_of(whole), clocks_of(parts)
    assert {a: replace(c, runs=c.runs[:1]) for a, c in one.clocks.items()} == other.clocks


def test_of_many_events_a_share_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketproof.traces.clocks.observed.MOST", 300)
    events = run(60, broker=lambda _: 30)
    found = clocks(events)
    assert 0 < found.clocks[ONE].pairs < 100
    assert ahead(found) == {"broker b": (30, 30)}
    # Who knows how many there are takes that share from the beginning, batch after batch.
    told = Observed(len(events))
    for begin in range(0, len(events), 250):
        told.see(batch_of(events[begin : begin + 250]))
    assert clocks_of(told) == found


def test_of_many_queues_that_have_no_other_offset_than_0_a_share_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketproof.traces.clocks.observed.MOST", 300)
    events = [
        event | {"topic": event["topic"] + str(event["offset"] - event["kind"].startswith("commit")), "offset": 0}
        for event in run(200, broker=lambda _: 30)
    ]
    found = clocks(events)
    assert 0 < found.clocks[ONE].pairs < 100
    assert ahead(found) == {"broker b": (28, 28)}


def test_recordings_of_known_recorders() -> None:
    events = run(20, one=lambda _: -30)
    own = ("deliver", "result", "commit_memory")
    batches: list[tuple[Actor, pa.RecordBatch, Any]] = [
        (actor, batch_of([e for e in events if e["kind"] in own and e["client"] == actor.name]), None)
        for actor in (ONE, TWO)
    ]
    batches.append((BROKER, batch_of([e for e in events if e["kind"] in ("store", "commit")]), None))
    assert ahead(Clocks.of(batches)) == {"one": (-30, -30)}


def test_what_is_in_a_client_s_own_file_is_by_its_clock() -> None:
    events = run(20, one=lambda _: -700)
    commits = [event for event in events if event["kind"] == "commit" and event["client"] == "one"]
    of_file = batch_of([{**event, "path": "file"} for event in commits])
    found = clocks(events)
    assert ahead(found) == {"one": (-700, -700)}
    assert in_time(found, of_file).column("time").to_pylist() == [event["time"] + 700 for event in commits]
    # What is sent the broker stamps, and what it finds in its own file.
    sent = batch_of(commits)
    found_there = batch_of([{**event, "path": "file", "client": None} for event in commits])
    assert in_time(found, sent).column("time").equals(sent.column("time"))
    assert in_time(found, found_there).column("time").equals(sent.column("time"))
    # It tells nothing of the broker's clock.
    kept = [event for event in events if event["kind"] in ("commit_memory", "commit", "store")]
    assert len(seen(kept).matched().pair) == 198
    of_files = [event | {"path": "file"} if event["kind"] == "commit" else event for event in kept]
    assert len(seen(of_files).matched().pair) == 0


def test_what_is_left_open_is_what_bounds_allow_beyond_the_correction() -> None:
    bounds = np.array([[[0, 800], [-300, 0]]])  # the recorder is 300 to 800 µs ahead of the hub
    one = Stretch(first=4, end=5, bounds=bounds, offsets=np.array([[0, 500]]))
    assert left_open([one], 0, 1, 0, 9) == (200, 300, 200)
    assert left_open([one], 0, 1, 5, 9) == (0, 0, FREE)  # none of its pieces counts


def test_the_drift_of_a_clock_is_that_of_its_longest_run() -> None:
    longest = Run(since=2_000, times=(2_000, 22_000), offsets=(0, 2))
    later = Run(since=30_000, times=(30_000, 35_000), offsets=(0, 5))
    assert Clock(recorder=ONE, pairs=1, runs=(longest, later)).drift == 100


def test_after_a_step_no_time_is_corrected_to_before_the_last_one() -> None:
    drifting = Run(since=2_000, times=(2_000, 22_000), offsets=(0, 2_000))
    ahead_by_4_ms = Run(since=12_000, times=(12_000, 22_000), offsets=(4_000, 4_000))
    clock = Clock(recorder=ONE, pairs=1, runs=(drifting, ahead_by_4_ms))
    assert clock.corrected([1_000, 7_000, 11_000]).tolist() == [1_000, 6_500, 10_100]
    assert clock.corrected([12_000, 13_000, 16_000]).tolist() == [11_000, 11_000, 12_000]
