"""Actions: which function records which action of the machines, and which actions nobody could record.

Actions are looked up by name. A mutant's action has the name of the action that it replaces, and is recorded in the
same way, from its effect, unless another name is listed here for its text: the processes then see something else.
"""

from __future__ import annotations

from collections.abc import Mapping

from . import faults, listeners, offsets, orderly, pulls, rebalances, retries, windows
from .windows import Record

ACTIONS: Mapping[str, Record] = {
    name: record
    for part in (windows, pulls, listeners, offsets, retries, orderly, faults, rebalances)
    for name, record in part.ACTIONS.items()
}
"""Action, or text of a mutant → the function that records it."""

UNSEEN: Mapping[str, str] = {
    "look": "an observer of the machine looks; it belongs to the proof, not to the system",
    "pause": "a process that stands still writes nothing; its silence is all there is",
    "resume": "a process that goes on does not know that it stood still",
    "hang": "a call that never returns is a call without a result",
    "lose_pull": "a request that nobody sends again leaves no sign but the absence of pulls",
    "copy_offsets": "a slave's copy shows when it serves clients",
    "replicate": "a replica's copy shows when it is promoted",
    "skip": "an unreadable message is skipped without a word; it never arrives",
    "delete_oldest": "deleted messages show as a higher minimum offset in answers to pulls",
    "remove_unowned": "an entry of the in-memory table that is never sent",
    "keep_taken": "a batch that waits for a commit: the result was recorded, and nothing else happens",
    "roll_back": "the result was recorded for all messages that are rolled back",
    "tick": "time passes",
    "allocate_again": "the dropped queue is in the table still, so a pass changes nothing",
    "pull_expires": "the dropped queue is given up once more; it was recorded when it was dropped",
    "lose_notice": "a one-way message that does not arrive",
    "cut_off": "what does not get through leaves no sign but silence",
    "heal": "what gets through again shows by itself",
    "offsets_persisted": "each commit of a stop was recorded; that all are done shows when the client unregisters",
    "end_pass": "the pass was recorded with what it saw and what it changed",
    "expire_lock": "a lock that is not renewed is found free by the next one who asks",
}
"""Action → why nobody could record it. Its effects on tables and offsets are recorded once they show."""
