"""Defects as a RocketMQ engineer imagines them, made of right recordings: what a system with them would leave behind.

Other than a trace mutant, a defect changes all that would be different: a message that waits at the wrong level is due
at another time as well. Each names the claim that has to be violated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Event = dict[str, Any]
Events = list[Event]

RETRY = "%RETRY%lab"
DEAD, BACK, DEADLINE = "failures-to-dead-letter-5.3.3", "orderly-hand-over-5.3.3", "slow-listener-timeout-5.3.3"
STEADY, SCALED, DELAYS = "steady-5.3.3", "scale-out-and-in-5.3.3", "broker-restart-delays-5.3.3"
SCALED_OLD = "scale-out-and-in-4.9.8"
KILLED, USUAL = "kill-9-mid-batch-5.3.3", "usual-timers-5.3.3"
BATCHES = "batch-acknowledged-in-part-5.3.3"
BROADCAST, LONG, LONG_ORDERLY = "broadcast-5.3.3", "simulated", "simulated-orderly"
BUSY_ORDERLY = "simulated-orderly-busy"
OF_MESSAGES = ("deliver", "result", "removed", "commit_memory")


@dataclass(frozen=True, kw_only=True)
class Defect:
    """A defect.

    Attributes:
        name: what is wrong, in a few words.
        recording: the right one that it is made of.
        claim: what must be violated.
        make: changes the events of the recording, which are by time.
    """

    name: str
    recording: str
    claim: str
    make: Callable[[Events], Events]


def of(events: Events, *kinds: str, **fields: Any) -> Events:
    """The events of some kinds with these fields."""
    return [e for e in events if e["kind"] in kinds and all(e.get(name) == value for name, value in fields.items())]


def without(events: Events, gone: Iterable[Event]) -> Events:
    those = {id(event) for event in gone}
    return [event for event in events if id(event) not in those]


def changed(events: Events, those: Events, **fields: Any) -> Events:
    """The same with other values, or functions of an event that make them, in some of them."""
    ids = {id(event) for event in those}
    return [
        {**e, **{name: value(e) if callable(value) else value for name, value in fields.items()}} if id(e) in ids else e
        for e in events
    ]


def later(events: Events, those: Events, by: int) -> Events:
    return changed(events, those, time=lambda event: event["time"] + by)


def place(event: Event) -> tuple[Any, ...]:
    return event.get("topic"), event.get("broker"), event.get("queue"), event.get("offset")


def copy(event: Event, **fields: Any) -> Event:
    return {**event, **fields}


def kept_out(events: Events, key: str, attempt: int) -> Events:
    """All of a message from an attempt on."""
    places = {place(e) for e in of(events, "deliver", key=key) if e["attempt"] >= attempt}
    mine = [e for e in events if e.get("key") == key and e.get("attempt", -1) >= attempt]
    return [*mine, *(e for e in of(events, "removed") if place(e) in places)]


def wrong_level(events: Events) -> Events:
    stored = of(events, "delay_store", attempt=2)
    return changed(events, stored, level=3, due=lambda e: e["due"] - 1_000)


def early_dead_letter(events: Events) -> Events:
    dead = of(events, "dead_letter")[-1]
    waits = of(events, "delay_store", key=dead["key"], attempt=2)[0]
    left = without(events, [*kept_out(events, dead["key"], 2), dead])
    return [*left, copy(dead, attempt=2, time=waits["time"], seq=waits["seq"])]


def late_dead_letter(events: Events) -> Events:
    dead = of(events, "dead_letter")[-1]
    return later(events, [dead], 9_500)


def no_dead_letter(events: Events) -> Events:
    dead = of(events, "dead_letter")[-1]
    return without(events, [dead])


def lost_retry(events: Events) -> Events:
    back = of(events, "delay_store", attempt=1)[-1]
    return without(events, [*kept_out(events, back["key"], 1), *of(events, "dead_letter", key=back["key"])])


def not_sent_back(events: Events) -> Events:
    back = of(events, "send_back", attempt=0)[-1]
    gone = [*kept_out(events, back["key"], 1), *of(events, "send_back", "dead_letter", key=back["key"])]
    return without(events, gone)


def same_count(events: Events) -> Events:
    copies = [
        e for e in events if e.get("attempt") == 2 and e["kind"] in ("delay_store", "delay_deliver", *OF_MESSAGES)
    ]
    return changed(events, copies, attempt=1)


def foreign_retry_topic(events: Events) -> Events:
    return changed(events, of(events, "delay_deliver")[-1:], topic="orders", group="lab", queue=9, offset=0)


def dead_letter_elsewhere(events: Events) -> Events:
    return changed(events, of(events, "dead_letter")[-1:], topic=RETRY, offset=99)


def delay_early(events: Events) -> Events:
    moved = of(events, "delay_deliver")[-1]
    return changed(events, [moved], time=moved["due"] - 900)


def delay_twice(events: Events) -> Events:
    moved = of(events, "delay_deliver")[-1]
    return [*events, copy(moved, time=moved["time"] + 300, offset=moved["offset"] + 1, msg_id="another")]


def delay_never(events: Events) -> Events:
    key = of(events, "delay_deliver")[-1]["key"]
    attempt = of(events, "delay_deliver")[-1]["attempt"]
    gone = [e for e in kept_out(events, key, attempt) if e["kind"] != "delay_store"]
    return without(events, gone)


def delay_late(events: Events) -> Events:
    moved = of(events, "delay_deliver")[-1]
    its = [e for e in kept_out(events, moved["key"], moved["attempt"]) if e["kind"] != "delay_store"]
    return later(events, its, 70_000)


def expiry_kept(events: Events) -> Events:
    key = of(events, "expire")[0]["key"]
    return without(events, [*kept_out(events, key, 1), *of(events, "send_back", key=key)])


def commit_past_running(events: Events) -> Events:
    sent = of(events, "commit", path="piggyback", topic="orders")
    taken = sent[len(sent) // 2]
    mine = [
        e
        for e in of(events, "result", "removed")
        if place(e)[:3] == place(taken)[:3] and e["client"] == taken["client"]
    ]
    last = [e for e in mine if e["offset"] == taken["offset"] - 1]
    return later(events, last, 3_000)


def skipped(events: Events) -> Events:
    given = of(events, "deliver", topic="orders")
    gone = given[len(given) // 2]
    return without(events, [e for e in of(events, *OF_MESSAGES[:3]) if place(e) == place(gone)])


def again_in_one_queue(events: Events) -> Events:
    given = of(events, "deliver", topic="orders")
    first = given[len(given) // 2]
    done = next(e for e in of(events, "result") if place(e) == place(first))
    at = first["time"] + 4_000
    return [*events, copy(first, time=at), copy(done, time=at + 5)]


def answered_wrongly(events: Events) -> Events:
    asked = [e for e in of(events, "offset_query", result="ok") if e["offset"] > 5][-1]
    wrong = 0
    queue = place(asked)[:3]
    mine = [e for e in events if e.get("client") == asked["client"] and place(e)[:3] == queue]
    near = [e for e in mine if asked["time"] <= e["time"] <= asked["time"] + 400 and e.get("offset") == asked["offset"]]
    return changed(events, [e for e in near if e["kind"] in ("offset_query", "commit_memory", "assign")], offset=wrong)


def foreign_queue(events: Events) -> Events:
    taken = of(events, "assign", topic="orders")[5]
    other = next(c for c in sorted({e["client"] for e in of(events, "assign")}) if c != taken["client"])
    at = taken["time"] + 1_200
    asked = next(e for e in of(events, "offset_query") if place(e)[:3] == place(taken)[:3])
    who = {"client": other, "incarnation": 0}
    return [*events, copy(asked, time=at - 9, **who), copy(taken, time=at, **who)]


def not_subscribed(events: Events) -> Events:
    return changed(
        events, of(events, "heartbeat"), subscriptions=lambda e: [s for s in e["subscriptions"] if "RETRY" in s]
    )


def old_members(events: Events) -> Events:
    passes = [e for e in of(events, "rebalance", topic="orders") if len(e["members"]) == 2]
    return changed(events, passes[-2:], members=lambda e: [e["client"]], assigned=lambda e: e["queues"])


def other_queues(events: Events) -> Events:
    passes = of(events, "rebalance", topic="orders")
    return changed(
        events, passes[-3:], queues=lambda e: e["queues"][:-1], assigned=lambda e: e["assigned"][:-1] or e["assigned"]
    )


def never_given_up(events: Events) -> Events:
    return without(events, of(events, "revoke", path="removal")[-1:])


def goes_on_stopped(events: Events) -> Events:
    stopped = of(events, "client_stop")[0]
    beat = of(events, "heartbeat", client=stopped["client"])[-1]
    return [*events, *(copy(beat, time=stopped["time"] + after) for after in (6_000, 7_000))]


def never_left(events: Events) -> Events:
    return without(events, of(events, "unregister")[:1])


def lost_in_store(events: Events) -> Events:
    stores = of(events, "store", topic="orders")
    return without(events, [stores[len(stores) // 2]])


def stored_over(events: Events) -> Events:
    stores = of(events, "store", topic="orders")
    taken = stores[len(stores) // 2]
    return [*events, copy(taken, time=taken["time"] + 4_000, key="0" * 32, msg_id="another")]


def order_changed(events: Events) -> Events:
    given = of(events, "deliver", topic="orders")
    one = given[len(given) // 2]
    after = next(
        e for e in given if place(e)[:3] == place(one)[:3] and e["time"] > one["time"] and e["client"] == one["client"]
    )
    first, second = (of(events, "deliver", "result", key=e["key"], client=one["client"]) for e in (one, after))
    gap_ = after["time"] - one["time"] + 1
    return later(later(events, first, 2 * gap_), second, -gap_)


def taken_unlocked(events: Events) -> Events:
    taken = of(events, "assign", topic="orders")[-1]
    mine = [e for e in of(events, "lock", client=taken["client"]) if place(e)[:3] == place(taken)[:3]]
    return without(events, [e for e in mine if e["time"] <= taken["time"]])


def two_at_once(events: Events) -> Events:
    given = of(events, "deliver", topic="orders", client="127.0.0.1@one")
    moved = list(of(events, "assign", client="127.0.0.1@two", topic="orders"))
    queue = place(moved[0])[:3]
    last = [e for e in given if place(e)[:3] == queue][-1]
    ended = [e for e in of(events, "result", "removed", client="127.0.0.1@one") if place(e) == place(last)]
    return later(events, ended, 9_000)


def never_pulled(events: Events) -> Events:
    taken = of(events, "assign")[0]
    mine = [e for e in events if e.get("client") and place(e)[:3] == place(taken)[:3]]
    return without(events, [e for e in mine if e["kind"] not in ("assign", "revoke", "offset_query", "rebalance")])


def never_committed(events: Events) -> Events:
    queue = place(of(events, "commit")[0])[:3]
    sent = [e for e in of(events, "commit") if place(e)[:3] == queue]
    low = min(e["offset"] for e in sent)
    return changed(events, sent, offset=low)


def never_locked_again(events: Events) -> Events:
    first = of(events, "lock")[0]
    mine = [e for e in of(events, "lock") if place(e)[:3] == place(first)[:3]]
    return without(events, mine[1:])


def batch_too_large(events: Events) -> Events:
    found = [e for e in of(events, "pull_result", result="found") if e["count"] > 2]
    return changed(events, found[-1:], count=lambda e: e["count"] - 2)


def memory_forgotten(events: Events) -> Events:
    queue = place(of(events, "commit_memory")[0])[:3]
    sets = [e for e in of(events, "commit_memory") if place(e)[:3] == queue]
    return without(events, sets[len(sets) // 2 :])


def broadcast_lost(events: Events) -> Events:
    given = of(events, "deliver", topic="orders")
    last = given[-1]
    mine = [e for e in given if e["client"] == last["client"] and place(e)[:3] == place(last)[:3]]
    done = {place(e): e for e in of(events, "result", client=last["client"])}
    at = of(events, "unregister", client=last["client"])[0]["time"] - 100
    return [*events, *(copy(e, time=at) for e in mine), *(copy(done[place(e)], time=at + 1) for e in mine)]


def forgotten_offset(events: Events) -> Events:
    asked = of(events, "offset_query", result="ok", topic="orders")[-1]
    nothing = {name: value for name, value in asked.items() if name != "offset"}
    return [nothing | {"result": "none"} if event is asked else event for event in events]


def begins_at_the_end(events: Events) -> Events:
    died = of(events, "client_crash")[0]["time"]
    taken = next(e for e in of(events, "assign", topic="orders") if e["time"] > died)
    mine = [e for e in events if e.get("client") == taken["client"] and place(e)[:3] == place(taken)[:3]]
    asked = next(e for e in of(mine, "pull") if e["time"] >= taken["time"])
    brought = next(e for e in of(mine, "pull_result") if e["time"] > taken["time"])
    gone = [e for e in of(mine, *OF_MESSAGES) if e["time"] > taken["time"] and e.get("offset", 0) < brought["next"]]
    return changed(without(events, [*gone, asked, brought]), [taken], offset=brought["next"])


def shutdown_stores_nothing(events: Events) -> Events:
    who = of(events, "client_stop")[-1]["client"]
    last = of(events, "deliver", client=who)[-1]["time"] - 300
    return without(events, [e for e in of(events, "commit", client=who) if e["time"] > last])


def removal_stores_nothing(events: Events) -> Events:
    return without(events, of(events, "commit", path="removal"))


def never_begins_to_pull(events: Events) -> Events:
    taken = of(events, "assign", topic="orders")[-3]
    mine = [
        e for e in of(events, "pull", "pull_result", *OF_MESSAGES, client=taken["client"]) if e.get("queue") is not None
    ]
    gone = [e for e in mine if place(e)[:3] == place(taken)[:3] and e["time"] >= taken["time"]]
    sent = [e for e in of(events, "commit", client=taken["client"]) if place(e)[:3] == place(taken)[:3]]
    sent = [e for e in sent if e["time"] >= taken["time"]]
    return changed(without(events, gone), sent, offset=taken["offset"])


def dead_letter_of_another_group(events: Events) -> Events:
    return changed(events, of(events, "dead_letter")[-1:], topic="%DLQ%other")


def dead_letter_in_a_later_queue(events: Events) -> Events:
    return changed(events, of(events, "dead_letter")[-1:], queue=3)


def called_twice_at_once(events: Events) -> Events:
    given = of(events, "deliver", topic="orders", client="127.0.0.1@one", attempt=0)
    first = given[60]
    after = next(e for e in given if place(e) == (*place(first)[:3], first["offset"] + 1))
    ended = of(events, "result", key=first["key"], client=first["client"])[-1]
    mine = [e for e in events if e.get("client") == first["client"] and place(e)[:3] == place(first)[:3]]
    moved = [e for e in mine if e["time"] >= ended["time"] and e is not after]
    return later(events, moved, after["time"] - ended["time"] + 2)


def file_never_written(events: Events) -> Events:
    return without(events, [e for e in of(events, "commit", "file_persist") if e.get("client")])


def given_and_stored_by_nobody(events: Events) -> Events:
    given = of(events, "deliver", topic="orders")[100]
    mine = [e for e in of(events, "deliver", "result") if place(e) == place(given)]
    return changed(events, mine, key="F" * 32, origin=777)


def retries_exchanged(events: Events) -> Events:
    one, other = of(events, "delay_store", attempt=1)[:2]
    names = {one["key"]: other, other["key"]: one}
    given = [e for e in of(events, "deliver", "result", "send_back", attempt=1) if e["key"] in names]
    return changed(events, given, key=lambda e: names[e["key"]]["key"])


def count_lost_when_sent_back(events: Events) -> Events:
    return changed(events, of(events, "send_back", attempt=1), attempt=0)


def calls_too_small(events: Events) -> Events:
    call = [e for e in of(events, "deliver", topic="orders") if e["count"] > 1][8]
    mine = [e for e in of(events, "deliver", client=call["client"], next=call["next"]) if e["queue"] == call["queue"]]
    return changed(events, mine, count=lambda e: e["count"] - 1)


def table_cannot_be_written(events: Events) -> Events:
    written = of(events, "file_persist", detail="consumerOffset")
    return changed(events, written[5:], result="error")


def lock_refused_to_its_owner(events: Events) -> Events:
    locked = of(events, "lock", result="ok", topic="orders")[0]
    return [*events, copy(locked, time=locked["time"] + 4_000, result="failed")]


def polls_on_stopped(events: Events) -> Events:
    stopped = of(events, "client_stop")[0]
    asked = of(events, "pull", client=stopped["client"])[-1]
    times = range(stopped["time"] + 6_000, events[-1]["time"], 6_000)
    return [*events, *(copy(asked, time=time) for time in times)]


def queue_left_out_of_rounds(events: Events) -> Events:
    begin = events[0]["time"] + 85_000
    sent = [e for e in of(events, "commit", topic="orders", queue=3) if begin <= e["time"] < begin + 40_000]
    return without(events, sent)


def at_queue(events: Events, queue: Event, *kinds: str) -> Events:
    """What a process recorded of a queue, or of another event's queue."""
    names = "client", "incarnation", "topic", "broker", "queue"
    return [e for e in of(events, *kinds) if all(e.get(name) == queue.get(name) for name in names)]


