"""Who has a queue: overlaps, nobody, flapping, and the timeline of owners."""

from __future__ import annotations

from rocketproof.traces.encoding.names import Names
from rocketproof.traces.engine.findings import Doubt, Note
from rocketproof.traces.format.kinds import Kind, Path, codes
from rocketproof.traces.monitors.queues.ownership import End

from .queue_events import (
    EVERYTHING,
    MINUTE,
    SECOND,
    Checked,
    Event,
    assign,
    check,
    commit,
    crash,
    event,
    found,
    gap,
    heartbeat,
    revoke,
    start,
    stop,
)

OVERLAPS = "overlaps-are-short"
OWNED = "every-queue-gets-an-owner"
FLAPPING = "no-flapping"

REMOVAL = codes(Path)[Path.REMOVAL]


def timeline(checked: Checked) -> list[tuple[str, int, int, End]]:
    """Who had the queue from when to when, and how it ended."""
    return sorted(
        (checked.actor(row["actor"]), int(row["since"]), int(row["time"]), End(int(row["expected"])))
        for row in checked.notes(Note.OWNERSHIP)
    )


def test_the_timeline() -> None:
    checked = check(
        assign(1_000, "one", 0),
        revoke(20_000, "one"),
        assign(20_100, "two", 0),
        crash(30_000, "two"),
        assign(31_000, "three", 0),
        stop(40_000, "three"),
        assign(41_000, "four", 0),
        assign(42_000, "four", 0),
        end=50_000,
    )
    assert timeline(checked) == [
        ("four", 41_000, 42_000, End.AGAIN),
        ("four", 42_000, 50_000, End.OPEN),
        ("one", 1_000, 20_000, End.REVOKED),
        ("three", 31_000, 40_000, End.STOPPED),
        ("two", 20_100, 30_000, End.CRASHED),
    ]
    assert [row["value"] for row in checked.notes(Note.OWNERSHIP) if row["expected"] == End.REVOKED] == [REMOVAL]
    assert checked.broken == {"steps-follow-each-other": (1, 0)}
    assert checked.judged(OVERLAPS) == 5


def test_an_owner_from_before_the_trace() -> None:
    checked = check(found(1_000, "one", 5, 6), revoke(9_000, "one"), assign(9_100, "two", 6), end=10_000)
    assert timeline(checked) == [("one", 1_000, 9_000, End.REVOKED), ("two", 9_100, 10_000, End.OPEN)]


def test_a_late_answer_is_no_window_from_before_the_trace() -> None:
    asked_before = [found(1_000, "two", 0, 1), found(150_000, "one", 0, 1)]
    assert check(asked_before, revoke(160_000, "two"), end=160_000).counts(OVERLAPS) == (0, 0)
    checked = check(asked_before, found(250_000, "one", 1, 2), found(250_000, "two", 1, 2), end=260_000)
    (row,) = checked.rows(OVERLAPS)
    assert row["value"] == 100_000


# Two at a time

LONG = [assign(1_000, "one", 0), assign(30_000, "two", 0), found(90_000, "one", 0, 1), found(90_000, "two", 0, 1)]


def test_a_short_overlap_is_usual() -> None:
    # A5
    checked = check(assign(1_000, "one", 0), assign(30_000, "two", 0), revoke(70_000, "one"), end=90_000)
    assert checked.broken == {}


def test_an_overlap_longer_than_two_rounds() -> None:
    checked = check(LONG, revoke(100_000, "one"), end=120_000)
    assert checked.broken == {OVERLAPS: (1, 0)}
    (row,) = checked.rows(OVERLAPS)
    assert (row["since"], row["time"], row["value"], row["expected"]) == (30_000, 100_000, 70_000, 40_000)
    assert (checked.actor(row["actor"]), checked.actor(row["other"])) == ("two", "one")


