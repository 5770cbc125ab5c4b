"""Outside: what is done to a correct cluster, and surprises: clients come and go, brokers crash, operators act."""

from __future__ import annotations

import functools
from collections.abc import Callable

from ....model.history import Cause, Regression
from ...format.kinds import Kind, Path, Result
from .broker import replay
from .cluster import Cluster
from .first_world import PRODUCING_FROM
from .plan import BROADCASTING, CONCURRENTLY, ORDERLY
from .world import DECREASED, OWNED

DOWN = 3_000
"""How long a broker is away, ms."""

SCHEDULE_SAVED = 10_000
"""DL-4: how often a broker saves the positions of its delay levels, ms."""

LOST_TAIL = 5
"""Number of messages that a replica has not copied yet."""

REPEATED_BY_RESET = 40
AGAIN_IN = 170


def schedule(cluster: Cluster) -> None:
    """Put everything that is to happen from outside on the list of actions."""
    plan = cluster.plan
    for n in range(plan.consumers):
        cluster.at(n * 37, functools.partial(cluster.start, n))
    for when in spread_times(cluster, plan.churn):
        cluster.at(when, lambda: _churn(cluster))
    for when in spread_times(cluster, plan.broker_restarts):
        cluster.at(when, lambda: _crash_broker(cluster))
    if plan.group_kind != BROADCASTING:
        for when in spread_times(cluster, plan.resets):
            cluster.at(when, lambda: reset(cluster))
    if plan.group_kind == CONCURRENTLY:
        for when in spread_times(cluster, plan.corrections):
            cluster.at(when, lambda: correct(cluster))


def spread_times(cluster: Cluster, count: int, *, begin: float = 0.1, end: float = 0.9) -> list[int]:
    """That many times, evenly spread over the given part of the producing time, each shifted a little at random."""
    length = cluster.plan.producing
    step = (end - begin) * length / max(1, count)
    first = PRODUCING_FROM + begin * length
    return [int(first + (n + 0.8 * cluster.random.random()) * step) for n in range(count)]


def _churn(cluster: Cluster) -> None:
    """One client leaves or dies, and comes back; or a further one comes and leaves."""
    alive = cluster.alive()
    away = cluster.random.randint(5_000, 60_000)
    kind = cluster.random.choice(("stop", "crash", "join"))
    if kind == "join" or len(alive) < 2:
        free = next(n for n in range(len(cluster.clients) + 1) if n not in cluster.client_ids())
        process = cluster.start(free)

        def leave() -> None:
            if process in cluster.members and len(cluster.members) > 1 and not cluster.closing:
                cluster.stop(process)

        if free >= cluster.plan.consumers:
            cluster.after(away, leave)
        return
    process = cluster.random.choice(alive)
    client = int(cluster.world.processes[process]["client"])
    if kind == "stop":
        cluster.stop(process)
    else:
        cluster.crash(process)

    def come_back() -> None:
        if client not in cluster.client_ids() and not cluster.closing:
            cluster.start(client)

    cluster.after(away, come_back)


def _crash_broker(cluster: Cluster) -> None:
    """OF-23, DL-4: what a broker has not saved yet is lost: offsets go back, and retries are delivered again."""
    up = [n for n in range(cluster.plan.brokers) if cluster.world.brokers[n]["up"]]
    if not up:
        return
    broker = cluster.random.choice(up)
    cluster.row(Kind.BROKER_CRASH, broker=broker, grouped=False)
    cluster.world.brokers[broker]["up"] = 0
    for queue in [queue for queue in cluster.locks if cluster.world.queues[queue]["broker"] == broker]:
        del cluster.locks[queue]
    saved = cluster.now // SCHEDULE_SAVED * SCHEDULE_SAVED
    cluster.after(DOWN, lambda: _start_broker(cluster, broker, saved))


def _start_broker(cluster: Cluster, broker: int, saved: int) -> None:
    cluster.row(Kind.BROKER_START, broker=broker, grouped=False)
    world = cluster.world
    world.brokers[broker]["up"] = 1
    if cluster.plan.group_kind != BROADCASTING:
        for (_, queue), c in cluster.cells():
            cell = world.cells[c]
            if cell["broker"] == broker and cell["committed"] > max(0, cell["saved"]):
                back = max(0, int(cell["saved"]))
                cluster.row(Kind.COMMIT, queue=queue, offset=back, path=Path.FILE)
                go_back(cluster, c, queue, back, Cause.BROKER_RESTART, Regression.BROKER_RESTART)
        for owned in cluster.owned.values():
            for queue, w in owned.items():
                if world.queues[queue]["broker"] == broker:
                    world.windows[w]["sent"] = -1
    replay(world, broker, saved)


def go_back(cluster: Cluster, c: int, queue: int, offset: int, cause: int, why: int, *, process: int = -1) -> None:
    """The stored offset of a queue goes back; messages above it are repeated for ``cause``."""
    cell = cluster.world.cells[c]
    if offset < cell["committed"]:
        cluster.note(DECREASED, cause=why, queue=queue, process=process, offset=offset, until=int(cell["committed"]))
    passes_again(cluster, c, queue, offset, int(cell["reached"]), cause)
    cell["committed"] = offset


