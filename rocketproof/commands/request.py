"""What the user requests from ``verify``, on the command line and in a configuration file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import InputError
from ..model.allocation import JAVA_CLASSES
from ..model.kernel import nearest
from ..output.files import read_text, read_toml
from .pairs import read_pairs

if TYPE_CHECKING:
    from ..deployment.reading import DeploymentFile

FAIL_ON = ("error", "warning", "note")


class LimitTable(BaseModel):
    """The table ``[verify.limit]``, and the option ``--limit``: beyond these limits, a check gives up with UNKNOWN."""

    model_config = ConfigDict(extra="forbid", strict=True)

    states: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(default=None, gt=0)
    memory: int | None = Field(default=None, ge=1, description="MiB")
    work: int | None = Field(default=None, ge=1, description="Z3 resource units of a proof")
    depth: int | None = Field(default=None, ge=1)
    runs: int | None = Field(default=None, ge=1)
    steps: int | None = Field(default=None, ge=1)
    seed: int | None = None


class VerifyTable(BaseModel):
    """The table ``[verify]`` of a configuration file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    module: str = ""
    properties: list[str] = []
    machine: str = ""
    engine: str = ""
    set: dict[str, int | str] = {}
    limit: LimitTable = LimitTable()
    fail_on: Literal["error", "warning", "note"] = "error"


