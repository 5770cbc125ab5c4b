"""What the documents show is real, what they name is there, and what they must name is named."""

import json
import re
from pathlib import Path

import pytest
import typer

from rocketproof import __version__, cli
from rocketproof.checkers.catalogue import all_rows
from rocketproof.checkers.engines import ENGINES
from rocketproof.commands import request

from .console import (
    DOCUMENTS,
    ROOT,
    Session,
    blocks,
    commands,
    fits,
    pictures,
    pictures_of,
    rewritten,
    without_times,
    write_files,
)

FOLDERS = (
    "model",
    "properties",
    "machine_code",
    "checkers",
    "traces",
    "spark",
    "lab",
    "explorer",
    "rocketproof",
    "benchmarks",
)
COMMAND_LINE = ROOT / "docs" / "command-line.md"
RULES = ROOT / "docs" / "rules.md"

ALL_DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LESSONS = [path for path in DOCUMENTS if path.parent == ROOT / "docs" / "learn"]

name_of = pytest.mark.parametrize(
    "document",
    [pytest.param(path, id=path.name, marks=[pytest.mark.slow] if path in LESSONS else []) for path in DOCUMENTS],
)


def prose(document: Path) -> str:
    """A document without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def section(document: Path, heading: str) -> str:
    """The text under a heading, up to the next one."""
    return re.split(r"^#+ ", document.read_text().split(f"# {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def first_column(table: str) -> list[str]:
    """The words in the first column of a table that are set as code."""
    return [word for row in re.findall(r"^\|([^|]*)\|", table, re.MULTILINE) for word in re.findall(r"`([^`]+)`", row)]


@name_of
def test_every_command_prints_what_is_shown(document: Path, tmp_path: Path) -> None:
    text = document.read_text(encoding="utf-8")
    write_files(text, tmp_path)
    session = Session(tmp_path)
    for match, first_line in blocks(text):
        if match["language"] != "console":
            assert "$ rocketproof" not in match["body"], f"line {first_line}: a command that nobody runs"
            continue
        for command in commands(match["body"], first_line):
            output = session.run(command.text)
            if not fits(command.shown, output):
                pytest.fail(
                    f"{document.name}:{command.line}: $ {command.text}\n--- shown\n{without_times(command.shown)}"
                    f"--- printed\n{without_times(output)}(python tests/docs/console.py writes it into the document)"
                )

    for name, text in pictures(tmp_path).items():
        stored = pictures_of(document) / name
        assert stored.read_text(encoding="utf-8") == text, f"{stored}: python tests/docs/console.py draws it anew"


def test_commands_are_found_in_the_documents_that_show_them() -> None:
    shown = {
        document.name: sum(
            len(list(commands(match["body"], line)))
            for match, line in blocks(document.read_text(encoding="utf-8"))
            if match["language"] == "console"
        )
        for document in DOCUMENTS
    }
    assert {name for name, count in shown.items() if count} == {
        "README.md",
        "checking-traces.md",
        "command-line.md",
        "conformance.md",
        "explorer.md",
        "in-your-ci.md",
        "incident.md",
        "mutants.md",
        "strategies.md",
        *(lesson.name for lesson in LESSONS),
    }


@pytest.mark.parametrize(
    ("shown", "output", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\n\n", "a\n", True),
        ("a   0.21 s\n", "a  12.00 s\n", True),
        ("a\n…\nd\n", "a\nb\nc\nd\n", True),
        ("a\n…\nb\n", "a\nb\n", True),
        ("a\n", "a\nb\n", False),
        ("a\n…\nd\n", "a\nb\nc\n", False),
        ("a 0.21 s, 3 steps\n", "a 0.21 s, 4 steps\n", False),
    ],
)
def test_only_times_and_lines_left_out_may_differ(shown: str, output: str, same: bool) -> None:
    assert fits(shown, output) is same


def test_a_document_with_wrong_output_is_rewritten(tmp_path: Path) -> None:
    right = f"rocketproof {__version__}"
    text = "```console\n$ rocketproof --version\n{}\n$ rocketproof verify nothing-like-this\n{}\n$ echo $?\n{}\n```\n"
    new = rewritten(text.format("rocketproof 0", "…", "0"), tmp_path)
    assert new == text.format(right, "…", "3")


@pytest.mark.parametrize("document", ALL_DOCUMENTS, ids=lambda path: path.name)
def test_every_make_target_exists(document: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    text = document.read_text(encoding="utf-8")
    named = re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)
    assert set(named) <= targets


def anchors(document: Path) -> set[str]:
    """The anchors of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", prose(document), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", ALL_DOCUMENTS, ids=lambda path: path.name)
