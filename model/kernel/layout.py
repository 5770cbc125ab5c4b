"""Packed states: every cell at fixed bits of a fixed number of 64-bit words, none across a word border."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .errors import ModelError
from .lowered import Lowered

WORD_BITS = 64


@dataclass(frozen=True, slots=True)
class Place:
    """Where a cell lives: value − ``low`` in ``width`` bits of ``word`` from bit ``shift`` on."""

    word: int
    shift: int
    width: int
    low: int

    @property
    def mask(self) -> int:
        """The bits of the cell inside its word."""
        return ((1 << self.width) - 1) << self.shift


@dataclass(frozen=True)
class Layout:
    """Places of all cells of a configuration, in cell order."""

    places: tuple[Place, ...]
    words: int

    def pack(self, state: Sequence[int]) -> tuple[int, ...]:
        """Pack a state, one integer for each cell, into words."""
        words = [0] * self.words
        for place, value in zip(self.places, state, strict=True):
            words[place.word] |= (value - place.low) << place.shift
        return tuple(words)

    def unpack(self, words: Sequence[int]) -> tuple[int, ...]:
        """The state that packs to ``words``."""
        return tuple(
            ((int(words[place.word]) >> place.shift) & ((1 << place.width) - 1)) + place.low for place in self.places
        )


def layout(lowered: Lowered) -> Layout:
    """Lay out the cells of a finite configuration: each goes to the first word that has room for it.

    Raises:
        ModelError: the configuration is infinite, or a range takes more than 64 bits.
    """
    lowered.require_finite("packing")
    free: list[int] = [WORD_BITS]
    places = []
    for cell in lowered.cells:
        low, high = cell.family.low, cell.family.high
        assert high is not None
        width = (high - low).bit_length()
        if width > WORD_BITS:
            raise ModelError(f"variable {cell.label} ranges over {low}…{high}, which takes more than {WORD_BITS} bits.")
        word = next((number for number, bits in enumerate(free) if bits >= width), len(free))
        if word == len(free):
            free.append(WORD_BITS)
        places.append(Place(word, WORD_BITS - free[word], width, low))
        free[word] -= width
    return Layout(tuple(places), len(free))
