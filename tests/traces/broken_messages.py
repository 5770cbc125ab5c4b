"""What becomes of messages in a wrong way: retries, dead letters, orderly listeners, broadcasting."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from .broken import broken, its, of_retries, process
from .semantic_defects import Event, Events, changed, copy, of, place, without
from .stopped_mechanisms import WORK, middle, owner_of, queue_of, since

SIMULATED, ORDERLY, BROADCAST = "simulated", "simulated-orderly", "simulated-broadcasting"
CHURN, HANDED, SPREAD = "simulated-churn", "simulated-orderly-churn", "simulated-broadcasting-churn"
RESET = "simulated-reset"
BATCHES, DEADLINE, STEADY = "batch-acknowledged-in-part-5.3.3", "slow-listener-timeout-5.3.3", "steady-5.3.3"
SCALED, BACK, DEAD = "scale-out-and-in-5.3.3", "orderly-hand-over-5.3.3", "failures-to-dead-letter-5.3.3"
ENDS = ("client_start", "client_crash", "client_stop")
HOOK, LOG, USUAL = "hook-only-5.3.3", "log-only-5.3.3", "usual-timers-5.3.3"


def came_again(events: Events, dead: Event) -> Events:
    """A message is stored as a retry, and consumed, after it became a dead letter."""
    after = since(events, dead["time"] + 12_000, "pull_result", result="no_new_message")
    answer = next(e for e in of_retries(after) if e["broker"] == dead["broker"])
    end, time = answer["offset"], answer["time"]

    def on(name: str) -> Callable[[Event], Any]:
        return lambda e: e[name] + 1 if name in e and e[name] >= end else e.get(name)

    mine = [e for e in events if queue_of(e) == queue_of(answer) and e["seq"] > answer["seq"]]
    moved = changed(events, mine, **{name: on(name) for name in ("offset", "next", "max")})
    found = {"result": "found", "next": end + 1, "max": end + 1, "count": 1}
    message = {name: dead[name] for name in ("key", "origin", "attempt")} | {"offset": end, "time": time}
    waits = message | {"time": dead["time"], "due": dead["time"] + 10_000, "level": 3}
    stored = of(events, "delay_store", broker=dead["broker"])[0]
    moving = of(events, "delay_deliver", broker=dead["broker"])[0]
    given = of(events, "deliver", client=answer["client"])[0]
    who = {name: answer[name] for name in ("client", "incarnation", "topic", "broker", "queue")}
    return [
        *changed(moved, [answer], **found),
        {name: value for name, value in copy(stored, **waits).items() if name != "offset"},
        copy(moving, **message, level=3),
        copy(given, **who, **message, next=end + 1),
        {**copy(given, **who, **message), "kind": "result", "result": "ok", "time": time + 1},
    ]


# Retries and dead letters.


def count_lost_on_the_way(events: Events) -> Events:
    """Retries that go well come to their listeners with the count 0, and are stored with 1."""
    keys = {e["key"] for e in of_retries(of(events, "result", attempt=1, result="ok"))}
    given = of_retries(of(events, "deliver", "result", attempt=1))
    return changed(events, [e for e in given if e["key"] in keys], attempt=0)


def stored_at_the_other_broker(events: Events) -> Events:
    """What is sent back to a broker is stored by the other one; who has that queue of retries consumes it."""
    other = {"broker-a": "broker-b", "broker-b": "broker-a"}
    owners: dict[str, Event] = {}
    for taken in of_retries(of(events, "assign")):
        owners[taken["broker"]] = taken
    who = {owners[name]["client"]: owners[other[name]]["client"] for name in other}
    moved = [e for e in of_retries(events) if e["kind"] not in ("rebalance", "assign", "offset_query", "revoke")]
    made = changed(events, of(moved, "delay_store", "delay_deliver"), broker=lambda e: other[e["broker"]])
    ours = [e for e in of_retries(made) if e.get("client") and e["kind"] in (*WORK, "commit")]
    dead = of(events, "dead_letter")
    made = changed(made, ours, broker=lambda e: other[e["broker"]], client=lambda e: who[e["client"]])
    return changed(made, dead, broker=lambda e: other[e["broker"]])


def first_levels(events: Events) -> Events:
    """The level of a retry is its count, not three more."""
    spans = (1_000, 5_000, 10_000, 30_000)
    stored = of(events, "delay_store")
    made = changed(
        events,
        stored,
        level=lambda e: e["attempt"],
        due=lambda e: e["time"] + spans[e["attempt"] - 1],
    )
    return changed(made, of(made, "delay_deliver"), level=lambda e: e["attempt"])


def count_stays_at_one(events: Events) -> Events:
    """The count of a retry is not kept, so that each is the first one, and none the last."""
    counted = [e for e in events if e.get("attempt", 0) > 1]
    made = changed(events, counted, attempt=1)
    made = changed(made, of(made, "delay_store", "delay_deliver"), level=3)
    stored = of(made, "delay_store")
    return changed(without(made, of(made, "dead_letter")), stored, due=lambda e: e["time"] + 10_000)


def other_maximum(given: int) -> Callable[[Events], Events]:
    """The group has another maximum than the broker goes by."""
    return lambda events: changed(events, of(events, "send_back"), max_attempts=given)


def dead_and_tried_again(events: Events) -> Events:
    return came_again(events, of(events, "dead_letter")[0])


def all_of_a_batch_acknowledged(events: Events) -> Events:
    """What lies behind the index of a batch counts as done: nothing of it is sent back."""
    failed = {e["key"] for e in of(events, "send_back")}
    gone = [e for e in of_retries(events) if e.get("key") in failed and e["kind"] in ("delay_store", "delay_deliver")]
    work = [e for e in of_retries(events) if e["kind"] in (*WORK, "commit", "pull", "pull_result")]
    return without(events, [*gone, *work, *of(events, "send_back", "dead_letter")])


def refused_and_acknowledged(events: Events) -> Events:
    """Send-backs that the broker refuses are not repeated by the client, and their messages leave the window."""
    back = [e for e in of(events, "send_back", path="fallback", result="ok") if e["attempt"] == 0]
    keys = {e["key"] for e in back}
    gone = [e for e in events if e.get("key") in keys and e.get("attempt", 0) > 0]
    return without(events, [*back, *gone])


def timeouts_never_handled(events: Events) -> Events:
    """The thread that cleans windows has died: a listener runs on, and its message waits."""
    cleaned = of(events, "expire")[0]
    back = [e for e in events if e.get("key") == cleaned["key"] and (e.get("attempt", 0) > 0 or e["kind"] == "expire")]
    sent = of(events, "send_back", key=cleaned["key"])
    mine = [e for e in events if its(e) == its(cleaned) and e["time"] >= cleaned["time"]]
    low = of(mine, "commit", "commit_memory", "removed")
    left = [e for e in low if e.get("offset") == cleaned["offset"] and e["kind"] == "removed"]
    ended = [e for e in of(events, "result", "discarded") if place(e) == place(cleaned)]
    retried = [e for e in of_retries(events) if e["kind"] in (*WORK, "commit") and e["time"] > cleaned["time"]]
    return changed(
        without(events, [*back, *sent, *left, *ended, *retried]),
        of(low, "commit", "commit_memory"),
        offset=cleaned["offset"],
    )


def counted_twice(events: Events) -> Events:
    """Each failure counts as two."""
    return changed(events, of(events, "deliver", "result"), attempt=lambda e: 2 * e["attempt"])


# Orderly groups.


def lock_lost_and_gone_on(events: Events) -> Events:
    """The lock is lost, the queue dropped and the listener called on; nobody asks for the lock any more."""
    time = middle(events)
    taken = owner_of(events, time)
    mine = [e for e in events if its(e) == its(taken) and e["time"] >= time]
    held = {name: taken[name] for name in ("client", "incarnation", "group", "topic", "broker", "queue")}
    return [*without(events, of(mine, "lock")), {**held, "kind": "lock_lost", "time": time}]


def never_unlocked(events: Events) -> Events:
    return without(events, of(events, "unlock"))


def lock_given_to_two(events: Events) -> Events:
    """A broker refuses no lock: who asks gets it, as long as another client has it."""
    return changed(events, of(events, "lock", result="failed"), result="ok")


def two_threads(events: Events) -> Events:
    """Two threads of a process take the messages of one queue in turn, and neither waits for the other."""
    queue = queue_of(of(events, "deliver", topic="orders")[0])
    mine = [e for e in of(events, "deliver", topic="orders") if queue_of(e) == queue]
    ends = {place(e): e for e in of(events, "result") if queue_of(e) == queue and e["result"] == "ok"}
    pairs = [
        (ends[place(one)], two["time"] + 1)
        for one, two in itertools.pairwise(mine)
        if place(one) in ends and two["offset"] == one["offset"] + 1 and one["client"] == two["client"]
    ]
    times = {id(event): time for event, time in pairs}
    return changed(events, [event for event, _ in pairs], time=lambda e: times.get(id(e), e["time"]))


def put_off_and_passed(events: Events) -> Events:
    """A message that was put off does not come again: the listener is given the next one."""
    put_off = {place(e) for e in of(events, "result", result="suspend")}
    first: set[tuple[Any, ...]] = set()
    gone = []
    for event in of(events, "deliver", "result"):
        if place(event) in put_off:
            if (event["kind"], place(event)) in first:
                gone.append(event)
            first.add((event["kind"], place(event)))
    return without(events, gone)


# Broadcasting.


def offsets_of_another_instance(events: Events) -> Events:
    """A process that starts again reads the file of another one, which is ahead of it by up to seven messages."""
    started = of(events, "client_start")[-2]
    mine = [e for e in events if process(e) == process(started) and "queue" in e]
    ahead = {queue_of(e): e["offset"] + 7 for e in of(mine, "offset_query", result="ok")}
    for queue, to in ahead.items():
        first = next(e for e in of(mine, "pull_result", result="found") if queue_of(e) == queue)
        ahead[queue] = min(to, first["next"])
    below = [e for e in of(mine, "deliver", "result") if e["offset"] < ahead[queue_of(e)]]
    answers = [e for e in of(mine, "pull_result") if e["offset"] < ahead[queue_of(e)]]
    empty = [e for e in answers if e["next"] < ahead[queue_of(e)]]
    left = without(events, [*below, *empty])
    found = [e for e in answers if e["next"] >= ahead[queue_of(e)]]
    left = changed(left, found, count=lambda e: e["next"] - ahead[queue_of(e)])
    return [
        copy(e, offset=ahead[queue_of(e)])
        if process(e) == process(started)
        and e.get("offset", -1) in range(ahead.get(queue_of(e), 0))
        and e["kind"] != "store"
        else e
        for e in left
    ]


MOVES, OWNED, STEPS = "every-queue-moves", "every-queue-gets-an-owner", "steps-follow-each-other"
SHARES, DUPLICATES, SKIPPED = "shares-are-taken", "every-duplicate-has-a-cause", "nothing-skipped"
PAST, BACKWARD, LIVES = "offset-never-past-unfinished", "offset-never-back-without-cause", "processes-act-in-order"

BROKEN_MESSAGES = (
    broken(
        "a retry is stored at the other broker", SIMULATED, "sent-back-message-comes-again", stored_at_the_other_broker
    ),
    broken("the level of a retry is its count", SIMULATED, "level-as-the-count-says", first_levels),
    broken(
        "the count of retries is not kept",
        DEAD,
        "attempts-follow-each-other every-copy-has-a-cause",
        count_stays_at_one,
    ),
    broken(
        "dead letters one attempt late",
        SIMULATED,
        "dead-letter-exactly-at-the-maximum attempts-within-the-maximum",
        other_maximum(2),
        {"max_attempts": 2},
    ),
    broken(
        "dead letters one attempt early",
        SIMULATED,
        "dead-letter-exactly-at-the-maximum",
        other_maximum(4),
        {"max_attempts": 4},
    ),
    broken(
        "a dead letter is tried again too",
        SIMULATED,
        "every-copy-has-a-cause dead-letter-exactly-at-the-maximum",
        dead_and_tried_again,
    ),
    broken("all of a batch is acknowledged", BATCHES, "failed-message-comes-again", all_of_a_batch_acknowledged),
    broken("refused send-backs are acknowledged", SIMULATED, "failed-message-comes-again", refused_and_acknowledged),
    broken(
        "consume timeouts are not handled", DEADLINE, MOVES, timeouts_never_handled, None, {"consume_timeout": 60_000}
    ),
    broken(
        "consume timeouts of a group are not handled where another one has longer ones",
        DEADLINE,
        MOVES,
        timeouts_never_handled,
        {"consume_timeout": 60_000},
        {"consume_timeout": 900_000},
    ),
    broken("counts are lost on the way", DEAD, "attempts-follow-each-other", count_lost_on_the_way),
    broken("a failure counts as two", HOOK, "attempts-follow-each-other", counted_twice),
    broken(
        "a lock is lost, and the queue consumed on", ORDERLY, f"{STEPS} orderly-lock-is-renewed", lock_lost_and_gone_on
    ),
    broken("locks are never given back", HANDED, STEPS, never_unlocked),
    broken("a lock is given to two", HANDED, STEPS, lock_given_to_two, None, {"lock_life": 60_000}),
    broken("two threads consume one orderly queue", ORDERLY, STEPS, two_threads),
    broken(
        "what was put off is passed",
        ORDERLY,
        "orderly-in-order failed-message-comes-again every-queue-moves",
        put_off_and_passed,
    ),
    broken(
        "a broadcasting client reads another's file",
        SPREAD,
        f"{SKIPPED} query-answers-what-is-stored",
        offsets_of_another_instance,
    ),
)
"""Mechanisms of messages that are broken."""
