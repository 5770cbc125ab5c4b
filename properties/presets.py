"""What is claimed about the presets: everything that must hold if nothing outside their scope happens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..model.presets import PRESETS, Preset
from .assignment import partition_lemma
from .broadcast import each_sees_all, keeps_its_place, no_send_back, starts_again
from .claim import Claim
from .delivery import at_least_once, explained, failed_before, mark, nothing_skipped, offset_safe
from .orderly import in_order as HANDLED_IN_ORDER
from .orderly import staircase
from .property import Property
from .retry import (
    attempts,
    copy_has_cause,
    count,
    dead_at_once,
    dead_identifiable,
    dead_readable,
    in_its_topic,
    never_lost,
)
from .schedule import in_order, not_early, once

_DELIVERY = (offset_safe, at_least_once, nothing_skipped, explained)
_CLAIMED: Mapping[str, tuple[Property, ...]] = {
    "assignment": (partition_lemma,),
    "delivery": (*_DELIVERY, failed_before),
    "orderly": (*_DELIVERY, mark, HANDLED_IN_ORDER, staircase),
    "retry": (
        offset_safe,
        at_least_once,
        never_lost,
        attempts,
        count,
        in_its_topic,
        dead_at_once,
        dead_identifiable,
        dead_readable,
        copy_has_cause,
        not_early,
        in_order,
        once,
    ),
    "broadcast": (each_sees_all, no_send_back, starts_again, keeps_its_place),
    "everything-small": (*_DELIVERY, in_its_topic, dead_at_once, dead_identifiable),
}


def preset_named(name: str) -> Preset:
    """The preset called ``name``. Raises :class:`KeyError` if there is none."""
    return {preset.name: preset for preset in PRESETS}[name]


def preset_claims(preset: Preset) -> Iterator[Claim]:
    """All claims about one preset; they are decided by one search."""
    for property in _CLAIMED[preset.name]:
        yield Claim(property=property, machine=preset.machine, constants=preset.constants)
