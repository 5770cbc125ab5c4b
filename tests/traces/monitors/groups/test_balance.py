from __future__ import annotations

from rocketproof.traces.engine.findings import Doubt
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.monitors.notebook import whole

from .group_events import Event, Judged, event, heartbeat, rebalance, stop

CLAIM = "every-topic-is-balanced"


def passes(topic: str, *times: int, client: str = "c1", members: list[str] | None = None) -> list[Event]:
    return [rebalance(time, client, members or ["c1"], topic=topic) for time in times]


def test_all_topics_in_every_pass() -> None:
    times = range(1_000, 100_000, 20_000)
    judged = Judged([heartbeat(0, "c1", "T=*", "U=*"), *passes("T", *times), *passes("U", *times)])
    assert judged.counts(CLAIM) == (0, 0)
    assert judged.judged(CLAIM) == 2


def test_a_topic_that_passes_leave_out_from_some_time_on() -> None:
    times = range(1_000, 200_000, 20_000)
    events = [heartbeat(0, "c1", "T=*", "U=*"), *passes("T", *times), *passes("U", 1_000, 21_000)]
    judged = Judged(events)
    assert judged.counts(CLAIM) == (1, 0)
    (row,) = judged.rows(CLAIM)
    assert (row["slot"], row["since"], row["time"], row["actor"]) == (whole("G", "U"), 21_000, 181_000, "c1")


def test_no_pass_is_made_while_a_broker_is_down() -> None:
    def counts(*, down: int, until: int) -> tuple[int, int]:
        broker = [event(down, Kind.BROKER_STOP, broker="b"), event(until, Kind.BROKER_START, broker="b")]
        both = [*passes("T", 1_000, 21_000, 121_000), *passes("U", 1_000, 21_000)]
        beats = [heartbeat(0, "c1", "T=*", "U=*"), heartbeat(122_000, "c1", "T=*", "U=*")]
        return Judged([*beats, *both, *broker]).counts(CLAIM)

    assert counts(down=30_000, until=90_000) == (0, 0)
    assert counts(down=30_000, until=50_000) == (1, 0)
    assert counts(down=130_000, until=190_000) == (1, 0)


def test_a_topic_that_comes_back() -> None:
    times = range(1_000, 200_000, 20_000)
    events = [heartbeat(0, "c1", "T=*", "U=*"), *passes("T", *times), *passes("U", 1_000, 121_000, 141_000, 161_000)]
    judged = Judged([*events, *passes("U", 181_000)])
    (row,) = judged.rows(CLAIM)
    assert row["since"] == 1_000
    # The pass over T at 121 s may have come before the one over U.
    assert row["time"] in (101_000, 121_000)


def test_a_topic_that_was_never_balanced() -> None:
    # Another member sees queues of U, and with what c1 saw of the members some would be its own: that would be logged.
    events = [heartbeat(0, "c1", "T=*", "U=*"), *passes("T", 1_000, 91_000, members=["c1", "c2"])]
    seen = passes("U", 1_000, client="c2", members=["c1", "c2"])
    judged = Judged([*events, *seen])
    assert judged.counts(CLAIM) == (1, 0)
    assert judged.rows(CLAIM)[0]["since"] == 1_000


def test_a_topic_without_a_route_is_in_doubt() -> None:
    judged = Judged([heartbeat(0, "c1", "T=*", "U=*"), *passes("T", *range(1_000, 100_000, 20_000))])
    assert judged.counts(CLAIM) == (0, 1)
    assert judged.rows(CLAIM)[0]["doubt"] == Doubt.EVIDENCE


def test_a_topic_that_has_no_queue_is_not_balanced() -> None:
    # retryQueueNums = 0 of a group: its retry topic never gets any.
    told = event(10, Kind.ROUTE, client="c1", topic="U", queues=[])
    judged = Judged([heartbeat(0, "c1", "T=*", "U=*"), told, *passes("T", *range(1_000, 100_000, 20_000))])
    assert (judged.counts(CLAIM), judged.judged(CLAIM)) == ((0, 0), 1)