def passes_again(cluster: Cluster, c: int, queue: int, low: int, high: int, cause: int) -> None:
    """Offsets of a queue come again for ``cause`` if they were given out before; 0 if that is a mistake."""
    cell, windows = cluster.world.cells[c], cluster.world.windows
    cell["low"], cell["high"], cell["cause"], cell["decreased"] = low, high, cause, cluster.now
    cell["writer"] = -1
    for owned in cluster.owned.values():
        w = owned.get(queue)
        if w is not None and windows[w]["cell"] == c:
            windows[w]["begun_before"] = windows[w]["begun"]


def reset(cluster: Cluster) -> None:
    """OF-31: an operator sets an offset back; the owner of the queue drops it and takes it anew."""
    chosen = choose(cluster, lambda w: bool(cluster.world.windows[w]["memory"] > 2 * REPEATED_BY_RESET))
    if chosen is None:
        return
    process, queue, w = chosen
    c = int(cluster.world.windows[w]["cell"])
    offset = max(0, int(cluster.world.cells[c]["committed"]) - REPEATED_BY_RESET)
    cluster.row(Kind.RESET, queue=queue, offset=offset)
    go_back(cluster, c, queue, offset, Cause.RESET, Regression.RESET)
    if cluster.plan.group_kind == ORDERLY:
        cluster.world.windows[w]["memory"] = -1
        cluster.revoke(process, queue, Path.RESET, Cause.RESET)
    else:
        cluster.row(Kind.REVOKE, process=process, queue=queue, path=Path.RESET)
        cluster.close(process, queue, w, Cause.RESET)
    cluster.after(100, lambda: cluster.balance(process))


def correct(cluster: Cluster) -> None:
    """PL-19, PL-23: a replica that lags behind answers a pull; its end is before the requested offset."""
    chosen = choose(cluster, lambda w: is_idle(cluster, w))
    if chosen is None:
        try_later(cluster, lambda: correct(cluster))
    else:
        process, queue, w = chosen
        asked = int(cluster.world.windows[w]["next"])
        illegal(cluster, w, asked - LOST_TAIL, asked - LOST_TAIL)
        mend(cluster, process, queue, w, asked - LOST_TAIL, Cause.OFFSET_CORRECTED, Regression.CORRECTED)


def illegal(cluster: Cluster, w: int, offset: int, end: int) -> None:
    """The pull that is held for a window is answered: its offset is illegal, continue at ``offset``."""
    window = cluster.world.windows[w]
    window["ticket"] += 1
    cluster.row(
        Kind.PULL_RESULT,
        process=int(window["process"]),
        queue=int(window["queue"]),
        result=Result.OFFSET_ILLEGAL,
        offset=int(window["next"]),
        next=offset,
        min=0,
        max=end,
        count=0,
    )


def mend(cluster: Cluster, process: int, queue: int, w: int, offset: int, cause: int, why: int) -> None:
    """PL-23: the client stores the offset from the answer, drops the queue and takes it anew."""
    cluster.row(Kind.CORRECT, process=process, queue=queue, offset=offset)
    cluster.row(Kind.COMMIT, process=process, queue=queue, offset=offset, path=Path.CORRECTION)
    go_back(cluster, int(cluster.world.windows[w]["cell"]), queue, offset, cause, why, process=process)
    cluster.row(Kind.REVOKE, process=process, queue=queue, path=Path.CORRECTION)
    cluster.close(process, queue, w, Cause.OFFSET_CORRECTED)
    cluster.after(1, lambda: cluster.balance(process))


def is_idle(cluster: Cluster, w: int) -> bool:
    """Whether a window has finished everything, has stored that, and waits for more."""
    window = cluster.world.windows[w]
    stored = window["memory"] == window["next"] == cluster.world.cells[window["cell"]]["committed"]
    return bool(window["waiting"] and window["cached"] == 0 and window["next"] > 10 * LOST_TAIL and stored)


def try_later(cluster: Cluster, action: Callable[[], object]) -> None:
    """Retry in a moment an action that found nothing to act on, as long as messages are produced."""
    if cluster.world.all[0]["unproduced"]:
        cluster.after(AGAIN_IN, action)


def choose(cluster: Cluster, suits: Callable[[int], bool]) -> tuple[int, int, int] | None:
    """A window over an ordinary queue that ``suits``, chosen at random: its process, queue and number."""
    found = [
        (process, queue, w)
        for process in cluster.alive()
        for queue, w in sorted(cluster.owned[process].items())
        if queue not in cluster.retry_queues
        and cluster.world.windows[w]["stage"] == OWNED
        and cluster.world.brokers[cluster.world.queues[queue]["broker"]]["up"]
        and suits(w)
    ]
    return cluster.random.choice(found) if found else None
