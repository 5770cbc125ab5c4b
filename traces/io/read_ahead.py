"""Reading ahead: a separate thread produces the next item of an iterator while the last one is processed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def read_ahead(items: Iterator[T], *, most: int = 3) -> Iterator[T]:
    """The items of an iterator, up to ``most`` of them made in advance. Exceptions from it are raised here."""
    thread = ThreadPoolExecutor(1, thread_name_prefix="read-ahead")
    try:
        waiting = [thread.submit(next, items, None) for _ in range(most)]
        while (item := waiting.pop(0).result()) is not None:
            waiting.append(thread.submit(next, items, None))
            yield item
    finally:
        thread.shutdown(cancel_futures=True)
