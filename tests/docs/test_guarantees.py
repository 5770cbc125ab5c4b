"""The tables of docs/guarantees.md are those of the catalogue."""

from .guarantees import DOCUMENT, unconditional_table, written


def test_the_tables_are_up_to_date() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert written(text) == text, "python tests/docs/guarantees.py writes them anew"


def test_every_unconditional_property_is_covered() -> None:
    table = unconditional_table()
    assert [number for number in range(1, 14) if f"| U{number} |" not in table] == []
