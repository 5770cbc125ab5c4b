"""Classes of states: what they declare, and what a type checker knows from them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rocketproof.model.kernel import Int, IntLike, Machine, SetOf, State, constant, lower, variable
from rocketproof.model.membership import Consumer
from rocketproof.model.route import Queue

ROOT = Path(__file__).parents[3]

TEXT = """
from rocketproof.model.group import GroupState
from rocketproof.model.kernel import BoolLike, IntLike, not_
from rocketproof.model.lock import LockState
from rocketproof.properties.property import Kind, Property


def right(s: GroupState, c: IntLike, q: IntLike) -> None:
    s.owns[c] = lambda q: s.was.owns[c, q]
    s.memory[c, q] = s.next_offset[c, q] + s.messages
    s.members[q] = s.members[q].add(c)


def wrong(s: GroupState, c: IntLike, q: IntLike) -> None:
    s.own[c, q] = True
    s.owns[c, q, q] = True
    s.owns[c, q] = 1
    s.committed[q, c] = 0
    s.was.stag[c, q]
    s.require(s.owns[c])
    s.owns[c] = lambda q: s.memory[c, q]


def of_locks(s: LockState) -> None:
    right(s, 0, 0)


def free(s: GroupState) -> BoolLike:
    return not_(s.owns[0, 0])


Property[GroupState](id="right", statement="", kind=Kind.ALWAYS, holds=lambda s: s.committed[0] >= 0)
Property(id="right-too", statement="", kind=Kind.EVENTUALLY, after=free, holds=lambda s: s.owns[0, 0])
Property[LockState](id="of-locks", statement="", kind=Kind.ALWAYS, holds=free)
Property[GroupState](id="misspelt", statement="", kind=Kind.ALWAYS, holds=lambda s: s.commited[0] >= 0)
Property[GroupState](id="a-family", statement="", kind=Kind.ALWAYS, holds=lambda s: s.owns[0])
Property(id="misspelt-too", statement="", kind=Kind.EVENTUALLY, after=free, holds=lambda s: s.own[0, 0])
"""


def test_a_class_declares_in_its_order() -> None:
    machine = Machine("small")

    @machine.state
    class Small(State):
        consumers = constant(2, low=1)
        owner = variable(Int(0, "consumers"), Consumer)
        mode = constant("slow", choices=("slow", "fast"))
        seen = variable(SetOf(Consumer))
        ticks_left: IntLike

        @staticmethod
        def helper() -> int:
            return 1

    assert list(machine.constants) == ["consumers", "mode"]
    assert [(name, len(one.domains)) for name, one in machine.variables.items()] == [("owner", 1), ("seen", 0)]
    assert machine.constants["mode"].choices == ("slow", "fast")
    assert [cell.label for cell in lower(machine.configure()).cells] == [
        "owner[c0]",
        "owner[c1]",
        "seen[c0]",
        "seen[c1]",
    ]


def test_what_an_inherited_class_declares_belongs_to_its_own_machine() -> None:
    part, whole = Machine("part"), Machine("whole")

    @part.state
    class Part(State):
        one = variable(bool)

    @whole.state
    class Whole(Part):
        two = variable(bool, Queue)

    assert (list(part.variables), list(whole.variables)) == (["one"], ["two"])


@pytest.mark.slow
def test_a_type_checker_knows_names_indices_and_values(tmp_path: Path) -> None:
    (tmp_path / "texts.py").write_text(TEXT)
    asked = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(tmp_path / "texts.py")]
    printed = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    found = [line.split(": error: ") for line in printed.splitlines() if ": error: " in line]
    lines = TEXT.splitlines()
    assert {lines[int(where.rsplit(":", 1)[1]) - 1].strip() for where, _ in found} == {
        "s.own[c, q] = True",
        "s.owns[c, q, q] = True",
        "s.owns[c, q] = 1",
        "s.committed[q, c] = 0",
        "s.was.stag[c, q]",
        "s.require(s.owns[c])",
        "s.owns[c] = lambda q: s.memory[c, q]",
        "right(s, 0, 0)",
        *(line for line in lines if re.match(r"Property.*(of-locks|misspelt|a-family)", line)),
    }
