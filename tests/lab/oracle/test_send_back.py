"""What a real broker makes of a message that is sent back, against the retry policy of the model."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from rocketproof.model.dead_letter import DEAD_LETTER_QUEUES, dead_letter_topic, retry_topic
from rocketproof.model.delay import DEFAULT_LEVELS, SCHEDULE_TOPIC, DelayTable, stored_level
from rocketproof.model.retry_policy import (
    Circumstances,
    answer,
    broker_checks,
    copied,
    copy_times,
    fallback_gives_up,
    is_dead_letter,
    maximum_applied,
    retry_level,
)

from .real import Real, seeded

pytestmark = pytest.mark.lab

CASES = 4_000
TABLE = DelayTable.parse(DEFAULT_LEVELS)
FAULTS = (
    "has_master",
    "group_exists",
    "broker_writable",
    "retry_topic",
    "retry_topic_writable",
    "message_readable",
    "dead_letter_topic",
    "stored",
)


def case(random: Random, way: str) -> dict[str, Any]:
    times = random.choice((0, 1, 2, 3, 7, 15, 16, 17, random.randrange(40)))
    return {
        "way": way,
        "times": times,
        "maximum": random.choice((None, 0, 1, 2, 16, times, times + 1, max(0, times - 1), -1)),
        "level": random.choice((0, 0, 0, -1, 1, 3, 18, 19, 100)) if way == "request" else 3 + max(0, times - 1),
        "retry_queues": random.choice((1, 1, 2, 4, 0)) if way == "request" else 1,
        "retry_maximum": random.choice((0, 3, 16)),
        "locked": way == "fallback" and random.random() < 0.3,
        "broken": random.sample(FAULTS, random.choice((0, 0, 1, 2))) if way == "request" else [],
    }


def group_of(given: dict[str, Any]) -> str:
    return f"group-{given['retry_queues']}-{given['retry_maximum']}" + ("-locked" if given["locked"] else "")


def maximum_of(given: dict[str, Any]) -> int:
    sent = given["maximum"]
    return int(maximum_applied(given["retry_maximum"], 0 if sent is None else sent, sent is not None))


def assert_copy(given: dict[str, Any], told: dict[str, Any], *, dead: bool, times: int, level: int) -> None:
    """DL-2, DL-3, DQ-1, SB-14: what is stored, where, with which count, and when it is due."""
    group = group_of(given)
    assert told["times"] == times
    assert told["retry_topic"] == "topic"
    if dead:
        assert (told["topic"], told["real_topic"], told["wait"]) == (dead_letter_topic(group), None, None)
        assert 0 <= told["queue"] < DEAD_LETTER_QUEUES
        return
    stored = stored_level(level, TABLE.levels)
    assert (told["topic"], told["queue"]) == (SCHEDULE_TOPIC, stored - 1)
    assert told["real_topic"] == retry_topic(group)
    assert (told["level"], told["wait"]) == (str(stored), TABLE.delay(stored))


def test_request_36_is_decided_as_by_the_real_broker(real: Real) -> None:
    random = seeded("request 36")
    cases = [case(random, "request") for _ in range(CASES)]
    seen: Counter[str] = Counter()
    for given, got in zip(cases, real.ask("send back", cases), strict=True):
        maximum = maximum_of(given)
        dead = bool(is_dead_letter(given["times"], maximum, given["level"]))
        found = Circumstances(
            **{name: name not in given["broken"] for name in FAULTS}, retry_queues=given["retry_queues"]
        )
        checks = broker_checks(found, dead_letter=dead, version=real.rules)
        assert "is" in got, (given, got)
        told = got["is"]
        assert told["code"] == answer(checks), (given, told)
        assert ("topic" in told) == bool(copied(checks)), (given, told)
        if "topic" in told:
            level = int(retry_level(given["times"], given["level"]))
            assert_copy(given, told, dead=dead, times=int(copy_times(given["times"])), level=level)
            seen["dead letter" if dead else "retry"] += 1
        seen[f"code {told['code']}"] += 1
    assert len(cases) == CASES
    assert {name: count > CASES // 50 for name, count in seen.items()} == dict.fromkeys(
        ("dead letter", "retry", "code 0", "code 1", "code 16", "code 26"), True
    )


def test_a_fallback_is_decided_as_by_the_real_broker(real: Real) -> None:
    random = seeded("fallback")
    cases = [case(random, "fallback") for _ in range(CASES)]
    seen: Counter[bool] = Counter()
    for given, got in zip(cases, real.ask("send back", cases), strict=True):
        dead = bool(fallback_gives_up(real.rules, given["times"], maximum_of(given), given["locked"]))
        assert "is" in got, (given, got)
        told = got["is"]
        assert told["code"] == 0, (given, got)
        if dead and real.rules == "4.9.8":
            # There the level that the client set comes back with its properties: the dead letter waits like a retry.
            assert told["real_topic"] == dead_letter_topic(group_of(given))
            told["real_topic"] = retry_topic(group_of(given))
            assert_copy(given, told, dead=False, times=given["times"], level=given["level"])
        else:
            assert_copy(given, told, dead=dead, times=given["times"], level=given["level"])
        seen[dead] += 1
    assert sum(seen.values()) == CASES
    assert min(seen.values()) > CASES // 5
