"""What random walks show about dependence: steps that were seen to disturb each other, or to make a condition true.

This saves the solver questions whose answer is a state that a walk passes anyway.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...machine_code.compiled import heavy, part
from ...model.kernel.native import NativeMachine, NativeTruths
from ..search.native_calls import call_successors, call_with_result

_STEPS = 3000
_LONGEST_WALK = 60


def observe(native: NativeMachine, truths: NativeTruths, atoms: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Walk, always on the same paths; returns ``(disturbed, enabled)``.

    ``disturbed[t, u]``: both could happen in some state, but not in either order with the same result. ``enabled[a,
    t]``: condition ``a`` was false before ``t``, and true after it.
    """
    instances = len(native.lowered.instances)
    words = max(1, native.layout.words)
    disturbed = np.zeros((instances, instances), np.bool_)
    enabled = np.zeros((atoms, instances), np.bool_)
    start = np.array(native.layout.pack(native.lowered.initial_state()) or (0,), np.uint64)
    room = (instances + 1) * max(1, instances)
    _walk(
        native.successors,
        truths.address,
        start,
        start.copy(),
        np.empty((room, words), np.uint64),
        np.empty(room, np.int64),
        np.zeros((2, max(1, truths.words)), np.uint64),
        np.zeros(instances, np.int64),
        disturbed,
        enabled,
        _STEPS,
    )
    return disturbed, enabled


@heavy
def _walk(
    successors: int,
    truths: int,
    start: Any,
    state: Any,
    out: Any,
    tags: Any,
    bits: Any,
    counts: Any,
    disturbed: Any,
    enabled: Any,
    steps: int,
) -> None:
    width = out.shape[1]
    row_bytes = width * 8
    fan = len(disturbed)
    random = np.uint64(0x9E3779B97F4A7C15)
    length = 0
    for _ in range(steps):
        number = call_successors(successors, state.ctypes.data, out.ctypes.data, tags.ctypes.data)
        if number <= 0 or length == _LONGEST_WALK:
            if length == 0:
                return
            for column in range(width):
                state[column] = start[column]
            length = 0
            continue
        call_with_result(truths, state.ctypes.data, bits.ctypes.data)
        for item in range(number):
            call_with_result(truths, out.ctypes.data + item * row_bytes, bits[1].ctypes.data)
            for atom in range(len(enabled)):
                word, shift = atom >> 6, np.uint64(atom & 63)
                if ((~bits[0, word] & bits[1, word]) >> shift) & np.uint64(1):
                    enabled[atom, tags[item]] = True
            place = (item + 1) * fan
            counts[item] = call_successors(
                successors,
                out.ctypes.data + item * row_bytes,
                out.ctypes.data + place * row_bytes,
                tags.ctypes.data + place * 8,
            )
        for first in range(number):
            for second in range(first):
                if counts[first] >= 0 and counts[second] >= 0 and not _same(out, tags, counts, fan, first, second):
                    disturbed[tags[first], tags[second]] = True
                    disturbed[tags[second], tags[first]] = True
        random ^= random << np.uint64(13)
        random ^= random >> np.uint64(7)
        random ^= random << np.uint64(17)
        chosen = np.intp(random % np.uint64(number))
        for column in range(width):
            state[column] = out[chosen, column]
        length += 1


@part
def _same(out: Any, tags: Any, counts: Any, fan: int, first: int, second: int) -> bool:
    """Whether ``second`` after ``first`` and ``first`` after ``second`` are possible and lead to the same state."""
    one = _find(tags, (first + 1) * fan, counts[first], tags[second])
    other = _find(tags, (second + 1) * fan, counts[second], tags[first])
    if one < 0 or other < 0:
        return False
    same = True
    for column in range(out.shape[1]):
        same = same and out[one, column] == out[other, column]
    return same


@part
def _find(tags: Any, start: int, count: int, wanted: int) -> int:
    for item in range(start, start + count):
        if tags[item] == wanted:
            return item
    return -1
