"""Fields of a deployment file: each with its meaning, its unit, RocketMQ's default and the source of that."""

from __future__ import annotations

from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.fields import FieldInfo

NAME = r"^[%|a-zA-Z0-9_-]+$"
"""Characters that names of topics and groups may have (``TopicValidator#isTopicOrGroupIllegal``)."""
NAME_SAYS = "letters, digits and the signs % | _ -"
VERSION_SAYS = "a release from 4.0.0 on, such as 4.9.8"

TopicName = Annotated[str, StringConstraints(pattern=NAME, min_length=1, max_length=127)]
GroupName = Annotated[str, StringConstraints(pattern=NAME, min_length=1, max_length=255)]
Version = Annotated[str, StringConstraints(pattern=r"^[45]\.\d+\.\d+$")]


class Table(BaseModel):
    """A table of the file: no keys other than its fields, and no value that would have to be converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, validate_default=False)


def setting(default: Any, meaning: str, *, unit: str = "", source: str = "", says: str = "", **bounds: Any) -> Any:
    """A field of a table.

    Args:
        default: value if the file does not name it; ``...`` if it must.
        meaning: what it is, in a sentence.
        unit: of a number.
        source: rule of RocketMQ or Java class from which the default or the allowed values come.
        says: the allowed values in words, if the type and the bounds do not describe them well.
        bounds: as for pydantic, such as ``ge`` and ``le``.
    """
    return Field(
        default, description=meaning, json_schema_extra={"unit": unit, "source": source, "says": says}, **bounds
    )


def unit_of(field: FieldInfo) -> str:
    """The unit of a field; empty if it has none."""
    return _extra(field, "unit")


def source_of(field: FieldInfo) -> str:
    """The source of its default or its allowed values."""
    return _extra(field, "source")


def _extra(field: FieldInfo, key: str) -> str:
    extra = field.json_schema_extra
    return str(extra.get(key, "")) if isinstance(extra, dict) else ""


def allowed(field: FieldInfo) -> str:
    """The allowed values of a field, in words."""
    if _extra(field, "says"):
        return _extra(field, "says")
    annotation = _without_none(field.annotation)
    bounds = {
        name: getattr(item, name) for item in field.metadata for name in ("ge", "le", "gt") if hasattr(item, name)
    }
    words = _kind(annotation)
    if "ge" in bounds and "le" in bounds:
        words += f" from {bounds['ge']} to {bounds['le']}"
    elif "ge" in bounds:
        words += f" from {bounds['ge']} up"
    elif "gt" in bounds:
        words += f" above {bounds['gt']}"
    unit = unit_of(field)
    return f"{words} ({unit})" if unit else words


def _without_none(annotation: Any) -> Any:
    options = [option for option in get_args(annotation) if option is not type(None)]
    return options[0] if type(None) in get_args(annotation) else annotation


def _kind(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(arguments[0])
    if annotation in (int, float):
        return "a whole number" if annotation is int else "a number"
    if annotation in (str, bool):
        return "a text" if annotation is str else "true or false"
    if origin is list:
        inner = arguments[0]
        return "a list of tables" if isinstance(inner, type) and issubclass(inner, Table) else "a list of texts"
    if origin is dict:
        return "a table of texts"
    if isinstance(annotation, type):
        return "a table"
    return "one of " + ", ".join(str(choice) for choice in arguments)
