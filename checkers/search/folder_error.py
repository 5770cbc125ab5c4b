"""Errors about the folder of a search."""

from __future__ import annotations

from ...model.kernel import ModelError

LOCK = "lock"
"""A file in the folder of a search that is locked for as long as a process searches."""


class FolderError(ModelError):
    """The folder of a search cannot be used; the text says why and what to do."""
