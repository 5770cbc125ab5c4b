"""Reading ahead: what an iterator gives next is made in a thread of its own while the last is worked on."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import TypeVar

T = TypeVar("T")

_LOOK = 0.1
"""How often, in seconds, a thread that waits for room looks whether anybody still wants what it makes."""


def read_ahead(items: Iterator[T], *, most: int = 3) -> Iterator[T]:
    """The items of an iterator, up to ``most`` of them made in advance. What goes wrong there is raised here."""
    waiting: queue.Queue[tuple[T | None, BaseException | None]] = queue.Queue(most)
    stopped = threading.Event()

    def put(item: T | None, failure: BaseException | None = None) -> None:
        while not stopped.is_set():
            try:
                waiting.put((item, failure), timeout=_LOOK)
                return
            except queue.Full:
                continue

    def make() -> None:
        try:
            for item in items:
                put(item)
                if stopped.is_set():
                    return
            put(None)
        except BaseException as failure:
            put(None, failure)

    thread = threading.Thread(target=make, daemon=True)
    thread.start()
    try:
        while True:
            item, failure = waiting.get()
            if failure is not None:
                raise failure
            if item is None:
                return
            yield item
    finally:
        stopped.set()
        thread.join()
