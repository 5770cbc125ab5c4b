"""What can be asked of ``rocketproof mutants``: its arguments and options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .options import Json, Junit, argument, flag, option


@dataclass(frozen=True, kw_only=True)
class Mutants:
    """Of ``mutants``, about known bugs and about generated ones."""

    ids: Annotated[list[str] | None, argument("ID", "Ids of known bugs, as --list shows them, or a letter.")] = None
    matrix: Annotated[
        bool,
        flag(
            "--matrix",
            "Try all other properties and engines too: the kill matrix. With --generated: which properties notice one "
            "mutant only, or none.",
        ),
    ] = False
    all_rows: Annotated[
        bool, flag("--all-rows", "Ask all rows of the suite about a machine with the bug: which answers change.")
    ] = False
    limit: Annotated[
        list[str] | None, option("NAME=VALUE", "As for verify; default states=30000000, with --generated 1000000.")
    ] = None
    json: Json = ""
    junit: Junit = ""
    report: Annotated[
        str, option("FILE.html", "Write a page; in that of known bugs each opens as its counterexample.")
    ] = ""
    picture: Annotated[str, option("FILE", "Draw the first counterexample, as SVG.")] = ""
    stories: Annotated[bool, flag("--stories", "Print the story of every counterexample.")] = False
    list_only: Annotated[bool, flag("--list", "List the mutants instead of trying them.")] = False
    generated: Annotated[
        bool, flag("--generated", "Try small changes of the model's own rules instead of the known bugs.")
    ] = False
    part: Annotated[str, option("PART", "With --generated: only this part, such as orderly_lock.")] = ""
    jobs: Annotated[int, option("N", "With --generated: processes.", min=1)] = 1
    sample: Annotated[
        int | None, option("N", "With --generated: a sample of this size, stratified by part and kind.")
    ] = None
    seed: Annotated[int, option("S", "With --sample: the seed of the choice.")] = 0
    at_least: Annotated[
        float | None, option("PERCENT", "With --generated: exit code 0 if at least this share is killed.")
    ] = None
    keep: Annotated[str, option("FILE", "With --generated: keep results in FILE, and continue from it.")] = ""
