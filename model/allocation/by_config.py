"""CONFIG: every client takes the list it is configured with, whatever the group looks like (RB-23)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..kernel import BoolLike, rule
from .message_queue import MessageQueue


@rule
def config_takes(listed: BoolLike, offered: BoolLike) -> BoolLike:
    """Whether a client takes a queue: if it is in its list, even if it is not among the ``offered`` queues."""
    return listed


@dataclass(frozen=True)
class ByConfig:
    """``AllocateMessageQueueByConfig``; the input is not checked, and the topic does not matter.

    Attributes:
        listed: the queues of this client. None stands for Java's null, which a client reads as "no queue": it drops
            all it has.
    """

    listed: tuple[MessageQueue, ...] | None
    name: str = "CONFIG"

    def allocate(self, own_id: str, queues: Sequence[MessageQueue], ids: Sequence[str]) -> list[MessageQueue]:
        """The configured list (RB-23)."""
        return [queue for queue in self.listed or () if config_takes(True, queue in queues)]
