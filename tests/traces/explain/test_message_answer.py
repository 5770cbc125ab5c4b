from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.explain import message_answer
from rocketproof.traces.explain.message_answer import first_line
from rocketproof.traces.explain.message_story import message_story
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Group, Header
from rocketproof.traces.io import open_trace
from rocketproof.traces.io.writing import write_jsonl
from rocketproof.traces.samples import FOLDER

from .test_message_story import KEY, ME, QUEUE, RETRY, delivered, ended, gap, sent_back, stored


def asked(path: Path, key: str) -> str:
    trace = open_trace([path])
    story = message_story(trace, key)
    told = first_line(story, check_locally(trace, settings=Settings()))
    return told.removeprefix(f"message {key}: ")


def sample(name: str) -> tuple[Path, Counter[str]]:
    path = FOLDER / f"{name}.jsonl.zst"
    deliveries: Counter[str] = Counter()
    for batch in open_trace([path]).batches(["kind", "key"]):
        deliveries.update(row["key"] for row in batch.to_pylist() if row["kind"] == Kind.DELIVER)
    return path, deliveries


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kill-9-mid-batch-5.3.3", "DELIVERED TWICE because its client died before its offset was stored"),
        ("slow-listener-timeout-5.3.3", "DELIVERED TWICE because its listener took longer than consumeTimeout"),
        ("failures-to-dead-letter-5.3.3", "DEAD-LETTERED after 3 deliveries because its listener failed (2 times)"),
        (
            "broker-restart-delays-5.3.3",
            "DELIVERED 3 TIMES because its listener failed, and because the schedule topic delivered its retry again",
        ),
        (
            "orderly-hand-over-4.9.8",
            "DELIVERED 3 TIMES because its client stopped before its offset was stored, "
            "and because its listener suspended the queue",
        ),
    ],
)
def test_the_message_delivered_most_often(name: str, said: str):
    path, deliveries = sample(name)
    most = max(deliveries.values())
    assert asked(path, min(key for key, count in deliveries.items() if count == most)) == said


def trace(folder: Path, *events: dict[str, Any], evidence: frozenset[Kind] = frozenset(Kind)) -> Path:
    path = folder / "t.jsonl"
    write_jsonl(path, Header(groups={"G": Group()}, evidence=evidence, complete=True), list(events))
    return path


def assigned(time: int) -> dict[str, Any]:
    return {"time": time, "kind": "assign", **ME, **QUEUE, "offset": 0}


def pulled(time: int, offset: int, end: int) -> dict[str, Any]:
    place = {"offset": offset, "next": end, "count": end - offset}
    return {"time": time, "kind": "pull_result", **ME, **QUEUE, **place, "result": "found"}


def committed(time: int, offset: int) -> dict[str, Any]:
    return {"time": time, "kind": "commit", **ME, **QUEUE, "offset": offset, "path": "periodic"}


def test_once(tmp_path: Path):
    assert asked(trace(tmp_path, stored(0), delivered(50), ended(90, "ok")), KEY) == "DELIVERED ONCE"


def test_what_brokers_keep_of_broadcasting_groups_is_no_group_that_waits_for_it(tmp_path: Path):
    kept = committed(70, 17) | {"client": None, "group": "G@broadcast"}
    assert asked(trace(tmp_path, stored(0), delivered(50), kept, ended(90, "ok")), KEY) == "DELIVERED ONCE"


def test_groups_with_one_answer_are_named_together_and_unknown_ones_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = trace(tmp_path, stored(0), delivered(50), ended(90, "ok"))
    story = message_story(open_trace([path]), KEY)
    (once,) = message_answer.answers(story, check_locally(open_trace([path]), settings=Settings()))
    unknown = replace(once, answer=message_answer.Answer.CANNOT_BE_TOLD, because=("no client was recorded",))
    told = [replace(each, outcome=replace(each.outcome, group=name)) for each, name in ((unknown, "A"), (once, "B"))]
    told.append(replace(once, outcome=replace(once.outcome, group="C")))
    monkeypatch.setattr(message_answer, "answers", lambda *_: tuple(told))
    assert asked(path, KEY) == "DELIVERED ONCE (B, C); CANNOT BE TOLD: no client was recorded (A)"


def test_never(tmp_path: Path):
    said = asked(trace(tmp_path, stored(0), assigned(10), committed(5000, 18)), KEY)
    assert said == "NEVER DELIVERED: passed at 00:00:05.000 by offset 18 of c1"


def test_a_group_whose_members_consume_the_topic_and_never_took_the_queue(tmp_path: Path):
    def told(*topics: str) -> str:
        beat = {"time": 2, "kind": "heartbeat", **ME, "client": "c2", "group": "H"}
        beat["subscriptions"] = [f"{topic}=*@1" for topic in topics]
        return asked(trace(tmp_path, beat, stored(5), assigned(10), delivered(50), ended(90, "ok")), KEY)

    waits = "NEVER DELIVERED: it waits since 00:00:00.005, when it is first heard of, and nobody took its queue (H)"
    assert told(QUEUE["topic"], "U") == f"DELIVERED ONCE (G); {waits}"
    assert told("U") == "DELIVERED ONCE"


