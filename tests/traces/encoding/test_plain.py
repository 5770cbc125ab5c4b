"""What is written of a value is read as the same value."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from rocketproof.traces.encoding.names import Actor, Slot
from rocketproof.traces.encoding.plain import plain, restored
from rocketproof.traces.engine.findings import Doubt


@dataclass
class Held:
    """A dataclass with a field of each form."""

    actor: Actor
    doubt: Doubt = Doubt.NONE
    at: int | None = None
    queues: frozenset[str] | None = None
    by: dict[tuple[str, int | None], list[tuple[int, str]]] = field(default_factory=dict)
    lists: set[frozenset[str]] = field(default_factory=set)


HELD = Held(
    Actor("c", 1),
    Doubt.SKEW,
    queues=frozenset(("b:1", "b:0")),
    by={("t", None): [(1, "x")]},
    lists={frozenset(("a", "b")), frozenset()},
)


@pytest.mark.parametrize(
    ("kind", "value", "written"),
    [
        (Held, HELD, [["c", 1], int(Doubt.SKEW), None, ["b:0", "b:1"], [[["t", None], [[1, "x"]]]], [["a", "b"], []]]),
        (dict[Actor, list[bool]], {Actor("b", -1): [True]}, [[["b", -1], [True]]]),
        (tuple[Slot, ...], (Slot("g", "t", "b", 0),), [["g", "t", "b", 0, "", 0]]),
        (int | None, None, None),
    ],
)
def test_what_is_written_is_read_as_it_was(kind: Any, value: Any, written: Any) -> None:
    text = json.dumps(plain(value))
    assert json.loads(text) == written
    assert restored(kind, json.loads(text)) == value
