"""A hash table of pairs of whole numbers: one implementation for all folds that look something up by two numbers.

It uses open addressing with linear probing. A removed entry leaves no mark, as the pairs behind it move up, so a table
with few entries at any one time stays small.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiled import entry, hot, int64, part

PAIR = np.dtype([("one", np.int64), ("other", np.int64), ("value", np.int64)])
"""A pair and what is known about it; ``one`` is :data:`FREE` if there is none, and otherwise at least 0."""

FREE = -1


def new_pairs(room: int) -> Any:
    """An empty table with at least that many entries; half of them may be in use."""
    pairs = np.empty(1 << (room - 1).bit_length(), PAIR)
    pairs["one"] = FREE
    return pairs


def roomy(pairs: Any, count: int) -> Any:
    """The table, or a larger one with the same pairs, so that another pair can be added to ``count`` of them."""
    if 2 * (count + 1) <= len(pairs):
        return pairs
    larger = new_pairs(max(2 * len(pairs), 2 * (count + 1)))
    _enter(pairs, larger)
    return larger


@hot
def home_of(pairs: Any, one: int, other: int) -> Any:
    """The position of a pair, if nothing else is there."""
    key = np.uint64(one) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(other) * np.uint64(0xC2B2AE3D27D4EB4F)
    return int64((key ^ (key >> np.uint64(29))) & np.uint64(len(pairs) - 1))


@hot
def place_of(pairs: Any, one: int, other: int) -> Any:
    """The position of a pair, or the free position where it would be."""
    at = home_of(pairs, one, other)
    while pairs[at].one != FREE and (pairs[at].one != one or pairs[at].other != other):
        at = (at + 1) & (len(pairs) - 1)
    return at


@hot
def value_of(pairs: Any, one: int, other: int) -> Any:
    """The value of a pair, which is never below 0; -1 if the pair is not there."""
    at = place_of(pairs, one, other)
    return int64(pairs[at].value) if pairs[at].one != FREE else int64(-1)


@hot
def enter(pairs: Any, one: int, other: int, value: int) -> None:
    """Give a pair, new or known, a value."""
    pair = pairs[place_of(pairs, one, other)]
    pair.one, pair.other, pair.value = one, other, value


@part
def remove(pairs: Any, one: int, other: int) -> None:
    """Remove a pair."""
    mask = len(pairs) - 1
    hole = place_of(pairs, one, other)
    at = hole
    while pairs[at].one != FREE:
        at = (at + 1) & mask
        pair = pairs[at]
        # It may move up to the hole unless the hole is before its home.
        if pair.one != FREE and (at - home_of(pairs, pair.one, pair.other)) & mask >= (at - hole) & mask:
            empty = pairs[hole]
            empty.one, empty.other, empty.value = pair.one, pair.other, pair.value
            hole = at
    pairs[hole].one = FREE


@entry
def _enter(pairs: Any, larger: Any) -> None:
    for at in range(len(pairs)):
        if pairs[at].one != FREE:
            enter(larger, pairs[at].one, pairs[at].other, pairs[at].value)
