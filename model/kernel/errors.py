"""Errors a user of the kernel can cause, each saying what was given, what was possible and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

_MOST_LISTED = 40


class ModelError(Exception):
    """A machine is written wrongly: the message names the action, the variable and the value.

    Cause: a write outside a declared domain, an undeclared variable, a guard that can never be true, a symbolic
    value used as a Python truth value. Remedy: mend the machine; the message says where.
    """


class ConfigurationError(Exception):
    """A configuration of a machine cannot be built: an unknown constant, or a value outside its range.

    Remedy: the message lists the constants of the machine and what each of them allows.
    """


def nearest(name: str, possible: Iterable[str]) -> str:
    """Return the end of an error message: the near names of ``name``, then all possible ones if they are few.

    A name in camelCase, as Java has it, is near to nothing but itself in snake_case. A part of a name is near to it
    where nothing is spelled alike.
    """
    names = sorted(set(possible))
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    near = [snake] if snake in names else get_close_matches(name, names, n=3, cutoff=0.5)
    near = near or [item for item in names if len(name) > 2 and name.lower() in item.lower()][:3]
    hint = f" Did you mean {' or '.join(repr(item) for item in near)}?" if near else ""
    if len(names) > _MOST_LISTED:
        return f"{hint} {len(names)} names are possible."
    return f"{hint} Possible: {', '.join(names) if names else 'nothing'}."
