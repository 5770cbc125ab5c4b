"""Times within which things must happen, from the settings of clients and brokers."""

from rocketproof.traces.claims.settings import Settings


def test_each_time_follows_from_its_settings() -> None:
    given = Settings(
        rebalance=7, heartbeat=100, route_poll=1_000, persist=10_000, stuck=200_001, consume_timeout=9,
        consume_timeouts={"G": 8, "H": 10},
    )  # fmt: skip
    assert (given.rounds, given.new_topic) == (14, 1_014)
    assert (given.refusals, given.commit_late) == (10_100, 20_107)
    assert (given.given_late, given.shortest.consume_timeout) == (100_000, 8)


def test_rocketmqs_own_settings() -> None:
    given = Settings()
    assert (given.skew, given.rebalance, given.heartbeat, given.route_poll) == (50, 20_000, 30_000, 30_000)
    assert (given.persist, given.lock_life, given.consume_timeout) == (5_000, 60_000, 900_000)
    assert (given.channel_expiry, given.silent_death) == (120_000, 130_000)
    assert (given.stuck, given.late, given.flaps) == (120_000, 60_000, 3)
    told = (given.lock_life_told, given.consume_timeout_told, given.delays_told, given.offsets_kept)
    assert told == (False, False, False, True)
