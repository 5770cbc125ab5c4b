"""What members do with queues in a wrong way: offsets, pulls, shares."""

from __future__ import annotations

from typing import Any

from .broken import broken, its, of_retries
from .semantic_defects import Event, Events, changed, copy, of, place, without
from .stopped_mechanisms import WORK, middle, owner_of, queue_of, since

SIMULATED, ORDERLY, BROADCAST = "simulated", "simulated-orderly", "simulated-broadcasting"
CHURN, HANDED, SPREAD = "simulated-churn", "simulated-orderly-churn", "simulated-broadcasting-churn"
RESET = "simulated-reset"
BATCHES, DEADLINE, STEADY = "batch-acknowledged-in-part-5.3.3", "slow-listener-timeout-5.3.3", "steady-5.3.3"
SCALED, BACK, DEAD = "scale-out-and-in-5.3.3", "orderly-hand-over-5.3.3", "failures-to-dead-letter-5.3.3"
ENDS = ("client_start", "client_crash", "client_stop")
HOOK, LOG, USUAL = "hook-only-5.3.3", "log-only-5.3.3", "usual-timers-5.3.3"


# Offsets.


def highest_is_committed(events: Events) -> Events:
    """The offset behind the last message that was finished is stored, whatever is left below it."""
    high: dict[tuple[Any, ...], int] = {}
    made = []
    for event in events:
        if event["kind"] == "removed":
            high[its(event)] = max(high.get(its(event), 0), event["offset"] + 1)
            event = copy(event, next=high[its(event)])
        elif event["kind"] in ("commit_memory", "commit") and its(event) in high:
            event = copy(event, offset=max(event["offset"], high[its(event)]))
        made.append(event)
    return made


def pulled_is_committed_at_the_end(events: Events) -> Events:
    """Who stops stores how far it has pulled; the last two messages had not been given to a listener."""
    end = of(events, "commit", path="shutdown", topic="orders")[0]
    mine = [e for e in events if its(e) == its(end) and e.get("offset", -1) >= end["offset"] - 2]
    return without(events, of(mine, "deliver", "result", "removed", "send_back"))


def commits_of_one_broker_lost(events: Events) -> Events:
    return without(events, of(events, "commit", broker="broker-b"))


def commits_of_queues_exchanged(events: Events) -> Events:
    """A table of offsets is keyed by broker and topic alone, and queues of one take each other's places."""
    return changed(events, of(events, "commit", topic="orders"), queue=lambda e: 1 - e["queue"])


def owner_of_before_goes_on_storing(events: Events) -> Events:
    """A queue that was given up stays in the table of offsets, which is sent every five seconds."""
    left = of(events, "revoke", path="removal", topic="orders-0")[-1]
    last = [e for e in of(events, "commit") if its(e) == its(left) and e["time"] <= left["time"]][-1]
    return [*events, *(copy(last, path="periodic", time=left["time"] + 5_000 * n) for n in range(1, 12))]


def reset_undone(events: Events) -> Events:
    """Who had the queue stores its old offset after an operator has set another one."""
    reset = of(events, "reset")[0]
    before = [e for e in of(events, "commit") if queue_of(e) == queue_of(reset) and e["time"] < reset["time"]][-1]
    sent = [e for e in of(events, "commit") if queue_of(e) == queue_of(reset) and e["time"] > reset["time"]]
    high = max(e["offset"] for e in (before, *sent))
    return changed(events, sent, offset=high)


def replica_lags(events: Events) -> Events:
    """A broker takes older offsets of another one over its own, again and again."""
    sent = [e for e in of(events, "commit", topic="orders", broker="broker-b") if e["offset"] > 20]
    model = {name: value for name, value in sent[0].items() if name not in ("client", "incarnation")}
    return [*events, *(copy(model, path="replica", offset=e["offset"] - 15, time=e["time"] + 900) for e in sent)]