def test_a_route_that_one_of_them_has_not_polled_yet_lets_an_overlap_last_longer() -> None:
    # EN-11: the poll comes after 30 s at most, and two rounds later both divide the same queues.
    def passes(client: str, *times: int, queues: list[str]) -> list[dict[str, object]]:
        told = {"queue": None, "broker": None, "queues": queues, "members": ["one", "two"]}
        return [{**event(t, Kind.REBALANCE, client), **told} for t in times]

    old, new = passes("one", 1_000, 21_000, queues=["b:0"]), passes("two", 30_000, 50_000, queues=["b:0", "b:1"])
    assert check(LONG, old, new, revoke(100_000, "one"), end=120_000).counts(OVERLAPS) == (0, 0)
    assert check(LONG, old, new, revoke(100_500, "one"), end=120_000).counts(OVERLAPS) == (1, 0)
    same = passes("two", 30_000, 50_000, queues=["b:0"])
    assert check(LONG, old, same, revoke(100_000, "one"), end=120_000).counts(OVERLAPS) == (1, 0)
    unseen = EVERYTHING - {Kind.REBALANCE}
    assert check(LONG, revoke(100_000, "one"), end=120_000, evidence=unseen).doubts(OVERLAPS) == [Doubt.EVIDENCE]
    assert check(LONG, revoke(100_500, "one"), end=120_000, evidence=unseen).counts(OVERLAPS) == (1, 0)


def test_an_overlap_that_lasts_until_the_end() -> None:
    checked = check(LONG, end=120_000)
    assert checked.broken == {OVERLAPS: (1, 0)}
    assert checked.rows(OVERLAPS)[0]["value"] == 90_000


def test_a_death_ends_an_overlap() -> None:
    assert check(LONG[:2], crash(60_000, "one"), end=120_000).broken == {}


def test_a_client_that_began_anew_may_have_died_unseen() -> None:
    first = [assign(1_000, "one", 0), heartbeat(2_000, "one", "T=*@1")]
    again = [*first, start(29_000, "one#1"), assign(30_000, "one#1", 0)]
    assert check(again, end=120_000).doubts(OVERLAPS) == [Doubt.EVIDENCE]
    goes_on = heartbeat(80_000, "one", "T=*@1")
    assert check(again, goes_on, end=120_000).counts(OVERLAPS) == (1, 0)


def test_who_asked_once_and_gave_no_sign_since_has_the_queue_no_more() -> None:
    taken = [assign(1_000, "one", 0), event(2_000, Kind.PULL, "one", offset=0), assign(30_000, "two", 0)]
    assert check(taken, found(190_000, "two", 0, 1), end=200_000).counts(OVERLAPS) == (0, 0)
    without = [each for each in taken if each["kind"] != Kind.PULL]
    assert check(without, found(190_000, "two", 0, 1), end=200_000).counts(OVERLAPS) == (1, 0)


def test_doubts_about_overlaps() -> None:
    assert check(LONG[:2], revoke(70_030, "one"), end=90_000).doubts(OVERLAPS) == [Doubt.SKEW]
    assert check(LONG, gap(50_000, 60_000), end=120_000).doubts(OVERLAPS) == [Doubt.GAP]
    assert check(LONG, gap(71_000, 80_000), end=120_000).doubts(OVERLAPS) == [Doubt.NONE]
    silent = EVERYTHING - {Kind.CLIENT_CRASH}
    assert check(LONG[:2], end=120_000, evidence=silent).doubts(OVERLAPS) == [Doubt.EVIDENCE]
    assert check(LONG, end=120_000, evidence=silent).counts(OVERLAPS) == (1, 0)


# Nobody

HEARTBEATS = [start(500, "two"), *(heartbeat(t, "two", "T=*@1") for t in range(1_000, 300_000, 30_000))]
ORPHAN = [assign(1_000, "one", 0), revoke(20_000, "one")]


