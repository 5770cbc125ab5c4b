"""Small files of every form that can be read, and what damages them; each damage follows from a seed."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rocketproof.traces.format.schema import ARROW, HEADER_KEY
from rocketproof.traces.io.events import batch_of
from rocketproof.traces.samples import FOLDER

FILES = ("broker.log", "client.log", "consumerOffset.json", "history.txt", "listener.log", "message-trace.log")
"""One small file of each form that is imported, beside this one."""

SAMPLES = ("failures-to-dead-letter-5.3.3", "scale-out-and-in-5.3.3", "orderly-hand-over-5.3.3", "broadcast-5.3.3")
"""Samples of real runs from which small traces are taken."""

EACH = 3
"""Events of each kind in a small trace."""

EVIL: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**31, -(2**31), 2**63 - 1, 2**63, -(2**63), 10**30, 1.5, float("nan"), float("inf"),
    "", " ", "\x1b[31m\u202e\n::error::x", "\ud800",
    "::error::", "##[error]", "<script>", "%s{0}\\", "é" * 300, "x" * 70_000,
    [], {}, [[]], [""], ["b:0", "b:0"], ["b:-1", ":", "b:99999999999999999999"], {"a": {"b": []}}, "b:0", "t=*@1",
    "t=a||b@9" * 40,
)  # fmt: skip
"""Values that no recorder writes where it does not have to."""


@cache
def bases() -> dict[str, bytes]:
    """The undamaged files, by name; small traces are JSONL here, whatever they are packed as."""
    folder = Path(__file__).parent
    found = {name: (folder / name).read_bytes() for name in FILES}
    return found | {f"{name}.jsonl": _small(FOLDER / f"{name}.jsonl.zst") for name in SAMPLES}


def _small(path: Path) -> bytes:
    with pa.input_stream(str(path)) as stream:
        header, *lines = stream.read().splitlines()
    seen: Counter[str] = Counter()
    kept = []
    for line in lines:
        kind = json.loads(line)["kind"]
        seen[kind] += 1
        if seen[kind] <= EACH:
            kept.append(line)
    return b"\n".join([header, *kept]) + b"\n"


def damaged(seed: int) -> tuple[str, bytes]:
    """The name and the content of the input of a seed."""
    chance = random.Random(seed)
    name = chance.choice(sorted(bases()))
    data = bases()[name]
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        data = chance.choice(_DAMAGES)(data, chance)
    packing = chance.choice(("", "", "", ".gz", ".zst", ".parquet" if name.endswith(".jsonl") else ""))
    if not packing:
        return name, data
    name = name.removesuffix(".jsonl") + packing if packing == ".parquet" else name + packing
    data = _packed(data, packing)
    return name, chance.choice((_flip, _cut, _piece))(data, chance) if chance.random() < 0.5 else data


def _packed(data: bytes, packing: str) -> bytes:
    if packing == ".gz":
        return gzip.compress(data, mtime=0)
    if packing == ".zst":
        return bytes(pa.Codec("zstd").compress(data, asbytes=True))
    header, *lines = data.splitlines() or [b"{}"]
    events = []
    for line in lines:
        try:
            event = json.loads(line)
            events.append({name: event.get(name) for name in ARROW.names})
            batch_of(events[-1:])
        except (ValueError, TypeError, AttributeError, OverflowError, pa.ArrowException):
            del events[len(events) - 1 :]
    table = pa.Table.from_batches([batch_of(events)], ARROW)
    to = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({HEADER_KEY: header}), to)
    return to.getvalue()


def _flip(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 3, 20))):
        if changed:
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _cut(data: bytes, chance: random.Random) -> bytes:
    first, last = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return data[:last] if chance.random() < 0.5 else data[:first] + data[last:]


def _piece(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    pieces = (
        b"\0", b"\n", b"\x01", b"\x02", b"\xff\xfe", b'"', b"{", b"[" * 2000, b"9" * 5000, b"null", b"-1", b"\x1b[2J",
        b"\n::error::x\n", b" " * 1000, b"(" * 500, chance.randbytes(8),
    )  # fmt: skip
    return data[:at] + chance.choice(pieces) + data[at:]


def _lines(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    at, to = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines[at:at] = [lines[to]] * chance.choice((1, 2, 50))
        case 2:
            lines[at], lines[to] = lines[to], lines[at]
        case 3:
            lines = lines[: at + 1]
        case _:
            lines[at] = lines[at][: chance.randrange(len(lines[at]) + 1)]
    return b"\n".join(lines)


def _value(data: bytes, chance: random.Random) -> bytes:
    """Another value somewhere in the JSON of a line, as often in the header as in all events."""
    lines = data.split(b"\n")
    at = 0 if chance.random() < 0.4 else chance.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except ValueError:
        return _word(data, chance)
    lines[at] = json.dumps(_changed(value, chance)).encode()
    return b"\n".join(lines)


def _changed(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict) and value and chance.random() < 0.9:
        name = chance.choice(sorted(value))
        if chance.random() < 0.1:
            return {**{each: value[each] for each in value if each != name}, str(chance.choice(EVIL)): value[name]}
        return {**value, name: _changed(value[name], chance)}
    if isinstance(value, list) and value and chance.random() < 0.7:
        at = chance.randrange(len(value))
        return [*value[:at], _changed(value[at], chance), *value[at + 1 :]]
    if isinstance(value, int) and chance.random() < 0.4:
        return value + chance.choice((-1, 1, -1000, 10**6, 10**12))
    return chance.choice(EVIL)


def _word(data: bytes, chance: random.Random) -> bytes:
    """Another number or word in a log."""
    words = data.split(b" ")
    at = chance.randrange(len(words))
    words[at] = chance.choice((str(chance.choice(EVIL)).encode(errors="replace"), chance.choice(words)))
    return b" ".join(words)


_DAMAGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (_flip, _cut, _piece, _lines, _value, _value, _word)
