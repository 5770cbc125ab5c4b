"""The consumption machine: everything a push consumer and its broker do from storing to acknowledging a message."""

from __future__ import annotations

from .any_assignment import any_assignment
from .broadcasting import broadcast
from .concurrently import concurrently
from .consume_queue import consume_queue
from .correction import correction
from .faults import faults
from .filtering import filtering
from .first_query import first_query
from .history import history
from .hung_listener import hung_listener
from .kernel import Machine
from .late_update import late_update
from .lost_log import lost_log
from .lost_memory import lost_memory
from .offsets import offsets
from .orderly import orderly
from .orderly_ownership import orderly_ownership
from .process_queue import process_queue
from .pull import pull_loop
from .pull_expiry import pull_expiry
from .replicas import replicas
from .reset import reset
from .retry_copy import retry_copy
from .schedule import schedule
from .send_back import send_back
from .shutdown import shutdown
from .start_position import start_position

consumption = Machine(
    "consumption",
    doc="What becomes of a message between the broker's log and its acknowledgement: ownership, pull, windows, "
    "listeners, offsets, and the faults that may happen to each.",
).include(consume_queue, any_assignment, faults, shutdown, history, process_queue, pull_loop, concurrently, offsets)
consumption.include(retry_copy, send_back, schedule)
consumption.include(start_position, first_query, lost_log, pull_expiry, correction, reset, replicas)
consumption.include(late_update, hung_listener, lost_memory)
consumption.include(broadcast, filtering, orderly, orderly_ownership)
consumption.remember(
    *("holder", "holder_age", "locked", "lock_age", "unlocking", "dropped", "wanted", "result", "suspended"),
    "call_age",
    when=lambda k: k.watch_steps == 1,
)
consumption.remember(
    *("life", "owns", "stage", "orphan", "handled"), when=lambda k: k.watch_steps == 1 or k.watch_changes == 1
)
consumption.remember(
    *("next_offset", "memory", "asked", "stale", "stale_empty", "carried", "put_end"),
    *("committed", "late", "reset_noted", "resetting", "zombie", "target", "target_set", "unknown"),
    *("unannounced", "newest", "group_edition", "failed_send_backs", "overdue", "paused", "persisted"),
    *("on_disk", "other", "failed_over", "file", "file_is", "copy", "copy_is"),
    *("held_update", "hung", "ghost", "cause"),
    *("place", "ripe", "level", "times", "dead", "root", "log_end"),
    *("position", "progress", "saved", "replicated", "loading"),
    when=lambda k: k.watch_changes == 1,
)
