"""The console blocks of the documents: read, run, compare, and write anew: ``python tests/docs/console.py [FILE…]``.

A block ````console`` holds commands after ``$ `` with their output below. ``rocketproof …`` runs in this process, in a
folder with the files that the document shows (a block with ``title=NAME``), and ``echo $?`` shows the latest exit code.
"""

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rocketproof.cli import main

ROOT = Path(__file__).parents[2]
EXECUTED_ELSEWHERE = {"README.zh-CN.md", "writing-a-machine.md"}
DOCUMENTS = sorted(
    path
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/learn/*.md")]
    if path.name not in EXECUTED_ELSEWHERE
)  # fmt: skip

LEFT_OUT = "…"
_BLOCK = re.compile(r"^```(?P<language>\w+)(?: title=(?P<title>\S+))?\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)
_TIMES = (
    (re.compile(r" *\b\d+\.\d+ s\b"), " … s"),
    (re.compile(r'"seconds": [\d.]+'), '"seconds": …'),
)


@dataclass(frozen=True)
class Command:
    """A command of a console block with the output shown; ``line`` is where it stands in the document."""

    line: int
    text: str
    shown: str


def commands(body: str, first_line: int) -> Iterator[Command]:
    """The commands of one block."""
    parts = re.split(r"^\$ (.*)\n", body, flags=re.MULTILINE)
    if parts[0]:
        raise ValueError(f"line {first_line}: a console block begins with a command after '$ '")
    line = first_line
    for text, shown in zip(parts[1::2], parts[2::2], strict=True):
        yield Command(line, text, shown)
        line += 1 + shown.count("\n")


def blocks(text: str) -> Iterator[tuple[re.Match[str], int]]:
    """Every fenced block that names its language, with the line on which its body begins."""
    for match in _BLOCK.finditer(text):
        yield match, text.count("\n", 0, match.start("body")) + 1


def write_files(text: str, folder: Path) -> None:
    """Write every file that a document shows into ``folder``."""
    for match, _ in blocks(text):
        if match["title"]:
            (folder / match["title"]).write_text(match["body"], encoding="utf-8")


class Session:
    """A user in a folder, who sees standard output and standard error on one screen."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._code = 0

    def run(self, command: str) -> str:
        """The output of ``rocketproof …`` or ``echo $?``."""
        if command == "echo $?":
            return f"{self._code}\n"
        program, *arguments = shlex.split(command)
        if program != "rocketproof":
            raise ValueError(f"{command!r}: only rocketproof and 'echo $?' can be shown with output")
        screen = io.StringIO()
        modules, path = set(sys.modules), list(sys.path)
        with (
            contextlib.chdir(self._folder),
            contextlib.redirect_stdout(screen),
            contextlib.redirect_stderr(screen),
            _environment(COLUMNS="80", NO_COLOR="1"),
        ):
            try:
                main(arguments)
            except SystemExit as stop:
                self._code = int(stop.code or 0)
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            if not name.startswith("rocketproof") and _is_in(self._folder, sys.modules[name]):
                del sys.modules[name]
        return screen.getvalue()


def _is_in(folder: Path, module: object) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).is_relative_to(folder)


@contextlib.contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def without_times(output: str) -> str:
    """Output with … for each time, and the spaces before it as one."""
    for pattern, replacement in _TIMES:
        output = pattern.sub(replacement, output)
    return output


def fits(shown: str, output: str) -> bool:
    """Whether the output shown is the real one, but for times and for what a line ``…`` leaves out."""
    left_out = re.escape(LEFT_OUT) + r"\n"
    parts = re.split(f"^{left_out}", without_times(shown).rstrip("\n") + "\n", flags=re.MULTILINE)
    pattern = r"(?:.*\n)*".join(map(re.escape, parts))
    return re.fullmatch(pattern, without_times(output).rstrip("\n") + "\n") is not None


def rewritten(text: str, folder: Path) -> str:
    """The document with real output; output with lines left out stays when it still fits."""
    write_files(text, folder)
    session = Session(folder)

    def block(match: re.Match[str]) -> str:
        if match["language"] != "console":
            return match[0]
        body = ""
        for command in commands(match["body"], 0):
            output = session.run(command.text).rstrip("\n") + "\n"
            body += f"$ {command.text}\n" + (command.shown if fits(command.shown, output) else output)
        return f"```console\n{body}```"

    return _BLOCK.sub(block, text)


def pictures(folder: Path) -> dict[str, str]:
    """The pictures that the commands of a document have drawn in ``folder``, by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.svg"))}


def pictures_of(document: Path) -> Path:
    """Where the pictures of a document are kept."""
    return (ROOT / "docs" if document.resolve().parent == ROOT else document.parent) / "pictures"


if __name__ == "__main__":
    for document in [Path(name) for name in sys.argv[1:]] or DOCUMENTS:
        with tempfile.TemporaryDirectory() as made:
            old = document.read_text(encoding="utf-8")
            new = rewritten(old, Path(made))
            made_pictures = pictures(Path(made))
        if new != old:
            document.write_text(new, encoding="utf-8")
            print(f"{document}: rewritten")
        for picture, text in made_pictures.items():
            pictures_of(document).mkdir(exist_ok=True)
            (pictures_of(document) / picture).write_text(text, encoding="utf-8")
