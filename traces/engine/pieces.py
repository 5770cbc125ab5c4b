"""Large arrays in files, of which only what is needed is read, and only what has changed is written.

Most of a carried state is what is known about single messages, in arrays that grow at their end; an hour concerns few
of the earlier ones. Such an array is stored in pieces of a fixed size. To read it is to map its files into memory: a
part is read when it is first looked at, and what changes stays in memory. Linux tells which parts have changed;
elsewhere, all are written. A piece without changes becomes a further link to its file, unread. A piece that is not in
use yet, and is therefore zero, has no file.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

PIECE = 1 << 20
"""Bytes of a piece. Smaller arrays are stored together."""

_map = ctypes.CDLL(None, use_errno=True).mmap
_map.restype = ctypes.c_void_p
_map.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_FIXED = 0x10
"""MAP_FIXED, which Python does not name."""


def read_pieces(name: Path, dtype: Any, shape: Sequence[int], numbers: Sequence[int]) -> Any:
    """An array of this shape; only the parts of its pieces that are looked at use memory.

    Args:
        name: its files, without their numbers.
        dtype: type of its values.
        shape: its shape.
        numbers: the pieces that have a file.

    Raises:
        OSError: a file cannot be opened.
        ValueError: a file has another size.
    """
    room = mmap.mmap(-1, math.prod(shape) * dtype.itemsize, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    content = np.frombuffer(room, np.uint8)
    for number in numbers:
        part = content[number * PIECE : (number + 1) * PIECE]
        with Path(f"{name}.{number}").open("rb") as file:
            if os.fstat(file.fileno()).st_size != len(part):
                raise ValueError(f"{name.name}.{number} is incomplete")
            how = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | _FIXED
            if _map(part.ctypes.data, len(part), *how, file.fileno(), 0) != part.ctypes.data:
                raise OSError(ctypes.get_errno(), f"{name.name}.{number} cannot be mapped")
    return np.frombuffer(room, dtype).reshape(shape)


def write_pieces(array: Any, file: str, folder: Path, before: Path | None) -> Iterator[int]:
    """Write the pieces of an array that are not zero, and yield their numbers.

    Args:
        array: the array.
        file: its files in the folder, without their numbers.
        folder: where to write.
        before: the folder from which the array was read, before it changed; None: it is another one.

    Raises:
        OSError: a file cannot be written.
    """
    content = array.reshape(-1).view(np.uint8)
    kept = set() if before is None else _unchanged(content)
    for number, start in enumerate(range(0, len(content), PIECE)):
        name, piece = f"{file}.{number}", content[start : start + PIECE]
        if before is not None and number in kept:
            if not (before / name).exists():
                continue
            try:
                os.link(before / name, folder / name)
            except OSError:  # not every file system has links
                (folder / name).write_bytes(piece)
        elif piece.any():
            (folder / name).write_bytes(piece)
        else:
            continue
        yield number


def _unchanged(content: Any) -> set[int]:
    """The pieces of an array of bytes that are as in the files from which it was read; none if nobody tells.

    Of each page of memory, bits 62 and 63 say whether it is in use, and bit 61 whether it is as in a file.
    """
    first, size = content.ctypes.data // mmap.PAGESIZE, -(-len(content) // mmap.PAGESIZE)
    try:
        with Path("/proc/self/pagemap").open("rb", buffering=0) as file:
            file.seek(8 * first)
            pages = np.frombuffer(file.read(8 * size), np.uint64)
    except OSError:
        pages = np.full(size, 1 << 63, np.uint64)
    changed = np.flatnonzero((pages >> np.uint64(62) != 0) & (pages >> np.uint64(61) & np.uint64(1) == 0))
    return set(range(-(-len(content) // PIECE))) - set((changed * mmap.PAGESIZE // PIECE).tolist())
