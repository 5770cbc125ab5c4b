"""Where answers go besides the terminal: files by name, ``-`` for standard output, empty for no output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from ..errors import InputError
from ..output.files import STANDARD_OUTPUT, check_folder_writable, check_writable
from .options import Annotations, Json, Junit, flag, option


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """Of ``verify``."""

    json: Json = ""
    junit: Junit = ""
    report: Annotated[str, option("FILE.html", "Write a page in which each finding opens as a run.")] = ""
    sarif: Annotated[str, option("FILE", "With a deployment: write the findings as SARIF 2.1.0.", "--sarif")] = ""
    annotations: Annotated[
        Annotations | None, option("github", "With a deployment: print the findings as GitHub annotations.")
    ] = None
    stories: Annotated[bool, flag("--stories", "Print the story of every row that has one.")] = False
    brief: Annotated[bool, flag("--brief", "Print stories without what each step changes.")] = False
    picture: Annotated[str, option("FILE", "Draw the run of the first story, as SVG.")] = ""
    glossary: Annotated[bool, flag("--glossary", "Explain the names and rules that the stories mention.")] = False
    verbose: Annotated[bool, flag("--verbose", "Print every row; by default each guarantee has one line.", "-v")] = (
        False
    )

    @property
    def on_standard_output(self) -> bool:
        """Whether one of them goes to standard output, so that nothing else may."""
        return STANDARD_OUTPUT in (self.json, self.junit, self.sarif, self.report)

    def check(self, *, of_deployment: bool) -> None:
        """Find out before a long run whether something could not be written.

        Raises:
            InputError: two outputs for standard output, a file that cannot be written, or an output that only a
                deployment has.
        """
        if not of_deployment and (self.sarif or self.annotations):
            option = "--sarif" if self.sarif else "--annotations"
            raise InputError(f"{option} points to lines of a deployment file; name one with --config.")
        files = {"--json": self.json, "--junit": self.junit, "--sarif": self.sarif, "--report": self.report}
        _check({**files, "--picture": self.picture}, annotations=self.annotations)


@dataclass(frozen=True, kw_only=True)
class CheckOutputs:
    """Of ``check``."""

    report: Annotated[str, option("DIR", "Write an HTML report and tables of all findings to a folder.")] = ""
    json: Json = ""
    junit: Junit = ""
    sarif: Annotated[str, option("FILE", "Write the violations as SARIF 2.1.0.", "--sarif")] = ""
    annotations: Annotated[Annotations | None, option("github", "Print violations as GitHub annotations.")] = None

    def check(self) -> None:
        """Find out before a long run whether something could not be written.

        Raises:
            InputError: a file or folder cannot be written, or two answers go to standard output.
        """
        _check({"--json": self.json, "--junit": self.junit, "--sarif": self.sarif}, annotations=self.annotations)
        if self.report:
            check_folder_writable(self.report)


def _check(files: Mapping[str, str], *, annotations: Annotations | None) -> None:
    on_screen = [option for option, to in files.items() if to == STANDARD_OUTPUT]
    if annotations and on_screen:
        on_screen.append("--annotations")
    if len(on_screen) > 1:
        raise InputError(f"{' and '.join(on_screen)} cannot both go to standard output; name a file for one of them.")
    for file in filter(None, files.values()):
        check_writable(file)
