"""A lesson as a Jupyter notebook: generated from its text, so that there is no second copy to maintain.

Text becomes Markdown; a command becomes a cell with the output that the lesson shows; a file to write becomes a cell
that writes it. A picture is shown by a cell of its own: the command before it has drawn it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from .lessons import Lesson

Cell = dict[str, Any]

_BLOCK = re.compile(r"^```(?P<language>\w+)(?: title=(?P<title>\S+))?\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^\$ (.*)\n", re.MULTILINE)
_PICTURE = re.compile(r"^!\[(?P<words>[^\]]*)\]\((?P<path>[^)]+\.svg)\)$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)\s]+\)")


_PLAIN = "# Output as in the lesson: Jupyter asks programs for colors.\n%env FORCE_COLOR="


def notebook(lesson: Lesson, language: str) -> dict[str, Any]:
    """The notebook of a lesson in one of its languages, in the form that ``json.dumps`` takes (nbformat 4.5)."""
    cells = [_code(_PLAIN, "")]
    at = 0
    for block in _BLOCK.finditer(lesson.text):
        cells += _texts(lesson.text[at : block.start()])
        cells += _of_block(block)
        at = block.end()
    cells += _texts(lesson.text[at:])
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": [{**cell, "id": f"{lesson.name}-{number}"} for number, cell in enumerate(cells)],
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}, "lesson": language},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _of_block(block: re.Match[str]) -> Iterator[Cell]:
    body: str = block["body"]
    if block["title"]:
        yield _code(f"%%writefile {block['title']}\n{body}", f"Writing {block['title']}\n")
    elif block["language"] == "console":
        parts = _COMMAND.split(body)
        for command, shown in zip(parts[1::2], parts[2::2], strict=True):
            # Output goes to a pipe rather than a terminal, and an exit code that says "violated" is no error of the
            # notebook.
            yield _code(f"%%sh --no-raise-error\n{command}", shown)
    else:
        yield _markdown(block[0])


def _texts(text: str) -> Iterator[Cell]:
    """Markdown, and the pictures in it."""
    at = 0
    for picture in _PICTURE.finditer(text):
        yield from _markdown_if_any(text[at : picture.start()])
        yield _code(f'from IPython.display import SVG\n\nSVG("{PurePosixPath(picture["path"]).name}")', "")
        at = picture.end()
    yield from _markdown_if_any(text[at:])


def _markdown_if_any(text: str) -> Iterator[Cell]:
    if text.strip():
        yield _markdown(text.strip())


def _markdown(text: str) -> Cell:
    # The target of a link is beside the lesson, not beside the notebook.
    return {"cell_type": "markdown", "metadata": {}, "source": _LINK.sub(r"\1", text)}


def _code(source: str, shown: str) -> Cell:
    outputs = [{"output_type": "stream", "name": "stdout", "text": shown}] if shown else []
    return {"cell_type": "code", "metadata": {}, "execution_count": None, "source": source.rstrip(), "outputs": outputs}