def test_a_topic_is_not_balanced_while_its_client_learnt_of_no_queue() -> None:
    def counts(*, away: int, back: int) -> tuple[int, int]:
        """A name server that restarts has no brokers for a while."""
        routes = [(0, ["b:0"]), (away, []), (back, ["b:0"])]
        told = [event(time, Kind.ROUTE, client="c1", topic="U", queues=queues) for time, queues in routes]
        both = [*passes("T", *range(1_000, 200_000, 20_000)), *passes("U", 1_000, 181_000)]
        return Judged([heartbeat(1, "c1", "T=*", "U=*"), *told, *both]).counts(CLAIM)

    assert counts(away=2_000, back=170_000) == (0, 0)
    assert counts(away=2_000, back=80_000) == (1, 0)


def test_passes_that_change_nothing_may_not_have_been_recorded() -> None:
    # All that was recorded of U is still right at the end, so there may have been passes that changed nothing.
    events = [heartbeat(0, "c1", "T=*", "U=*"), *passes("U", 1_000)]
    events += [rebalance(time, "c1", ["c1"], [f"b:{time}"]) for time in (1_000, 91_000)]
    judged = Judged(events)
    assert judged.counts(CLAIM) == (0, 1)


def test_passes_that_had_to_change_something_would_have_been() -> None:
    events = [heartbeat(0, "c1", "T=*", "U=*"), *passes("U", 1_000), *passes("T", 1_000)]
    judged = Judged([*events, *passes("T", 91_000, members=["c1", "c2"])])
    assert judged.counts(CLAIM) == (1, 0)


def test_a_gap_is_a_doubt() -> None:
    times = range(1_000, 200_000, 20_000)
    events = [heartbeat(0, "c1", "T=*", "U=*"), *passes("T", *times), *passes("U", 1_000, 21_000)]
    judged = Judged([*events, event(100_000, Kind.GAP, None, None, due=90_000)])
    assert judged.counts(CLAIM) == (0, 1)
    assert judged.rows(CLAIM)[0]["doubt"] == Doubt.GAP


def test_topics_that_are_no_longer_consumed_need_no_passes() -> None:
    times = range(1_000, 200_000, 20_000)
    events = [heartbeat(0, "c1", "T=*", "U=*"), *passes("T", *times), *passes("U", 1_000, 21_000)]
    assert Judged([*events, heartbeat(30_000, "c1", "T=*")]).counts(CLAIM) == (0, 0)


def test_a_new_process_has_a_new_time_to_balance() -> None:
    events = [heartbeat(0, "c1", "T=*", "U=*"), *passes("T", 1_000), *passes("U", 1_000), stop(2_000, "c1")]
    events += [heartbeat(300_000, "c1#1", "T=*", "U=*"), *passes("T", 301_000, client="c1#1")]
    judged = Judged([*events, *passes("U", 302_000, client="c1#1")])
    assert judged.counts(CLAIM) == (0, 0)
    assert judged.judged(CLAIM) == 4


def test_a_new_topic_is_learnt_at_the_next_poll_of_routes_and_waits_for_a_rebalance() -> None:
    events = [heartbeat(0, "c1", "T=*", "U=*"), *passes("T", 1_000, 21_000, 41_000, 61_000)]
    assert Judged([*events, *passes("U", 69_000)]).counts(CLAIM) == (0, 0)


def test_a_client_that_lives_and_balances_nothing_any_more() -> None:
    done = [*passes("T", 1_000, 21_000), *passes("U", 1_000, 21_000)]
    alive = [heartbeat(time, "c1", "T=*", "U=*") for time in range(0, 300_000, 30_000)]
    judged = Judged([*alive, *done])
    assert judged.counts(CLAIM) == (1, 0)
    (row,) = judged.rows(CLAIM)
    assert (row["slot"], row["since"], row["time"], row["value"]) == (whole("G"), 21_000, 270_000, 2)
    assert Judged([*alive[:3], *done]).counts(CLAIM) == (0, 0)