def longest_held(events: Events) -> Event:
    return max(of(events, "assign", topic="orders"), key=lambda e: len(at_queue(events, e, "deliver")))


def locked_and_not_had(events: Events) -> Events:
    left = of(events, "unlock")[0]
    locked = at_queue(events, left, "lock")[0]
    return [*events, *(copy(locked, time=left["time"] + after) for after in (20_000, 40_000))]


def locked_without_need(events: Events) -> Events:
    taken = of(events, "assign")
    lock = {"kind": "lock", "result": "ok", "offset": None}
    return [*events, *(copy(e, time=e["time"] - 5, **lock) for e in taken)]


def given_twice(events: Events) -> Events:
    given = [e for e in of(events, "rebalance") if e.get("assigned")]
    return changed(events, given, assigned=lambda e: [*e["assigned"], e["assigned"][0]])


def lock_not_renewed_for_a_while(events: Events) -> Events:
    locks = at_queue(events, longest_held(events), "lock")
    return without(events, locks[3:7])


def unlocked_and_consumed_on(events: Events) -> Events:
    queue = longest_held(events)
    given = at_queue(events, queue, "deliver")
    time = given[len(given) // 2]["time"]
    locks = [e for e in at_queue(events, queue, "lock") if e["time"] > time]
    return [*without(events, locks), copy(queue, kind="unlock", time=time, offset=None)]


def retry_of_one_group_to_another(events: Events) -> Events:
    moved = of(events, "delay_deliver")[1]
    gone = [e for e in events if e.get("key") == moved["key"] and e["time"] > moved["time"]]
    return changed(without(events, gone), [moved], topic="%RETRY%billing")


def expression_flips(events: Events) -> Events:
    """Every second heartbeat of a client has other expressions."""
    who = of(events, "heartbeat")[0]["client"]
    every_second = of(events, "heartbeat", client=who)[1::2]
    return changed(
        events, every_second, subscriptions=lambda e: [t.replace("=*@", "=TagA@") for t in e["subscriptions"]]
    )


def goes_on_unregistered(events: Events) -> Events:
    left = of(events, "unregister")[0]
    return later(events, [left], -60_000)


def retry_has_another_key(events: Events) -> Events:
    moved = of(events, "delay_deliver")[3]
    key = {"key": "0123456789ABCDEF", "origin": 0x0123456789ABCDEF}
    calls = of(events, "deliver", "result", key=moved["key"], attempt=moved["attempt"])
    return changed(events, calls, **key)


def pulls_not_held(events: Events) -> Events:
    for answer in of(events, "pull_result", result="no_new_message"):
        asked = [e for e in at_queue(events, answer, "pull") if e["time"] < answer["time"]]
        if asked and answer["time"] - asked[-1]["time"] > 10_000:
            times = range(asked[-1]["time"] + 20, answer["time"] - 20, 20)
            between = [(copy(answer, time=time - 1), copy(asked[-1], time=time)) for time in times]
            return [*events, *(event for pair in between for event in pair)]
    raise AssertionError("no pull waits")


def one_sees_itself_only(events: Events) -> Events:
    who = of(events, "rebalance")[0]["client"]
    passes = [e for e in of(events, "rebalance", client=who) if e["time"] > events[0]["time"] + 300_000]
    return changed(events, passes, members=[who], assigned=lambda e: e["queues"])


def two_have_the_lock(events: Events) -> Events:
    queue = longest_held(events)
    locks = at_queue(events, queue, "lock")
    other = next(c for c in sorted({e["client"] for e in of(events, "lock")}) if c != queue["client"])
    one = locks[len(locks) // 2]
    return [*events, copy(one, time=one["time"] + 2_500, client=other)]


def unlocked_for_a_moment(events: Events) -> Events:
    queue = longest_held(events)
    locks = at_queue(events, queue, "lock")
    return [*events, copy(queue, kind="unlock", time=locks[len(locks) // 2]["time"] - 2_000, offset=None)]


def heartbeats_to_one_broker(events: Events) -> Events:
    """A client no longer sends heartbeats to the broker from which it pulls."""
    until = events[0]["time"] + 300_000
    who = max(e["client"] for e in of(events, "heartbeat"))
    queues = of(events, "assign", client=who, topic="orders")
    left = next(name for name in ("broker-a", "broker-b") if name in {e["broker"] for e in queues})
    other = "broker-a" if left == "broker-b" else "broker-b"
    beats = of(events, "heartbeat")
    named = [copy(e, broker=other) for e in beats]
    named += [copy(e, broker=left) for e in beats if e["client"] != who or e["time"] < until]
    return [*without(events, beats), *named]


def _d(name: str, recording: str, claim: str, make: Callable[[Events], Events]) -> Defect:
    return Defect(name=name, recording=recording, claim=claim, make=make)


LIVES, SHARES, STORES = "processes-act-in-order", "shares-are-taken", "stores-follow-each-other"
STEPS, FIT = "steps-follow-each-other", "events-fit-each-other"

DEFECTS = (
    _d("a retry waits at the level of the one before", DEAD, "level-as-the-count-says", wrong_level),
    _d("a dead letter before the maximum", DEAD, "dead-letter-exactly-at-the-maximum", early_dead_letter),
    _d("a dead letter long after the last failure", DEAD, "dead-letter-exactly-at-the-maximum", late_dead_letter),
    _d("the last failure leaves no dead letter", DEAD, "sent-back-message-comes-again", no_dead_letter),
    _d("a send-back that is answered, and nothing is stored", DEAD, "sent-back-message-comes-again", lost_retry),
    _d("a failed message is not sent back", DEAD, "failed-message-comes-again", not_sent_back),
    _d("the count of a retry is not raised", DEAD, "every-copy-has-a-cause", same_count),
    _d("a retry goes to the topic itself", DEAD, STORES, foreign_retry_topic),
    _d("a dead letter goes to the retry topic", DEAD, STORES, dead_letter_elsewhere),
    _d("a delay fires early", DELAYS, "never-before-it-is-due", delay_early),
    _d("a delay fires twice", DEAD, "every-copy-has-a-cause", delay_twice),
    _d("a delay never fires", LONG, "delivered-when-due", delay_never),
    _d("a delay fires late", LONG, "delivered-when-due", delay_late),
    _d("an expired message is removed and not sent back", DEADLINE, "steps-follow-each-other", expiry_kept),
    _d("a commit passes a message whose listener runs", STEADY, "offset-never-past-unfinished", commit_past_running),
    _d("a message is left out", STEADY, "nothing-skipped", skipped),
    _d("one message of one queue comes twice", STEADY, "every-duplicate-has-a-cause", again_in_one_queue),
    _d("a query is answered with an older offset", SCALED, STEPS, answered_wrongly),
    _d("a client takes the queue of another", SCALED, SHARES, foreign_queue),
    _d("a client consumes what it does not subscribe", STEADY, LIVES, not_subscribed),
    _d("a client divides among members of before", STEADY, SHARES, old_members),
    _d("a client divides queues that its route does not name", STEADY, SHARES, other_queues),
    _d("a queue that is taken away is kept", SCALED, LIVES, never_given_up),
    _d("a client that has stopped sends heartbeats", SCALED, LIVES, goes_on_stopped),
    _d("a client stops and does not unregister", SCALED, LIVES, never_left),
    _d("a message is lost in the store", STEADY, STORES, lost_in_store),
    _d("a message is stored over another", STEADY, STORES, stored_over),
    _d("the order of an orderly queue changes", BACK, "orderly-in-order", order_changed),
    _d("an orderly queue is taken without its lock", BACK, STEPS, taken_unlocked),
    _d("two listeners run on an orderly queue", BACK, "orderly-one-listener", two_at_once),
    _d("a queue that nobody pulls", LONG, "every-queue-moves", never_pulled),
    _d("an offset that is never stored anew", LONG, "every-queue-moves", never_committed),
    _d("a lock that is never renewed", LONG_ORDERLY, "orderly-lock-is-renewed", never_locked_again),
    _d("more messages are delivered than were pulled", STEADY, STEPS, batch_too_large),
    _d("the in-memory offset stays behind", STEADY, STEPS, memory_forgotten),
    _d("a query is answered as if nothing were stored, and another client has died", KILLED, STEPS, forgotten_offset),
    _d("who takes the queue of the dead begins at its end", USUAL, FIT, begins_at_the_end),
    _d("a client stops, and does not store its last offsets", STEADY, STEPS, shutdown_stores_nothing),
    _d("a queue is given up, and its offset not stored", SCALED, STEPS, removal_stores_nothing),
    _d("a queue is taken, and not pulled until it is given up", SCALED, STEPS, never_begins_to_pull),
    _d("a queue is not pulled until its client stops, soon before its broker", SCALED_OLD, STEPS, never_begins_to_pull),
    _d("a dead letter goes to those of another group", DEAD, STORES, dead_letter_of_another_group),
    _d("a dead letter goes to a queue that there is not", DEAD, STORES, dead_letter_in_a_later_queue),
    _d("two threads of a process consume an orderly queue at once", BACK, STEPS, called_twice_at_once),
    _d("a message is given that nobody has stored", STEADY, STORES, given_and_stored_by_nobody),
    _d("two retries are given in each other's place", DEAD, STORES, retries_exchanged),
    _d("a send-back names the count of before", DEAD, FIT, count_lost_when_sent_back),
    _d("a call has more messages than it tells", BATCHES, FIT, calls_too_small),
    _d("a broker cannot write its offsets", USUAL, LIVES, table_cannot_be_written),
    _d("the offset of one queue is not stored for 40 s", USUAL, STEPS, queue_left_out_of_rounds),
    _d("a client that has stopped polls on", SCALED, STEPS, polls_on_stopped),
    _d("a lock is refused to the client that has it", BACK, STEPS, lock_refused_to_its_owner),
    _d("a broadcasting client never writes its offsets", BROADCAST, STEPS, file_never_written),
    _d("a queue is locked by a client that has given it up", LONG_ORDERLY, STEPS, locked_and_not_had),
    _d("queues are locked for a listener that is not orderly", STEADY, STEPS, locked_without_need),
    _d("a client gives itself a queue twice", USUAL, SHARES, given_twice),
    _d("a lock of one queue is not renewed for a while", BUSY_ORDERLY, STEPS, lock_not_renewed_for_a_while),
    _d("a queue is unlocked, and consumed on", LONG_ORDERLY, STEPS, unlocked_and_consumed_on),
    _d("a retry goes to the retries of another group", LONG, STORES, retry_of_one_group_to_another),
    _d("the expression of a subscription changes to and fro", LONG, LIVES, expression_flips),
    _d("a client that has left its group goes on", LONG, LIVES, goes_on_unregistered),
    _d("a retry is given under the key of another message", LONG, STORES, retry_has_another_key),
    _d("pulls are not held, and asked again at once", LONG, STORES, pulls_not_held),
    _d("a member sees itself only, and takes everything", LONG, "views-agree", one_sees_itself_only),
    _d("two clients have the lock of a queue", LONG_ORDERLY, STEPS, two_have_the_lock),
    _d("a queue is unlocked for a moment", LONG_ORDERLY, STEPS, unlocked_for_a_moment),
    _d("heartbeats leave out one broker", LONG, STEPS, heartbeats_to_one_broker),
    _d("a broadcasting client forgets its offsets", BROADCAST, "every-duplicate-has-a-cause", broadcast_lost),
)