def test_a_queue_that_loses_its_owner() -> None:
    # A9
    checked = check(HEARTBEATS, ORPHAN, end=300_000)
    assert checked.broken == {OWNED: (1, 0)}
    (row,) = checked.rows(OWNED)
    assert (row["since"], row["time"], row["value"]) == (20_000, 300_000, 280_000)
    assert checked.actor(row["other"]) == "one"


def test_a_queue_that_waits_long_for_its_owner() -> None:
    checked = check(HEARTBEATS, ORPHAN, assign(200_000, "two", 0), end=300_000)
    assert checked.broken == {OWNED: (1, 0)}
    assert checked.rows(OWNED)[0]["time"] == 200_000
    assert check(HEARTBEATS, ORPHAN, assign(59_000, "two", 0), end=300_000).broken == {}


def test_a_broker_that_answers_nobody_holds_up_the_passes_that_would_find_an_owner() -> None:
    def taken(time: int, *persists: int) -> Checked:
        seen = [event(at, Kind.FILE_PERSIST, broker="other", queue=None, topic=None, group=None) for at in persists]
        return check(HEARTBEATS, ORPHAN, seen, assign(time, "two", 0), end=300_000)

    hung = (0, 5_000, 10_000, 15_000, 20_000, 25_000, 46_000, 51_000)
    assert taken(75_000, *hung).counts(OWNED) == (0, 0)
    assert taken(75_000, *range(0, 80_000, 5_000)).counts(OWNED) == (1, 0)
    assert taken(125_000, *hung).counts(OWNED) == (1, 0)


def test_a_client_that_stood_still_takes_a_queue_when_it_goes_on() -> None:
    # PL-23: it had dropped the queue, and was stopped before it took it anew.
    def taken(who: str) -> Checked:
        beats = [heartbeat(t, "one", "T=*@1") for t in (*range(0, 60_001, 20_000), 140_000)]
        dropped = [assign(1_000, "one", 0), revoke(61_000, "one", "correction")]
        corrected = commit(140_000, "one", 0, "correction")
        return check(HEARTBEATS, beats, dropped, corrected, assign(141_000, who, 0), end=180_000)

    assert taken("one").broken == {}
    assert taken("two").broken == {OWNED: (1, 0)}


def test_a_queue_is_given_to_a_client_that_stands_still_until_brokers_drop_it() -> None:
    def taken(resumed: int) -> Checked:
        beats = [heartbeat(t, "one", "T=*@1") for t in (*range(0, 60_001, 20_000), resumed)]
        dropped = [assign(1_000, "one", 0), revoke(61_000, "one", "unsubscribe")]
        return check(HEARTBEATS, beats, dropped, assign(190_000, "two", 0), end=250_000)

    assert taken(200_000).broken == {}
    assert taken(180_000).broken == {OWNED: (1, 0)}


def test_a_client_that_ran_is_not_late_by_a_standstill() -> None:
    beats = [heartbeat(t, "one", "T=*@1") for t in range(0, 150_000, 20_000)]
    dropped = [assign(1_000, "one", 0), revoke(61_000, "one", "correction")]
    late = [commit(140_000, "one", 0, "correction"), assign(141_000, "one", 0)]
    checked = check(HEARTBEATS, beats, dropped, late, end=180_000)
    assert (checked.counts(OWNED), checked.counts("only-owners-commit")) == ((1, 0), (1, 0))


def test_a_consumer_that_stops_leaves_those_of_other_groups_of_its_process() -> None:
    def stopped(group: str | None) -> Checked:
        both = [assign(1_000, "one", 0), commit(2_000, "one", 0), stop(10_000, "one") | {"group": group}]
        return check(both, commit(15_000, "one", 0), commit(90_000, "one", 0), end=120_000)

    assert stopped("other").broken == {}
    assert stopped("G").broken == {OWNED: (1, 0), "only-owners-commit": (1, 0)}
    assert stopped(None).broken == {"only-owners-commit": (1, 0)}


