"""Reads ``rocketproof.toml``: a deployment, or every mistake in it with its line and the allowed values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from ..commands.request import VerifyTable
from ..errors import InputError
from ..model.allocation import JAVA_CLASSES
from ..model.kernel import nearest
from ..output.files import read_text, read_toml
from .description import TABLES, Description, contradictions
from .fields import allowed, source_of
from .lines import Lines, Path
from .questions import QUESTIONS, SHARES
from .rules import RULES


class _File(Description):
    verify: VerifyTable = VerifyTable()


@dataclass(frozen=True)
class DeploymentFile:
    """A file that was read."""

    name: str  # the name under which the file was given
    description: Description  # the deployment
    verify: VerifyTable  # the table ``[verify]``
    lines: Lines  # the lines of everything in it


class BrokenFileError(InputError):
    """A deployment file cannot be used; ``problems`` has one ``file:line: place: mistake`` for each mistake."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def describes_deployment(content: Mapping[str, Any]) -> bool:
    """Whether a configuration file describes a deployment; otherwise it only has options of ``verify``."""
    return any(table in content for table in TABLES)


def read(path: FilePath, *, name: str | None = None) -> DeploymentFile:
    """Read a deployment file; messages call it by ``name``, or by its path.

    Raises:
        InputError: it is missing or no TOML.
        BrokenFileError: it has mistakes; all of them are reported.
    """
    text = read_text(path, name=name)
    return parse(text, read_toml(text, name=name or str(path)), name=name or str(path))


def parse(text: str, content: Mapping[str, Any], *, name: str) -> DeploymentFile:
    """Make a deployment from the text of a file and its content.

    Raises:
        BrokenFileError: it has mistakes.
    """
    lines = Lines(text)
    try:
        file = _File.model_validate(content)
    except ValidationError as error:
        told = {(lines.of(path), _where(path, content), message): None for path, message in _mistakes(error)}
        raise BrokenFileError([f"{name}:{line}: {where}{message}" for line, where, message in sorted(told)]) from None
    wrong = [(lines.of(path), _where(path, content), message) for path, message in contradictions(file)]
    for path, message in (*_unusable(file.verify), *_unknown_findings(file)):
        wrong.append((lines.of(path), _where(path, content), message))
    if wrong:
        raise BrokenFileError([f"{name}:{line}: {where}{message}" for line, where, message in sorted(wrong)])
    return DeploymentFile(name=name, description=file, verify=file.verify, lines=lines)


def _unusable(verify: VerifyTable) -> Iterator[tuple[Path, str]]:
    for key in ("machine", "engine", "set"):
        if getattr(verify, key):
            yield (
                ("verify", key),
                "what is checked follows from the deployment, so this option has no meaning here; possible are "
                "properties, limit and fail_on.",
            )


def _unknown_findings(description: Description) -> Iterator[tuple[Path, str]]:
    possible = [
        SHARES,
        *(question.id for question in QUESTIONS),
        *(rule.id for rule in RULES),
        *(rule.key for rule in RULES),
    ]
    for number, accepted in enumerate(description.accepted):
        if accepted.finding not in possible:
            yield (
                ("accepted", number, "finding"),
                f"nothing is called {accepted.finding!r}.{nearest(accepted.finding, possible)}",
            )


def _mistakes(error: ValidationError) -> Iterator[tuple[Path, str]]:
    for problem in error.errors():
        path: Path = tuple(problem["loc"])
        given = problem["input"]
        table, field = _table_of(path)
        match problem["type"]:
            case "extra_forbidden":
                key = str(path[-1])
                yield path, f"there is no such field.{nearest(key, table.model_fields)}"
            case "missing":
                yield path[:-1], f"{path[-1]} is missing; it is {_possible(table, str(path[-1]))}."
            case "value_error":
                yield path, problem["msg"].removeprefix("Value error, ")
            case _:
                if field is None:
                    yield path, f"{given!r} is not possible: {problem['msg']}."
                    continue
                if isinstance(given, str) and given in JAVA_CLASSES:
                    yield path, f"{given} is the Java class of a strategy; write {JAVA_CLASSES[given]!r}."
                    continue
                source = source_of(table.model_fields[field])
                yield (
                    path,
                    f"{given!r} is not possible; it is {_possible(table, field)}{f' [{source}]' if source else ''}.",
                )


def _possible(table: type[BaseModel], field: str) -> str:
    return allowed(table.model_fields[field])


def _table_of(path: Path) -> tuple[type[BaseModel], str | None]:
    """The table to which a path leads, and its field there: the last key of the path that is a field."""
    table: type[BaseModel] = _File
    name: str | None = None
    for key in path:
        if isinstance(key, int):
            continue
        field = table.model_fields.get(key)
        if field is None:
            break
        name = key
        inner = next((item for item in (field.annotation, *get_args(field.annotation)) if _is_table(item)), None)
        if inner is None:
            break
        if key != path[-1]:
            table, name = inner, None
    return table, name


def _is_table(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _where(path: Path, content: Mapping[str, Any]) -> str:
    """A path in words: names instead of positions, for tables that have them."""
    words: list[str] = []
    here: Any = content
    for key in path:
        try:
            here = here[key]
        except (KeyError, IndexError, TypeError):
            here = None
        if isinstance(key, int):
            name = here.get("name") if isinstance(here, Mapping) else None
            words[-1] += f"[{name}]" if isinstance(name, str) else f"[{key}]"
        else:
            words.append(key)
    return ".".join(words) + ": " if words else ""
