"""Faults and stops: processes that start, stop, die and come back, and brokers whose timers they interrupt."""

from __future__ import annotations

from functools import partial

from ...format.kinds import Kind, Path
from .offsets import change_role, restart_brokers
from .step import Transition, broadcasting_group
from .windows import Record, forget_counts, in_table, table


def dies(now: Transition) -> None:
    """The process is gone without warning; only an observer outside notices."""
    now.by_client(Kind.CLIENT_CRASH, now.c)
    for q in now.queues:
        if in_table(now.before, now.c, q):
            now.recorder.old_epoch[now.c, q] = now.recorder.epochs[now.c, q]
        forget_counts(now, now.c, q)


def restart(now: Transition) -> None:
    """ST-1, EN-7: in clustering with another client id; in broadcasting with the old one, and its file."""
    if not broadcasting_group(now.constants):
        now.recorder.renames(now.c)
    now.recorder.starts(now.c)
    begins(now)


def begins(now: Transition) -> None:
    """ST-1: the process runs, and announces its subscriptions."""
    now.by_client(Kind.CLIENT_START, now.c)
    if broadcasting_group(now.constants):
        now.by_client(Kind.FILE_LOAD, now.c)
    now.beats(now.c)


def stop(now: Transition) -> None:
    """ST-8 (1), ST-9: an orderly client unlocks its queues at once."""
    for q in now.queues:
        if now.before("owns", now.c, q) and now.before("holder", q) == now.c + 1 and not now.after("holder", q):
            now.by_client(Kind.UNLOCK, now.c, q)


def end_stop(now: Transition) -> None:
    """ST-8 (5): the queues are dropped last of all, without another commit."""
    table(now, Path.SHUTDOWN)
    now.by_client(Kind.CLIENT_STOP, now.c)


def positions(kind: Kind) -> Record:
    """DL-4: the broker saves, or reads, its delivery positions."""
    return lambda now: now.of_broker(kind, now.cluster.all_brokers()[0])


ACTIONS: dict[str, Record] = {
    "die": dies,
    "die_while_writing": dies,
    "restart": restart,
    "lose_file": lambda now: now.recorder.renames(now.c),  # EN-7: the next process has another address, and client id
    "stop": stop,
    "end_stop": end_stop,
    "save": positions(Kind.FILE_PERSIST),
    "load": positions(Kind.FILE_LOAD),
    "stop_broker": partial(restart_brokers, in_order=True),  # DL-4
    "crash_broker": restart_brokers,  # DL-7
    "lose_store": restart_brokers,
    "lose_power": restart_brokers,
    "promote": change_role("master"),  # DL-7: another replica is master from now on
}
"""Actions of this file, by name."""