def test_a_group_that_sleeps_needs_no_owner() -> None:
    night = [assign(1_000, "one", 0), stop(20_000, "one"), start(200_000, "one#1"), assign(200_100, "one#1", 0)]
    assert check([start(500, "one"), heartbeat(2_000, "one", "T=*@1")], night, end=250_000).broken == {}


def test_a_topic_that_nobody_wants_any_more() -> None:
    others = [heartbeat(t, "two", "Other=*@1") for t in range(1_000, 300_000, 30_000)]
    assert check(others, ORPHAN, end=300_000).broken == {}


def test_a_topic_that_members_give_up_and_take_again_one_after_the_other() -> None:
    def said(client: str, *changes: int) -> list[Event]:
        """Its heartbeats, which name the topic until the first of these times, and from the second one on."""
        times = range(1_000, 300_000, 30_000)
        return [
            *(heartbeat(t, client, "Other=*@1", *(() if changes[0] < t < changes[1] else ("T=*@1",))) for t in times),
            heartbeat(changes[1], client, "Other=*@1", "T=*@1"),
        ]

    def counts(*changes: int, until: int) -> dict[str, tuple[int, int]]:
        had = [assign(1_500, "one", 0), revoke(40_000, "one", path="unsubscribe"), assign(until, "one", 0)]
        return check(said("one", *changes), said("two", 20_000, 80_000), had, end=300_000).broken

    assert counts(39_000, 120_000, until=140_000) == {}
    # Passes give it to its owner as soon as both consume the topic again.
    assert counts(39_000, 120_000, until=170_000) == {OWNED: (1, 0)}


def test_a_queue_that_is_no_longer_there() -> None:
    views = [
        {**event(t, Kind.REBALANCE, "two"), "queue": None, "broker": None, "queues": ["b:1"], "members": ["two"]}
        for t in range(1_000, 300_000, 20_000)
    ]
    assert check(HEARTBEATS, ORPHAN, views, end=300_000).broken == {}


def test_a_queue_whose_broker_was_away_is_taken_when_passes_see_it_again() -> None:
    def view(time: int, queue: int) -> dict[str, object]:
        seen = {"queues": [f"b:{queue}"], "members": ["two"]}
        return {**event(time, Kind.REBALANCE, "two"), "queue": None, "broker": None, **seen}

    away = [view(t, 1) for t in range(1_000, 100_000, 20_000)]
    again = [view(t, 0) for t in range(110_000, 300_000, 20_000)]
    assert check(HEARTBEATS, ORPHAN, away, again, assign(115_000, "two", 0), end=300_000).broken == {}
    assert check(HEARTBEATS, ORPHAN, away, again, assign(170_000, "two", 0), end=300_000).counts(OWNED) == (1, 0)


def test_a_member_that_learns_the_route_at_its_next_poll_takes_the_queue_after_that() -> None:
    # ST-3: the name server did not answer while it started; passes over the topic begin with the poll 30 s later.
    def learns(time: int) -> dict[str, object]:
        return {**event(time, Kind.ROUTE, "one#1"), "queue": None, "broker": None, "queues": ["b:0"]}

    before = [start(500, "one"), assign(1_000, "one", 0), stop(20_000, "one"), start(200_000, "one#1")]
    late = assign(245_000, "one#1", 0)
    assert check(before, learns(201_000), late, end=250_000).counts(OWNED) == (1, 0)
    assert check(before, learns(230_300), late, end=250_000).broken == {}
    assert check(before, learns(230_300), assign(271_000, "one#1", 0), end=280_000).counts(OWNED) == (1, 0)


