"""Scenario files: what they say, what they may not say, and that the ones of the kit are whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketproof.lab.errors import LabError
from rocketproof.lab.maven import RELEASES
from rocketproof.lab.scenario import Range, load, names, parse

NAMES = (
    "batch-acknowledged-in-part",
    "broadcast",
    "broadcast-on-one-host",
    "broker-restart-consuming",
    "broker-restart-delays",
    "clocks-apart",
    "different-tags",
    "different-topics",
    "failures-to-dead-letter",
    "fewer-read-queues",
    "graceful-shutdown-slow-listener",
    "group-without-agent",
    "hook-only",
    "kill-9-mid-batch",
    "last-offset-added-queues",
    "log-only",
    "mixed-releases",
    "network-cut",
    "orderly-hand-over",
    "same-client-id",
    "scale-out-and-in",
    "sigstop-past-lock",
    "slow-listener-timeout",
    "steady",
    "usual-timers",
)

SMALL = """
title = "small"
shows = "nothing"
[topics.orders]
[defaults]
threads = 2
[consumers.one]
[consumers.two]
threads = 3
[[steps]]
do = "start"
client = "one"
[[steps]]
do = "send"
topic = "orders"
count = 7
[expect]
deliveries = [7, 9]
losses = 0
[expect.duplicates]
CRASH = 2
[expect_on."4.9.8"]
deliveries = 8
"""


def changed(old: str, new: str) -> str:
    assert old in SMALL
    return SMALL.replace(old, new)


def small(text: str = SMALL) -> object:
    return parse(text, name="small", where="small.toml")


def test_the_scenarios_of_the_kit() -> None:
    assert names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_scenario_is_whole(name: str) -> None:
    scenario = load(name)
    assert scenario.name == name
    assert scenario.releases == list(RELEASES)
    assert scenario.rules
    started = [step.client for step in scenario.steps if step.do == "start"]
    assert sorted(set(started)) == sorted(scenario.consumers)
    if scenario.expect.statuses and not any(each.mode == "broadcasting" for each in scenario.consumers.values()):
        # What no client ever sees has no status.
        assert sum(often.low for often in scenario.expect.statuses.values()) <= scenario.sent


@pytest.mark.parametrize("name", NAMES)
def test_rules_of_scenarios_are_documented(name: str) -> None:
    documented = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
    assert [rule for rule in load(name).rules if f"| {rule} |" not in documented] == []


def test_what_a_file_says() -> None:
    scenario = parse(SMALL, name="small", where="small.toml")
    assert [consumer.threads for consumer in scenario.consumers.values()] == [2, 3]
    assert scenario.topics["orders"].read == scenario.topics["orders"].write == 4
    assert scenario.topics_of("one") == {"orders": "*"}
    assert scenario.sent == 7
    assert scenario.expect.duplicates == {"CRASH": Range(low=2, high=2)}


def test_a_release_may_differ() -> None:
    scenario = parse(SMALL, name="small", where="small.toml")
    assert scenario.expected("5.3.3").deliveries == Range(low=7, high=9)
    assert scenario.expected("4.9.8").deliveries == Range(low=8, high=8)
    assert scenario.expected("4.9.8").duplicates == {"CRASH": Range(low=2, high=2)}


@pytest.mark.parametrize(
    ("value", "within"), [(6, False), (7, True), (9, True), (10, False)], ids=["below", "low", "high", "above"]
)
def test_a_range_has_both_its_ends(value: int, within: bool) -> None:
    assert (value in Range(low=7, high=9)) is within


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (changed('client = "one"', 'client = "three"'), "small.toml: step 1: no consumer 'three'; there are one, two"),
        (changed('topic = "orders"', 'topic = "bills"'), "small.toml: step 2: no topic 'bills'; there are orders"),
        (changed("CRASH = 2", "CRUSH = 2"), "small.toml: expect: no cause 'CRUSH'; there are BROKER_RESTART, "),
        (changed("losses = 0", 'violated = ["none"]'), "small.toml: expect: no claim 'none'; there are "),
        (changed("deliveries = [7, 9]", "deliveries = [7]"), "expect.deliveries: a number, or a list of the lowest"),
        (changed("threads = 3", "thread = 3"), "small.toml: consumers.two.thread: Extra inputs are not permitted"),
        (changed('do = "start"', 'do = "begin"'), "small.toml: steps.0.do: Input should be 'start', 'stop', "),
        (changed('expect_on."4.9.8"', 'expect_on."4.9.7"'), "small.toml: no release '4.9.7' in the lab; there are "),
        (changed("[topics.orders]", "[topics.orders"), "small.toml: "),
    ],
    ids=["consumer", "topic", "cause", "claim", "range", "field", "step", "release", "toml"],
)
def test_what_is_wrong_is_told(text: str, told: str) -> None:
    with pytest.raises(LabError) as caught:
        small(text)
    assert told in str(caught.value)


def test_an_unknown_scenario() -> None:
    with pytest.raises(
        LabError,
        match=r"there is no scenario 'stead'\. Did you mean 'steady'.*Possible: batch-acknowledged-in-part, ",
    ):
        load("stead")


def test_a_scenario_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    assert load(str(tmp_path / "small.toml")).name == "small"
    with pytest.raises(LabError, match="there is no such file"):
        load(str(tmp_path / "smaller.toml"))
