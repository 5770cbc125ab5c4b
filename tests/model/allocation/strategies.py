"""Hypothesis strategies for what clients allocate: queues, client ids, rooms and ring places."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from rocketproof.model.allocation import MessageQueue, sorted_ids

# Beyond plain names: the "@" that MACHINE_ROOM splits at, and signs that Java and Python sort differently.
_SIGNS = st.sampled_from("abcXYZ0189-_.@%é\uff21\U0001f600")


def names(*, max_size: int = 12) -> st.SearchStrategy[str]:
    """Names of topics, brokers and clients, not empty."""
    return st.text(_SIGNS, min_size=1, max_size=max_size)


def queue_lists(*, max_queues: int = 64, max_brokers: int = 3) -> st.SearchStrategy[list[MessageQueue]]:
    """The queues of one topic as clients pass them to a strategy: distinct, sorted, at least one."""
    return st.builds(
        lambda topic, brokers, numbers: sorted(
            {MessageQueue(topic, brokers[broker % len(brokers)], number) for broker, number in numbers}
        ),
        names(),
        st.lists(names(), min_size=1, max_size=max_brokers, unique=True),
        st.lists(
            st.tuples(st.integers(0, max_brokers - 1), st.integers(0, 31)), min_size=1, max_size=max_queues, unique=True
        ),
    )


def id_lists(*, max_clients: int = 40) -> st.SearchStrategy[list[str]]:
    """The client ids of a group as clients pass them to a strategy: distinct, sorted, at least one."""
    return st.lists(names(), min_size=1, max_size=max_clients, unique=True).map(sorted_ids)


def crowded_hashes(*, places: int = 11) -> st.SearchStrategy[Callable[[str], int]]:
    """Hash functions with so few values that equal hashes are common; each is a function of the key's signs."""
    return st.integers(1, 2**31 - 1).map(
        lambda salt: lambda key: sum((place + 1) * ord(sign) * salt for place, sign in enumerate(key)) % places
    )
