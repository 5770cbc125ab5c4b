"""The table in docs/captured.md, made from the samples; ``python tests/docs/captured.py`` writes it anew."""

from pathlib import Path

from rocketproof.lab.table import table

DOCUMENT = Path(__file__).parents[2] / "docs" / "captured.md"
BEGIN, END = (f"<!-- {word} of `rocketproof lab table` -->\n" for word in ("begin", "end"))


def shown() -> str:
    """The table as it is in the document."""
    return DOCUMENT.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]


def printed() -> str:
    """The same as the command prints it."""
    return table() + "\n"


if __name__ == "__main__":
    before, rest = DOCUMENT.read_text(encoding="utf-8").split(BEGIN)
    DOCUMENT.write_text(before + BEGIN + printed() + END + rest.split(END)[1], encoding="utf-8")