def test_a_queue_that_the_name_server_does_not_tell_of_needs_no_owner() -> None:
    # Logs of clients show no views, but that routes change: which client has asked they do not say.
    def told(time: int, *queues: str) -> dict[str, object]:
        return {"time": time, "kind": Kind.ROUTE, "topic": "T", "queues": list(queues)}

    lost = [*HEARTBEATS, assign(1_000, "one", 0), revoke(60_000, "one"), assign(250_000, "one", 0)]
    broken = (1, 0)
    assert check(lost, [told(50_000, "a:0")], end=300_000).counts(OWNED) == (0, 0)
    assert check(lost, [told(50_000, "a:0", "b:0")], end=300_000).counts(OWNED) == broken
    for back, counted in ((179_000, broken), (181_000, (0, 0))):  # a poll and two rounds before it is taken
        assert check(lost, [told(50_000, "a:0"), told(back, "b:0")], end=300_000).counts(OWNED) == counted


def test_members_with_different_routes_may_leave_a_queue_to_each_other_until_the_next_poll() -> None:
    # EN-11: "one" knows one queue and gives itself none of it, "two" knows both and leaves the second to "one".
    def passes(client: str, *times: int, queues: list[str]) -> list[dict[str, object]]:
        told = {"queue": None, "broker": None, "topic": "T", "queues": queues, "members": ["one", "two"]}
        return [{**event(t, Kind.REBALANCE, client), **told} for t in times]

    late = [*HEARTBEATS, assign(1_000, "one", 0), revoke(60_000, "one"), assign(129_500, "one", 0)]
    old, new = passes("one", 60_000, 80_000, queues=["b:0"]), passes("two", 61_000, 81_000, queues=["a:0", "b:0"])
    assert check(late, old, new, end=300_000).broken == {}
    assert check(late, old, passes("two", 61_000, 81_000, queues=["b:0"]), end=300_000).counts(OWNED) == (1, 0)
    longer = [*late[:-1], assign(130_500, "one", 0)]
    assert check(longer, old, new, end=300_000).counts(OWNED) == (1, 0)


def test_an_old_connection_of_a_member_takes_a_share_until_the_broker_finds_it_dead() -> None:
    # ST-6, RB-21: "two" is named once for each connection, and has the share of its first place only.
    seen = {"queue": None, "broker": None, "queues": ["b:0", "b:1"], "members": ["two", "two"], "assigned": ["b:1"]}
    twice = [{**event(t, Kind.REBALANCE, "two"), **seen} for t in range(25_000, 190_000, 20_000)]
    assert check(HEARTBEATS, ORPHAN, twice, assign(189_000, "two", 0), end=300_000).broken == {}
    assert check(HEARTBEATS, ORPHAN, twice, assign(191_000, "two", 0), end=300_000).counts(OWNED) == (1, 0)
    # Two processes that share the id go on connecting.
    other = [start(600, "two#1"), *(heartbeat(t, "two#1", "T=*@1") for t in range(1_000, 300_000, 30_000))]
    clash = check(HEARTBEATS, other, ORPHAN, twice, assign(189_000, "two", 0), end=300_000)
    assert clash.counts(OWNED) == (1, 0)


def test_what_happened_when_it_was_too_late_already_explains_nothing() -> None:
    def doubts(since: int, until: int) -> list[Doubt]:
        return check(HEARTBEATS, ORPHAN, gap(since, until), end=300_000).doubts(OWNED)

    assert doubts(59_000, 110_000) == [Doubt.GAP]
    assert doubts(61_000, 110_000) == [Doubt.NONE]
    # Nobody was there to take the queue until "two" started.
    late = [start(40_500, "two"), *HEARTBEATS[3:]]
    for since, doubt in ((79_000, Doubt.GAP), (82_000, Doubt.NONE)):
        assert check(late, ORPHAN, gap(since, 110_000), end=300_000).doubts(OWNED) == [doubt]


