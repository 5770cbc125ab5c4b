"""The README: what a newcomer needs stands on the first screen, and its findings are those of the suite."""

import re

import pytest

from rocketproof.checkers.catalogue import default_rows

from .console import ROOT

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
FINDINGS = re.findall(
    r"^\| [^|]+ \| ((?:`[a-z0-9.+-]+`(?:, )?)+)(?: with `([^`]+)`)? \| ([A-Z]+) \|$", TEXT, re.MULTILINE
)


def test_the_first_screen_says_what_and_how() -> None:
    first = "\n".join(TEXT.splitlines()[:60])
    for wanted in (
        "consumed twice",
        "docs/limitations.md",
        "make verify",
        "make test",
        "Python 3.11",
        "VIOLATED (expected)",
    ):
        assert wanted in first


def test_it_leads_to_every_document() -> None:
    documents = {path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]}
    assert documents - {"README.md"} <= set(re.findall(r"\]\(([^)#]+)", TEXT))


def test_the_table_of_findings_is_read_whole() -> None:
    table = TEXT.split("## What the default suite shows")[1].split("\n\n")[1]
    assert len(FINDINGS) == table.count("\n") - 1 > 10


@pytest.mark.parametrize(("names", "constants", "verdict"), FINDINGS)
def test_a_finding_is_in_the_default_suite(names: str, constants: str, verdict: str) -> None:
    wanted = dict(pair.split("=") for pair in constants.split())
    for name in re.findall(r"`([^`]+)`", names):
        found = [
            row.expected
            for row in default_rows()
            if row.id == name and wanted.items() <= {key: str(value) for key, value in row.constants.items()}.items()
        ]
        assert verdict in found
