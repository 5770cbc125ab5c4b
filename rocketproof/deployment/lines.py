"""Where the keys and values of a TOML text are: ``tomllib`` reads values, but does not say on which line.

The text must be valid TOML (``tomllib`` has read it), so nothing is checked here.
"""

from __future__ import annotations

import bisect
import tomllib
from collections import defaultdict

Path = tuple[str | int, ...]
"""Keys and positions from the top of a file: ``("groups", 0, "members", 1, "client_ip")``."""

_TRIPLE = ('"""', "'''")
_ENDS_OF_VALUE = frozenset(",]}#\n")


class Lines:
    """The line of everything in a valid TOML text."""

    def __init__(self, text: str) -> None:
        self._text = text.replace("\r\n", "\n")
        self._newlines = [place for place, sign in enumerate(self._text) if sign == "\n"]
        self._at = 0
        self._tables: dict[Path, int] = defaultdict(int)
        self._found: dict[Path, int] = {}
        self._document()

    def of(self, path: Path) -> int:
        """The line, from 1, of a key or of an item of a list; of what is not in the file, that of its parent."""
        while path and path not in self._found:
            path = path[:-1]
        return self._found.get(path, 1)

    def paths(self) -> frozenset[Path]:
        """Everything that was found."""
        return frozenset(self._found)

    def _document(self) -> None:
        table: Path = ()
        while self._skip("\n"):
            if self._text.startswith("[[", self._at):
                table = self._header(2, of_array=True)
            elif self._sign() == "[":
                table = self._header(1, of_array=False)
            else:
                self._pair(table)

    def _header(self, brackets: int, *, of_array: bool) -> Path:
        line = self._line()
        self._at += brackets
        keys = self._dotted_key()
        self._at += brackets
        path: Path = ()
        for place, key in enumerate(keys):
            path += (key,)
            if of_array and place == len(keys) - 1:
                self._tables[path] += 1
            self._found.setdefault(path, line)
            if path in self._tables:
                path += (self._tables[path] - 1,)
                self._found.setdefault(path, line)
        return path

    def _pair(self, table: Path) -> None:
        line = self._line()
        path = table
        for key in self._dotted_key():
            path += (key,)
            self._found.setdefault(path, line)
        self._at += 1  # the =
        self._value(path)

    def _dotted_key(self) -> list[str]:
        keys = []
        while True:
            self._skip("")
            start = self._at
            if self._sign() in "\"'":
                self._string()
            else:
                while self._sign().isalnum() or self._sign() in "-_":
                    self._at += 1
            (key,) = tomllib.loads(f"{self._text[start : self._at]} = 0")
            keys.append(key)
            self._skip("")
            if self._sign() != ".":
                return keys
            self._at += 1

    def _value(self, path: Path) -> None:
        self._skip("")
        match self._sign():
            case '"' | "'":
                self._string()
            case "[":
                self._list(path)
            case "{":
                self._inline_table(path)
            case _:
                while self._at < len(self._text) and self._sign() not in _ENDS_OF_VALUE:
                    self._at += 1

    def _list(self, path: Path) -> None:
        self._at += 1
        place = 0
        while self._skip("\n,") and self._sign() != "]":
            self._found.setdefault((*path, place), self._line())
            self._value((*path, place))
            place += 1
        self._at += 1

    def _inline_table(self, path: Path) -> None:
        self._at += 1
        while self._skip("\n,") and self._sign() != "}":
            self._pair(path)
        self._at += 1

    def _string(self) -> None:
        quote = next((mark for mark in _TRIPLE if self._text.startswith(mark, self._at)), self._sign())
        self._at += len(quote)
        while not self._text.startswith(quote, self._at):
            self._at += 2 if self._sign() == "\\" and quote[0] == '"' else 1
        self._at += len(quote)
        while len(quote) == 3 and self._sign() == quote[0]:  # up to two quotes may come right before the closing ones
            self._at += 1

    def _skip(self, more: str) -> bool:
        """Skip spaces, comments and the characters in ``more``; returns whether anything is left."""
        while self._at < len(self._text):
            if self._sign() == "#":
                while self._at < len(self._text) and self._sign() != "\n":
                    self._at += 1
            elif self._sign() in " \t" + more:
                self._at += 1
            else:
                return True
        return False

    def _sign(self) -> str:
        return self._text[self._at : self._at + 1]

    def _line(self) -> int:
        return bisect.bisect_left(self._newlines, self._at) + 1
