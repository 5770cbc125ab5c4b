"""Rebalances: member lists, routes, heartbeats, and passes with what they saw and what the strategy answered.

RB-4, RB-6, RB-30, ST-3 to ST-8. The members that a pass saw are those that it keeps as its view; the retry topic is a
topic of its own, and is divided separately (EN-10).
"""

from __future__ import annotations

from typing import Any

from ....model.kernel import Elements, MemberSet
from ....model.share import share, strategy_of
from ...format.kinds import Kind, Path
from .cluster import GROUP, RETRY
from .faults import begins
from .offsets import restarted
from .step import Transition
from .windows import Record, in_turn, leaves, table


def listed(now: Transition, b: int) -> None:
    """EN-1: the member table of broker ``b`` has changed; an id is in it once for each connection (EN-2)."""
    members = [now.recorder.client_id(c) for c in now.clients if now.after("members", b, c)]
    now.of_broker(Kind.MEMBERS, now.cluster.brokers_of(b)[0], group=GROUP, members=members)


def heartbeat(now: Transition) -> None:
    """ST-4: a heartbeat, upon which the broker, if brokers are followed, adds a member."""
    now.beats(now.c)
    if "b" in now.arguments:
        listed(now, now.b)


def members_change(now: Transition) -> None:
    """ST-6: a broker removes a member."""
    listed(now, now.b)


def restart_broker(now: Transition) -> None:
    """EN-1, OF-23: the member table is soft state."""
    restarted(now, now.cluster.brokers_of(now.b))
    listed(now, now.b)


def start(now: Transition) -> None:
    """ST-1: the instance runs."""
    now.recorder.starts(now.c)
    begins(now)


def unregister(now: Transition) -> None:
    """ST-8 (3), ST-6 (a): the client leaves the group; at one broker, if brokers are followed."""
    now.by_client(Kind.UNREGISTER, now.c)
    if "b" in now.arguments:
        listed(now, now.b)


def unsubscribe(now: Transition) -> None:
    """The next heartbeat does not name the topic."""
    now.recorder.renews_subscription(now.c)
    now.beats(now.c)


def queues_known(now: Transition, count: int) -> list[str]:
    """The first ``count`` readable queues, as written in lists of queues."""
    readable = [q for q in range(count) if not now.cluster.is_retry(q)]
    return [now.cluster.spelled(q) for q in readable]


def add_queue(now: Transition) -> None:
    """The name server's route."""
    now.recorder.write(Kind.ROUTE, {"topic": now.cluster.topic, "queues": queues_known(now, now.after("readable"))})


def refresh_route(now: Transition) -> None:
    """ST-3: the client's copy of the route."""
    now.by_client(Kind.ROUTE, now.c, topic=now.cluster.topic, queues=queues_known(now, now.after("route", now.c)))


def divided(now: Transition, c: int) -> None:
    """RB-6: what the pass of ``c`` saw, and what its strategy answered, for each topic."""
    k = now.constants
    view = MemberSet(Elements("Consumer", "c", len(now.clients)), lambda d: bool(now.after("view", c, int(d))))
    members = [now.recorder.client_id(d) for d in now.clients if now.after("view", c, d)]
    readable = int(k.queues) - int(k.get("unread_queues", 0))
    count = now.after("view_route", c, default=readable) - now.cluster.has_retry_queue
    mine = [now.cluster.spelled(q) for q in range(count) if share(k, c, view, count, q)]
    passes = [(now.cluster.topic, queues_known(now, count), mine, strategy_of(k, c))]
    if now.cluster.has_retry_queue:
        retry = [now.cluster.spelled(now.queues[-1])]
        first = members and members[0] == now.recorder.client_id(c)
        passes.append((RETRY, retry, retry if first else [], "AVG"))
    for topic, queues, assigned, strategy in passes:
        shares: dict[str, Any] = {"queues": queues, "assigned": assigned, "detail": strategy}
        now.by_client(Kind.REBALANCE, c, topic=topic, members=members, **shares)


def ask_members(now: Transition) -> None:
    """RB-4, RB-6: the pass has what it needs to divide the queues."""
    divided(now, now.c)


def take_all(now: Transition) -> None:
    """RB-7: a broadcasting client gives itself every queue, and asks nobody for the members."""
    count = now.after("route", now.c, default=int(now.constants.queues))
    queues = queues_known(now, count)
    now.by_client(Kind.REBALANCE, now.c, topic=now.cluster.topic, queues=queues, assigned=queues)


def read_failure_as_no_topic(now: Transition) -> None:
    """RB-5: what a client that mistakes an error for an answer believes it sees."""
    now.by_client(Kind.REBALANCE, now.c, topic=now.cluster.topic, members=[], queues=[], assigned=[])
    drop_queues(now)


drop_queues = leaves(Path.REMOVAL)
"""RB-30.1, RB-30.2."""


ACTIONS: dict[str, Record] = {
    "heartbeat": heartbeat,
    "expire_member": members_change,
    "channel_closed": members_change,
    "restart_broker": restart_broker,
    "start": start,
    "unregister": unregister,
    "unsubscribe": unsubscribe,
    "add_queue": add_queue,
    "refresh_route": refresh_route,
    "rebalance_pass": in_turn(ask_members, drop_queues),  # RB-30: queues are dropped, then others taken
    "take_all": in_turn(take_all, drop_queues),
    "ask_members": ask_members,
    "drop_queues": drop_queues,
    "take_queue": drop_queues,
    "read_failure_as_no_topic": read_failure_as_no_topic,
    "truncate": leaves(Path.UNSUBSCRIBE),
    "repair": leaves(Path.CORRECTION),
    "remove_queue": table,
}
"""Actions of this file, by name."""
