"""Columns: as wide as their widest cell in any section; a last one that does not fit stands below its row."""

import io

from rich.text import Text

from rocketproof.output.console import SafeConsole, print_columns


def printed(*sections: tuple[str, list[tuple[str | Text, ...]]], width: int | None = None) -> list[str]:
    file = io.StringIO()
    console = SafeConsole(file=file, width=width, force_terminal=width is not None, color_system=None)
    print_columns(console, *sections)
    return file.getvalue().splitlines()


def test_all_sections_have_the_same_columns_and_rows_may_be_shorter() -> None:
    short: list[tuple[str | Text, ...]] = [("a", "left out")]
    long: list[tuple[str | Text, ...]] = [("long-id", Text("HOLDS"), "all states"), ("b", "UNKNOWN", "")]
    assert printed(("one", short), ("", long)) == [
        "one",
        "  a        left out",
        "  long-id  HOLDS    all states",
        "  b        UNKNOWN",
    ]


def test_what_does_not_fit_a_terminal_stands_below() -> None:
    rows: list[tuple[str | Text, ...]] = [("id", "twelve chars"), ("other", "short")]
    assert printed(("", rows), width=18) == ["  id", "      twelve chars", "  other  short"]
    assert printed(("", rows)) == ["  id     twelve chars", "  other  short"]


def test_a_line_feed_begins_no_line() -> None:
    assert printed(("", [("a\nb", "c")])) == [r"  a\nb  c"]