def test_a_client_that_makes_no_passes_is_not_judged() -> None:
    assert Judged([heartbeat(0, "c1", "T=*"), heartbeat(200_000, "c1", "T=*")]).judged(CLAIM) == 0


def test_topics_left_out_together_are_one_finding() -> None:
    times = range(1_000, 200_000, 20_000)
    events = [heartbeat(0, "c1", "T=*", "U=*", "V=*"), *passes("T", *times), *passes("U", 1_000, 21_000)]
    events += [*passes("V", 1_000, 41_000), *passes("U", 182_000), *passes("V", 183_000)]
    judged = Judged(events)
    assert judged.counts(CLAIM) == (1, 0)
    (row,) = judged.rows(CLAIM)
    assert (row["slot"], row["since"], row["time"], row["value"]) == (whole("G"), 21_000, 182_000, 2)


def test_a_topic_that_is_made_later_is_balanced_from_then_on() -> None:
    times = range(1_000, 300_000, 20_000)
    events = [heartbeat(0, "c1", "T=*", "U=*"), *passes("T", *times)]
    learnt = event(125_000, Kind.ROUTE, "c1", topic="U", queues=["b:0"])
    assert Judged([*events, learnt, *passes("U", *range(141_000, 300_000, 20_000))]).counts(CLAIM) == (0, 0)
    (row,) = Judged([*events, learnt]).rows(CLAIM)
    assert row["since"] == 125_000


def test_a_client_that_its_application_suspends_balances_all_topics_at_once_when_it_is_resumed() -> None:
    beats = [heartbeat(time, "c1", "T=*", "U=*") for time in range(0, 200_000, 30_000)]
    both = [*passes("T", 1_000, 21_000, 141_000, 161_000), *passes("U", 1_000, 21_000)]
    assert Judged([*beats, *both, *passes("U", 141_001, 161_000)]).counts(CLAIM) == (0, 0)
    assert Judged([*beats, *both, *passes("U", 181_000)]).counts(CLAIM) == (1, 0)


def test_a_pass_asks_any_broker_of_a_topic_also_one_that_the_client_does_not_reach() -> None:
    times = range(1_000, 200_000, 20_000)
    both = [*passes("T", *times), *passes("U", 1_000, 21_000, 121_000, 141_000, 161_000, 181_000)]

    def counts(*reached: int, asked: str = "ab") -> tuple[int, int]:
        beats = [heartbeat(time, "c1", "T=*", "U=*") | {"broker": "a"} for time in range(0, 200_000, 30_000)]
        others = [heartbeat(time + 1, "c1", "T=*", "U=*") | {"broker": "b"} for time in reached]
        routes = [event(2, "route", client="c1", topic=topic, queues=[f"{b}:0" for b in asked]) for topic in "TU"]
        return Judged([*beats, *others, *routes, *both]).counts(CLAIM)

    assert counts(0, 30_000, 120_000, 150_000) == (0, 0)
    assert counts(0, 30_000, 60_000, 90_000, 120_000, 150_000) == (1, 0)
    assert (counts(0, 30_000), counts(0, 30_000, asked="a")) == ((0, 0), (1, 0))  # no pass asks the other broker


def test_a_client_that_makes_no_pass_at_all() -> None:
    def counts(*events: Event, queues: tuple[str, ...] = ("b:0",)) -> tuple[int, int]:
        learnt = event(0, Kind.ROUTE, client="c1", topic="T", queues=list(queues))
        beats = [heartbeat(time, "c1", "T=*") for time in range(100, 100_000, 30_000)]
        return Judged([learnt, *beats, *events]).counts(CLAIM)

    assert counts() == (1, 0)
    assert counts(*passes("T", 1_000, 91_000)) == (0, 0)
    assert counts(queues=()) == (0, 0)
    assert counts(stop(60_000, "c1")) == (0, 0)