class _File(BaseModel):
    verify: VerifyTable


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to check, and how; see the options of ``rocketproof verify``."""

    properties: Sequence[str] = ()
    machine: str = ""
    constants: Mapping[str, int | str] = field(default_factory=dict)
    engine: str = ""
    limit: LimitTable = field(default_factory=LimitTable)
    strategy: str = ""
    strategy_command: str = ""
    preset: str = ""
    module: str = ""
    folder: str = ""
    jobs: int = 1
    on_disk: str = ""
    master: str = ""
    reduce: Sequence[str] = ()
    through: Sequence[str] = ()
    where: Mapping[str, int | str] = field(default_factory=dict)
    deployment: DeploymentFile | None = None
    fail_on: str = ""

    def with_texts(
        self,
        *,
        constants: Sequence[str] = (),
        limits: Iterable[str] = (),
        where: Sequence[str] = (),
        config: Path | None = None,
    ) -> Request:
        """The request completed by options written as NAME=VALUE, and by those of a file, over which the given ones
        take precedence.

        Raises:
            InputError: an option or the file cannot be read, or options contradict each other.
        """
        deployment = _deployment(config) if config is not None else None
        if deployment is not None:
            table = deployment.verify
        else:
            table = read_config(config) if config is not None else VerifyTable()
        # A shell user writes `--set a=1 b=2` as well as `--set a=1 --set b=2`; no property has a "=" in its name.
        more = [text for text in self.properties if "=" in text] if constants else []
        properties = [text for text in self.properties if text not in more]
        given = {
            **table.limit.model_dump(exclude_none=True),
            **_pairs("--limit", map(_spelled_out, limits), _number, LimitTable.model_fields),
        }
        try:
            limit = LimitTable(**given)
        except ValidationError as error:
            raise InputError(f"--limit {_first_problem(error)}") from None
        chosen: dict[str, object] = {
            "--machine": self.machine,
            "--set": [*constants, *more],
            "--engine": self.engine,
            "--preset": self.preset,
            "--module": self.module,
            "--through": self.through,
            "--where": where,
        }
        own = {"--strategy": self.strategy, "--strategy-command": self.strategy_command}
        if deployment is not None and (option := next((name for name, value in (chosen | own).items() if value), "")):
            raise InputError(
                f"{option} cannot be given together with a deployment: what is checked follows from {config}."
            )
        if self.fail_on and self.fail_on not in FAIL_ON:
            raise InputError(f"--fail-on {self.fail_on!r} is not possible.{nearest(self.fail_on, FAIL_ON)}")
        on_spark = "spark" in (self.engine, table.engine)
        among_properties = properties or self.machine or self.module or self.engine or list(constants) or self.through
        contradictions: dict[str, object] = {
            "--strategy and --strategy-command cannot both be given; check one after the other.": all(own.values()),
            "--strategy checks the laws of strategies; PROPERTY, --machine, --set, --engine and --through choose among "
            "the properties of the model. Leave one or the other out.": any(own.values()) and among_properties,
            ("--engine spark and --reduce cannot both be given: a search on Spark leaves nothing out."): on_spark
            and self.reduce,
            "--engine spark needs --on-disk with this --master: a folder or URI that all workers see.": on_spark
            and self.master
            and not (self.on_disk or self.master.startswith("local")),
            "--master is for Spark; add --engine spark.": self.master and not on_spark,
            "--on-disk and --reduce cannot both be given: a search in a folder leaves nothing out.": self.on_disk
            and self.reduce,
            "--fail-on is about findings in a deployment; name its file with --config.": self.fail_on
            and deployment is None,
        }
        if problem := next((text for text, given in contradictions.items() if given), ""):
            raise InputError(problem)
        return replace(
            self,
            deployment=deployment,
            fail_on=self.fail_on or table.fail_on,
            properties=properties or table.properties,
            machine=self.machine or table.machine,
            constants={**table.set, **read_constants([*constants, *more])},
            engine=self.engine or table.engine,
            limit=limit,
            module=self.module or table.module,
            folder=os.getcwd() if self.module or config is None else str(config.resolve().parent),
            where=_pairs("--where", where, _word_or_number),
        )


def _deployment(path: Path) -> DeploymentFile | None:
    """The deployment that a file describes; None if it has only options."""
    from ..deployment.reading import describes_deployment, read

    return read(path) if describes_deployment(_content(path)) else None


def read_config(path: Path) -> VerifyTable:
    """Read the ``[verify]`` table of a TOML file.

    Raises:
        InputError: the file is missing or broken; the message names the file, the place and the allowed values.
    """
    try:
        return _File.model_validate(_content(path)).verify
    except ValidationError as error:
        raise InputError(f"{path}: {_first_problem(error)}") from None


def _content(path: Path) -> dict[str, Any]:
    return read_toml(read_text(path), name=str(path))


def read_constants(texts: Iterable[str]) -> dict[str, int | str]:
    """Read the values of ``--set``.

    Raises:
        InputError: one of them is not NAME=VALUE.
    """
    values = _pairs("--set", texts, _word_or_number)
    for name, value in values.items():
        if value in JAVA_CLASSES:
            raise InputError(f"{value} is the Java class of a strategy; write --set {name}={JAVA_CLASSES[value]}.")
    return values


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    place = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        table = LimitTable if "limit" in problem["loc"] else VerifyTable
        return f"there is no option {place!r}.{nearest(str(problem['loc'][-1]), table.model_fields)}"
    if problem["type"] == "missing":
        return f"there is no [{place}] table, and no [[groups]] of a deployment; write one of them."
    return f"{place}: {problem['msg']}; given was {problem['input']!r}."


def _pairs(
    option: str, texts: Iterable[str], read: Callable[[str], Any], possible: Iterable[str] | None = None
) -> dict[str, Any]:
    pairs = read_pairs(option, texts)
    for name in pairs:
        if possible is not None and name not in possible:
            raise InputError(f"{option}: there is no {name!r}.{nearest(name, possible)}")
    return {name: read(value) for name, value in pairs.items()}


def _spelled_out(limit: str) -> str:
    """``1000`` as ``states=1000``, ``10s`` as ``seconds=10``, ``512MiB`` as ``memory=512``; the rest as it is."""
    short = re.fullmatch(r"(\d+(?:\.\d+)?)(s|MiB|GiB)?", limit)
    if short is None:
        return limit
    number, unit = short.groups()
    match unit:
        case "s":
            return f"seconds={number}"
        case "MiB":
            return f"memory={number}"
        case "GiB":
            return f"memory={int(float(number) * 1024)}"
        case _:
            return f"states={number}"


def _word_or_number(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


def _number(text: str) -> int | float | str:
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text