def test_every_relative_link_leads_somewhere(document: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(document)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), f"{document.name}: {link}"
        assert target.is_relative_to(ROOT), f"{document.name}: {link} leaves the repository"
        if anchor:
            assert anchor in anchors(target), f"{document.name}: {link}"


def test_every_folder_is_in_the_table() -> None:
    named = first_column(section(ROOT / "ARCHITECTURE.md", "Where is …"))
    for folder in (
        *(each for each in FOLDERS if each != "traces"),
        *(f"traces/{path.name}" for path in (ROOT / "traces").iterdir() if list(path.glob("*.py"))),
    ):
        assert f"{folder}/" in named, folder


@pytest.mark.parametrize("document", ALL_DOCUMENTS, ids=lambda path: path.name)
def test_every_file_that_is_named_exists(document: Path) -> None:
    for name in re.findall(r"`((?:[\w.]+/)+\w*(?:\.\w+)?)`", prose(document)):
        if name.split("/")[0] in (*FOLDERS, "tests", "docs", ".ci"):
            assert (ROOT / name).exists(), f"{document.name}: {name}"


def test_every_option_is_described() -> None:
    described = prose(ROOT / "README.md") + prose(COMMAND_LINE)
    door = typer.main.get_command(cli.app)
    for name, command in door.commands.items():  # type: ignore[attr-defined]
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("--"):
                    assert re.search(rf"{option}(?![\w-])", described), f"{option} of {name} is described nowhere"


def test_every_exit_code_is_described() -> None:
    codes = [int(code) for code in re.findall(r"^\| (\d) \|", section(COMMAND_LINE, "Exit codes"), re.MULTILINE)]
    assert codes == [cli.AS_EXPECTED, cli.VIOLATED, cli.UNKNOWN, cli.WRONG_USAGE, cli.DEFECT]


def test_every_engine_is_described() -> None:
    assert sorted(first_column(section(COMMAND_LINE, "Engines"))) == sorted(ENGINES)


def test_every_field_of_the_json_is_described(tmp_path: Path) -> None:
    rows = json.loads(Session(tmp_path).run("rocketproof verify averagely-partition --json -"))
    assert sorted(first_column(section(COMMAND_LINE, "JSON"))) == sorted(rows[0])


def test_every_key_of_the_configuration_file_is_described() -> None:
    described = re.findall(r"`(\w+)`", section(COMMAND_LINE, "Configuration file").split("Possible are")[1])
    assert sorted(described) == sorted([*request.VerifyTable.model_fields, *request.LimitTable.model_fields])


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.name)
def test_the_rules_of_a_lesson_are_described(lesson: Path) -> None:
    cited = set(re.findall(r"\b[A-Z]{2}-\d+\b", prose(lesson)))
    assert cited <= set(re.findall(r"^\| ([A-Z]{2}-\d+) \|", RULES.read_text(encoding="utf-8"), re.MULTILINE))
    assert cited, "a lesson names its rules"


def test_every_rule_is_described_once_and_none_is_made_up() -> None:
    cited = {rule for row in all_rows() for rule in row.rules}
    for folder in ("model", "properties", "traces", "spark", "lab", "rocketproof"):
        for path in (ROOT / folder).rglob("*.py"):
            cited.update(re.findall(r"\b[A-Z]{2}-\d+\b", path.read_text(encoding="utf-8")))
    described = re.findall(r"^\| ([A-Z]+-?\d+(?:-\d+)?) \|", RULES.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(described) == sorted(cited)
