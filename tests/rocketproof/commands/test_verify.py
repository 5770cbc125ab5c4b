"""Rows that ``--set`` makes alike are checked once."""

from rocketproof.commands.request import Request
from rocketproof.commands.verify import select


def request(*properties: str, constants: dict[str, int | str]) -> Request:
    return Request(properties=properties, constants=constants)


def test_rows_that_become_the_same_are_asked_once() -> None:
    rows = select(request("new-group-starts-at-the-end", constants={}))
    assert len(rows) == 2
    (row,) = select(request("new-group-starts-at-the-end", constants={"head_in_memory": 1}))
    assert row.constants["head_in_memory"] == 1
    assert str(row.expected) == "VIOLATED"
