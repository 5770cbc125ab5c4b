"""Defects of limits and reasons, planted into right recordings: how much at once, in what order, and why it is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .broken import its, of_retries, process
from .broken_queues import BATCHES, SIMULATED
from .semantic_defects import BACK, DEAD, DEADLINE, SCALED, STEADY, Event, Events, changed, copy, of, place, without
from .stopped_mechanisms import (
    BROADCAST,
    LIVES,
    ORDERLY,
    STEPS,
    WORK,
    Make,
    Stopped,
    cut,
    its_own,
    middle,
    owner_of,
    queue_of,
    since,
)

USUAL = "usual-timers-5.3.3"
FIT, STORES, SHARES = (
    "events-fit-each-other",
    "stores-follow-each-other",
    "shares-are-taken",
)


def whose(event: Event) -> Event:
    """What an event says of its process and queue."""
    names = ("client", "incarnation", "group", "topic", "broker", "queue")
    return {name: event[name] for name in names if name in event}


def put_off_empty(path: str) -> Make:
    """F1: the counter of a window has drifted, and a pull is put off although nothing is cached."""

    def make(events: Events) -> Events:
        empty = of(events, "pull_result", topic="orders", result="no_new_message")[-1]
        return [*events, {**whose(empty), "kind": "flow_control", "path": path, "time": empty["time"] + 50}]

    return make


def put_off_full(events: Events) -> Events:
    full = next(e for e in of(events, "pull_result", topic="orders", result="found") if e["count"] > 1)
    control = {**whose(full), "kind": "flow_control", "path": "count", "time": full["time"], "seq": full["seq"]}
    return [event for each in events for event in ((each, control) if each is full else (each,))]


def waits_for_no_lock(events: Events) -> Events:
    answer = of(events, "pull_result", topic="orders")[-3]
    return [*events, {**whose(answer), "kind": "flow_control", "path": "orderly", "time": answer["time"] + 1}]


def larger_batch(events: Events) -> Events:
    """The two calls into which a pull was cut become one, between other pulls of its queue that were cut."""
    given = of(events, "deliver", topic="orders")
    most = max(e["count"] for e in given)
    calls: dict[tuple[Any, ...], Events] = {}
    for event in given:
        calls.setdefault((its(event), event["next"]), []).append(event)
    pairs: dict[Any, list[tuple[Events, Events]]] = {}
    for (who, after), call in calls.items():
        rest = next((each for (it, _), each in calls.items() if it == who and each[0]["offset"] == after), [])
        if len(call) == most > len(rest) > 0 and rest[0]["time"] - call[0]["time"] < 500:
            pairs.setdefault(who, []).append((call, rest))
    many = max(pairs.values(), key=len)
    one, two = many[len(many) // 2]
    return changed(events, [*one, *two], count=most + len(two), next=two[0]["next"], time=one[0]["time"])


def two_in_a_call(events: Events) -> Events:
    given = of(events, "deliver", topic="orders")
    one, two = next(
        (a, b)
        for a in given
        for b in given
        if its(a) == its(b) and b["offset"] == a["offset"] + 1 and abs(a["time"] - b["time"]) < 20
    )
    return changed(events, [one, two], count=2, next=two["offset"] + 1, time=min(one["time"], two["time"]))


def orderly_cleaned(events: Events) -> Events:
    given = of(events, "deliver", topic="orders")[50]
    cleaned = {name: value for name, value in given.items() if name not in ("count", "next")}
    return [*events, cleaned | {"kind": "expire", "time": given["time"] + 1}]


def broadcast_sent_back(events: Events) -> Events:
    ended = of(events, "result")[20]
    back = ended | {"kind": "send_back", "result": "ok", "path": "request", "level": 0, "max_attempts": 3}
    return [*changed(events, [ended], result="later"), back]


def broadcast_committed(events: Events) -> Events:
    stored = next(e for e in of(events, "commit") if e.get("client"))
    return [*events, copy(stored, path="piggyback")]


def broadcast_consumes_retries(events: Events) -> Events:
    def told(event: Event) -> list[str]:
        return [f"%RETRY%{event['group']}=*@1", *event["subscriptions"]]

    return changed(events, of(events, "heartbeat"), subscriptions=told)


def nothing_is_committed(events: Events) -> Events:
    asked = next(e for e in of(events, "pull", topic="orders") if e["offset"] == 0)
    return [*events, {**whose(asked), "kind": "commit", "path": "piggyback", "offset": 0, "time": asked["time"]}]


def one_level_out_of_turn(events: Events) -> Events:
    one, two = of(events, "delay_deliver", level=3)[-2:]
    return changed(events, [one], time=two["time"] + 30)


def old_version(events: Events) -> Events:
    """A4: the version of a subscription is not raised when the queues change."""
    first: dict[tuple[Any, ...], str] = {}

    def told(event: Event) -> list[str]:
        return [first.setdefault((process(event), text.partition("=")[0]), text) for text in event["subscriptions"]]

    return changed(events, of(events, "heartbeat"), subscriptions=told)


def asked_before_the_lock(events: Events) -> Events:
    taken = of(events, "assign", topic="orders")[-1]
    mine = [e for e in events if its(e) == its(taken)]
    locked = [e for e in of(mine, "lock") if e["time"] <= taken["time"]][-1]
    asked = of(mine, "offset_query")
    before = [e for e in asked if e["time"] <= taken["time"]][-1]
    return changed(without(events, [e for e in asked if e["time"] > taken["time"]]), [before], time=locked["time"] - 40)


def dropped_for(path: str) -> Make:
    """A queue that a pass has taken away is dropped as if for another reason."""
    return lambda events: changed(events, of(events, "revoke", path="removal")[-1:], path=path)


def mended_for_nothing(events: Events) -> Events:
    answer = of(events, "pull_result", topic="orders", result="no_new_message")[-1]
    return [*events, {**whose(answer), "kind": "correct", "offset": answer["offset"], "time": answer["time"] + 1}]


def illegal_inside(events: Events) -> Events:
    answer = of(events, "pull_result", topic="orders", result="no_new_message")[20]
    return changed(events, [answer], result="offset_illegal")


def nothing_beyond_the_end(events: Events) -> Events:
    answer = of(events, "pull_result", topic="orders", result="no_new_message")[-1]
    return changed(events, [answer], max=lambda e: e["max"] - 1)


def tables_not_written(events: Events) -> Events:
    return without(events, [e for e in of(events, "file_persist") if not e.get("client")][3:])


def tables_not_written_so_soon(events: Events) -> Events:
    written = [e for e in of(events, "file_persist") if not e.get("client")]
    return cut(tables_not_written(events), written[2]["time"] + 50_000)


def counted_before_it_failed(events: Events) -> Events:
    given = of(events, "deliver", topic="orders")[100]
    return changed(events, [e for e in of(events, "deliver", "result") if place(e) == place(given)], attempt=2)


def mark_stays(events: Events) -> Events:
    left = of(events, "removed", topic="orders")
    first = left[len(left) // 2]
    mine = [e for e in since(events, first["time"], "removed", "commit_memory", "commit") if its(e) == its(first)]
    lower = changed(events, of(mine, "removed"), next=lambda e: e["next"] - 1)
    sets = [e for e in since(lower, first["time"], "commit_memory", "commit") if its(e) == its(first)]
    return changed(lower, sets, offset=lambda e: e["offset"] - 1)


def again_at_once(events: Events) -> Events:
    """CC-12: what could not be sent back waits for 5 s, and not for a tenth of one."""
    back = of(events, "send_back", result="failed", path="fallback")[0]
    again = [next(e for e in since(events, back["time"], kind) if place(e) == place(back)) for kind in WORK[2:4]]
    return changed(events, again, time=lambda e: e["time"] - again[0]["time"] + back["time"] + 100)


def pulled_without_lock(answer: str) -> Make:
    """Who is refused a lock goes on asking for messages, of which there are none."""

    def make(events: Events) -> Events:
        time = middle(events)
        taken = owner_of(events, time)
        stores = [e for e in since(events, time, "store") if queue_of(e) == queue_of(taken)]
        before = [e for e in of(its_own(events, taken, 0), "pull_result") if e["time"] < time and "next" in e]
        end = max(e["next"] for e in before)
        left = without(events, [*of(its_own(events, taken, time), "deliver", "result"), *stores])
        left = changed(left, of(its_own(left, taken, time), "pull", "pull_result", "commit"), offset=end)
        found = of(its_own(left, taken, time), "pull_result", result="found")
        left = changed(left, found, result="no_new_message", count=0)
        left = changed(left, of(its_own(left, taken, time), "pull_result"), next=end, max=end)
        asked = of(its_own(left, taken, time), "lock")
        lost = [copy(e, kind="lock_lost", result=None) for e in asked if answer == "failed"]
        return [*changed(left, asked, result=answer), *lost]

    return make


def led_to_the_end(**answer: Any) -> Make:
    """A pull is found illegal, and the client is told to go on at the end, which jumps over messages."""

    def make(events: Events) -> Events:
        taken = owner_of(events, middle(events))
        mine = its_own(events, taken, middle(events))
        found = of(mine, "pull_result", result="found")[1]
        start, end, time = found["offset"], found["next"], found["time"]
        lost = [e for e in of(mine, "deliver", "result", "send_back") if start <= e["offset"] < end]
        keys = {e["key"] for e in lost}
        left = without(events, [*lost, *(e for e in events if e.get("key") in keys and e.get("attempt", 0) > 0)])
        left = changed(left, [found], result="offset_illegal", next=end, count=0, **answer)
        early = [e for e in of(its_own(left, taken, time + 3), "pull") if e["time"] < time + 700]
        mended = (
            {"kind": "correct", "offset": end, "time": time + 1},
            {"kind": "commit", "path": "correction", "offset": end, "time": time + 2},
            {"kind": "revoke", "path": "correction", "time": time + 3},
            {"kind": "offset_query", "result": "ok", "offset": end, "time": time + 600},
            {"kind": "assign", "offset": end, "time": time + 601},
        )
        return [*changed(left, early, time=time + 700), *({**whose(taken), **step} for step in mended)]

    return make


def failed_is_kept(events: Events) -> Events:
    """What a broadcasting listener fails to consume is not dropped: the file of its client stays there."""
    ended = of(events, "result")[20]
    mine = [e for e in since(events, ended["time"], "commit") if its(e) == its(ended)]
    return changed(changed(events, [ended], result="later"), mine, offset=ended["offset"])


def again_uncounted(events: Events) -> Events:
    back = of(events, "send_back", result="failed", path="fallback")[0]
    again = [e for e in since(events, back["time"], *WORK[2:5]) if place(e) == place(back)]
    return changed(events, [e for e in again if e["attempt"] == back["attempt"] + 1], attempt=back["attempt"])


def messages_exchanged(events: Events) -> Events:
    """Pulls of a queue bring two of its messages each at the offset of the other one."""
    first = of(events, "deliver", attempt=0)[20]
    second = next(e for e in since(events, first["time"] + 1, "deliver") if its(e) == its(first))
    one, other = ([e for e in events if e.get("client") and e.get("key") == each["key"]] for each in (first, second))
    return changed(changed(events, one, key=second["key"]), other, key=first["key"])


def gone_out_of_balance(events: Events) -> Events:
    """All members leave the topic of retries out of their passes."""
    gone = [e for e in of_retries(events) if e.get("client")]
    return without(events, [*gone, *(e for e in of(events, "delay_store", "delay_deliver") if e["attempt"] > 1)])


def _l(name: str, recording: str, claims: str, make: Callable[[Events], Events], twin: Make | None = None) -> Stopped:
    return Stopped(name=name, recording=recording, claims=frozenset(claims.split()), make=make, twin=twin)


LIMITS = (
    _l("a window counts messages that it has not", DEADLINE, STEPS, put_off_empty("count"), put_off_full),
    _l("a window counts bytes that it has not", DEADLINE, STEPS, put_off_empty("size")),
    _l("a window without messages has a span", DEADLINE, STEPS, put_off_empty("span")),
    _l("a concurrent listener waits for a lock", SIMULATED, STEPS, waits_for_no_lock),
    _l("a batch is larger than it may be", BATCHES, STEPS, larger_batch),
    _l("a listener of single messages is given two", STEADY, STEPS, two_in_a_call),
    _l("messages of an orderly listener are cleaned", ORDERLY, STEPS, orderly_cleaned),
    _l("a broadcasting client sends back", BROADCAST, STEPS, broadcast_sent_back),
    _l("a broadcasting client commits with its pulls", BROADCAST, STEPS, broadcast_committed),
    _l("a broadcasting client consumes retries", BROADCAST, LIVES, broadcast_consumes_retries),
    _l("a pull commits offset 0", STEADY, STEPS, nothing_is_committed),
    _l("a delay level does not keep its order", DEAD, STORES, one_level_out_of_turn),
    _l("the version of a subscription is not raised", SCALED, LIVES, old_version),
    _l("an orderly queue begins where it was before its lock", BACK, STEPS, asked_before_the_lock),
    _l("a queue is dropped for a reset that was not", STEADY, STEPS, dropped_for("reset")),
    _l("a queue is dropped for an offset that was legal", STEADY, STEPS, dropped_for("correction")),
    _l("a queue that needs no lock is dropped for it", SIMULATED, STEPS, dropped_for("lock")),
    _l("a queue is dropped as if its topic were not consumed", SIMULATED, SHARES, dropped_for("unsubscribe")),
    _l("an offset is mended that was legal", DEADLINE, STEPS, mended_for_nothing),
    _l("a broker finds a legal offset illegal", SIMULATED, STEPS, illegal_inside),
    _l("a broker has nothing new beyond the end", DEADLINE, FIT, nothing_beyond_the_end),
    _l("a broker no more writes its tables", USUAL, LIVES, tables_not_written, tables_not_written_so_soon),
    _l("a first delivery has the count of a retry", STEADY, STEPS, counted_before_it_failed),
    _l("the low-water mark is one too low", STEADY, STEPS, mark_stays),
    _l("what could not be sent back comes at once", SIMULATED, STEPS, again_at_once),
    _l("a queue is pulled without its lock", ORDERLY, STEPS, pulled_without_lock("failed"), pulled_without_lock("ok")),
    _l("the end of a queue is found illegal", SIMULATED, STEPS, led_to_the_end()),
    _l(
        "a queue goes on at its end, not at its beginning",
        SIMULATED,
        "nothing-skipped",
        led_to_the_end(min=lambda e: e["offset"] + 1),
    ),
    _l("a broadcasting client keeps what failed", BROADCAST, "every-queue-moves", failed_is_kept),
    _l("what could not be sent back is not counted", SIMULATED, STEPS, again_uncounted),
    _l("a pull brings a message at the offset of another one", STEADY, STORES, messages_exchanged),
    _l("no member balances retries", SIMULATED, "every-queue-moves", gone_out_of_balance),
)
"""Defects of limits and reasons."""
