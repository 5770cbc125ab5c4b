"""Every key and item of a TOML text is found, on its line."""

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketproof.deployment.lines import Lines, Path

TEXT = '''\
# a comment with [brackets]
title = "a # b"   # c
[verify]
set = { a = 1, "b.c" = [1, 2,
  3] }
[[groups]]
name = """x
[[no]]
y"""""
a.b.c = 'it''s' # '
 [groups.subscriptions]
 orders = "p \\" || q"
 [[groups.members]]
 name='m'
 when = 1979-05-27 07:32:00
 [[groups.members]]
 list = [ {x = 1}, # ]
   {y = 2},
 ]
[[groups]]
"\\u00e9" = 1
'''.replace("'it''s'", "'its'")


def paths_of(value: Any, path: Path = ()) -> Iterator[Path]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from paths_of(item, (*path, key))
    if isinstance(value, list):
        for key, item in enumerate(value):
            yield from paths_of(item, (*path, key))


def test_everything_in_a_text_is_found_and_nothing_else() -> None:
    assert Lines(TEXT).paths() == set(paths_of(tomllib.loads(TEXT)))


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("verify", "set"), 4),
        (("verify", "set", "b.c", 2), 5),
        (("groups", 0), 6),
        (("groups", 0, "name"), 7),
        (("groups", 0, "a", "b", "c"), 10),
        (("groups", 0, "subscriptions", "orders"), 12),
        (("groups", 0, "members", 0), 13),
        (("groups", 0, "members", 0, "when"), 15),
        (("groups", 0, "members", 1), 16),
        (("groups", 0, "members", 1, "list", 1, "y"), 18),
        (("groups", 1), 20),
        (("groups", 1, "é"), 21),
    ],
)
def test_a_line(path: Path, line: int) -> None:
    assert Lines(TEXT).of(path) == line
    assert Lines(TEXT.replace("\n", "\r\n")).of(path) == line


def test_what_is_not_there_has_the_line_of_what_it_belongs_to() -> None:
    lines = Lines(TEXT)
    assert lines.of(("groups", 0, "members", 1, "missing", 7)) == 16
    assert lines.of(("nothing",)) == 1
    assert Lines("").of(("groups",)) == 1


KEYS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=4)
VALUES = st.recursive(
    st.booleans() | st.integers(0, 99) | st.text(st.characters(codec="ascii"), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


def toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return "[ # ]\n" + "".join(f" {toml(item)} ,\n" for item in value) + "]"
    return "{" + ", ".join(f"{quoted(key)} = {toml(item)}" for key, item in value.items()) + "}"


def quoted(text: str) -> str:
    safe = "".join(sign if sign.isprintable() and sign not in '"\\' else f"\\U{ord(sign):08x}" for sign in text)
    return f'"{safe}"'


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_every_text_has_all_its_paths_found(content: dict[str, Any]) -> None:
    text = "\n".join(f"{quoted(key)} = {toml(value)}" for key, value in content.items())
    assert tomllib.loads(text) == content
    assert Lines(text).paths() == set(paths_of(content))
