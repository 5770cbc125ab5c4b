"""What may be asked of an engine."""

from __future__ import annotations

from collections.abc import Iterable

from ..model.kernel import Configuration, ModelError
from ..properties.property import Kind, Property


def check_question(engine: str, configuration: object, properties: object, *kinds: Kind) -> None:
    """Raise ModelError unless these are properties of ``kinds``, asked of a configuration."""
    if not isinstance(configuration, Configuration):
        raise ModelError(f"{engine} takes machine.configure(…), not a {type(configuration).__name__}.")
    if not isinstance(properties, Iterable):
        raise ModelError(f"{engine} takes a list of properties, not a {type(properties).__name__}; put it in brackets.")
    for item in properties:
        if not isinstance(item, Property):
            raise ModelError(f"{item!r} is no property; decorate it, such as with @always('its-id').")
        if item.kind not in kinds:
            possible = " and ".join(repr(str(kind)) for kind in kinds)
            raise ModelError(
                f"property {item.id} is of kind {item.kind}; {engine} judges {possible} only. "
                "Make it a Claim: rocketproof.verify judges each kind."
            )
