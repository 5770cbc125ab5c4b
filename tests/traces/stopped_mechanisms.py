"""Mechanisms that stop, planted into right recordings, each with a healthy twin: the same silence, for a right reason.

A defect takes out, or changes, all that the mechanism would have left behind from some moment on; its twin adds the
event that makes the rest right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .semantic_defects import Event, Events, changed, copy, of, place, without

LONG, ORDERLY, DEATHS, BROADCAST = "simulated", "simulated-orderly", "simulated-deaths", "simulated-broadcasting"
Make = Callable[[Events], Events]


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """A mechanism that stops.

    Attributes:
        name: what never happens, in a few words.
        recording: the right one that it is made of.
        claims: one of them must be violated.
        make: changes the events of the recording, which are by time.
        twin: the same with a right reason, which violates nothing; None where no reason makes it right.
    """

    name: str
    recording: str
    claims: frozenset[str]
    make: Make
    twin: Make | None = None


def middle(events: Events) -> int:
    return int(events[0]["time"] + events[-1]["time"]) // 2


def queue_of(event: Event) -> tuple[object, ...]:
    return place(event)[:3]


def since(events: Events, time: int, *kinds: str, **fields: object) -> Events:
    """Events of some kinds from a moment on."""
    return [event for event in of(events, *kinds, **fields) if event["time"] >= time]


def owner_of(events: Events, time: int) -> Event:
    """An assignment that lasts at a moment, and long after it."""

    def is_left(taken: Event) -> bool:
        return any(taken["time"] < e["time"] < time + 200_000 for e in of(its_own(events, taken, 0), "revoke"))

    return next(e for e in of(events, "assign", topic="orders") if e["time"] < time and not is_left(e))


def its_own(events: Events, taken: Event, time: int) -> Events:
    """What the client of an assignment does with its queue from a moment on."""
    return [
        e for e in events if e["time"] >= time and e.get("client") == taken["client"] and queue_of(e) == queue_of(taken)
    ]


def stored_by(events: Events, taken: Event, time: int) -> int:
    """The offset that the client of an assignment had stored at a moment."""
    return max(int(e["offset"]) for e in of(its_own(events, taken, 0), "commit") if e["time"] < time)


def cut(events: Events, time: int) -> Events:
    """The recording until a moment."""
    return [event for event in events if event["time"] < time]


# What a client does with its queues.

WORK = ("pull", "pull_result", "deliver", "result", "send_back", "removed", "commit_memory")


def pulls_stop(events: Events) -> Events:
    time = middle(events)
    taken = owner_of(events, time)
    low = stored_by(events, taken, time)
    mine = its_own(events, taken, time)
    left = without(events, of(mine, *WORK))
    return changed(left, of(mine, "commit"), offset=low)


def pulls_stop_at_the_end(events: Events) -> Events:
    return cut(pulls_stop(events), middle(events) + 20_000)


def listeners_stop(events: Events) -> Events:
    time = middle(events)
    taken = owner_of(events, time)
    low = stored_by(events, taken, time)
    mine = its_own(events, taken, time)
    return changed(without(events, of(mine, "deliver", "result", "send_back")), of(mine, "commit"), offset=low)


def commits_stop(events: Events) -> Events:
    time = middle(events)
    taken = owner_of(events, time)
    return without(events, of(its_own(events, taken, time), "commit"))


def commits_stop_at_the_end(events: Events) -> Events:
    return cut(commits_stop(events), middle(events) + 4_000)


def process_never_commits(events: Events) -> Events:
    who = of(events, "client_start")[0]["client"]
    return without(events, of(events, "commit", client=who))


def retries_not_pulled(events: Events) -> Events:
    time = middle(events)
    mine = [e for e in since(events, time, *WORK, "commit") if e.get("topic", "").startswith("%RETRY%")]
    gone = {e["key"] for e in of(mine, "deliver")}
    copies = [
        e
        for e in since(events, time, "delay_store", "delay_deliver", "dead_letter")
        if e["key"] in gone and e["attempt"] > 1
    ]
    return without(events, [*mine, *copies])


def result_never_comes(events: Events) -> Events:
    time = middle(events)
    done = since(events, time, "result", topic="orders", result="ok")[0]
    return without(events, [done])


# What clients do as members.


def heartbeats_stop(events: Events) -> Events:
    time = middle(events)
    return without(events, since(events, time, "heartbeat", client=of(events, "client_start")[0]["client"]))


def heartbeats_stop_at_death(events: Events) -> Events:
    time, who = middle(events), of(events, "client_start")[0]
    left = cut(without(events, since(events, time - 60_000, "heartbeat", client=who["client"])), time)
    crash = {"time": time, "kind": "client_crash", "client": who["client"], "incarnation": 0}
    return [*left, crash]


def nobody_takes_over(events: Events) -> Events:
    died = of(events, "client_crash")[0]
    its = [e for e in of(events, "assign", client=died["client"], topic="orders") if e["time"] < died["time"]]
    queue = queue_of(its[-1])
    gone = [e for e in events if e["time"] > died["time"] and e.get("client") and queue_of(e) == queue]
    return without(events, gone)


def nobody_takes_over_so_soon(events: Events) -> Events:
    return cut(nobody_takes_over(events), of(events, "client_crash")[0]["time"] + 30_000)


def passes_stop(events: Events) -> Events:
    return without(events, since(events, middle(events), "rebalance", client=of(events, "client_start")[0]["client"]))


def new_queue_without_owner(events: Events) -> Events:
    """G1: the topic gets a queue more, which is stored to; nobody takes it."""
    time = middle(events)
    model = of(events, "store", topic="orders", broker="broker-a")[0]
    stores = [
        copy(model, time=time + 3_000 * n, queue=7, offset=n, key=f"{n:016X}", origin=9_000_000 + n) for n in range(60)
    ]
    wider = since(events, time, "rebalance", topic="orders")
    return [*changed(events, wider, queues=lambda e: [*e["queues"], "broker-a:7"]), *stores]


def goes_on_without_lock(events: Events) -> Events:
    time = middle(events)
    taken = owner_of(events, time)
    return without(events, of(its_own(events, taken, time), "lock"))


def lock_refused(events: Events) -> Events:
    time = middle(events)
    taken = owner_of(events, time)
    return changed(events, of(its_own(events, taken, time), "lock"), result="failed")


# What brokers do.


def level_stops(events: Events) -> Events:
    """H1: nothing of one delay level comes out any more."""
    time = middle(events)
    stuck = since(events, time, "delay_store", level=3)
    keys = {e["key"] for e in stuck}
    after = {e["key"]: e["time"] for e in reversed(stuck)}
    gone = [
        e
        for e in events
        if e.get("key") in keys and e["time"] >= after[e["key"]] and e.get("attempt", 0) >= 1 and e not in stuck
    ]
    return without(events, gone)


def level_stops_at_the_end(events: Events) -> Events:
    stuck = since(events, middle(events), "delay_store", level=3)[0]
    return cut(level_stops(events), stuck["time"] + 9_000)


def dead_letters_never_written(events: Events) -> Events:
    return without(events, of(events, "dead_letter"))


def failed_send_back_acknowledged(events: Events) -> Events:
    """D1: the broker refuses a send-back, and the offset goes on as if it had not."""
    back = of(events, "send_back", attempt=0)[-1]
    key = back["key"]
    gone = [e for e in events if e.get("key") == key and e.get("attempt", 0) >= 1]
    return changed(without(events, gone), [back], result="failed")


def reset_without_effect(events: Events) -> Events:
    time = middle(events)
    taken = owner_of(events, time)
    reset = {
        **{name: taken[name] for name in ("group", "topic", "broker", "queue")},
        **{"time": time, "kind": "reset", "offset": 0},
    }
    return [*events, reset]


def broadcast_window_stops(events: Events) -> Events:
    time = middle(events)
    taken = of(events, "assign")[0]
    return without(events, of(its_own(events, taken, time), *WORK))


def _s(name: str, recording: str, claims: str, make: Make, twin: Make | None = None) -> Stopped:
    return Stopped(name=name, recording=recording, claims=frozenset(claims.split()), make=make, twin=twin)


MOVES, OWNED, LIVES, STEPS = (
    "every-queue-moves",
    "every-queue-gets-an-owner",
    "processes-act-in-order",
    "steps-follow-each-other",
)

STOPPED = (
    _s("a window is pulled no more", LONG, MOVES, pulls_stop, pulls_stop_at_the_end),
    _s("what is pulled reaches no listener", LONG, MOVES, listeners_stop),
    _s("the offset of a queue is stored no more", LONG, MOVES, commits_stop, commits_stop_at_the_end),
    _s("a process never stores an offset", LONG, MOVES, process_never_commits),
    _s("a retry queue is pulled no more", LONG, f"{MOVES} failed-message-comes-again", retries_not_pulled),
    _s("a listener never returns, and its message is passed", LONG, "offset-never-past-unfinished", result_never_comes),
    _s("a member tells the brokers nothing more", LONG, LIVES, heartbeats_stop, heartbeats_stop_at_death),
    _s("nobody takes the queue of the dead", DEATHS, f"{OWNED} {MOVES}", nobody_takes_over, nobody_takes_over_so_soon),
    _s("a client balances no more", LONG, "every-topic-is-balanced", passes_stop),
    _s("a new queue has no owner", LONG, f"{OWNED} {MOVES} every-queue-is-readable", new_queue_without_owner),
    _s("a lock is renewed no more", ORDERLY, "orderly-lock-is-renewed", goes_on_without_lock),
    _s("a lock is refused, and the queue consumed on", ORDERLY, STEPS, lock_refused),
    _s("a delay level stands still", LONG, "delivered-when-due", level_stops, level_stops_at_the_end),
    _s("no dead letter is ever written", LONG, "sent-back-message-comes-again", dead_letters_never_written),
    _s("a refused send-back counts as done", LONG, "failed-message-comes-again", failed_send_back_acknowledged),
    _s("a reset has no effect", LONG, "reset-is-followed", reset_without_effect),
    _s("a window of a broadcasting client stops", BROADCAST, "nothing-skipped", broadcast_window_stops),
)
"""Mechanisms that stop."""
