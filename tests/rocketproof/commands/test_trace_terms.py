from pathlib import Path

import pytest

from rocketproof.commands.check import CheckRequest, settings_of
from rocketproof.commands.trace_terms import terms_of
from rocketproof.errors import InputError
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.format.schema import Group, Header
from rocketproof.traces.io import open_trace
from rocketproof.traces.io.writing import write_jsonl

SMALLEST = """
[[topics]]
name = "orders"

[[groups]]
name = "billing"
subscriptions = {orders = "*"}
members = [{name = "one"}]
"""

TIMERS = """
[[brokers]]
name = "broker-a"
message_delay_level = "2s 4s"
lock_max_live_time = 30000

[[topics]]
name = "orders"

[[groups]]
name = "billing"
subscriptions = {orders = "*"}
members = [{name = "one", rebalance_wait_interval = 1000}, {name = "two", consume_timeout = 2}]
max_reconsume_times = 3
rebalance_wait_interval = 2000
poll_name_server_interval = 4000
heartbeat_broker_interval = 5000
persist_consumer_offset_interval = 600
pull_max_idle_time = 70000
consume_timeout = 1
"""


def written(folder: Path, text: str) -> str:
    (folder / "rocketproof.toml").write_text(text, encoding="utf-8")
    return str(folder / "rocketproof.toml")


def settings(folder: Path, config: str, **options: str) -> tuple[Settings, Header]:
    header = Header(groups={"billing": Group(strategy="AVG"), "other": Group()}, delays="1s")
    write_jsonl(folder / "t.jsonl", header, [{"time": 1, "kind": "store", "topic": "T", "broker": "b", "queue": 0}])
    trace = open_trace([folder / "t.jsonl"])
    found = settings_of(trace, CheckRequest(paths=[], config=config, skew=7, **options))
    return found, trace.header


def test_a_file_that_states_nothing_has_the_defaults(tmp_path: Path) -> None:
    terms = terms_of(written(tmp_path, SMALLEST))
    assert terms.settings == Settings()
    assert (terms.delays, terms.maxima) == (False, {})


def test_timers_are_the_longest_of_any_member(tmp_path: Path) -> None:
    found, header = settings(tmp_path, written(tmp_path, TIMERS))
    timers = (found.rebalance, found.route_poll, found.heartbeat, found.persist, found.stuck, found.lock_life)
    assert timers == (2_000, 4_000, 5_000, 600, 70_000, 30_000)
    assert (found.consume_timeout, found.skew, found.delays.delays) == (120_000, 7, (2_000, 4_000))
    assert (found.consume_timeouts, found.of_group("other").consume_timeout) == ({"billing": 120_000}, 120_000)
    assert header.groups == {"billing": Group(strategy="AVG", max_attempts=3), "other": Group()}


def test_levels_of_an_option_win_and_those_of_the_trace_count_where_the_file_states_none(tmp_path: Path) -> None:
    assert settings(tmp_path, written(tmp_path, TIMERS), delays="9s")[0].delays.delays == (9_000,)
    assert settings(tmp_path, written(tmp_path, SMALLEST))[0].delays.delays == (1_000,)


def test_members_with_different_maxima_state_none(tmp_path: Path) -> None:
    text = SMALLEST.replace('{name = "one"}', '{name = "one", max_reconsume_times = 3}, {name = "two"}')
    assert terms_of(written(tmp_path, text)).maxima == {}


def test_brokers_with_different_levels_are_told(tmp_path: Path) -> None:
    brokers = '[[brokers]]\nname = "a"\n[[brokers]]\nname = "b"\nmessage_delay_level = "1s"\n'
    with pytest.raises(InputError, match=r"its brokers have different delay levels: 1s; 1s 5s .* with --delays"):
        terms_of(written(tmp_path, brokers + SMALLEST))


def test_a_file_that_is_missing_or_wrong_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml"):
        terms_of(str(tmp_path / "none.toml"))
    with pytest.raises(InputError, match="there is no such field"):
        terms_of(written(tmp_path, SMALLEST + "rebalance = 1\n"))
