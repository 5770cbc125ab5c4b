"""A hash table of pairs: what was entered is found, what was removed is not, whatever the order."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from rocketproof.machine_code.compiled import entry, heavy
from rocketproof.machine_code.pair_table import FREE, enter, new_pairs, remove, roomy, value_of


def _work(pairs: Any, ones: Any, others: Any, values: Any, answers: Any) -> None:
    for i in range(len(ones)):
        answers[i] = value_of(pairs, ones[i], others[i])
        if values[i] >= 0:
            enter(pairs, ones[i], others[i], values[i])
        else:
            remove(pairs, ones[i], others[i])


@pytest.mark.parametrize("how", [entry, heavy], ids=["interpreted", "compiled"])
def test_it_does_what_a_dictionary_does(how: Any) -> None:
    work, chance, known, pairs = how(_work), random.Random(1), dict[tuple[int, int], int](), new_pairs(4)
    for _ in range(40):
        steps = []
        for _ in range(50):
            pair = chance.randrange(6), chance.choice((0, 1, 2, 5, 2**62, -3))
            value = chance.randrange(100) if chance.random() < 0.5 else -1
            steps.append((*pair, value, known.get(pair, -1)))
            if value >= 0:
                known[pair] = value
            else:
                known.pop(pair, None)
            pairs = roomy(pairs, len(steps) + len(known))
        ones, others, values, expected = (np.array(column) for column in zip(*steps, strict=True))
        answers = np.zeros(len(steps), np.int64)
        work(pairs, ones, others, values, answers)
        assert answers.tolist() == expected.tolist()
    left = {(int(pair["one"]), int(pair["other"])): int(pair["value"]) for pair in pairs if pair["one"] != FREE}
    assert left == known


def test_it_grows_before_it_is_half_full() -> None:
    assert [len(roomy(new_pairs(8), count)) for count in (0, 3, 4, 7, 8)] == [8, 8, 16, 16, 32]