def crash_begins_where_it_pulled(events: Events) -> Events:
    """What the dead had pulled counts as consumed: the next owner is told to begin behind it."""
    died = of(events, "client_crash")[0]
    asked = next(
        e
        for e in of(events, "offset_query", result="ok")
        if e["time"] > died["time"] and "RETRY" not in e["topic"] and e["client"] != died["client"]
    )
    mine = [e for e in events if its(e) == its(asked) and e["time"] >= asked["time"]]
    first = of(mine, "pull_result", result="found")[0]
    start = first["next"]
    gone = [e for e in of(mine, "pull", "pull_result") if e["offset"] < start]
    gone += [e for e in of(mine, "deliver", "result") if e["offset"] < start]
    behind = [e for e in of(mine, "offset_query", "assign", "commit") if e["offset"] < start]
    return changed(without(events, gone), behind, offset=start)


# Pulls.


def loop_dies_after_flow_control(events: Events) -> Events:
    time = middle(events)
    taken = owner_of(events, time)
    mine = [e for e in events if its(e) == its(taken) and e["time"] >= time]
    low = max(e["offset"] for e in of(events, "commit") if its(e) == its(taken) and e["time"] < time)
    held = {name: taken[name] for name in ("client", "incarnation", "group", "topic", "broker", "queue")}
    control = {**held, "kind": "flow_control", "path": "count", "time": time}
    return [*changed(without(events, of(mine, *WORK)), of(mine, "commit"), offset=low), control]


def pulls_begin_one_too_early(events: Events) -> Events:
    """Each pull goes on at the last message that it has, which is brought and given to a listener once more."""
    time = middle(events)
    taken = owner_of(events, time)
    mine = [e for e in events if its(e) == its(taken) and e["time"] >= time]
    found = of(mine, "pull_result", result="found")
    given = {place(e): e for e in of(events, "deliver", "result")}
    again = []
    for answer in found:
        for kind, after in (("deliver", 0), ("result", 1)):
            last = [e for e in of(events, kind) if its(e) == its(answer) and e["offset"] == answer["offset"] - 1]
            again += [copy(e, time=answer["time"] + after) for e in last if place(e) in given]
    back = changed(events, of(mine, "pull"), offset=lambda e: max(0, e["offset"] - 1))
    answers = [e for e in back if its(e) == its(taken) and e["time"] >= time and e["kind"] == "pull_result"]
    return [
        *changed(
            back,
            answers,
            offset=lambda e: max(0, e["offset"] - 1),
            next=lambda e: e["next"] if e["result"] == "found" else max(0, e["next"] - 1),
            count=lambda e: e["count"] + (e["result"] == "found"),
        ),
        *again,
    ]


def filter_takes_too_much(events: Events) -> Events:
    """The broker leaves out each seventh message of a queue, as if its tag were another one."""
    queue = queue_of(of(events, "deliver", topic="orders")[0])
    gone = [e for e in of(events, "deliver", "result", "send_back") if queue_of(e) == queue and e["offset"] % 7 == 3]
    keys = {e["key"] for e in gone}
    copies = [e for e in of_retries(events) if e.get("key") in keys]
    assert not copies
    found = [e for e in of(events, "pull_result", result="found") if queue_of(e) == queue]
    return changed(
        without(events, gone),
        found,
        count=lambda e: sum(offset % 7 != 3 for offset in range(e["offset"], e["next"])),
    )


# Members and queues.


def retry_topic_not_subscribed(events: Events) -> Events:
    """One member does not subscribe to the topic of retries; its share of it is nobody's."""
    taken = of_retries(of(events, "assign"))[-1]
    who = taken["client"]
    gone = [e for e in of_retries(events) if e.get("client") == who]
    keys = {e["key"] for e in of(gone, "deliver")}
    copies = [e for e in of(events, "delay_store", "delay_deliver", "dead_letter") if e["key"] in keys]
    beats = of(events, "heartbeat", client=who)
    left = without(events, [*gone, *(e for e in copies if e["attempt"] > 1)])
    return changed(left, beats, subscriptions=lambda e: [s for s in e["subscriptions"] if "RETRY" not in s])


