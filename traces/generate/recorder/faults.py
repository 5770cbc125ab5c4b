"""Faults and stops: processes that start, stop, die and come back, and brokers whose timers they interrupt."""

from __future__ import annotations

from ...format.kinds import Kind, Path
from .offsets import restarted
from .step import Transition, broadcasting_group
from .windows import Record, forget_counts, in_table, table


def dies(now: Transition) -> None:
    """The process is gone without a word; whoever watches it from outside knows."""
    now.by_client(Kind.CLIENT_CRASH, now.c)
    for q in now.queues:
        if in_table(now.before, now.c, q):
            now.recorder.old_epoch[now.c, q] = now.recorder.epochs[now.c, q]
        forget_counts(now, now.c, q)


def restart(now: Transition) -> None:
    """ST-1, EN-7: in clustering with another client id; in broadcasting with the old one, and the file of it."""
    if not broadcasting_group(now.constants):
        now.recorder.renames(now.c)
    now.recorder.starts(now.c)
    begins(now)


def begins(now: Transition) -> None:
    """ST-1: the process runs, and tells what it subscribes."""
    now.by_client(Kind.CLIENT_START, now.c)
    if broadcasting_group(now.constants):
        now.by_client(Kind.FILE_LOAD, now.c)
    now.beats(now.c)


def lose_file(now: Transition) -> None:
    """EN-7: the next process has another address, and so another client id."""
    now.recorder.renames(now.c)


def stop(now: Transition) -> None:
    """ST-8 (1), ST-9: an orderly client unlocks its queues at once."""
    for q in now.queues:
        if now.before("owns", now.c, q) and now.before("holder", q) == now.c + 1 and not now.after("holder", q):
            now.by_client(Kind.UNLOCK, now.c, q)


def end_stop(now: Transition) -> None:
    """ST-8 (5): the queues are dropped last of all, without another commit."""
    table(now, Path.SHUTDOWN)
    now.by_client(Kind.CLIENT_STOP, now.c)


def save(now: Transition) -> None:
    """DL-4: the broker saves its delivery positions."""
    now.of_broker(Kind.FILE_PERSIST, now.cluster.all_brokers()[0])


def load(now: Transition) -> None:
    """DL-4: the broker reads its delivery positions."""
    now.of_broker(Kind.FILE_LOAD, now.cluster.all_brokers()[0])


def stop_broker(now: Transition) -> None:
    """DL-4: a stop in order, and a start."""
    restarted(now, now.cluster.all_brokers(), in_order=True)


def crash_broker(now: Transition) -> None:
    """DL-7."""
    restarted(now, now.cluster.all_brokers())


def promote(now: Transition) -> None:
    """DL-7: another replica is master from now on."""
    for broker in now.cluster.all_brokers():
        now.of_broker(Kind.ROLE_CHANGE, broker, result="master")


ACTIONS: dict[str, Record] = {
    "die": dies,
    "die_while_writing": dies,
    "restart": restart,
    "lose_file": lose_file,
    "stop": stop,
    "end_stop": end_stop,
    "save": save,
    "load": load,
    "stop_broker": stop_broker,
    "crash_broker": crash_broker,
    "lose_store": crash_broker,
    "lose_power": crash_broker,
    "promote": promote,
}
"""Actions of this file, by name."""
