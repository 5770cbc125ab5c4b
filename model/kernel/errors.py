"""Errors a user of the kernel can cause, each saying what was given, what was possible and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

_MOST_LISTED = 40


class ModelError(Exception):
    """A machine is written wrongly: the message names the action, the variable and the value.

    Cause: a write outside a declared domain, an undeclared variable, a guard that can never be true, a symbolic
    value used as a Python truth value. Remedy: fix the machine; the message says where.
    """


class ConfigurationError(Exception):
    """A configuration of a machine cannot be built: an unknown constant, or a value outside its range.

    Remedy: the message lists the constants of the machine and what each of them allows.
    """


def nearest(name: str, possible: Iterable[str]) -> str:
    """The end of an error message: the names similar to ``name``, then all possible names if they are few.

    A name in camelCase, as in Java, is similar only to its own snake_case form. If no name is spelled alike, names that
    share a part with it are similar.
    """
    names = sorted(set(possible))
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    near = [snake] if snake in names else get_close_matches(name, names, n=3, cutoff=0.5)
    near = near or [item for item in names if len(name) > 2 and name.lower() in item.lower()][:3]
    hint = f" Did you mean {' or '.join(repr(item) for item in near)}?" if near else ""
    if len(names) > _MOST_LISTED:
        return f"{hint} {len(names)} names are possible."
    return f"{hint} Possible: {', '.join(names) if names else 'nothing'}."