def given_and_never_taken(events: Events) -> Events:
    """A window of before is still in the table: its client believes that it has the queue which a pass gives it."""
    taken = of(events, "assign", topic="orders")[-1]
    return without(events, [e for e in events if its(e) == its(taken)])


def stale_members(events: Events) -> Events:
    """One member divides among those that it knew in the beginning, and keeps what it had."""
    passes = of(events, "rebalance", topic="orders")
    old = next(e for e in passes if e["client"] == "127.0.0.1@one")
    later_ones = [e for e in passes if e["client"] == old["client"] and len(e["members"]) == 2]
    left = of(events, "revoke", client=old["client"], path="removal", topic="orders")
    sent = of(events, "commit", client=old["client"], path="removal", topic="orders")
    return changed(without(events, [*left, *sent]), later_ones, members=old["members"], assigned=old["queues"])


def members_in_other_order(events: Events) -> Events:
    """One member does not sort the members, and takes the other's share too; its own is nobody's."""
    one, two = sorted({e["client"] for e in of(events, "client_start")})
    settled = 30_000 + events[0]["time"]
    passes = [e for e in of(events, "rebalance", topic="orders", client=one) if e["time"] > settled]
    other = next(e for e in of(events, "rebalance", topic="orders", client=two) if e["time"] > settled)["assigned"]
    mine = list(of(events, "assign", "revoke", *WORK, "commit", client=one, topic="orders"))
    kept = [e for e in mine if f"{e['broker']}:{e['queue']}" in passes[0]["assigned"] and e["time"] > settled]
    theirs = [e for e in of(events, *WORK, "commit", client=two, topic="orders") if e["time"] > settled]
    taken = list(of(events, "assign", client=two, topic="orders"))
    return [
        *changed(without(events, kept), passes, members=lambda e: e["members"][::-1], assigned=other),
        *(copy(e, client=one) for e in theirs),
        *(copy(e, client=one, time=settled) for e in taken),
    ]


def member_never_forgotten(events: Events) -> Events:
    """Brokers go on naming a member that has left, and nobody takes its queues."""
    time = events[0]["time"] + 100_000
    who = of(events, "client_start")[1]["client"]
    gone = [e for e in events if e.get("client") == who and e["time"] >= time]
    least: dict[str, int] = {}
    for event in gone:
        if "key" in event:
            least[event["key"]] = min(event["attempt"], least.get(event["key"], 99))
    copies = since(events, time, "delay_store", "delay_deliver", "dead_letter")
    lost = [e for e in copies if e["key"] in least and e["attempt"] > least[e["key"]]]
    last = {its(e): e for e in of(events, "commit", client=who) if e["time"] < time}
    ends = [*of(events, "unregister", "client_stop", client=who), *of(events, "revoke", client=who, path="shutdown")]
    return [
        *without(events, [*gone, *lost]),
        *(copy(e, path="shutdown", time=time) for e in last.values()),
        *(copy(e, time=time + 1 + (e["kind"] == "revoke") + 2 * (e["kind"] == "client_stop")) for e in ends),
    ]


def dead_never_forgotten(events: Events) -> Events:
    """The same of one that has died."""
    who = of(events, "client_start")[1]["client"]
    left = member_never_forgotten(events)
    time = of(left, "client_stop", client=who)[0]["time"]
    ends = [e for e in since(left, time - 3, "unregister", "revoke", "client_stop", "commit") if e.get("client") == who]
    return [*without(left, ends), {"kind": "client_crash", "client": who, "incarnation": 0, "time": time}]


def topic_left_out_of_balance(events: Events) -> Events:
    """Passes over one of two topics end, for one member."""
    time = middle(events)
    who = owner_of_topic(events, "orders-1", time)["client"]
    return without(events, since(events, time, "rebalance", client=who, topic="orders-1"))


