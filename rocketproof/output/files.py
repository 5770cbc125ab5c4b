"""Files the command line reads and writes."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..traces.format.printable import json_text

STANDARD_OUTPUT = "-"


def check_writable(where: str) -> None:
    """Find out before a long run whether its result could not be written.

    Raises:
        InputError: the folder does not exist or cannot be written to, or ``where`` is a folder.
    """
    path = _possible(where)
    if where == STANDARD_OUTPUT or (path.is_file() and os.access(path, os.W_OK)):
        return
    if path.exists():
        raise InputError(f"cannot write {where}: it is {'a folder' if path.is_dir() else 'not writable'}.")
    if not path.parent.is_dir():
        raise InputError(f"cannot write {where}: there is no folder {path.parent}.")
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"cannot write {where}: the folder {path.parent} is not writable.")


def check_folder_writable(where: str) -> None:
    """Find out before a long run whether a folder for its results, which need not exist, could not be written to.

    Raises:
        InputError: it is a file, or it or the folder in which it would be made is not writable.
    """
    path = _possible(where)
    there = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not there.is_dir():
        raise InputError(f"cannot write to {where}: {there} is a file, and a folder is needed.")
    if not os.access(there, os.W_OK):
        raise InputError(f"cannot write to {where}: the folder {there} is not writable.")


def _possible(where: str) -> Path:
    """The path for a name.

    Raises:
        InputError: no file can have this name.
    """
    path = Path(where)
    try:
        path.exists()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"cannot write {where[:200]}: {reason}.") from None
    return path


def write(where: str, text: str) -> None:
    """Write ``text`` to a file, or to standard output for ``-``.

    Raises:
        InputError: the file cannot be written.
    """
    if where == STANDARD_OUTPUT:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            raise BrokenPipeError from None  # with its number, typer would exit with code 1: "violated"
        return
    from ..traces.io.whole_file import whole_file

    try:
        with whole_file(Path(where)) as file:
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {where}: {error.strerror}.") from None


def write_json(where: str, said: object) -> None:
    """Write an object as JSON, like :func:`write`; nothing if ``where`` is empty.

    Raises:
        InputError: the file cannot be written.
    """
    if where:
        write(where, json_text(said) + "\n")


def read_text(path: Path, *, name: str | None = None) -> str:
    """The text of a configuration file.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read the configuration file {name or path}: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{name or path} is not valid TOML: {error}.") from None


def read_toml(text: str, *, name: str) -> dict[str, Any]:
    """The content of the text of a TOML file called ``name``.

    Raises:
        InputError: it is not valid TOML.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name} is not valid TOML: {error}.") from None
