"""Intruder: known bugs that strike from outside the loop, each at chosen moments of an otherwise correct run.

Those that strike inside it are implemented where they act: see the uses of ``strikes`` in ``window`` and ``broker``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from ....model.allocation import MessageQueue
from ....model.history import Cause, Regression
from ...claims.settings import REBALANCE_PERIOD
from ...format.kinds import Kind, Path, Result
from .agenda import put
from .broker import GRACE
from .catalogue import MUTANTS, Bug, Claim
from .cluster import FIRST_PULL, Cluster
from .listener import LONGEST_CALL
from .outside import LOST_TAIL, choose, illegal, is_idle, mend, passes_again, spread_times, try_later
from .plan import BROADCASTING, ORDERLY
from .tables import OTHER_TOPIC
from .world import JUMPED, PRODUCE, VIOLATION

TWO_ROUNDS = 2 * REBALANCE_PERIOD
EPISODE = 100_000
"""Duration of a mutant's effect, if it lasts, ms: more than two rounds, but less than a standstill."""

FLAPS = 6
REPEATS = 4
BEGIN, END = 0.2, 0.7
"""Part of the time of producing in which mutants strike."""


def schedule(cluster: Cluster) -> None:
    """Let the mutant of the plan, if there is one, strike at its times."""
    plan = cluster.plan
    if not plan.mutant:
        return
    code = MUTANTS[plan.mutant].code
    a = cluster.world.all[0]
    a["mutant"] = code
    if code == Bug.D7:
        # A message that its client retried on its own already had the count that the unseen retry would have.
        a["refusal_rate"] = 0
    if code <= Bug.B4:
        a["strikes_left"] = plan.mutant_places
        a["strike_at"] = int(BEGIN * plan.producing)
        a["strike_gap"] = int((END - BEGIN) * plan.producing / plan.mutant_places)
        if code == Bug.B4:
            # Its moments, when an offset has not changed for long, are rare.
            a["strike_gap"] = REBALANCE_PERIOD // 2
        if code == Bug.F4:
            a["until"] = plan.producing + LONGEST_CALL + 3 * GRACE
        return
    if code == Bug.D8:
        _never_take(cluster)
        return
    strike = functools.partial(_STRIKES[code], cluster)
    lasting = code in (Bug.A1, Bug.A2, Bug.A3, Bug.A5, Bug.A8, Bug.A9, Bug.A10)
    most = max(1, int((END - BEGIN) * plan.producing) // (2 * EPISODE)) if lasting else plan.mutant_places
    for when in spread_times(cluster, min(plan.mutant_places, most), begin=BEGIN, end=END):
        cluster.at(when, strike)


def judge_owners(cluster: Cluster) -> None:
    """Record which queues had two owners, or none, for longer than two rounds; called when all processes are gone."""
    if cluster.plan.group_kind == BROADCASTING:
        return
    by_queue: dict[int, list[tuple[int, int, int]]] = {}
    queues = {cell: queue for (_, queue), cell in cluster.cells()}
    for cell, process, since, until in cluster.owners:
        by_queue.setdefault(queues[cell], []).append((since, until, process))
    for queue, spans in sorted(by_queue.items()):
        if cluster.queues[queue].topic == OTHER_TOPIC:
            continue
        spans.sort()
        owned_until = spans[0][0]
        for n, (since, until, process) in enumerate(spans):
            # A dead client's lock outlives it by up to a minute, for which an orderly group has to wait.
            if since - owned_until > TWO_ROUNDS * (2 if cluster.plan.group_kind == ORDERLY else 1):
                cluster.note(VIOLATION, claim=Claim.OWNERLESS, queue=queue, until=since, time=owned_until)
            for _, other_until, other in spans[:n]:
                if other != process and min(until, other_until) - since > TWO_ROUNDS:
                    end = min(until, other_until)
                    cluster.note(VIOLATION, claim=Claim.OVERLAP, queue=queue, process=process, until=end, time=since)
            owned_until = max(owned_until, until)


def _same_id(cluster: Cluster) -> None:
    """A1: the second process finds the position of the first, and takes the same share; nobody has its own share."""
    process = cluster.random.choice(cluster.alive())
    other = cluster.start(int(cluster.world.processes[process]["client"]))
    cluster.note(VIOLATION, claim=Claim.SAME_ID, process=other)
    cluster.after(EPISODE, lambda: cluster.stop(other))


def _other_topic(cluster: Cluster) -> None:
    """A2: the member counts in every division of the topic, but never takes its share."""
    process = cluster.start(_free_client(cluster), topics=[OTHER_TOPIC])
    cluster.note(VIOLATION, claim=Claim.SUBSCRIPTIONS, process=process)
    cluster.after(EPISODE, lambda: cluster.stop(process))


def _other_tags(cluster: Cluster) -> None:
    """A3."""
    process = cluster.start(_free_client(cluster), expression="paid || refunded")
    cluster.note(VIOLATION, claim=Claim.SUBSCRIPTIONS, process=process)
    cluster.after(EPISODE, lambda: cluster.stop(process))


def _old_view(cluster: Cluster) -> None:
    """A5: a member joins, and one of the others continues with the list that it knew."""
    process = cluster.random.choice(cluster.alive())
    cluster.frozen[process] = cluster.names()
    comer = cluster.start(_free_client(cluster))
    cluster.note(VIOLATION, claim=Claim.VIEWS, process=process)

    def notice() -> None:
        del cluster.frozen[process]
        cluster.balance(process)

    cluster.after(EPISODE, notice)
    cluster.after(EPISODE + TWO_ROUNDS, lambda: cluster.stop(comer))


def _wrong_queue(cluster: Cluster) -> None:
    """A6: once, a client takes a queue of another client instead of one of its own."""
    victim = cluster.random.choice([process for process in cluster.alive() if cluster.owned[process]])

    def answer(process: int, topic: str, right: list[MessageQueue]) -> list[MessageQueue]:
        others = [queue for queue in cluster.route[topic] if queue not in right]
        if process != victim or topic != cluster.own_topics[0] or not right or not others:
            return right
        cluster.wrong_answer = None
        cluster.note(VIOLATION, claim=Claim.ALLOCATION, process=process)
        return sorted([*right[1:], others[0]])

    cluster.wrong_answer = answer
    cluster.balance(victim)


def _first_topic_only(cluster: Cluster) -> None:
    """A8."""
    process = cluster.random.choice([p for p in cluster.alive() if p not in cluster.first_topic_only])
    cluster.first_topic_only.add(process)
    cluster.note(VIOLATION, claim=Claim.TOPICS, process=process)
    cluster.after(EPISODE, lambda: cluster.first_topic_only.discard(process))


def _drop(cluster: Cluster) -> None:
    """A9: a client drops a queue, but its table says that it still has it."""
    chosen = choose(cluster, lambda _: True)
    if chosen is not None:
        process, queue, _ = chosen
        cluster.blocked.add((process, queue))
        cluster.revoke(process, queue, Path.REMOVAL)

        def take() -> None:
            cluster.blocked.discard((process, queue))
            cluster.balance(process)

        cluster.after(EPISODE, take)


def _flap(cluster: Cluster) -> None:
    """A10: in every round, the client finds that it has not pulled for too long."""
    chosen = choose(cluster, lambda _: True)
    if chosen is None:
        return
    process, queue, _ = chosen
    cluster.note(VIOLATION, claim=Claim.FLAPPING, queue=queue, process=process)

    def flap() -> None:
        if queue in cluster.owned[process]:
            cluster.revoke(process, queue, Path.EXPIRED)
            cluster.after(1, lambda: cluster.balance(process))

    for n in range(FLAPS):
        cluster.after(n * REBALANCE_PERIOD, flap)


def _start_at_zero(cluster: Cluster) -> None:
    """B1: a client dies; the client that takes one of its queues cannot ask for the offset, and starts at 0."""
    chosen = choose(cluster, lambda w: bool(cluster.world.windows[w]["memory"] > 100))
    if chosen is None or len(cluster.alive()) < 2:
        return
    victim, wanted, _ = chosen

    def start(process: int, queue: int) -> int | None:
        if queue != wanted:
            return None
        c = cluster.cell(process, queue)
        cluster.wrong_start = None
        cluster.row(Kind.OFFSET_QUERY, process=process, queue=queue, result=Result.ERROR)
        # Messages that were not stored when the client died would come again in any case.
        passes_again(cluster, c, queue, 0, int(cluster.world.cells[c]["committed"]), 0)
        return 0

    cluster.wrong_start = start
    cluster.crash(victim)


def _to_the_minimum(cluster: Cluster) -> None:
    """B2: the offset is beyond the end of a replica that lags behind, and the minimum is 0."""
    chosen = choose(cluster, lambda w: is_idle(cluster, w))
    if chosen is None:
        try_later(cluster, lambda: _to_the_minimum(cluster))
    else:
        process, queue, w = chosen
        illegal(cluster, w, 0, int(cluster.world.windows[w]["next"]) - LOST_TAIL)
        mend(cluster, process, queue, w, 0, Cause.OFFSET_CORRECTED, Regression.UNEXPLAINED)


def _commit_of_a_stranger(cluster: Cluster) -> None:
    """B3: a commit arrives from a client that has not had the queue for long."""
    chosen = choose(cluster, lambda w: bool(cluster.world.windows[w]["memory"] > 0))
    strangers = [process for process in cluster.alive() if chosen is not None and process != chosen[0]]
    if chosen is None or not strangers:
        return
    _, queue, w = chosen
    process = cluster.random.choice(strangers)
    stored = int(cluster.world.cells[cluster.world.windows[w]["cell"]]["committed"])
    cluster.row(Kind.COMMIT, process=process, queue=queue, offset=stored, path=Path.PERIODIC)
    cluster.note(VIOLATION, claim=Claim.NOT_OWNER, queue=queue, process=process, offset=stored)


def _never_take(cluster: Cluster) -> None:
    """D8: the start of a retry queue is taken for a failure, so nobody ever adds it."""
    queue = cluster.retry_queues[0]
    cluster.blocked.add((-1, queue))
    cluster.note(VIOLATION, claim=Claim.STUCK, queue=queue)
    cluster.world.all[0]["until"] = int(cluster.plan.producing + 240_000 + GRACE)


def _give_away(cluster: Cluster) -> None:
    """E3: a queue is unlocked and taken by another client while a listener call runs."""
    chosen = choose(cluster, lambda w: bool(cluster.world.windows[w]["hung"] == -1))
    if chosen is None:
        return
    process, queue, w = chosen
    a = cluster.world.all[0]
    a["target"], a["until"] = w, cluster.now + 12_000

    def give() -> None:
        window = cluster.world.windows[w]
        others = [other for other in cluster.alive() if other != process]
        if queue not in cluster.owned[process] or not window["running"] or window["hung"] == -3 or not others:
            return
        cluster.revoke(process, queue, Path.REMOVAL, waits=False)
        cluster.assign(cluster.random.choice(others), queue)

    cluster.after(8_000, give)


def _skip_new_queue(cluster: Cluster) -> None:
    """G1: a queue that is new to a known group is started at its end."""
    topic = cluster.own_topics[0]
    queue = cluster.add_queue(topic, cluster.random.randrange(cluster.plan.brokers))
    put(cluster.world, cluster.now, PRODUCE, queue, 0, 0)

    def start(process: int, taken: int) -> int | None:
        if taken != queue:
            return None
        cluster.wrong_start = None
        end = int(cluster.world.queues[queue]["end"])
        cluster.row(Kind.OFFSET_QUERY, process=process, queue=queue, result=Result.MISSING)
        cluster.note(VIOLATION, claim=Claim.SKIPPED, queue=queue, process=process, offset=0, until=end)
        cluster.note(JUMPED, queue=queue, process=process, offset=0, until=end)
        return end

    def appear() -> None:
        if not cluster.world.queues[queue]["end"]:
            cluster.after(FIRST_PULL, appear)
            return
        cluster.wrong_start = start
        cluster.route[topic] = sorted([*cluster.route[topic], cluster.queues[queue]])
        for process in cluster.alive():
            cluster.balance(process)

    cluster.after(5_000, appear)


def _ask_again(cluster: Cluster) -> None:
    """G4: an offset that was found illegal is pulled again and again before it is corrected."""
    chosen = choose(cluster, lambda w: is_idle(cluster, w))
    if chosen is None:
        try_later(cluster, lambda: _ask_again(cluster))
        return
    process, queue, w = chosen
    asked = int(cluster.world.windows[w]["next"])
    illegal(cluster, w, asked - LOST_TAIL, asked - LOST_TAIL)
    for _ in range(REPEATS):
        cluster.row(Kind.PULL, process=process, queue=queue, offset=asked)
        illegal(cluster, w, asked - LOST_TAIL, asked - LOST_TAIL)
    cluster.note(VIOLATION, claim=Claim.ILLEGAL, queue=queue, process=process, offset=asked)
    mend(cluster, process, queue, w, asked - LOST_TAIL, Cause.OFFSET_CORRECTED, Regression.CORRECTED)


def _free_client(cluster: Cluster) -> int:
    taken = cluster.client_ids()
    return next(n for n in range(cluster.plan.consumers, len(cluster.clients) + 2) if n not in taken)


_STRIKES: dict[int, Callable[[Cluster], None]] = {
    Bug.A1: _same_id,
    Bug.A2: _other_topic,
    Bug.A3: _other_tags,
    Bug.A5: _old_view,
    Bug.A6: _wrong_queue,
    Bug.A8: _first_topic_only,
    Bug.A9: _drop,
    Bug.A10: _flap,
    Bug.B1: _start_at_zero,
    Bug.B2: _to_the_minimum,
    Bug.B3: _commit_of_a_stranger,
    Bug.E3: _give_away,
    Bug.G1: _skip_new_queue,
    Bug.G4: _ask_again,
}
