"""Interpreted functions do what machine code of them does."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from rocketproof.machine_code import compiled, interpreting
from rocketproof.machine_code.arguments import words_of
from rocketproof.machine_code.code_cache import FileCodeCache
from rocketproof.machine_code.compiled import Entry, entry, hot, int64, part
from rocketproof.machine_code.interpreting import interpret
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.samples import Sample, samples, settings_for

ITEM = np.dtype(
    [("flag", np.bool_), ("small", np.uint8), ("middle", np.int32), ("large", np.int64), ("hash", np.uint64)]
)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_WANTED = np.array([True, False, True])
_NEW = np.ones(1, ITEM)


class Things(NamedTuple):
    items: Any
    grid: Any
    counts: Any
    used: Any


@hot
def _hash(key: int) -> Any:
    mixed = np.uint64(key) * _MIX
    return mixed ^ (mixed >> np.uint64(32))


@part
def _next(things: Any) -> Any:
    at = things.used[0]
    things.used[0] += 1
    return things.items[at]


def _fill(things: Any, keys: Any, base: int) -> int:
    for i in range(len(keys)):
        if not _WANTED[i % 3]:
            continue
        item = _next(things)
        item.flag = i > 2
        item.small, item.middle = i, -i
        item.large = keys[i] - base
        item.hash = _hash(keys[i])
        rows = things.grid[i % 2]
        rows[1].large += 1
        things.grid[i % 2, -1].middle += item.middle
        things.counts[1, i % 2] += int64(item.hash & np.uint64(0xFF))
        things.items[-1].large = max(things.items[-1].large, item.large)
    return int64(_hash(base))


def _overflow(things: Any, keys: Any) -> None:
    things.items[0].large = keys[3] - 1
    things.items[1].small = keys[4]


def _begin_anew(things: Any, keys: Any) -> None:
    for i in range(2):
        things.items[i] = _NEW[0]
        things.items[i].large += keys[i]


def _things() -> Things:
    return Things(np.zeros(9, ITEM), np.zeros((2, 3), ITEM), np.zeros((2, 2), np.int64), np.zeros(1, np.int64))


KEYS = np.array([3, -7, 2**62, -(2**63), 300, 2**63 - 5], np.int64)


@pytest.mark.parametrize(("function", "more"), [(_fill, (np.int64(-4),)), (_overflow, ()), (_begin_anew, ())])
def test_everything_is_as_after_machine_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: Any, more: tuple[Any, ...]
) -> None:
    monkeypatch.setattr(compiled, "_kept", lambda: FileCodeCache(tmp_path))
    monkeypatch.setattr(compiled, "PATIENCE", 0)
    made, wanted = _things(), _things()
    called: Any = entry(function)
    assert interpret(Entry(function), (made, KEYS, *more)) == called(wanted, KEYS, *more)
    for one, other in zip(made, wanted, strict=True):
        assert one.tolist() == other.tolist()


def test_what_cannot_be_written_to_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    things = _things()
    things.items.flags.writeable = False
    interpret(Entry(_overflow), (things, KEYS))
    assert not things.items["large"].any()


def test_what_a_record_does_not_have_is_an_error() -> None:
    def wrong(things: Any) -> None:
        things.items[0].other = 1

    with pytest.raises(RuntimeError, match=r"wrong failed: .*other"):
        Entry(wrong)(_things())


def test_much_work_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_kept", lambda: FileCodeCache(tmp_path))
    monkeypatch.setattr(compiled, "SMALL", 10)
    keys, called = np.zeros(20, np.int64), Entry(_sum)
    keys.flags.writeable = False
    asked: list[int] = []
    monkeypatch.setattr(interpreting, "interpret", lambda _function, arguments: asked.append(len(arguments[0])) or 0)
    for count in (10, 11, 10):
        called(keys[:count])
    assert asked == [10]
    assert len(list(tmp_path.iterdir())) == 1


def _sum(keys: Any) -> int:
    total = 0
    for i in range(len(keys)):
        total += keys[i]
    return total


def _found(sample: Sample) -> list[Any]:
    trace = sample.open()
    result = check_locally(trace, settings=settings_for(trace, sample.check))
    return [result.rows.tolist(), result.statuses.tolist(), result.verdicts, result.passed_over]


@pytest.mark.slow
@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.name)
def test_a_sample_is_judged_as_by_machine_code(monkeypatch: pytest.MonkeyPatch, sample: Sample) -> None:
    monkeypatch.setattr(compiled, "PATIENCE", 0)
    wanted = _found(sample)
    monkeypatch.setattr(Entry, "__call__", lambda called, *given: interpret(called, words_of(given).arguments))
    assert _found(sample) == wanted
