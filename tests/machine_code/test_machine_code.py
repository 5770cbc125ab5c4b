"""Functions that become machine code: what they take and answer, and that their code is kept."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from rocketproof.checkers.search.loop import index
from rocketproof.machine_code import compiled, compiling
from rocketproof.machine_code.arguments import text_of, words_of
from rocketproof.machine_code.code_cache import FileCodeCache
from rocketproof.machine_code.compiled import entry, heavy, hot, part
from rocketproof.machine_code.functions import Instruction

PAIR = np.dtype([("small", np.uint8), ("large", np.int64)])


class Small(IntEnum):
    TWO = 2


class Tables(NamedTuple):
    grid: Any
    pairs: Any


@hot
def _weight(pairs: Any, at: int) -> Any:
    return pairs[at].large * pairs[at].small


@part
def _grid_sum(grid: Any) -> Any:
    total = 0
    for row in range(grid.shape[0]):
        for column in range(grid.shape[1]):
            total += grid[row, column] * (column + 1)
    return total


def _weigh(tables: Any, given: Any, add: int) -> int:
    total = add + _grid_sum(tables.grid)
    for at in range(len(tables.pairs)):
        total += _weight(tables.pairs, at) - given[at]
        tables.pairs[at].large = -at
    return total


def _typed_swap(typing_context: Any, number: Any) -> Any:
    """The bytes of a number in the other order."""
    from numba import types

    return types.int64(types.int64), lambda context, builder, signature, given: builder.bswap(given[0])


swap: Any = Instruction(_typed_swap)


def _swapped(numbers: Any, masks: Any) -> int:
    total = 0
    for at in range(len(numbers)):
        total += swap(numbers[at])
        if masks is not None:
            total += masks[at]
    return total


def _fill(column: Any, value: int) -> None:
    for at in range(len(column)):
        column[at] = value


def _refuse(number: int) -> int:
    if number > 3:
        raise ValueError("too many")
    return number


def _shout(number: int) -> int:
    print(number)
    return number


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for code that is kept."""
    monkeypatch.setattr(compiled, "_kept", lambda: FileCodeCache(tmp_path))
    monkeypatch.setattr(compiled, "PATIENCE", 0)
    return tmp_path


def tables() -> tuple[Tables, Any]:
    """Some arguments."""
    pairs = np.array([(2, 10), (3, 20), (1, -4)], PAIR)
    given = np.arange(3)
    given.flags.writeable = False
    return Tables(grid=np.arange(6, dtype=np.int32).reshape(3, 2), pairs=pairs), given


def test_arguments_and_answers(kept: Path) -> None:
    some, given = tables()
    assert entry(_weigh)(some, given, 100) == 100 + (2 + 8 + 14) + (20 + 60 - 4) - (0 + 1 + 2)
    assert some.pairs["large"].tolist() == [0, -1, -2]
    column = np.zeros(4, np.int16)
    assert entry(_fill)(column, np.int32(7)) is None
    assert column.tolist() == [7] * 4
    assert entry(_fill)(column[:0], True) is None


def test_code_is_kept_for_each_form(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        entry(_fill)(np.zeros(3, np.int16), 1)
        entry(_fill)(np.zeros(5, np.int64), np.int64(1))
        assert len(list(kept.glob("*.code"))) == 2
        monkeypatch.setattr(compiling, "compile_entry", None)
    with pytest.raises(TypeError):
        entry(_fill)(np.zeros(3, np.int32), 1)


def test_pickled_it_is_a_name_even_if_it_is_loaded() -> None:
    index(np.ones((2, 1), np.uint64), 2, np.zeros(1 << 16, np.uint32), 0, 1)
    assert pickle.loads(pickle.dumps(index)) is index


def test_damaged_code_is_made_again(kept: Path) -> None:
    for _ in range(2):
        column = np.zeros(3, np.int16)
        entry(_fill)(column, 1)
        assert column.tolist() == [1, 1, 1]
        for file in kept.iterdir():
            file.write_bytes(b"\0" * 100)


def test_threads_compile_once(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    compile_entry: Callable[..., tuple[bytes, bytes]] = compiling.compile_entry
    monkeypatch.setattr(compiling, "compile_entry", lambda *given: made.append(1) or compile_entry(*given))
    function, columns = entry(_fill), [np.zeros(100, np.int16) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda column: function(column, 1), columns))
    assert sum(map(np.sum, columns)) == 800
    assert len(made) == 1


@pytest.mark.parametrize(
    "program",
    [
        "from rocketproof.machine_code.pair_table import new_pairs, roomy; roomy(new_pairs(4), 4)",
        "import numpy as np; from rocketproof.checkers.search.loop import index; "
        "index(np.ones((2, 1), np.uint64), 2, np.zeros(1 << 16, np.uint32), 0, 1)",
    ],
    ids=["monitors", "searches"],
)
def test_numba_is_not_imported_for_code_that_was_kept(program: str) -> None:
    program = f"import sys; {program}; print('numba' in sys.modules)"
    told = [subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True) for _ in "ab"]
    assert told[1].stdout == "False\n"


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ([1], "not list"),
        (1.5, "not float"),
        (np.zeros(8)[::2], "without gaps"),
        (np.zeros((4, 4)).T, "without gaps"),
    ],
)
def test_other_arguments_are_refused(argument: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        entry(_fill)(np.zeros(1), argument)


def test_an_instruction_and_arguments_that_may_be_none(kept: Path) -> None:
    numbers = np.array([1 << 56, 2 << 56], np.int64)
    for _ in range(2):  # compiled, then loaded
        assert heavy(_swapped)(numbers, None) == 3
        assert heavy(_swapped)(numbers, np.array([10, 20], np.int64)) == 33
    assert len(list(kept.glob("*.code"))) == 2


def test_words_of_an_enumeration_are_numbers(kept: Path) -> None:
    assert entry(_refuse)(Small.TWO) == 2
    assert words_of([Small.TWO]).signature == words_of([2]).signature


def test_numbers_have_64_bits() -> None:
    with pytest.raises(OverflowError):
        words_of([1 << 63])


def test_forms_tell_apart_what_machine_code_depends_on() -> None:
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    swapped = np.dtype([("large", np.int64), ("small", np.uint8)])
    some = [
        1,
        (1,),
        np.zeros(3),
        np.zeros(3, np.int64),
        np.zeros((3, 3)),
        fixed,
        np.zeros(3, PAIR),
        np.zeros(3, swapped),
        Tables(grid=fixed, pairs=fixed),
        (fixed, fixed),
    ]
    signatures = [words_of([argument]).signature for argument in some]
    assert len(set(signatures)) == len({text_of(signature) for signature in signatures}) == len(some)
    assert words_of([1]).signature == words_of([np.int64(2)]).signature
    assert words_of([1, (2, 3)]).signature != words_of([1, (2,), 3]).signature


def test_a_failure_is_told(kept: Path) -> None:
    assert entry(_refuse)(3) == 3
    with pytest.raises(RuntimeError, match="_refuse"):
        entry(_refuse)(4)


def test_what_only_numba_can_run_is_refused(kept: Path) -> None:
    with pytest.raises(TypeError, match=r"_shout needs .*could not be kept"):
        entry(_shout)(1)
