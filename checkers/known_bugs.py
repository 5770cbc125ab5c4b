"""Known bugs: what really went wrong in RocketMQ and its clients, by id, and which of it the model cannot express.

Each id stands for one bug, surprise or misconfiguration from the trackers and histories of RocketMQ, its clients and
ports; its letter gives the topic. How a bug works is described where it is declared: beside the text of the model that
it breaks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

TOPICS: Mapping[str, str] = {
    "A": "assignment",
    "B": "offsets",
    "C": "batches, shutdown, late answers",
    "D": "retries and dead letters",
    "E": "order and locks",
    "F": "progress and flow control",
    "G": "where consumption starts, broadcasting",
    "H": "delayed messages",
}
"""Letter → the topic of these bugs."""

KNOWN_BUGS: Mapping[str, str] = {
    "A1": "clientid-clash",
    "A2": "group-subscribes-different-topics",
    "A3": "group-subscribes-different-tags",
    "A4": "subscription-version-stale",
    "A5": "divergent-rebalance-views",
    "A6": "machine-room-indexes-wrong-list",
    "A7": "unsubscribe-leaves-orphan-queues",
    "A8": "one-topic-error-kills-rebalance",
    "A9": "dropped-queue-never-removed",
    "A10": "pull-interval-above-idle-limit",
    "A11": "member-list-failure-read-as-no-topic",
    "A12": "route-change-not-applied",
    "A13": "read-queues-fewer-than-write-queues",
    "A14": "more-members-than-queues-underflow",
    "B1": "fetch-error-becomes-offset-zero",
    "B2": "too-large-offset-rewinds-to-min",
    "B3": "reset-races-with-commits",
    "B4": "offset-goes-to-any-replica",
    "B5": "old-master-overwrites-offsets",
    "B6": "recreated-topic-keeps-offsets",
    "B7": "commit-ignores-in-flight-batch",
    "B8": "filtered-messages-never-committed",
    "B9": "stale-pull-result-after-reassign",
    "B10": "manual-commit-never-persisted",
    "C1": "ack-index-ignored-on-failure",
    "C2": "sub-batch-failure-returns-whole-pull",
    "C3": "result-of-dropped-queue-half-applied",
    "C4": "shutdown-commits-too-early",
    "C5": "late-pull-response-accepted",
    "D1": "failed-send-back-still-acked",
    "D2": "dead-letter-delayed-by-hours",
    "D3": "orderly-retries-forever-after-max",
    "D4": "pop-retry-level-shift",
    "D5": "dead-letter-loses-origin-id",
    "D6": "fallback-send-back-ignores-delay",
    "D7": "retries-never-reach-listener",
    "D8": "retry-queue-never-pulled",
    "D9": "dead-letter-topic-write-only",
    "D10": "listener-returns-no-status",
    "D11": "send-back-to-name-server",
    "E1": "orderly-suspend-outlives-idle-limit",
    "E2": "lock-renewal-stops",
    "E3": "revoke-while-listener-runs",
    "E4": "revoke-without-unlock",
    "E5": "unlock-sets-locked-flag",
    "E6": "orderly-suspend-loses-message",
    "E7": "wrong-status-enum-in-orderly",
    "E8": "forced-unlock-after-20s",
    "F1": "cache-counters-drift",
    "F2": "clean-up-of-unstarted-messages",
    "F3": "timeout-copy-plus-late-result",
    "F4": "hung-listener-pins-offset",
    "F5": "panic-leaks-worker-slot",
    "F6": "shared-client-closed-early",
    "F7": "callback-bound-to-dead-request",
    "F8": "pop-queue-lock-leaks",
    "F9": "full-window-holds-the-thread",
    "F10": "request-held-beyond-its-time-out",
    "F11": "message-missed-before-hold",
    "G1": "last-offset-skips-new-queues",
    "G2": "last-offset-replays-history",
    "G3": "broadcast-file-corrupt",
    "G4": "broadcast-offset-cannot-be-fixed",
    "G5": "broadcast-failure-dropped",
    "H1": "delay-offset-beyond-queue-end",
    "H2": "delay-offset-not-saved-on-stop",
    "H3": "save-before-load-wipes-delay-offsets",
    "H4": "promoted-replica-uses-old-delay-offsets",
    "H5": "delay-progress-records-batch-start",
    "H6": "timer-gives-up-after-three",
    "H7": "timer-checkpoint-ahead-of-data",
}
"""Id → what goes wrong, in a few words."""

_POP = "pop consumption is not modelled: its retries and locks are at the broker, not at the client"
_TIMER = "the timer wheel is not modelled: only delay levels are, which also carry every retry"

LEFT_OUT: Mapping[str, str] = {
    "D4": _POP,
    "D10": (
        "a listener without a status is a failing one, which the model has anyway; the check of deployments reports it"
    ),
    "F5": "worker threads are not counted in the model: a listener call starts or does not",
    "F8": _POP,
    "H6": _TIMER,
    "H7": _TIMER,
}
"""Id → why there is no mutant for it."""


def known_id(name: str) -> str:
    """The known bug to which a mutant belongs: ``E2`` for ``E2-timestamp``; for any other name, the name itself."""
    found = re.match(r"[A-Z]\d+(?![A-Za-z0-9])", name)
    return found[0] if found else name


def in_order(name: str) -> tuple[str, int, str]:
    """Sort key: by letter, by number, then the variants of one known bug."""
    known = known_id(name)
    letter, number = known[:1], known[1:]
    return (letter, int(number), name[len(known) :]) if number.isdigit() else (name, 0, "")
