"""Files as bytes, decompressed if their first bytes, not their names, show that gzip or zstd compressed them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from ..format.problems import Problems, Trouble

_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
HEAD = 64 * 1024
"""Number of bytes that are read to recognise the form of a file."""

UNPACKED_TIMES = 100
"""How much larger a compressed file may be inside, besides :data:`UNPACKED_AT_LEAST`; traces are 20 times larger."""

UNPACKED_AT_LEAST = 1 << 26

_PIECE = 1 << 20
_LONGEST = 1 << 26


def packing_of(path: Path) -> str | None:
    """``gzip``, ``zstd``, or None for a file that is not compressed."""
    with path.open("rb") as file:
        start = file.read(4)
    return next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)


def head_of(path: Path) -> bytes:
    """The first :data:`HEAD` bytes, decompressed; fewer if the file is shorter or breaks off."""
    head = b""
    for piece in pieces_of(path, Problems(), size=HEAD):
        head += piece
        if len(head) >= HEAD:
            break
    return head[:HEAD]


def order_of(one: Path, other: Path) -> int | None:
    """Compares two files, decompressed: 0 if they are equal, -1 if the first is the beginning of the other, 1 if the
    other is the beginning of the first, None if they differ.
    """
    pieces, others = pieces_of(one, Problems()), pieces_of(other, Problems())
    mine = its = b""
    while True:
        mine, its = mine or next(pieces, b""), its or next(others, b"")
        if not mine or not its:
            return bool(mine) - bool(its)
        length = min(len(mine), len(its))
        if mine[:length] != its[:length]:
            return None
        mine, its = mine[length:], its[length:]


def pieces_of(path: Path, problems: Problems, *, size: int = _PIECE) -> Iterator[bytes]:
    """The bytes of a file in order, decompressed, in pieces of at most ``size``.

    If the compression is damaged or the file breaks off, everything before that place is returned, and the problem is
    reported; so is a compressed file that is far larger inside than traces are.
    """
    packing = packing_of(path)
    most = UNPACKED_AT_LEAST + UNPACKED_TIMES * path.stat().st_size if packing else None
    place = 0
    while True:
        with pa.input_stream(str(path), compression=packing, buffer_size=0 if packing else None) as stream:
            _skip(stream, place)
            try:
                while piece := stream.read(size):
                    place += len(piece)
                    if most is not None and place > most:
                        problems.add(
                            str(path),
                            0,
                            f"{packing}: more than {most:,} bytes in it, {UNPACKED_TIMES} times as many as it has, and "
                            "the rest is left out: unpack it if it is a trace",
                            kind=Trouble.TRUNCATED,
                        )
                        return
                    yield piece
                return
            except OSError as error:
                # The decompressed part of the failing piece is lost with it, so it is read again in smaller pieces.
                if size > 1:
                    size = max(1, size // 1024)
                    continue
                problems.add(str(path), 0, f"{packing}: {error}", kind=Trouble.TRUNCATED)
                return


def _skip(stream: pa.NativeFile, count: int) -> None:
    while count:
        count -= len(stream.read(min(count, _PIECE)))


def blocks_of(path: Path, problems: Problems, *, size: int) -> Iterator[tuple[int, bytes]]:
    """Whole lines in blocks of about ``size`` bytes, each with the number of its first line, from 1.

    Every block ends with a line feed, which is added if the last line of the file lacks it. A line longer than 64 MiB
    is reported and replaced by an empty one.
    """
    line = 1
    rest: list[bytes] = []
    held = 0
    dropping = False
    for piece in pieces_of(path, problems):
        if dropping:
            end = piece.find(b"\n")
            if end < 0:
                continue
            piece, dropping = piece[end:], False
        rest.append(piece)
        held += len(piece)
        if held < size:
            continue
        data = b"".join(rest)
        end = data.rfind(b"\n") + 1
        if end:
            yield line, data[:end]
            line += data.count(b"\n", 0, end)
        data = data[end:]
        if len(data) > _LONGEST:
            problems.add(str(path), line, f"longer than {_LONGEST} bytes; left out")
            data, dropping = b"", True
        rest, held = [data], len(data)
    data = b"".join(rest)
    if data:
        yield line, data if data.endswith(b"\n") else data + b"\n"


def lines_of(path: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """The lines of a text file, compressed or not, each with its number from 1 and without its end.

    Bytes that are not valid UTF-8 are replaced by U+FFFD: logs may be in other encodings, and the parts of them that
    are used are ASCII.
    """
    for first, block in blocks_of(path, problems, size=_PIECE):
        yield from enumerate((line.rstrip("\r") for line in block.decode(errors="replace").split("\n")[:-1]), first)
