"""Values as JSON can express them, and back: how the state of a monitor in plain Python is stored.

The type of a value says how it is read again: dataclasses, named tuples and enumerations of these, and the containers
of Python with stated items, whose keys may be tuples.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

Plain = Any
"""What JSON can express."""


def plain(value: Any) -> Plain:
    """A value as JSON can express it; a dataclass becomes the list of its fields, and a mapping that of its items."""
    if is_dataclass(value):
        return [plain(getattr(value, one.name)) for one in fields(value)]
    if isinstance(value, Mapping):
        return [[plain(key), plain(one)] for key, one in value.items()]
    if isinstance(value, Set):
        return sorted(map(plain, value), key=json.dumps)
    if isinstance(value, (list, tuple)):
        return list(map(plain, value))
    return value


def restored(kind: Any, value: Plain) -> Any:
    """The value of a type, such as ``dict[Actor, int]``, of which :func:`plain` has made this."""
    if value is None:
        return None
    of, given = get_origin(kind) or kind, get_args(kind)
    if NoneType in given:
        return restored(next(one for one in given if one is not NoneType), value)
    if isinstance(of, type) and is_dataclass(of):
        return of(*map(restored, _types(of), value))
    if of is tuple and given[-1] is not ...:
        return tuple(map(restored, given, value))
    if of in (list, set, frozenset, tuple):
        return of(restored(given[0], one) for one in value)
    if of is dict:
        return {restored(given[0], key): restored(given[1], one) for key, one in value}
    if issubclass(of, tuple):
        return of(*value)
    return value if of in (str, int, bool) else of(value)


@cache
def _types(kind: Any) -> tuple[Any, ...]:
    hints = get_type_hints(kind)
    return tuple(hints[one.name] for one in fields(kind))
