"""Rows as aligned columns on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

Cells = Sequence[str | Text]


def print_columns(console: Console, *sections: tuple[str, Iterable[Cells]], indent: str = "  ") -> None:
    """Print sections, each with its title (none if empty), with columns as wide as their widest cell anywhere.

    The last column is not padded. Where a terminal is too narrow for it, it stands below its row.
    """
    texts = [(title, [[_one_line(cell) for cell in row] for row in rows]) for title, rows in sections]
    widths: dict[int, int] = {}
    for row in (row for _, rows in texts for row in rows):
        for place, cell in enumerate(row[:-1]):
            widths[place] = max(cell.cell_len, widths.get(place, 0))
    for title, rows in texts:
        if title:
            console.print(Text(title, style="bold"), soft_wrap=True)
        for *first, last in rows:
            line = Text(indent)
            for place, cell in enumerate(first):
                line.append_text(cell).append(" " * (widths[place] - cell.cell_len + 2))
            if console.is_terminal and first and line.cell_len + last.cell_len > console.width:
                line.rstrip()
                line.append(f"\n{indent}    ")
            line.append_text(last)
            line.rstrip()
            console.print(line, soft_wrap=True)


def _one_line(cell: str | Text) -> Text:
    """A line feed in a name begins no line."""
    text = Text(cell) if isinstance(cell, str) else cell
    return Text("\\n").join(text.split("\n")) if "\n" in text.plain else text
