"""The carried state in files: large arrays in :mod:`.pieces`, everything else in two compressed files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..encoding.names import Actor, Slot
from ..encoding.plain import plain, restored
from ..encoding.store_counts import Stored
from .carrying import Carried, StartOverError
from .pieces import PIECE, read_pieces, write_pieces

VERSION = 6
"""Version of the stored state."""

_TYPES: Any = {
    "cut": int,
    "files": tuple[str, ...],
    "repeated": int,
    "stores": dict[Slot, Stored],
    "slots": tuple[Slot, ...],
    "actors": tuple[Actor, ...],
    "gone_by": dict[str, str],
    "done": int,
}
"""How the plain parts of the state are read again, see :func:`restored`."""

_SAID, _ARRAYS, _PIECES = "said.json.zst", "arrays.zst", "pieces"


def write_carried(carried: Carried, folder: Path, *, before: Carried | None = None) -> None:
    """Write the state into a folder.

    Args:
        carried: the state.
        folder: an empty folder.
        before: the state from which the run continued, as :func:`read_carried` has returned it, if there is one.

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
                    is_read = before is not None and before.folds[fold].get(name) is whole
                    stored = before.stored if before is not None and is_read else None
                    in_pieces = [array.shape, list(write_pieces(whole, f"{_PIECES}/{fold}.{name}", folder, stored))]
                    whole = np.zeros(0, array.dtype)  # states its type
                np.lib.format.write_array(out, whole, allow_pickle=False)
                folds[-1].append([name, in_pieces])
    said = {
        "version": VERSION,
        "seen": seen,
        "of_seen": list(of_seen),
        "folds": folds,
        "of_context": carried.of_context,
        **{name: plain(getattr(carried, name)) for name in _TYPES},
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
                        array = read_pieces(folder / _PIECES / f"{number}.{name}", array.dtype, *in_pieces)
                    folds[number][name] = array
        return Carried(
            seen=(said["seen"], of_seen),
            folds=folds,
            of_context=said["of_context"],
            stored=folder,
            **{name: restored(kind, said[name]) for name, kind in _TYPES.items()},
        )
    except (OSError, ValueError, KeyError, TypeError, IndexError, StopIteration, pa.ArrowException) as error:
        raise StartOverError(f"{folder} cannot be read: {error}") from None


def _arrays(given: Any) -> Iterator[Any]:
    while True:
        yield np.lib.format.read_array(given, allow_pickle=False)
