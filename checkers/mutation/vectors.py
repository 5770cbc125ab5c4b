"""Terms computed for many states at once, as numpy arrays: one column per cell, without compilation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...model.kernel.layout import Layout
from ...model.kernel.program import Op, Program


class Vectors:
    """Values of the nodes of a program in some packed states; each is computed when it is first asked for."""

    def __init__(self, program: Program, layout: Layout, words: Any) -> None:
        self._program = program
        self._layout = layout
        self._words = words
        self._values: dict[int, Any] = {}

    def value(self, root: int) -> Any:
        """An array, or a plain number if the value is the same in every state."""
        if root not in self._values:
            for number in self._program.needed([root]):
                if number not in self._values:
                    self._values[number] = self._compute(number)
        return self._values[root]

    def truth(self, root: int) -> Any:
        """The value as an array of truth values."""
        return np.broadcast_to(np.asarray(self.value(root), np.bool_), len(self._words))

    def _compute(self, number: int) -> Any:
        node = self._program.nodes[number]
        args = [self._values[arg] for arg in node.args]
        match node.op:
            case Op.CONST:
                return bool(node.value) if node.is_bool else node.value
            case Op.CELL:
                place = self._layout.places[node.value]
                bits = (self._words[:, place.word] >> np.uint64(place.shift)) & np.uint64((1 << place.width) - 1)
                return bits.astype(np.bool_) if node.is_bool else bits.astype(np.int64) + place.low
            case Op.NOT:
                return np.logical_not(args[0])
            case Op.ITE:
                return np.where(args[0], args[1], args[2])
            case Op.DIV | Op.MOD:
                positive = np.asarray(args[1]) > 0
                divisor = np.where(positive, args[1], 1)
                result = args[0] // divisor if node.op is Op.DIV else args[0] % divisor
                return np.where(positive, result, 0)
            case _:
                result = args[0]
                for other in args[1:]:
                    result = _JOIN[node.op](result, other)
                return result


_JOIN: dict[Op, Callable[[Any, Any], Any]] = {
    Op.ADD: np.add,
    Op.MUL: np.multiply,
    Op.AND: np.logical_and,
    Op.OR: np.logical_or,
    Op.LE: np.less_equal,
    Op.EQ: np.equal,
}
