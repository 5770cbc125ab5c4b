"""Offsets: commits that clients send, commits that arrive late, and offsets that brokers lose and replicas bring
back.

A commit is recorded when it changes the stored offset, as the broker sees it; a commit that is lost or ignored changes
nothing (OF-5, OF-22).
"""

from __future__ import annotations

from functools import partial

from ...format.kinds import Kind, Path
from .cluster import GROUP
from .step import Transition
from .windows import Record, leaves, sent, stored, table


def held_up(now: Transition) -> None:
    """OF-5: the commit is under way."""
    now.recorder.under_way[now.q] = (now.c, Path.PERIODIC)


def arrives(now: Transition) -> None:
    """OF-20: the broker checks neither who sent it nor when."""
    client, path = now.recorder.under_way.pop(now.q)
    stored(now, client, path)


def persist(now: Transition) -> None:
    """OF-10: a broadcasting client writes its file."""
    now.by_client(Kind.FILE_PERSIST, now.c)
    stored(now, now.c, Path.FILE)


def flush(now: Transition) -> None:
    """OF-23: the broker writes its table to disk."""
    now.of_broker(Kind.FILE_PERSIST, str(now.cluster.place(now.q)["broker"]))


def restarted(now: Transition, brokers: list[str], *, in_order: bool = False) -> None:
    """A broker ends and starts again, with the data on its disk."""
    for broker in brokers:
        now.of_broker(Kind.BROKER_STOP if in_order else Kind.BROKER_CRASH, broker)
        now.of_broker(Kind.BROKER_START, broker)


def restart_brokers(now: Transition, *, in_order: bool = False) -> None:
    """OF-23, OR-1: the table of offsets is that of the last flush, the table of locks empty."""
    restarted(now, now.cluster.all_brokers(), in_order=in_order)


def change_role(word: str) -> Record:
    """OF-23: the table of the other replica counts from now on."""

    def record(now: Transition) -> None:
        for broker in now.cluster.all_brokers():
            now.of_broker(Kind.ROLE_CHANGE, broker, result=word)

    return record


def lose_tail(now: Transition) -> None:
    """G2-4: an unclean restart; the next message at that offset is a different one."""
    restarted(now, [str(now.cluster.place(now.q)["broker"])])
    now.recorder.truncations[now.q, now.after("log_end", now.q)] += 1


def recreate(now: Transition) -> None:
    """G2-5: the topic loses its queues and gets new, empty ones."""
    for queues in ([], [now.cluster.spelled(q) for q in now.cluster.of_topic()]):
        now.recorder.write(Kind.ROUTE, {"topic": now.cluster.place(now.q)["topic"], "queues": queues})
    for m in now.messages:
        now.recorder.truncations[now.q, m] += 1


def produce(now: Transition) -> None:
    """A producer's message is stored."""
    stores(now, now.q, now.before("log_end", now.q))


def stores(now: Transition, q: int, m: int) -> None:
    """The message at ``m`` of ``q`` is stored."""
    now.by_broker(Kind.STORE, q, offset=m, key=now.recorder.key(q, m), attempt=0)


# --- corrections and resets -----------------------------------------------------------------------------------------


def set_target(now: Transition) -> None:
    """[4.9.8] the corrected offset is set and sent, 10 s after the answer."""
    now.by_client(Kind.CORRECT, now.c, now.q, offset=now.after("memory", now.c, now.q))
    stored(now, now.c, Path.CORRECTION)


def end_correction(now: Transition) -> None:
    """PL-23: the corrected offset is sent, the queue removed."""
    now.by_client(Kind.CORRECT, now.c, now.q, offset=_corrected(now))
    leaves(Path.CORRECTION)(now)


def end_correction_late(now: Transition) -> None:
    """OF-8: like :func:`end_correction`, but the offset is still under way when the queue is gone."""
    now.by_client(Kind.CORRECT, now.c, now.q, offset=_corrected(now))
    now.recorder.under_way[now.q] = (now.c, Path.CORRECTION)
    table(now, Path.CORRECTION)


def _corrected(now: Transition) -> int:
    """The offset at the end of a correction: the entry in memory if it was set before, otherwise the target itself."""
    if now.before("target_set", now.c, now.q):
        return now.before("memory", now.c, now.q)
    return now.before("target", now.c, now.q)


def reset_at_broker(now: Transition) -> None:
    """OF-30: the operator's offset is noted, and stored."""
    now.by_broker(Kind.RESET, now.q, group=GROUP, offset=int(now.constants.reset_to))


def order_reset(now: Transition) -> None:
    """OF-31: the broker notifies all clients; it stores nothing itself."""
    for q in now.queues:
        now.by_broker(Kind.RESET, q, group=GROUP, offset=int(now.constants.reset_to))


ACTIONS: dict[str, Record] = {
    "produce": produce,
    "commit": sent(Path.PERIODIC),
    "commit_late": held_up,
    "late_commit_arrives": arrives,
    "persist_at_stop": sent(Path.SHUTDOWN),
    "persist": persist,
    "flush": flush,
    "restart_offsets": restart_brokers,
    "forget_locks": restart_brokers,
    "fail_over": change_role("slave"),
    "return_of_master": change_role("master"),
    "lose_tail": lose_tail,
    "recreate": recreate,
    "set_target": set_target,
    "end_correction": end_correction,
    "end_correction_late": end_correction_late,
    "lose_dropped": leaves(Path.REMOVAL),
    "reset_at_broker": reset_at_broker,
    "order_reset": order_reset,
    "begin_reset": partial(table, path=Path.RESET),  # OF-31: the client drops its windows
    "end_reset": leaves(Path.RESET),
    "update_late": table,
}
"""Actions of this file, by name."""
