"""Symmetry reduction: of all states that differ by an exchange of interchangeable elements, one represents all.

The representative is the smallest of the packed states that permutations of the elements give. If there are few
permutations, all are tried. Otherwise the elements of some domains are sorted instead: each element has a record of all
values at its index, and the representative has the records in ascending order. Domains whose elements are sorted must
not index a variable twice, nor together; a sorted state then does not depend on the previous order of the elements.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...machine_code.compiled import heavy, part
from ...model.kernel import Cell, Elements, ModelError
from ...model.kernel.layout import WORD_BITS
from ...model.kernel.native import CodeCache, NativeMachine, compile_moves
from ..search.native_calls import call_with_result
from .equivariance import symmetric_domains

_FEW_PERMUTATIONS = 24
_MOST_PERMUTATIONS = 120


class Records(NamedTuple):
    """Domains whose records are sorted.

    The ``k``-th field of element ``i`` of domain ``d`` has the number ``start[d] + i * fields[d] + k`` in ``word`` and
    ``shift``, and ``key_start[d] + k`` in the other arrays.
    """

    sizes: NDArray[np.int64]
    fields: NDArray[np.int64]
    start: NDArray[np.int64]
    word: NDArray[np.int64]
    shift: NDArray[np.uint64]
    key_start: NDArray[np.int64]
    mask: NDArray[np.uint64]
    key_word: NDArray[np.int64]
    key_shift: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    order: NDArray[np.int64]


class Permutations(NamedTuple):
    """The functions that apply all permutations of the other domains except the identity, and room for two states."""

    addresses: NDArray[np.int64]
    best: NDArray[np.uint64]
    trial: NDArray[np.uint64]


def no_symmetry() -> tuple[Records, Permutations]:
    """Tables with which every state represents itself."""
    sets, row, numbers = np.zeros((0, 0), np.uint64), np.zeros(0, np.uint64), np.zeros(0, np.int64)
    return (
        Records(numbers, numbers, numbers, numbers, row, numbers, row, numbers, row, sets, numbers),
        Permutations(numbers, row, row),
    )


class Symmetry:
    """The representatives of one configuration.

    Attributes:
        domains: the symmetric domains.
        records, permutations: what the search loop uses.
    """

    def __init__(self, native: NativeMachine, *, cache: CodeCache | None = None) -> None:
        """Find out which domains are symmetric, and prepare their exchange.

        Raises:
            ModelError: no domain is symmetric; one is declared to be but is not; there are too many permutations.
        """
        lowered = native.lowered
        self._native = native
        self.domains = symmetric_domains(lowered)
        if not self.domains:
            raise ModelError(
                f"symmetry reduction needs a domain of two or more interchangeable elements that index a variable; "
                f"{lowered.configuration} has none."
            )
        tried, ordered = list(self.domains), list[Elements]()
        for elements in sorted(self.domains, key=lambda item: -item.size):
            if _permutations(tried) > _FEW_PERMUTATIONS and self._can_be_sorted(elements, ordered):
                tried.remove(elements)
                ordered.append(elements)
        optional = [item for item in tried if not item.symmetric]
        while _permutations(tried) > _MOST_PERMUTATIONS and optional and len(tried) + len(ordered) > 1:
            tried.remove(optional.pop())
        if _permutations(tried) > _MOST_PERMUTATIONS:
            names = ", ".join(f"{item.name} ({item.size})" for item in tried)
            raise ModelError(
                f"the symmetric domains {names} have {_permutations(tried):,} permutations, {_MOST_PERMUTATIONS:,} can "
                "be tried; make them smaller, or let none of them index a variable twice or together with another one."
            )
        self.domains = tuple(item for item in self.domains if item in tried or item in ordered)
        self.records = self._make_records(ordered)
        self.permutations = self._make_permutations(tried, cache)

    @property
    def order(self) -> int:
        """Number of permutations: no reduction can be by a greater factor."""
        return _permutations(self.domains)

    @property
    def tried(self) -> int:
        """Number of permutations that are tried for each state."""
        return len(self.permutations.addresses) + 1

    def representative(self, words: Sequence[int]) -> tuple[int, ...]:
        """The representative of a packed state."""
        states = np.array([words], np.uint64)
        represent(self.records, self.permutations, states, 1)
        return tuple(states[0].tolist())

    def _can_be_sorted(self, elements: Elements, ordered: Sequence[Elements]) -> bool:
        names = {elements.name, *(item.name for item in ordered)}
        families = (cell.family for cell in self._native.lowered.cells)
        return all(sum(dim.name in names for dim in family.dims) <= 1 for family in families)

    def _make_records(self, domains: Sequence[Elements]) -> Records:
        places = self._native.layout.places
        word, shift, start, fields = list[int](), list[int](), list[int](), list[int]()
        mask, key_word, key_shift, key_start = list[int](), list[int](), list[int](), list[int]()
        key_words = 1
        for elements in domains:
            start.append(len(word))
            key_start.append(len(mask))
            record: list[int] = []
            for item in range(elements.size):
                record = [number for number in self._cells_at(elements, item) if places[number].width]
                word.extend(places[number].word for number in record)
                shift.extend(places[number].shift for number in record)
            fields.append(len(record))
            used = [0]
            for number in record:
                width = places[number].width
                if used[-1] + width > WORD_BITS:
                    used.append(0)
                mask.append((1 << width) - 1)
                key_word.append(len(used) - 1)
                key_shift.append(used[-1])
                used[-1] += width
            key_words = max(key_words, len(used))
        most = max((item.size for item in domains), default=1)
        return Records(
            sizes=np.array([item.size for item in domains], np.int64),
            fields=np.array(fields, np.int64),
            start=np.array(start, np.int64),
            word=np.array(word, np.int64),
            shift=np.array(shift, np.uint64),
            key_start=np.array(key_start, np.int64),
            mask=np.array(mask, np.uint64),
            key_word=np.array(key_word, np.int64),
            key_shift=np.array(key_shift, np.uint64),
            keys=np.zeros((most, key_words), np.uint64),
            order=np.zeros(most, np.int64),
        )

    def _cells_at(self, elements: Elements, item: int) -> list[int]:
        """Numbers of the cells of one element, those of another element in the same order."""
        return [
            number
            for number, cell in enumerate(self._native.lowered.cells)
            if any(
                dim.name == elements.name and index == item
                for dim, index in zip(cell.family.dims, cell.index, strict=True)
            )
        ]

    def _make_permutations(self, domains: Sequence[Elements], cache: CodeCache | None) -> Permutations:
        cells, places = self._native.lowered.cells, self._native.layout.places
        numbers = {cell.key: number for number, cell in enumerate(cells)}
        words = max(1, self._native.layout.words)
        rearrangements = []
        for choice in itertools.product(*(itertools.permutations(range(item.size)) for item in domains)):
            images = {item.name: permutation for item, permutation in zip(domains, choice, strict=True)}
            moves: dict[tuple[int, int, int], int] = {}
            for number, cell in enumerate(cells):
                place, target = places[number], places[numbers[(cell.family.name, _image(cell, images))]]
                way = (place.word, target.word, target.shift - place.shift)
                moves[way] = moves.get(way, 0) | place.mask
            rearrangements.append([(source, mask, target, left) for (source, target, left), mask in moves.items()])
        compiled = compile_moves(words, rearrangements[1:], cache=cache)  # the first one is the identity
        self._engine = compiled  # owns the code
        return Permutations(
            addresses=np.array(compiled.addresses, np.int64),
            best=np.zeros(words, np.uint64),
            trial=np.zeros(words, np.uint64),
        )


def _permutations(domains: Sequence[Elements]) -> int:
    return math.prod(math.factorial(item.size) for item in domains)


def _image(cell: Cell, images: dict[str, tuple[int, ...]]) -> tuple[int | None, ...]:
    return tuple(
        images[dim.name][index] if index is not None and dim.name in images else index
        for dim, index in zip(cell.family.dims, cell.index, strict=True)
    )


@heavy
def represent(records: Records, permutations: Permutations, states: Any, count: int) -> None:
    """Replace the first ``count`` packed states by their representatives."""
    addresses, best, trial = permutations.addresses, permutations.best, permutations.trial
    sizes, fields, starts, key_starts = records.sizes, records.fields, records.start, records.key_start
    words, shifts, masks = records.word, records.shift, records.mask
    key_words, key_shifts, keys, order = records.key_word, records.key_shift, records.keys, records.order
    width = states.shape[1]
    sorts = len(sizes) > 0
    for number in range(count):
        state = states[number]
        for column in range(width):
            best[column] = state[column]
        if sorts:
            _sort(sizes, fields, starts, key_starts, words, shifts, masks, key_words, key_shifts, keys, order, best)
        for permutation in range(len(addresses)):
            call_with_result(addresses[permutation], state.ctypes.data, trial.ctypes.data)
            if sorts:
                _sort(
                    sizes, fields, starts, key_starts, words, shifts, masks, key_words, key_shifts, keys, order, trial
                )
            if _less(trial, best):
                _copy(trial, best)
        _copy(best, state)


@part
def _copy(source: Any, target: Any) -> None:
    for column in range(len(source)):
        target[column] = source[column]


@part
def _less(one: Any, other: Any) -> bool:
    for column in range(len(one)):
        if one[column] != other[column]:
            return bool(one[column] < other[column])
    return False


@part
def _sort(
    sizes: Any,
    all_fields: Any,
    starts: Any,
    key_starts: Any,
    words: Any,
    shifts: Any,
    masks: Any,
    key_words: Any,
    key_shifts: Any,
    keys: Any,
    order: Any,
    row: Any,
) -> None:
    """Sort the elements of each domain by their records. Arrays are passed one by one: a tuple of them costs time."""
    for domain in range(len(sizes)):
        fields, start, key_start = all_fields[domain], starts[domain], key_starts[domain]
        for item in range(sizes[domain]):
            for column in range(keys.shape[1]):
                keys[item, column] = 0
        moved = False
        for item in range(sizes[domain]):
            place = start + item * fields
            for field in range(fields):
                value = (row[words[place + field]] >> shifts[place + field]) & masks[key_start + field]
                keys[item, key_words[key_start + field]] |= value << key_shifts[key_start + field]
            position = item
            while position > 0 and _less(keys[item], keys[order[position - 1]]):
                order[position] = order[position - 1]
                position -= 1
                moved = True
            order[position] = item
        if moved:
            for item in range(sizes[domain]):
                if order[item] != item:
                    place = start + item * fields
                    for field in range(fields):
                        word, shift, mask = words[place + field], shifts[place + field], masks[key_start + field]
                        value = (
                            keys[order[item], key_words[key_start + field]] >> key_shifts[key_start + field]
                        ) & mask
                        row[word] = (row[word] & ~(mask << shift)) | (value << shift)
