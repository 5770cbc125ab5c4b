"""Delay tables and due times against RocketMQ's own."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from rocketproof.model.delay import DEFAULT_LEVELS, DelayTable, corrected_due_time, due_time
from rocketproof.model.kernel import ConfigurationError

from .real import Real, seeded

pytestmark = pytest.mark.lab

TABLES = 2_000
NOW = 1_700_000_000_000


def entry(random: Random, *, right: bool) -> str:
    if right or random.random() < 0.9:
        return random.choice(("", "", "+")) + str(random.choice((0, 1, 5, 30, 600))) + random.choice("smhd")
    return random.choice(
        ("", "s", "5", "5x", "s5", "5S", "1.5s", "5 s", "5ms", "\t5s", "0x5s", "--5s", "+-5s", "+s", "1_0s")
    )


def table(random: Random) -> str:
    right = random.random() < 0.5
    text = " ".join(entry(random, right=right) for _ in range(random.randint(1, 20)))
    return text + random.choice(("", "", "", " ", "  "))


def case(random: Random) -> dict[str, Any]:
    times = [(random.randint(-2, 22), NOW + random.randrange(10**9)) for _ in range(4)]
    looks = [(1, NOW + random.randrange(-(10**6), 10**6), NOW) for _ in range(3)]
    return {"table": table(random), "due": times, "late": looks}


def test_tables_are_parsed_and_messages_due_as_by_the_real_broker(real: Real) -> None:
    random = seeded("delay tables")
    cases = [case(random) for _ in range(TABLES - 1)] + [{"table": DEFAULT_LEVELS, "due": [[3, NOW]], "late": []}]
    right = 0
    for given, answer in zip(cases, real.ask("delay table", cases), strict=True):
        try:
            parsed = DelayTable.parse(given["table"])
        except ConfigurationError:
            # A wrong table has no due times: the broker does not start. With a null unit Java's task cannot even look.
            assert answer.get("is", {}).get("parsed") is not True, (given, answer)
            continue
        told = answer["is"]
        right += 1
        assert told["parsed"] is True
        assert told["highest"] == parsed.levels
        assert told["delays"] == {str(level): delay for level, delay in enumerate(parsed.delays, start=1)}
        due = [due_time(stored, parsed.delay(level)) for level, stored in given["due"]]
        assert told["due"] == due
        assert told["corrected"] == [
            corrected_due_time(due, now, parsed.delay(level)) for level, due, now in given["late"]
        ]
        if real.rules == "5.3.3":
            assert (told["store_parsed"], told["store_due"]) == (True, due)
    assert len(cases) == TABLES
    assert TABLES // 2 < right < TABLES


def test_what_the_model_refuses_although_a_broker_takes_it(real: Real) -> None:
    """Tables that no one means: a broker starts with them, and the kit does not let them pass."""
    tables = ["-5s", "1s -0s", "\u0665s", "9223372036854775807d"]
    answers = real.ask("delay table", [{"table": text, "due": [], "late": []} for text in tables])
    assert [answer["is"]["delays"]["1"] for answer in answers] == [-5_000, 1_000, 5_000, -86_400_000]
    for text in tables[:3]:
        with pytest.raises(ConfigurationError):
            DelayTable.parse(text)