def test_doubts_about_owners() -> None:
    assert check(HEARTBEATS, ORPHAN, gap(30_000, 40_000), end=300_000).doubts(OWNED) == [Doubt.GAP]
    assert check(HEARTBEATS, ORPHAN, assign(60_020, "two", 0), end=300_000).doubts(OWNED) == [Doubt.SKEW]
    signs = {Kind.HEARTBEAT, Kind.REBALANCE, Kind.CLIENT_START}
    assert check(ORPHAN, end=300_000, evidence=EVERYTHING - signs).doubts(OWNED) == [Doubt.EVIDENCE]


# Again and again


def flapping(times: int, path: str = "removal", period: int = 140 * SECOND) -> list[dict[str, object]]:
    """One client takes its queue again so many times."""
    each = [assign(1_000, "one", 0)]
    for n in range(1, times + 1):
        each += [revoke(n * period, "one", path), assign(n * period + SECOND, "one", 0)]
    return each


def test_flapping() -> None:
    # A10: every sweep drops the queue and takes it again.
    assert check(flapping(3)).broken == {}
    checked = check(flapping(4))
    assert checked.broken == {FLAPPING: (1, 0)}
    (row,) = checked.rows(FLAPPING)
    assert (row["value"], row["expected"], row["since"], row["time"]) == (4, 3, 141_000, 561_000)
    assert checked.actor(row["actor"]) == "one"
    assert checked.judged(FLAPPING) == 5


def test_a_broker_that_has_just_started_knows_few_members() -> None:
    quick = flapping(5, period=5 * SECOND)
    begun = {**event(4_000, Kind.BROKER_START), "group": None, "topic": None, "queue": None}
    assert check(quick).counts(FLAPPING) == (1, 0)
    assert check(begun, quick).broken == {}
    assert check(begun, flapping(15, period=5 * SECOND)).counts(FLAPPING) == (1, 0)


def test_flapping_ends_when_another_client_takes_the_queue() -> None:
    other = [revoke(600 * SECOND, "one"), assign(601 * SECOND, "two", 0), revoke(602 * SECOND, "two")]
    again = [{**each, "time": int(str(each["time"])) + 700 * SECOND} for each in flapping(3)]
    assert check(flapping(3), other, again).broken == {}
    assert check(flapping(5), other, again).counts(FLAPPING) == (1, 0)


def test_corrections_and_slow_changes_are_no_flapping() -> None:
    assert check(flapping(9, "correction")).broken == {}
    assert check(flapping(9, period=30 * MINUTE)).broken == {}


def test_members_that_come_and_go_explain_it() -> None:
    change = [heartbeat(1_000, "two")]
    change += [step for n in range(4) for step in (start(150_000 + n, f"two#{n}"), crash(150_050 + n, f"two#{n}"))]
    change += [heartbeat(150_020 + n, f"two#{n}") for n in range(4)]
    assert check(flapping(4), change).broken == {}


def test_lists_of_members_that_differ_explain_it() -> None:
    """Two brokers have different lists, and each pass asks one of them."""

    def passes(*lists: str) -> list[dict[str, object]]:
        one = {"kind": "rebalance", "client": "one", "group": "G", "topic": "T", "queues": ["b:0"]}
        return [
            {**one, "time": 5_000 * (1 + at // 2) + at % 2 * 1_000, "members": who.split()}
            for at, who in enumerate(lists)
        ]

    quick = flapping(5, period=5 * SECOND)
    assert check(quick, passes(*("one two", "one") * 5)).broken == {}
    assert check(quick, passes(*("one",) * 10)).counts(FLAPPING) == (1, 0)


def test_doubt_about_flapping() -> None:
    # Somebody else may have had the queue meanwhile.
    assert check(flapping(4), gap(300_000, 310_000)).doubts(FLAPPING) == [Doubt.GAP]
    assert check(flapping(4), evidence=EVERYTHING - {Kind.ASSIGN}).counts(OVERLAPS) == (0, 0)


def test_names_without_events_are_not_judged() -> None:
    checked = check(found(1_000, "one", 0, 1))
    assert isinstance(checked.names, Names)
    assert checked.judged(OWNED) == 0
