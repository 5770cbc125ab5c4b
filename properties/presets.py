"""What is claimed about the presets: everything that must hold if nothing outside their scope happens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..model.presets import PRESETS, Preset
from .assignment import PARTITION_LEMMA
from .broadcast import EACH_SEES_ALL, KEEPS_ITS_PLACE, NO_SEND_BACK, STARTS_AGAIN
from .claim import Claim
from .delivery import AT_LEAST_ONCE, EXPLAINED, FAILED_BEFORE, MARK, NOTHING_SKIPPED, OFFSET_SAFE
from .orderly import IN_ORDER as HANDLED_IN_ORDER
from .orderly import STAIRCASE
from .property import Property
from .retry import (
    ATTEMPTS,
    COPY_HAS_CAUSE,
    COUNT,
    DEAD_AT_ONCE,
    DEAD_IDENTIFIABLE,
    DEAD_READABLE,
    IN_ITS_TOPIC,
    NEVER_LOST,
)
from .schedule import IN_ORDER, NOT_EARLY, ONCE

_DELIVERY = (OFFSET_SAFE, AT_LEAST_ONCE, NOTHING_SKIPPED, EXPLAINED)
_CLAIMED: Mapping[str, tuple[Property, ...]] = {
    "assignment": (PARTITION_LEMMA,),
    "delivery": (*_DELIVERY, FAILED_BEFORE),
    "orderly": (*_DELIVERY, MARK, HANDLED_IN_ORDER, STAIRCASE),
    "retry": (
        OFFSET_SAFE,
        AT_LEAST_ONCE,
        NEVER_LOST,
        ATTEMPTS,
        COUNT,
        IN_ITS_TOPIC,
        DEAD_AT_ONCE,
        DEAD_IDENTIFIABLE,
        DEAD_READABLE,
        COPY_HAS_CAUSE,
        NOT_EARLY,
        IN_ORDER,
        ONCE,
    ),
    "broadcast": (EACH_SEES_ALL, NO_SEND_BACK, STARTS_AGAIN, KEEPS_ITS_PLACE),
    "everything-small": (*_DELIVERY, IN_ITS_TOPIC, DEAD_AT_ONCE, DEAD_IDENTIFIABLE),
}


def preset_named(name: str) -> Preset:
    """The preset called ``name``. Raises :class:`KeyError` if there is none."""
    return {preset.name: preset for preset in PRESETS}[name]


def preset_claims(preset: Preset) -> Iterator[Claim]:
    """All claims about one preset; they are decided by one search."""
    for property in _CLAIMED[preset.name]:
        yield Claim(property=property, machine=preset.machine, constants=preset.constants)
