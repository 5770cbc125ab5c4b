"""Of a carried state, only pieces that changed are written, and it is read as it was written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rocketproof.traces.encoding.names import Actor, Slot
from rocketproof.traces.engine.carried_files import PIECE, read_carried, write_carried
from rocketproof.traces.engine.carrying import Carried, StartOverError
from rocketproof.traces.engine.scanning import Scanning

_MESSAGE = np.dtype([("key", np.int64), ("flags", np.int32, (2,))])


def state(messages: Any) -> Carried:
    """A state whose only fold knows these messages, in room for three pieces and a half."""
    room = np.zeros(7 * PIECE // 2 // _MESSAGE.itemsize, _MESSAGE)
    room["key"][: len(messages)] = messages
    return Carried(
        cut=1_000,
        files=("a", "b"),
        seen=Scanning().carried(),
        slots=(Slot("g", "t", "b", 0),),
        actors=(Actor("c", 1),),
        folds=[{"messages": room, "used": np.array([len(messages)])}],
    )


def written(folder: Path, carried: Carried, before: Path | None = None) -> dict[str, int]:
    """Write a state; for each piece, how many names its file has."""
    folder.mkdir()
    write_carried(carried, folder, before=before)
    return {path.name: os.stat(path).st_nlink for path in sorted((folder / "pieces").iterdir())}


def test_only_pieces_that_changed_are_written(tmp_path: Path) -> None:
    in_a_piece = PIECE // _MESSAGE.itemsize
    known = np.arange(1, in_a_piece + 11)
    assert written(tmp_path / "first", state(known)) == {"0.messages.0": 1, "0.messages.1": 1}
    more = np.arange(1, in_a_piece + 21)
    assert written(tmp_path / "second", state(more), tmp_path / "first") == {"0.messages.0": 2, "0.messages.1": 1}
    other = more.copy()
    other[0] = 7
    assert written(tmp_path / "third", state(other), tmp_path / "second") == {"0.messages.0": 1, "0.messages.1": 2}
    for name, expected in (("first", known), ("second", more), ("third", other)):
        read = read_carried(tmp_path / name)
        assert (read.cut, read.files, read.slots, read.actors) == (1_000, ("a", "b"), state([]).slots, (Actor("c", 1),))
        assert read.stored == tmp_path / name
        (fold,) = read.folds
        assert fold["used"].tolist() == [len(expected)]
        assert (fold["messages"] == state(expected).folds[0]["messages"]).all()
        fold["messages"]["key"][0] = 99  # a fold changes its arrays, and no file
    assert read_carried(tmp_path / "first").folds[0]["messages"]["key"][0] == 1


@pytest.mark.parametrize("content", [None, b"", b"\1" * (PIECE + 1)])
def test_a_damaged_piece_is_noticed(tmp_path: Path, content: bytes | None) -> None:
    written(tmp_path / "state", state(np.arange(1, 11)))
    piece = tmp_path / "state/pieces/0.messages.0"
    if content is None:
        piece.unlink()
    else:
        piece.write_bytes(content)
    with pytest.raises(StartOverError, match="state cannot be read"):
        read_carried(tmp_path / "state")
