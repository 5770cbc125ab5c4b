"""Of a carried state, only pieces that changed are written, and it is read as it was written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rocketproof.traces.encoding.names import Actor, Slot
from rocketproof.traces.engine import pieces
from rocketproof.traces.engine.carried_files import read_carried, write_carried
from rocketproof.traces.engine.carrying import Carried, StartOverError
from rocketproof.traces.engine.pieces import PIECE
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


def written(folder: Path, carried: Carried, before: Carried | None = None) -> dict[str, int]:
    """Write a state; for each piece, how many names its file has."""
    folder.mkdir()
    write_carried(carried, folder, before=before)
    return {path.name: os.stat(path).st_nlink for path in sorted((folder / "pieces").iterdir())}


@pytest.mark.parametrize("is_told", [Path("/proc/self/pagemap").exists(), False])
def test_only_pieces_that_changed_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_told: bool) -> None:
    """Where the system does not tell what has changed, and of an array that is another one, all are written."""
    if not is_told:
        monkeypatch.setattr(pieces, "_unchanged", lambda content: set())
    in_a_piece = PIECE // _MESSAGE.itemsize
    known = np.arange(1, 3 * in_a_piece)
    assert written(tmp_path / "first", state(known)) == {f"0.messages.{number}": 1 for number in range(3)}
    first = read_carried(tmp_path / "first")
    messages = first.folds[0]["messages"]
    messages["key"][in_a_piece] = 7  # in the second piece
    messages["flags"][-1] = 1  # in the last one, which had no file
    links = {"0.messages.0": 2, "0.messages.1": 1, "0.messages.2": 2, "0.messages.3": 1}
    assert written(tmp_path / "second", first, first) == (links if is_told else dict.fromkeys(links, 1))
    assert written(tmp_path / "third", state(known), first) == {f"0.messages.{number}": 1 for number in range(3)}
    other = state(known).folds[0]["messages"]
    other["key"][in_a_piece], other["flags"][-1] = 7, 1
    for name, expected in (("first", state(known).folds[0]["messages"]), ("second", other)):
        read = read_carried(tmp_path / name)
        assert (read.cut, read.files, read.slots, read.actors) == (1_000, ("a", "b"), state([]).slots, (Actor("c", 1),))
        assert (read.stored, read.folds[0]["used"].tolist()) == (tmp_path / name, [len(known)])
        assert (read.folds[0]["messages"] == expected).all()
        read.folds[0]["messages"]["key"][0] = 99  # a fold changes its arrays, and no file
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
