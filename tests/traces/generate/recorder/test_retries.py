"""Send-backs, the schedule topic, dead letters."""

from __future__ import annotations

from rocketproof.model.consumption import consumption
from rocketproof.traces.generate.recorder import Pace

from .told import events, recording, told

CHAIN = {"consumers": 1, "queues": 2, "messages": 3, "retry_room": 2, "copies": 3, "failures": 3}
FAILED = ("take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "fail(c0, q0, m0)")
BACK = (*FAILED, "send_back_by_request(c0, q0, m0)", "ripen(k0)", "deliver(k0)")
AGAIN = (*BACK, "take(c0, q1)", "pull(c0, q1)", "begin(c0, q1, m0)", "fail(c0, q1, m0)")


def test_a_chain_up_to_the_dead_letter() -> None:
    found = told(*AGAIN, "send_back_by_request(c0, q1, m0)", **CHAIN)
    assert [
        text for text in found if text.split()[0] in ("send_back", "delay_store", "delay_deliver", "dead_letter")
    ] == [
        "send_back c0 q0 offset=0 result=ok path=request key=q0-m0 attempt=0 level=0",
        "delay_store broker-0 retry0 key=q0-m0 attempt=1 level=3",
        "delay_deliver broker-0 retry0 offset=0 key=q0-m0 attempt=1 level=3",
        "send_back c0 retry0 offset=0 result=ok path=request key=q0-m0 attempt=1 level=0",
        "dead_letter broker-0 dead0 offset=0 key=q0-m0 attempt=2",
    ]


def test_a_retry_is_delivered_when_it_is_due() -> None:
    by_kind = {event["kind"]: event for event in events(*BACK, **CHAIN)}
    stored, delivered = by_kind["delay_store"], by_kind["delay_deliver"]
    assert stored["due"] == stored["time"] + 3_000
    assert stored["due"] <= delivered["time"] < stored["due"] + 1_000
    assert recording(*BACK, **CHAIN).header.delays == "1s 2s 3s 4s"
    slow = recording(*BACK, pace=Pace(delay=60_000), **CHAIN)
    assert slow.header.delays == "60s 120s 180s 240s"
    assert slow.events[-1]["time"] - Pace().begin == 5 * 100 + 180_000 + 100


def test_each_attempt_to_send_back_has_its_answer() -> None:
    asked = "send_back c0 q0 offset=0 result={} path={} key=q0-m0 attempt=0"
    request, fallback = asked + " level=0", asked

    def ways(action: str, **budget: int) -> list[str]:
        found = told(*FAILED, f"{action}(c0, q0, m0)", **CHAIN, **budget)
        return [text for text in found if text.startswith(("send_back", "delay_store"))]

    first = "delay_store broker-0 retry0 key=q0-m0 attempt=1 level=3"
    assert ways("send_back_twice", lost_replies=1) == [
        request.format("failed", "request"),
        fallback.format("ok", "fallback"),
        first,
        first,
    ]
    assert ways("fallback_stored_twice", repeated_fallbacks=1) == [
        request.format("failed", "request"),
        fallback.format("failed", "fallback"),
        fallback.format("ok", "fallback"),
        first,
        "delay_store broker-0 retry0 key=q0-m0 attempt=0 level=3",
    ]
    assert ways("send_back_by_fallback", refused=1) == [
        request.format("failed", "request"),
        fallback.format("ok", "fallback"),
        first,
    ]
    assert ways("send_back_fails_twice", refusals=1) == [
        request.format("failed", "request"),
        fallback.format("failed", "fallback"),
    ]


def test_the_count_in_memory_shows_with_the_next_call() -> None:
    steps = [*FAILED, "send_back_fails_twice(c0, q0, m0)", "begin(c0, q0, m0)"]
    assert told(*steps, last=1, refusals=1, **CHAIN) == ["deliver c0 q0 offset=0 next=1 count=1 key=q0-m0 attempt=1"]


def test_a_request_that_goes_to_a_name_server_fails() -> None:
    found = told(*FAILED, "send_back_by_request(c0, q0, m0)", machine=consumption.mutated("D11"), **CHAIN)
    assert [text.split()[4:6] for text in found if text.startswith("send_back")] == [
        ["result=failed", "path=request"],
        ["result=ok", "path=fallback"],
    ]


def test_a_delayed_dead_letter_waits_first() -> None:
    steps = [*AGAIN, "send_back_by_request(c0, q1, m0)"]
    found = told(*steps, "ripen(k1)", "deliver(k1)", machine=consumption.mutated("D2"), **CHAIN)
    assert found[-4:] == [
        "delay_store broker-0 dead0 key=q0-m0 attempt=2 level=4",
        "removed c0 retry0 offset=0 next=1 key=q0-m0",
        "commit_memory c0 retry0 offset=1",
        "dead_letter broker-0 dead0 offset=0 key=q0-m0 attempt=2",
    ]


def test_a_call_that_takes_too_long_is_sent_back_and_ends_later() -> None:
    steps = ["take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "clean_expired(c0, q0, m0)"]
    assert told(*steps, "overdue_succeeds(c0, q0, m0)", last=5, expiries=1, **CHAIN) == [
        "expire c0 q0 offset=0 key=q0-m0 attempt=0",
        "send_back c0 q0 offset=0 result=ok path=expired key=q0-m0 attempt=0 level=3",
        "delay_store broker-0 retry0 key=q0-m0 attempt=1 level=3",
        "removed c0 q0 offset=0 next=1 key=q0-m0",
        "result c0 q0 offset=0 result=ok key=q0-m0 attempt=0",
    ]