def owner_of_topic(events: Events, topic: str, time: int) -> Event:
    return [e for e in of(events, "assign", topic=topic) if e["time"] < time][-1]


def wider_for_others(events: Events) -> Events:
    """A topic gets a queue more to read, and one member never learns of it."""
    time = middle(events)
    who = sorted({e["client"] for e in of(events, "client_start")})[0]
    passes = [e for e in since(events, time, "rebalance", topic="orders") if e["client"] != who]
    return changed(events, passes, queues=lambda e: [*e["queues"], "broker-b:2"])


def queue_goes_to_and_fro(events: Events) -> Events:
    left = of(events, "revoke", path="removal")[0]
    taken = next(e for e in of(events, "assign") if queue_of(e) == queue_of(left) and e["client"] != left["client"])
    end = taken["time"]
    pairs = [
        (copy(left, client=taken["client"], time=end + 500 * n), copy(taken, time=end + 500 * n + 200))
        for n in range(1, 12)
    ]
    return [*events, *(event for pair in pairs for event in pair)]


MOVES, OWNED, STEPS = "every-queue-moves", "every-queue-gets-an-owner", "steps-follow-each-other"
SHARES, DUPLICATES, SKIPPED = "shares-are-taken", "every-duplicate-has-a-cause", "nothing-skipped"
PAST, BACKWARD, LIVES = "offset-never-past-unfinished", "offset-never-back-without-cause", "processes-act-in-order"

BROKEN_QUEUES = (
    broken("the highest finished offset is stored", SCALED, f"{STEPS} {PAST}", highest_is_committed),
    broken("who stops stores what it has pulled", SIMULATED, f"{SKIPPED} {PAST}", pulled_is_committed_at_the_end),
    broken("the offsets of one broker are lost", SIMULATED, MOVES, commits_of_one_broker_lost),
    broken("offsets of two queues are exchanged", SIMULATED, f"{STEPS} {PAST} {SKIPPED}", commits_of_queues_exchanged),
    broken("an owner of before stores on", CHURN, f"only-owners-commit {BACKWARD}", owner_of_before_goes_on_storing),
    broken("a reset is undone by a commit", RESET, f"reset-is-followed {STEPS} {SKIPPED} {PAST}", reset_undone),
    broken("a replica gives older offsets back", SIMULATED, BACKWARD, replica_lags),
    broken(
        "what the dead had pulled counts as done",
        CHURN,
        f"{SKIPPED} query-answers-what-is-stored",
        crash_begins_where_it_pulled,
    ),
    broken("a pull loop dies after a flow control", SIMULATED, MOVES, loop_dies_after_flow_control),
    broken("pulls begin one too early", SIMULATED, f"{STEPS} {DUPLICATES}", pulls_begin_one_too_early),
    broken("a filter takes too much", ORDERLY, f"{STEPS} {SKIPPED}", filter_takes_too_much),
    broken(
        "one member does not consume retries",
        SIMULATED,
        f"same-subscriptions {OWNED} {MOVES}",
        retry_topic_not_subscribed,
    ),
    broken("a dropped window stays in the table", USUAL, SHARES, given_and_never_taken),
    broken("one member goes by members of before", SCALED, f"{SHARES} views-agree", stale_members),
    broken(
        "one member does not sort the members",
        SIMULATED,
        "allocation-as-the-strategy-says views-agree",
        members_in_other_order,
    ),
    broken("a member that left is never forgotten", SIMULATED, f"{OWNED} {MOVES}", member_never_forgotten),
    broken("a dead member is never forgotten", SIMULATED, f"{OWNED} {MOVES}", dead_never_forgotten),
    broken("one of two topics is balanced no more", CHURN, "every-topic-is-balanced", topic_left_out_of_balance),
    broken("one member never learns of a wider topic", SIMULATED, "views-agree", wider_for_others),
    broken("a queue goes to and fro", LOG, "no-flapping", queue_goes_to_and_fro),
)
"""Mechanisms of queues that are broken."""
