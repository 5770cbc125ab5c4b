from __future__ import annotations

import pytest

from rocketproof.traces.explain.sentences import Event, clock, tell
from rocketproof.traces.format.kinds import Kind

AT = {"topic": "Orders", "broker": "broker-a", "queue": 3}
BY = {"client": "10.0.0.1@7", "group": "G"}


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        ({"kind": "deliver", **BY, **AT, "offset": 17, "attempt": 0},
         "10.0.0.1@7 is given offset 17 of Orders@broker-a:3 (attempt 0)"),
        ({"kind": "deliver", "client": "c", "incarnation": 2, "topic": "T", "key": "K1"},
         "c#2 is given message K1 of T"),
        ({"kind": "result", **BY, **AT, "offset": 17, "result": "later"},
         "10.0.0.1@7 ends offset 17 of Orders@broker-a:3: later"),
        ({"kind": "commit", **BY, **AT, "offset": 18, "path": "periodic"},
         "10.0.0.1@7 stores offset 18 of Orders@broker-a:3 (periodic)"),
        ({"kind": "commit", **AT, "offset": 18}, "the stored offset of Orders@broker-a:3 becomes 18"),
        ({"kind": "revoke", **BY, **AT, "path": "expired"},
         "Orders@broker-a:3 of 10.0.0.1@7 is dropped, because it had not pulled for 120 s"),
        ({"kind": "revoke", **BY, **AT, "path": "mood"}, "Orders@broker-a:3 of 10.0.0.1@7 is given up (mood)"),
        ({"kind": "assign", **BY, **AT, "offset": None}, "10.0.0.1@7 takes Orders@broker-a:3"),
        ({"kind": "lock", **BY, **AT, "result": "failed"}, "10.0.0.1@7 is refused the lock of Orders@broker-a:3"),
        ({"kind": "offset_query", **BY, **AT, "result": "none"},
         "10.0.0.1@7 asks for the stored offset of Orders@broker-a:3: nothing is stored"),
        ({"kind": "pull_result", **BY, **AT, "offset": 5, "next": 6, "count": 1, "result": "found"},
         "10.0.0.1@7 pulls Orders@broker-a:3 from 5: 1 message, next is 6"),
        ({"kind": "pull_result", **BY, **AT, "offset": 5, "next": 5, "min": 0, "max": 5, "result": "no_new_message"},
         "10.0.0.1@7 pulls Orders@broker-a:3 from 5: no new message, next is 5 (queue from 0 to 5)"),
        ({"kind": "send_back", **BY, **AT, "offset": 5, "attempt": 1, "level": 4, "result": "failed"},
         "10.0.0.1@7 sends offset 5 of Orders@broker-a:3 (attempt 1) back for level 4, which fails"),
        ({"kind": "send_back", **BY, **AT, "offset": 5, "level": -1, "result": "ok"},
         "10.0.0.1@7 sends offset 5 of Orders@broker-a:3 back giving up"),
        ({"kind": "delay_store", "broker": "b", "topic": "%RETRY%G", "attempt": 1, "level": 3, "due": 10_000},
         "a message for %RETRY%G (attempt 1) waits at level 3, due 00:00:10.000"),
        ({"kind": "rebalance", **BY, "topic": "T", "members": ["a", "b"], "queues": ["x:0"], "assigned": [],
          "detail": "AVG"},
         "10.0.0.1@7 divides T by AVG: it sees 2 members (a, b) and 1 queue (x:0), and gives itself 0 queues"),
        ({"kind": "rebalance", **BY, "topic": "T"},
         "10.0.0.1@7 divides T: it sees unknown members and unknown queues, and gets no answer"),
        ({"kind": "heartbeat", **BY, "subscriptions": ["T=*@1"]},
         "10.0.0.1@7 sends a heartbeat for group G, consuming T=*@1"),
        ({"kind": "heartbeat", **BY, "subscriptions": ["T=a||b@1700049600123", "R=*"]},
         "10.0.0.1@7 sends a heartbeat for group G, consuming T=a||b of 12:00:00.123, R=*"),
        ({"kind": "gap", "count": 1200, "due": 0}, "the recording has lost 1,200 events since 00:00:00.000"),
        ({"kind": "broker_crash", "broker": "b", "detail": "power"}, "broker b dies (power)"),
        ({"kind": "rewind", **BY}, "10.0.0.1@7: rewind"),
    ],
)  # fmt: skip
def test_sentences(event: Event, sentence: str) -> None:
    assert tell(event) == sentence


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_has_a_sentence_of_its_own_even_when_little_is_known(kind: Kind) -> None:
    sentence = tell({"kind": str(kind), "time": 0})
    assert "None" not in sentence
    assert not sentence.endswith(f": {kind}")


def test_long_lists_are_cut() -> None:
    sentence = tell({"kind": "members", "broker": "b", "members": [f"c{n}" for n in range(20)]})
    assert sentence == "broker b lists 20 members (c0, c1, c2, c3, c4, c5, c6, c7, …)"


def test_clock() -> None:
    assert clock(1_700_000_000_123) == "22:13:20.123"
    assert clock(10**18) == "1000000000000000000 ms"


def test_neighbouring_queues_are_told_together() -> None:
    queues = ["b-a:0", "b-a:1", "b-a:2", "b-b:2", "b-b:4", "b-b:5", "strange", "b-c:0"]
    told = tell({"kind": "route", "client": "c1", "topic": "T", "queues": queues})
    assert told == "c1 learns that T has 8 queues (b-a:0-2, b-b:2, b-b:4-5, strange, b-c:0)"
    assert tell({"kind": "route", "client": "c1", "topic": "T", "queues": ["b:9"]}).endswith("has 1 queue (b:9)")
    apart = [f"b:{n}" for n in range(0, 20, 2)]
    assert tell({"kind": "route", "client": "c1", "topic": "T", "queues": apart}).endswith(
        "has 10 queues (b:0, b:2, b:4, b:6, b:8, b:10, b:12, b:14, …)"
    )
