"""The carried state in files: large arrays in pieces, of which only those that changed are written again.

Most of the state is what is known about single messages, in arrays that grow at their end; what was known before rarely
changes. Such an array is stored in pieces of a fixed size. A piece that is the same as in the state from which a run
continued becomes a further link to its file, and a piece that is not in use yet, and is therefore zero, has no file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..encoding.names import Actor, Slot
from ..encoding.store_counts import StoreCounts, Stored
from .carrying import Carried, StartOverError

VERSION = 5
"""Version of the stored state."""

PIECE = 1 << 20
"""Bytes of a piece. Smaller arrays are stored together."""

_SAID, _ARRAYS, _PIECES = "said.json.zst", "arrays.zst", "pieces"


def write_carried(carried: Carried, folder: Path, *, before: Path | None = None) -> None:
    """Write the state into a folder.

    Args:
        carried: the state.
        folder: an empty folder.
        before: the folder of the state from which the run continued, if there is one.

    Raises:
        OSError: it cannot be written.
    """
    seen, of_seen = carried.seen
    folds: list[list[Any]] = []
    (folder / _PIECES).mkdir()
    with pa.CompressedOutputStream(str(folder / _ARRAYS), "zstd") as out:
        for array in of_seen.values():
            np.lib.format.write_array(out, np.ascontiguousarray(array), allow_pickle=False)
        for fold, known in enumerate(carried.folds):
            folds.append([])
            for name, array in known.items():
                whole, in_pieces = np.ascontiguousarray(array), None
                if array.nbytes > PIECE:
                    file = f"{_PIECES}/{fold}.{name}"
                    in_pieces = [array.shape, list(_write_pieces(whole, file, folder, before))]
                    whole = np.zeros(0, array.dtype)  # states its type
                np.lib.format.write_array(out, whole, allow_pickle=False)
                folds[-1].append([name, in_pieces])
    said = {
        "version": VERSION,
        "cut": carried.cut,
        "files": list(carried.files),
        "seen": seen,
        "of_seen": list(of_seen),
        "repeated": carried.repeated,
        "stores": [[*_of_slot(slot), *stored] for slot, stored in carried.stores.items()],
        "slots": [_of_slot(slot) for slot in carried.slots],
        "actors": [[actor.name, actor.incarnation] for actor in carried.actors],
        "gone_by": dict(carried.gone_by),
        "folds": folds,
        "done": carried.done,
        "of_context": carried.of_context,
    }
    with pa.CompressedOutputStream(str(folder / _SAID), "zstd") as out:
        out.write(json.dumps(said).encode())


def read_carried(folder: Path) -> Carried:
    """The state that :func:`write_carried` has written.

    Raises:
        StartOverError: another version has written it, or it is damaged.
    """
    try:
        with pa.CompressedInputStream(str(folder / _SAID), "zstd") as given:
            said = json.loads(given.read())
        if said["version"] != VERSION:
            raise StartOverError("another version of the kit has kept it")
        with pa.CompressedInputStream(str(folder / _ARRAYS), "zstd") as given:
            arrays = _arrays(given)
            of_seen = {name: next(arrays) for name in said["of_seen"]}
            folds = [dict[str, Any]() for _ in said["folds"]]
            for number, fold in enumerate(said["folds"]):
                for name, in_pieces in fold:
                    array = next(arrays)
                    if in_pieces is not None:
                        array = _read_pieces(folder / _PIECES / f"{number}.{name}", array.dtype, *in_pieces)
                    folds[number][name] = array
        stores = StoreCounts()
        for stored in said["stores"]:
            stores.add(Slot(*stored[: -len(Stored._fields)]), Stored(*stored[-len(Stored._fields) :]))
        return Carried(
            cut=said["cut"],
            files=tuple(said["files"]),
            seen=(said["seen"], of_seen),
            repeated=said["repeated"],
            stores=stores,
            slots=tuple(Slot(*slot) for slot in said["slots"]),
            actors=tuple(Actor(*actor) for actor in said["actors"]),
            gone_by=said["gone_by"],
            folds=folds,
            done=said["done"],
            of_context=said["of_context"],
            stored=folder,
        )
    except (OSError, ValueError, KeyError, TypeError, IndexError, StopIteration, pa.ArrowException) as error:
        raise StartOverError(f"{folder} cannot be read: {error}") from None


def _of_slot(slot: Slot) -> list[str | int]:
    return [slot.group, slot.topic, slot.broker, slot.queue, slot.client, slot.member]


def _arrays(given: Any) -> Iterator[Any]:
    while True:
        yield np.lib.format.read_array(given, allow_pickle=False)


def _write_pieces(array: Any, name: str, folder: Path, before: Path | None) -> Iterator[int]:
    """Write the pieces of an array that are not zero, and yield their numbers."""
    content = array.reshape(-1).view(np.uint8)
    for number, start in enumerate(range(0, len(content), PIECE)):
        piece, file = content[start : start + PIECE].tobytes(), f"{name}.{number}"
        if piece == bytes(len(piece)):
            continue
        if before is None or not _linked(piece, before / file, folder / file):
            (folder / file).write_bytes(piece)
        yield number


def _linked(piece: bytes, earlier: Path, file: Path) -> bool:
    """Whether an earlier file has this content; if so, it gets a further name."""
    try:
        if earlier.read_bytes() != piece:
            return False
        os.link(earlier, file)
    except OSError:
        return False  # there is no such file, or the file system has no links
    return True


def _read_pieces(name: Path, dtype: Any, shape: Sequence[int], numbers: Sequence[int]) -> Any:
    """An array of this shape; only the pages of its pieces use memory."""
    array = np.zeros(shape, dtype)
    content: Any = array.reshape(-1).view(np.uint8)
    for number in numbers:
        room = content[number * PIECE : (number + 1) * PIECE]
        with Path(f"{name}.{number}").open("rb", buffering=0) as file:
            if os.fstat(file.fileno()).st_size != len(room) or file.readinto(room) != len(room):
                raise ValueError(f"{name.name}.{number} is incomplete")
    return array
