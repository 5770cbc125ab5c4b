"""The fold says the same however it is fed, and finds room for whatever comes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from rocketproof.traces.engine.findings import Note, sort_rows
from rocketproof.traces.format.message_status import MessageStatus

from .queue_events import (
    BROADCASTING,
    ORDERLY,
    Event,
    answered,
    assign,
    broker_restart,
    check,
    commit,
    consumed,
    crash,
    deliver,
    found,
    result,
    revoke,
    send_back,
    start,
)

GROUPS = [{}, ORDERLY, BROADCASTING]


def wild(seed: int, *, queues: int = 5, count: int = 600) -> list[Event]:
    """Events in no sensible order, of several queues and clients, so that every part has something to say."""
    pick = random.Random(seed)
    clients = ("one", "two", "three", "two#1")
    events: list[Event] = [start(900, "one"), broker_restart(40_000 + seed), crash(150_000, "two")]
    for _ in range(count):
        time, client, offset = pick.randrange(1_000, 400_000), pick.choice(clients), pick.randrange(700)
        how = pick.choice(("ok", "ok", "later", "suspend"))
        pull = pick.choice(("no_matched_message", "offset_illegal", "subscription_not_exist"))
        event = pick.choice(
            (
                deliver(time, client, offset),
                deliver(time, client, offset),
                result(time, client, offset, how),
                commit(time, client, offset, pick.choice(("periodic", "piggyback", "reset"))),
                assign(time, client, offset),
                revoke(time, client),
                found(time, client, offset, offset + 9, pick.randrange(10), 700),
                answered(time, client, pull, offset, offset + 5, 700),
                send_back(time, client, offset, pick.choice(("ok", "failed"))),
            )
        )
        event["queue"] = pick.randrange(queues)
        events.append(event)
    return events


@pytest.mark.parametrize("groups", GROUPS, ids=["concurrently", "orderly", "broadcasting"])
@pytest.mark.parametrize("seed", range(4))
def test_one_queue_after_another_gives_the_same(seed: int, groups: dict[str, object]) -> None:
    events = wild(seed)
    whole = check(events, groups=groups)  # type: ignore[arg-type]
    assert len(whole.outcome.rows) > 300
    for batch, by_queue in ((7, False), (1 << 20, True), (50, True)):
        other = check(events, groups=groups, batch=batch, by_queue=by_queue)  # type: ignore[arg-type]
        assert np.array_equal(sort_rows(whole.outcome.rows), sort_rows(other.outcome.rows))
        for name in ("judged", "violated", "doubtful"):
            assert np.array_equal(getattr(whole.outcome, name), getattr(other.outcome, name))
        count = len(whole.names.slots)
        assert np.array_equal(whole.outcome.statuses[:count], other.outcome.statuses[:count])


def test_every_count_has_its_rows() -> None:
    checked = check(wild(1))
    rows = checked.outcome.rows
    found_rows = rows[(rows["note"] == Note.NONE) & (rows["cause"] == 0)]
    for claim in range(len(checked.outcome.violated)):
        of_claim = found_rows[found_rows["claim"] == claim]
        assert np.count_nonzero(of_claim["doubt"] == 0) == checked.outcome.violated[claim]
        assert np.count_nonzero(of_claim["doubt"]) == checked.outcome.doubtful[claim]


def test_many_queues_and_sparse_offsets() -> None:
    events: list[Event] = []
    for queue in range(300):
        far = queue * 10_000_019
        each = [assign(1_000, "one", far), found(1_500, "one", far, far + 600)]
        each += consumed(2_000, "one", far, far + 300, far + 599)
        events += [{**event, "queue": queue} for event in each]
    checked = check(events)
    assert checked.statuses == {MessageStatus.ACKNOWLEDGED: 900, MessageStatus.WAITING: 300 * 597}
    assert len(checked.chains()) == 600
