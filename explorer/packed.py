"""The content of a page, packed: entries and their configurations as one compressed text, with each long text only
once.

Configurations of a machine have nearly the same texts; a repeated text is written as the number of its first
occurrence. ``script/page/packed.mjs`` reads it.
"""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SHARED = "\x01"
"""Prefix of a text that is the number of a shared one."""

LONG = 24
"""Number of characters from which on a text is shared."""


@dataclass
class Packed:
    """Entries with their configurations, up to a size."""

    most: int  # maximum number of bytes of the packed text
    _texts: dict[str, int] = field(default_factory=dict)
    _models: dict[str, str] = field(default_factory=dict)
    _entries: list[tuple[int, Any]] = field(default_factory=list)
    _size: int = 0
    _stream: Any = field(default_factory=lambda: zlib.compressobj(9))

    def add(self, place: int, entry: Mapping[str, object], data: Mapping[str, object] | None) -> bool:
        """Add an entry that is shown at a given position, with its configuration if it has one that still fits.

        Returns:
            Whether it opens: an entry without its configuration is only listed. The first one always opens.
        """
        text = _json(data)
        opens = text in self._models
        if not opens and data is not None:
            before, stream, texts = self._size, self._stream.copy(), dict(self._texts)
            told = _json([self._shared(data), list(self._texts)[len(texts) :]])
            opens = self._grow(told) <= self.most or not self._models
            if opens:
                self._models[text] = _json(self._shared(data))
            else:
                self._size, self._stream, self._texts = before, stream, texts
        listed = {**entry, "model": list(self._models).index(text) if opens else None}
        self._grow(_json(listed))
        self._entries.append((place, listed))
        return opens

    def text(self) -> str:
        """All of it, in characters that are safe in an HTML page."""
        entries = [entry for _, entry in sorted(self._entries, key=lambda item: item[0])]
        models = ",".join(self._models.values())
        whole = f'{{"texts":{_json(list(self._texts))},"entries":{_json(entries)},"models":[{models}]}}'
        return base64.b64encode(gzip.compress(whole.encode(), mtime=0)).decode()

    def _grow(self, text: str) -> int:
        """Approximate number of bytes with another text."""
        self._size += len(self._stream.compress(text.encode())) + len(self._stream.flush(zlib.Z_SYNC_FLUSH))
        return self._size * 4 // 3

    def _shared(self, value: Any) -> Any:
        match value:
            case str() if len(value) >= LONG or value.startswith(SHARED):
                return f"{SHARED}{self._texts.setdefault(value, len(self._texts))}"
            case Mapping():
                return {key: self._shared(item) for key, item in value.items()}
            case list() | tuple():
                return [self._shared(item) for item in value]
        return value


def unpacked(text: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Entries and configurations of a packed text."""
    whole = json.loads(gzip.decompress(base64.b64decode(text)))

    def read(value: Any) -> Any:
        match value:
            case str() if value.startswith(SHARED):
                return whole["texts"][int(value[1:])]
            case dict():
                return {key: read(item) for key, item in value.items()}
            case list():
                return [read(item) for item in value]
        return value

    return whole["entries"], read(whole["models"])


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