def test_what_is_missing_is_named(tmp_path: Path):
    path = trace(tmp_path, stored(0), evidence=frozenset({Kind.STORE, Kind.DELIVER, Kind.RESULT}))
    assert asked(path, KEY).startswith("NEVER DELIVERED in this trace")
    path = trace(tmp_path, stored(0), evidence=frozenset({Kind.STORE}))
    assert asked(path, KEY) == "CANNOT BE TOLD: what is missing is deliver events"
    path = trace(tmp_path, stored(0), committed(5000, 18), evidence=frozenset({Kind.STORE, Kind.COMMIT}))
    assert asked(path, KEY) == "CANNOT BE TOLD: what is missing is deliver, result, pull_result events"


def test_again_for_no_reason(tmp_path: Path):
    taken = assigned(10), pulled(20, 17, 18)
    twice = [delivered(50), ended(90, "ok"), delivered(150), ended(190, "ok")]
    said = asked(trace(tmp_path, stored(0), *taken, *twice), KEY)
    assert said == "DELIVERED TWICE because of NO CAUSE THAT RocketMQ HAS"


FAILED = stored(0), delivered(50), ended(60, "later"), sent_back(61, 0)
COPY = {"time": 10_080, "kind": "delay_deliver", **RETRY, "offset": 4, "key": KEY, "attempt": 1}
LOSSY = gap(5, 40_000, client="c1")
MISSING = "a gap of the recording (disk full) of c1"
SO_FAR = "CANNOT BE TOLD: delivered once as far as was recorded"
STORED_AGAIN = "retry 1 of 16 was stored at 00:00:10.080 as offset 4 of %RETRY%G@broker-a:0"
WAITS = "waiting for retry 1 of 16, stored at 00:00:10.080 as offset 4 of %RETRY%G@broker-a:0, after 1 delivery"


def retry_committed(time: int, offset: int) -> dict[str, Any]:
    return committed(time, offset) | RETRY


def retry_pulled(time: int, first: int, end: int) -> dict[str, Any]:
    return pulled(time, first, end) | RETRY


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([], "DELIVERED ONCE: waiting for retry 1 of 16, due at 00:00:10.060, after 1 delivery"),
        ([COPY, retry_committed(20_000, 4)], f"DELIVERED ONCE: {WAITS}"),
        # An offset from before it was stored tells nothing of it.
        (
            [retry_committed(9_000, 4), COPY, LOSSY],
            f"{SO_FAR}, {STORED_AGAIN}, and a delivery of it may be missing ({MISSING})",
        ),
        (
            [COPY, retry_committed(20_000, 5), LOSSY],
            f"{SO_FAR}, {STORED_AGAIN}, never delivered, and passed at "
            f"00:00:20.000 by offset 5 of c1, but what became of it may be hidden ({MISSING})",
        ),
        (
            [pulled(40, 17, 18), assigned(5), COPY, retry_committed(20_000, 5)],
            f"DELIVERED ONCE: {STORED_AGAIN}, never delivered, and passed at 00:00:20.000 by offset 5 of c1",
        ),
        (
            [COPY, {**retry_committed(20_000, 9), "kind": "reset"}],
            f"DELIVERED ONCE: {STORED_AGAIN}, and skipped at 00:00:20.000: the offset was set to 9",
        ),
        (
            [COPY, {**retry_pulled(20_000, 4, 8), "count": 1}],
            f"DELIVERED ONCE: {STORED_AGAIN}, and passed over at 00:00:20.000 by the expression of c1",
        ),
        (
            [LOSSY],
            f"{SO_FAR}, it failed at 00:00:00.060, retry 1 of 16 was due at 00:00:10.060, and a delivery may be "
            f"missing ({MISSING})",
        ),
    ],
)
def test_a_retry_that_is_not_recorded_as_delivered(tmp_path: Path, events: list[dict[str, Any]], said: str):
    assert asked(trace(tmp_path, *FAILED, *events), KEY) == said


GIVEN = "given to c1 at 00:00:00.050, with no result in the trace"


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([], f"DELIVERED ONCE: {GIVEN}"),
        (
            [{"time": 900, "kind": "client_crash", "client": "c1"}],
            f"DELIVERED ONCE: {GIVEN}: its client died at 00:00:00.900, and nobody was given it again",
        ),
        (
            [committed(5_000, 18)],
            f"DELIVERED ONCE: {GIVEN}, and passed at 00:00:05.000 by offset 18 of c1",
        ),
        ([ended(60, "ok"), gap(100, 300, client="c1")], f"DELIVERED ONCE, as far as was recorded ({MISSING})"),
    ],
)
def test_a_delivery_and_what_is_known_of_its_end(tmp_path: Path, events: list[dict[str, Any]], said: str):
    assert asked(trace(tmp_path, stored(0), delivered(50), *events), KEY) == said


def test_a_group_that_began_behind_it(tmp_path: Path):
    path = trace(tmp_path, stored(0), {**assigned(10), "offset": 40}, committed(5_000, 40))
    assert asked(path, KEY) == "NEVER DELIVERED: skipped at 00:00:00.010: c1 began at 40"


def test_messages_of_a_batch_share_their_key(tmp_path: Path):
    both = stored(0), stored(0, 18), delivered(50), delivered(51, offset=18), ended(60, "ok")
    said = "2 MESSAGES HAVE THIS KEY, TOGETHER DELIVERED TWICE: 1 of them were consumed"
    assert asked(trace(tmp_path, *both), KEY) == said
