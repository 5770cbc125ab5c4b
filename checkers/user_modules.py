"""Modules of users: imported by name, from a folder first; errors are reported in one sentence."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType


class UserModuleError(Exception):
    """A module of a user cannot be used; the text says what to do."""


def import_user_module(name: str, *, folder: str, meant: str) -> ModuleType:
    """The module called ``name``, looked up in ``folder`` before installed packages.

    Args:
        name: dotted, such as ``package.module``.
        folder: it stays first in ``sys.path``, since a module may import others later.
        meant: what the module is for, as worded in messages, such as ``of the strategy 'a:f'``.

    Raises:
        UserModuleError: there is no such module, or importing it fails.
    """
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
            raise UserModuleError(
                f"there is no module {error.name!r} ({meant}) in {folder} or among installed packages."
            ) from None
        raise UserModuleError(f"importing {name!r} failed: {type(error).__name__}: {error}") from error
